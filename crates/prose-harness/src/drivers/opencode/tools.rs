//! The tools of OpenCode.

use std::path::Path;

use prose_vm::activity::ToolKind;
use serde_json::Value;

use crate::command::quoted;
use crate::drivers::claude::tools::{absolute, searched};
use prose_backends::permissions::ToolRequest;

/// The use of a tool in the folder of a session.
pub(super) fn request(name: &str, input: &Value, root: &Path) -> ToolRequest {
    let field = |field: &str| input[field].as_str();
    let file = |kind| {
        let path = field("filePath")?;
        Some(ToolRequest { paths: vec![absolute(path, root)], ..ToolRequest::file(kind, path) })
    };
    let search = |title: Option<&str>, pattern: &str| {
        let title = format!("search {}", title.unwrap_or(pattern));
        let paths = searched(&absolute(field("path").unwrap_or_default(), root), pattern);
        ToolRequest { paths, ..ToolRequest::new(ToolKind::Search, title) }
    };
    let command = |command: &str| match field("workdir").filter(|folder| Path::new(folder) != root) {
        None => ToolRequest::command(command),
        Some(folder) => ToolRequest {
            command: Some(format!("(cd {} && {command}\n)", quoted(folder))),
            ..ToolRequest::command(command)
        },
    };
    let of_kind = match name {
        "read" => file(ToolKind::Read),
        "write" | "edit" | "multiedit" => file(ToolKind::Edit),
        "patch" | "apply_patch" => {
            let paths = changed_paths(field("patchText").unwrap_or_default());
            let title = format!("write {}", paths.join(", "));
            let paths = paths.into_iter().map(|path| absolute(path, root)).collect();
            Some(ToolRequest { paths, ..ToolRequest::new(ToolKind::Edit, title) })
        }
        "list" => Some(search(field("path"), "")),
        "glob" => Some(search(None, field("pattern").unwrap_or_default())),
        "grep" => Some(search(field("pattern"), field("include").unwrap_or_default())),
        "bash" => field("command").map(command),
        "webfetch" => field("url").map(ToolRequest::fetch),
        "websearch" | "codesearch" => {
            let title = format!("search the web for {:?}", field("query").unwrap_or_default());
            Some(ToolRequest::new(ToolKind::Fetch, title))
        }
        "todowrite" | "todoread" | "task" => Some(ToolRequest::new(ToolKind::Think, name)),
        _ => None,
    };
    of_kind.unwrap_or_else(|| {
        let subject = ["name", "description", "query", "path"].iter().find_map(|name| field(name));
        let title = subject.map_or(name.to_owned(), |subject| format!("{name} {subject}"));
        ToolRequest::new(ToolKind::Other, title)
    })
}

/// The files that a patch changes.
fn changed_paths(patch: &str) -> Vec<&str> {
    let starts = ["Add File:", "Update File:", "Delete File:", "Move to:"];
    let named = patch.lines().filter_map(|line| {
        // More than a header is taken for one, so that none is missed.
        let header = line.trim_start().strip_prefix("***")?.trim_start();
        starts.iter().find_map(|start| header.strip_prefix(start)).map(str::trim)
    });
    named.filter(|path| !path.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use serde_json::json;

    use super::*;

    fn check(uses: &[(&str, Value)], expected: Expect) {
        let mut shown = String::new();
        for (name, input) in uses {
            let ToolRequest { kind, title, paths, command, url, .. } = request(name, input, Path::new("/p"));
            shown.push_str(&format!("{name}: {kind:?} {title:?} {paths:?} {command:?} {url:?}\n"));
        }
        expected.assert_eq(&shown);
    }

    #[test]
    fn tools_are_known_by_what_they_concern() {
        let patch = "*** Begin Patch\n*** Add File: docs/new.md\n+tides\n*** Update File: a.md\n*** Move to: /b.md\n@@\n-x\n*** End Patch";
        check(
            &[
                ("read", json!({ "filePath": "docs/../a.md" })),
                ("write", json!({ "filePath": "/p/a.md", "content": "x" })),
                ("apply_patch", json!({ "patchText": patch })),
                ("glob", json!({ "pattern": "../*.md" })),
                ("grep", json!({ "pattern": "tides", "path": "docs" })),
                ("bash", json!({ "command": "ls", "description": "Lists files" })),
                ("bash", json!({ "command": "ls # here", "workdir": "/etc" })),
                ("webfetch", json!({ "url": "https://a.example", "format": "text" })),
                ("websearch", json!({ "query": "tides" })),
                ("task", json!({ "description": "Look around", "prompt": "…" })),
                ("files_delete", json!({ "path": "a" })),
                ("read", json!({})),
            ],
            expect![[r#"
                read: Read "read docs/../a.md" ["/p/docs/../a.md"] None None
                write: Edit "write /p/a.md" ["/p/a.md"] None None
                apply_patch: Edit "write docs/new.md, a.md, /b.md" ["/p/docs/new.md", "/p/a.md", "/b.md"] None None
                glob: Search "search ../*.md" ["/p/../"] None None
                grep: Search "search tides" ["/p/docs"] None None
                bash: Execute "ls" [] Some("ls") None
                bash: Execute "ls # here" [] Some("(cd /etc && ls # here\n)") None
                webfetch: Fetch "fetch https://a.example" [] None Some("https://a.example")
                websearch: Fetch "search the web for \"tides\"" [] None None
                task: Think "task" [] None None
                files_delete: Other "files_delete a" [] None None
                read: Other "read" [] None None
            "#]],
        );
    }
}

//! The tools of Claude Code.

use std::path::Path;

use prose_syntax::text;
use prose_vm::activity::ToolKind;
use serde_json::Value;

use crate::command::quoted;
use prose_backends::permissions::{About, McpTool, ToolRequest};

/// The tools that remain where a permission forbids others, by what they need. A command can do anything, so it needs all permissions.
pub(super) const BY_SUBJECT: &[(About, &[&str])] = &[
    (About::Read, &["Read", "Glob", "Grep"]),
    (About::Write, &["Write", "Edit"]),
    (About::Network, &["WebFetch", "WebSearch"]),
];

/// The maximum length of a title.
const MAX_TITLE: usize = 300;

/// The use of a tool in a folder, in which relative paths and commands start, of a project.
pub(super) fn request(name: &str, input: &Value, folder: &Path, root: &Path) -> ToolRequest {
    let field = |field: &str| input[field].as_str();
    let file = |kind| {
        let path = field("file_path").or(field("notebook_path"))?;
        Some(ToolRequest { paths: vec![absolute(path, folder)], ..ToolRequest::file(kind, path) })
    };
    let search = |title: Option<&str>, pattern: &str| {
        let title = format!("search {}", title.unwrap_or(pattern));
        let paths = searched(&absolute(field("path").unwrap_or_default(), folder), pattern);
        ToolRequest { paths, ..ToolRequest::new(ToolKind::Search, title) }
    };
    let command = |command: &str| {
        let placed = match folder == root {
            true => command.to_owned(),
            false => format!("cd {} && {command}", quoted(&folder.to_string_lossy())),
        };
        ToolRequest { command: Some(placed), ..ToolRequest::command(command) }
    };
    let of_kind = match name {
        "Read" | "NotebookRead" => file(ToolKind::Read),
        "Write" | "Edit" | "MultiEdit" | "NotebookEdit" => file(ToolKind::Edit),
        "LS" => Some(search(field("path"), "")),
        "Glob" => Some(search(None, field("pattern").unwrap_or_default())),
        "Grep" => Some(search(field("pattern"), field("glob").unwrap_or_default())),
        "Bash" | "PowerShell" | "Monitor" => field("command").map(command),
        "WebFetch" => field("url").map(ToolRequest::fetch),
        "WebSearch" => {
            let title = format!("search the web for {:?}", field("query").unwrap_or_default());
            Some(ToolRequest::new(ToolKind::Fetch, title))
        }
        "Task" | "Agent" | "TodoWrite" | "ToolSearch" | "TaskCreate" | "TaskUpdate" | "TaskList"
        | "TaskGet" | "TaskOutput" | "BashOutput" => {
            Some(ToolRequest::new(ToolKind::Think, named(name, input)))
        }
        _ => None,
    };
    let mcp = || {
        let (server, tool) = name.strip_prefix("mcp__")?.split_once("__")?;
        Some(McpTool { server: server.to_owned(), tool: tool.to_owned() })
    };
    of_kind.unwrap_or_else(|| ToolRequest {
        mcp: mcp(),
        ..ToolRequest::new(ToolKind::Other, named(name, input))
    })
}

/// A path as the tools resolve it.
pub(in crate::drivers) fn absolute(path: &str, folder: &Path) -> String {
    let home = || std::env::home_dir().unwrap_or_default();
    let absolute = match path.strip_prefix('~') {
        Some("") => home(),
        Some(rest) if rest.starts_with('/') => home().join(rest.trim_start_matches('/')),
        _ => folder.join(path),
    };
    absolute.to_string_lossy().into_owned()
}

/// The folders in which a search for a pattern looks.
pub(in crate::drivers) fn searched(folder: &str, pattern: &str) -> Vec<String> {
    // The part of the pattern before its first wildcard, such as `../other/` of `../other/*.md`.
    let literal = &pattern[..pattern.find(['*', '?', '[', '{']).unwrap_or(pattern.len())];
    let literal = &literal[..literal.rfind('/').map_or(0, |at| at + 1)];
    let place = match literal {
        "" => folder.to_owned(),
        literal => absolute(literal, Path::new(folder)),
    };
    let rest = &pattern[literal.len()..];
    // The other parts can lead anywhere.
    let leaves = rest.contains("..") || ["{/", ",/", "{~", ",~"].iter().any(|start| rest.contains(start));
    let anywhere = leaves.then(|| "/".to_owned());
    [place].into_iter().chain(anywhere).collect()
}

/// The name of a tool and what it is called with.
fn named(name: &str, input: &Value) -> String {
    let subject = ["description", "command", "skill", "query", "prompt", "path"];
    match subject.iter().find_map(|field| input[*field].as_str()) {
        Some(subject) => format!("{name}: {}", text::shorten(subject.trim(), MAX_TITLE)),
        None => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use serde_json::json;

    use super::*;

    fn check(uses: &[(&str, Value)], expected: Expect) {
        let mut shown = String::new();
        for (name, input) in uses {
            let ToolRequest { kind, title, paths, command, url, .. } =
                request(name, input, Path::new("/p"), Path::new("/p"));
            shown.push_str(&format!("{name}: {kind:?} {title:?} {paths:?} {command:?} {url:?}\n"));
        }
        expected.assert_eq(&shown);
    }

    #[test]
    fn tools_are_known_by_what_they_concern() {
        check(
            &[
                ("Read", json!({ "file_path": "/p/a.md" })),
                ("NotebookEdit", json!({ "notebook_path": "a.ipynb" })),
                ("Bash", json!({ "command": "ls", "description": "Lists files" })),
                ("WebFetch", json!({ "url": "https://a.example", "prompt": "Find it" })),
                ("WebSearch", json!({ "query": "tides" })),
                ("Task", json!({ "description": "Look around", "prompt": "…" })),
                ("Skill", json!({ "skill": "review" })),
                ("mcp__files__delete", json!({ "path": "a" })),
                ("Read", json!({})),
            ],
            expect![[r#"
                Read: Read "read /p/a.md" ["/p/a.md"] None None
                NotebookEdit: Edit "write a.ipynb" ["/p/a.ipynb"] None None
                Bash: Execute "ls" [] Some("ls") None
                WebFetch: Fetch "fetch https://a.example" [] None Some("https://a.example")
                WebSearch: Fetch "search the web for \"tides\"" [] None None
                Task: Think "Task: Look around" [] None None
                Skill: Other "Skill: review" [] None None
                mcp__files__delete: Other "mcp__files__delete: a" [] None None
                Read: Other "Read" [] None None
            "#]],
        );
    }

    #[test]
    fn a_command_runs_where_the_commands_before_it_have_led() {
        let input = json!({ "command": "cat key", "file_path": "key" });
        let of = |name| request(name, &input, Path::new("/p/my docs"), Path::new("/p"));
        assert_eq!(of("Bash").command.unwrap(), "cd '/p/my docs' && cat key");
        assert_eq!(of("Bash").title, "cat key");
        assert_eq!(of("Read").paths, ["/p/my docs/key"]);
    }

    #[test]
    fn a_search_is_where_its_pattern_leads() {
        let paths = |input: Value| request("Glob", &input, Path::new("/p"), Path::new("/p")).paths.join(" ");
        assert_eq!(paths(json!({ "pattern": "**/*.md" })), "/p/");
        assert_eq!(paths(json!({ "pattern": "**/*.md", "path": "docs" })), "/p/docs");
        assert_eq!(paths(json!({ "pattern": "/etc/*", "path": "docs" })), "/etc/");
        assert_eq!(paths(json!({ "pattern": "../other/*.md" })), "/p/../other/");
        assert_eq!(paths(json!({ "pattern": "a/*/../../../b" })), "/p/a/ /");
        assert_eq!(paths(json!({ "pattern": "{../a,b}/*" })), "/p/ /");
        assert_eq!(paths(json!({ "pattern": "{/etc,b}/*" })), "/p/ /");
    }
}

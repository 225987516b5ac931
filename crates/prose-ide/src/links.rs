//! Document links: to imported programs, to skills in folders, and to web addresses.

use std::path::{Path, PathBuf};

use prose_analysis::imports::{Imported, imported, reference};
use prose_analysis::location::Origin;
use prose_analysis::location::local_path;
use prose_analysis::model::*;
use prose_analysis::statements::{body, statements};
use prose_analysis::{Db, SourceFile};
use prose_reference::Reference;
use prose_syntax::{TextRange, TextSize};

/// A document link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentLink {
    /// Its range, without quotes.
    pub range: TextRange,
    /// Its target.
    pub target: LinkTarget,
    /// Its tooltip.
    pub tooltip: Option<String>,
}

/// The target of a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkTarget {
    /// A local file or folder, also the local copy of a program from the network.
    Path(PathBuf),
    /// A web address.
    Url(String),
}

/// The links of a file, in the order of the text. `exists` reports whether the path of a skill exists.
pub fn document_links(db: &dyn Db, file: SourceFile, exists: impl Fn(&Path) -> bool) -> Vec<DocumentLink> {
    let mut links = Vec::new();
    for placed in &statements(db, file).list {
        let (body, start) = (body(db, placed.statement), TextSize::from(placed.start));
        let mut add = |text: &Text, link: Option<(LinkTarget, Option<String>)>| {
            let range = text.content + start;
            links.extend(link.map(|(target, tooltip)| DocumentLink { range, target, tooltip }));
        };
        let mut paths = Vec::new();
        for (_, data) in body.stmts() {
            let (path, link) = match &data.stmt {
                Stmt::Use { path: Some(path), .. } => {
                    (*path, body.string(*path).and_then(|path| program_link(db, file, path)))
                }
                Stmt::Import { source: Some(source), .. } => {
                    (*source, body.string(*source).and_then(|source| path_link(db, file, source, &exists)))
                }
                _ => continue,
            };
            paths.push(path);
            if let Some(text) = body.text(path) {
                add(text, link);
            }
        }
        for (_, data) in body.exprs() {
            let Expr::Text(text) = &data.expr else { continue };
            let is_seen = paths.iter().any(|path| body[*path].range == data.range);
            let Some(value) = text.value.as_deref().filter(|_| !is_seen && is_plain(text)) else { continue };
            match is_url(value) {
                true => add(text, Some((LinkTarget::Url(value.to_owned()), None))),
                false => add(text, path_link(db, file, value, &exists)),
            }
        }
    }
    links.sort_by_key(|link| (link.range.start(), link.range.end()));
    links
}

/// Where the path of a `use` leads: to the program if that is known, else to where it would come from.
fn program_link(db: &dyn Db, file: SourceFile, path: &str) -> Option<(LinkTarget, Option<String>)> {
    match imported(db, file, path) {
        Imported::Program(program) => {
            let tooltip = match program.origin(db) {
                Origin::Local => program.path(db).display().to_string(),
                Origin::Remote(origin) => origin.version.clone(),
            };
            Some((LinkTarget::Path(program.path(db).to_path_buf()), Some(tooltip)))
        }
        Imported::Missing => None,
        Imported::Unknown => match reference(db, file, path).ok()? {
            Reference::Url(url) => {
                Some((LinkTarget::Url(url.to_string()), Some("not fetched yet".to_owned())))
            }
            Reference::Git(program) => {
                let url = program.raw_url().to_string();
                Some((LinkTarget::Url(url), Some("not fetched yet".to_owned())))
            }
            Reference::Registry(_) | Reference::Local(_) => None,
        },
    }
}

/// Where the source of a skill or any other text leads, if it is a path. A program of the network reaches no file of this machine.
fn path_link(
    db: &dyn Db,
    file: SourceFile,
    source: &str,
    exists: impl Fn(&Path) -> bool,
) -> Option<(LinkTarget, Option<String>)> {
    let is_path = ["./", "../", "/"].iter().any(|start| source.starts_with(start));
    if !is_path || *file.origin(db) != Origin::Local {
        return None;
    }
    let path = local_path(file.path(db), Path::new(source));
    exists(&path).then(|| {
        let tooltip = path.display().to_string();
        (LinkTarget::Path(path), Some(tooltip))
    })
}

/// Whether a text is on one line, with nothing to fill in.
fn is_plain(text: &Text) -> bool {
    text.kind == TextKind::OneLine && text.interpolations.is_empty()
}

/// Whether a text is an address of the web and nothing else. Those within sentences are found by editors.
fn is_url(value: &str) -> bool {
    let rest = value.strip_prefix("https://").or_else(|| value.strip_prefix("http://"));
    rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_alphanumeric() || c == '['))
        && !value.contains(|c: char| c.is_whitespace() || c.is_control())
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use prose_analysis::{AnalysisHost, SourceFile};

    use super::*;
    use crate::testing::analysed;

    /// The links of the program with the cursor, where `/skills/deep` is the only folder.
    #[track_caller]
    fn check(fixture: &str, expected: Expect) {
        let at = analysed(fixture);
        let shown: String = links(&at.host, at.file)
            .iter()
            .map(|link| {
                let target = match &link.target {
                    LinkTarget::Path(path) => path.display().to_string(),
                    LinkTarget::Url(url) => url.clone(),
                };
                let tooltip =
                    link.tooltip.as_ref().map(|tooltip| format!(" ({tooltip})")).unwrap_or_default();
                format!("{}\n  {target}{tooltip}\n", at.show(at.file, link.range))
            })
            .collect();
        expected.assert_eq(&shown);
    }

    fn links(host: &AnalysisHost, file: SourceFile) -> Vec<DocumentLink> {
        document_links(host.db(), file, |path| path == Path::new("/skills/deep"))
    }

    #[test]
    fn imports_lead_to_files() {
        check(
            r#"
            //- /main.prose
            $0use "./lib.prose" as lib
            use "alice/research"
            use "https://example.com/flows/a.prose"
            use "./missing.prose"
            //- /lib.prose
            session "x"
            //- alice/research
            session "x"
            //- https://example.com/flows/a.prose
            session "x"
            "#,
            expect![[r#"
                /main.prose:1: use "«./lib.prose»" as lib
                  /lib.prose (/lib.prose)
                /main.prose:2: use "«alice/research»"
                  /cache/alice/research.prose (https://registry.example/programs/alice/research, fetched 2026-03-01T12:00:00Z, SHA-256 0123456789ab)
                /main.prose:3: use "«https://example.com/flows/a.prose»"
                  /cache/example.com/flows/a.prose (https://example.com/flows/a.prose, fetched 2026-03-01T12:00:00Z, SHA-256 0123456789ab)
            "#]],
        );
    }

    #[test]
    fn imports_of_imports_lead_to_what_was_fetched() {
        check(
            r#"
            //- /main.prose
            use "https://example.com/flows/a.prose"
            //- https://example.com/flows/a.prose
            $0use "./b.prose"
            import "deep" from "/skills/deep"
            //- https://example.com/flows/b.prose
            session "x"
            "#,
            expect![[r#"
                /cache/example.com/flows/a.prose:1: use "«./b.prose»"
                  /cache/example.com/flows/b.prose (https://example.com/flows/b.prose, fetched 2026-03-01T12:00:00Z, SHA-256 0123456789ab)
            "#]],
        );
    }

    #[test]
    fn what_was_not_fetched_yet_leads_to_where_it_comes_from() {
        check(
            r#"
            $0use "alice/research"
            use "https://example.com/flows/a.prose"
            use "github.com/owner/repo/flows/a.prose@v1"
            use "not a path"
            "#,
            expect![[r#"
                /main.prose:2: use "«https://example.com/flows/a.prose»"
                  https://example.com/flows/a.prose (not fetched yet)
                /main.prose:3: use "«github.com/owner/repo/flows/a.prose@v1»"
                  https://raw.githubusercontent.com/owner/repo/v1/flows/a.prose (not fetched yet)
            "#]],
        );
    }

    #[test]
    fn skills_lead_to_their_folders() {
        check(
            r#"
            $0import "deep" from "./skills/deep"
            import "gone" from "./skills/gone"
            import "far" from "github:owner/repo"
            "#,
            expect![[r#"
                /main.prose:1: import "deep" from "«./skills/deep»"
                  /skills/deep (/skills/deep)
            "#]],
        );
    }

    #[test]
    fn paths_that_stand_alone_lead_to_what_is_there() {
        check(
            r#"
            $0let notes = "./skills/deep"
            session "Look at ./skills/deep"
              context: ["/skills/deep", "./missing", "./skills/{notes}", "skills/deep"]
            "#,
            expect![[r#"
                /main.prose:1: let notes = "«./skills/deep»"
                  /skills/deep (/skills/deep)
                /main.prose:3: context: ["«/skills/deep»", "./missing", "./skills/{notes}", "skills/deep"]
                  /skills/deep (/skills/deep)
            "#]],
        );
    }

    #[test]
    fn addresses_that_stand_alone_lead_to_the_web() {
        check(
            r#"
            $0let page = "https://example.com/a?b=c"
            session "Read https://example.com/in-a-sentence"
              context: [page, "http://example.com", "https://{page}", "https://", "ftp://example.com/x"]
            "#,
            expect![[r#"
                /main.prose:1: let page = "«https://example.com/a?b=c»"
                  https://example.com/a?b=c
                /main.prose:3: context: [page, "«http://example.com»", "https://{page}", "https://", "ftp://example.com/x"]
                  http://example.com
            "#]],
        );
    }
}

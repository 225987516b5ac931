//! `docs/diagnostics.md` is the table of codes. This test fails when the table changes; `UPDATE_EXPECT=1 cargo test -p prose-cli document`
//! regenerates the document.

use std::fmt::Write;

use prose_fixture::check_page;
use prose_syntax::Code;
use prose_syntax::codes::{CodeInfo, Tag};

use super::{ExampleFile, example_files, levels};

const INTRODUCTION: &str = "# Diagnostics

Every diagnostic of `prose check` and the language server has a code. `prose explain E001` shows the same explanation in the terminal.

Codes up to `E028` and `W011` are defined by the language reference; codes from `E101` and `W101` are additions of this project. The
severity of a code depends on the profile: `default` reports no errors for programs that work in practice, and `strict` uses the severities
of the language reference. `info` and `hint` require no change, and `off` is not reported.

<!-- Made from the table of codes by a test: UPDATE_EXPECT=1 cargo test -p prose-cli document -->
";

#[test]
fn the_document_is_made_from_the_table() {
    check_page("docs/diagnostics.md", &document(), "-p prose-cli document");
}

#[test]
fn a_fence_is_longer_than_those_inside() {
    assert_eq!(fence("a ``` b\n"), "````");
    assert_eq!(fence("`a`"), "```");
}

fn document() -> String {
    let mut document = String::from(INTRODUCTION);
    document.push_str("\n| code | | default | strict |\n|---|---|---|---|\n");
    for info in Code::ALL.iter().map(|code| code.info()) {
        let CodeInfo { name, title, default, strict, .. } = info;
        let anchor = name.to_lowercase();
        writeln!(document, "| [{name}](#{anchor}) | {title} | {default} | {strict} |").unwrap();
    }
    for info in Code::ALL.iter().map(|code| code.info()) {
        write_section(info, &mut document);
    }
    document
}

fn write_section(info: &CodeInfo, document: &mut String) {
    let CodeInfo { name, title, explanation, tag, .. } = info;
    // The anchor does not change with the title.
    let anchor = name.to_lowercase();
    writeln!(document, "\n<a id=\"{anchor}\"></a>\n\n## {name}: {title}\n").unwrap();
    let shown = match tag {
        Some(Tag::Unnecessary) => " Editors fade the text.",
        Some(Tag::Deprecated) => " Editors strike the text through.",
        None => "",
    };
    writeln!(document, "Severity: {}.{shown}\n\n{explanation}", levels(info)).unwrap();
    for (heading, example) in [("Wrong:", info.wrong), ("Right:", info.right)] {
        writeln!(document, "\n{heading}").unwrap();
        for ExampleFile { path, text } in example_files(example) {
            if let Some(path) = path {
                writeln!(document, "\n`{path}`").unwrap();
            }
            let language =
                if path.is_some_and(|path| path.ends_with(".toml")) { "toml" } else { "prose,ignore" };
            let fence = fence(&text);
            writeln!(document, "\n{fence}{language}\n{text}{fence}").unwrap();
        }
    }
}

fn fence(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    "`".repeat(3.max(longest + 1))
}

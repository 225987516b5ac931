//! Imported programs that are not on this machine are known as well as those that are.

use crate::support::{Analysed, analysed, expect_lines};
use expect_test::{Expect, expect};
use prose_ide::{document_highlights, goto_definition, hover, references};

/// A program of a registry that imports another one of the same place, and one at an address that does so, too.
const PROGRAMS: &str = r#"
//- alice/research
# Finds out what is known.
use "./sources" as look
input topic: "What to research"
input depth: "Optional: how deep"
let found = look(about: topic)
output findings = session "Sum up {found.list}"
output sources = found.list
//- https://registry.example/programs/alice/sources
# Lists sources.
input about: "What they are about"
output list = session "List sources on {about}"
//- https://example.com/flows/review.prose
use "alice/research"
input text: "What to review"
let { findings } = research(topic: text)
output verdict = findings
"#;

/// A program with a cursor that imports two others, or one of those if the cursor is there.
fn opened(main: &str) -> Analysed {
    opened_with(main, PROGRAMS)
}

fn opened_with(main: &str, programs: &str) -> Analysed {
    analysed(&format!(
        "//- /main.prose\nuse \"alice/research\"\nuse \"https://example.com/flows/review.prose\"\n{main}\n{}",
        programs.trim_start()
    ))
}

#[track_caller]
fn check_hover(at: &Analysed, expected: Expect) {
    let found = hover(at.host.db(), at.file, at.offset).expect("there is something to say");
    expect_lines(&format!("{}\n", found.markdown), &expected);
}

#[track_caller]
fn check_definition(at: &Analysed, expected: Expect) {
    let found = goto_definition(at.host.db(), at.file, at.offset);
    let targets = found.map(|found| found.targets).unwrap_or_default();
    let shown = targets.iter().map(|target| at.show(target.file, target.selection_range) + "\n");
    expect_lines(&shown.collect::<String>(), &expected);
}

#[track_caller]
fn check_references(at: &Analysed, expected: Expect) {
    let programs = at.host.db().programs();
    assert_eq!(programs.len(), at.files.len(), "all programs of the fixture are known, and no others");
    let found = references(at.host.db(), at.file, at.offset, true, &programs).unwrap_or_default();
    let shown = found.iter().map(|found| at.show(found.file, found.range) + "\n");
    expect_lines(&shown.collect::<String>(), &expected);
    let here = found.iter().filter(|found| found.file == at.file).map(|found| found.range);
    let marked = document_highlights(at.host.db(), at.file, at.offset);
    assert_eq!(marked.iter().map(|marked| marked.range).collect::<Vec<_>>(), here.collect::<Vec<_>>());
}

#[test]
fn imports_are_shown_with_their_contract_and_version() {
    check_hover(
        &opened("let r = rese$0arch(topic: \"x\")"),
        expect![[r#"
        ```prose
        use "alice/research"
        ```

        https://registry.example/programs/alice/research, fetched 2026-03-01T12:00:00Z, SHA-256 0123456789ab

        Finds out what is known.

        Inputs:
        - `topic`: What to research
        - `depth` (optional): Optional: how deep

        Outputs:
        - `findings`
        - `sources`
    "#]],
    );
    check_hover(
        &opened("use \"https://example.com/flows/rev$0iew.prose\" as again"),
        expect![[r#"
        ```prose
        use "https://example.com/flows/review.prose" as again
        ```

        https://example.com/flows/review.prose, fetched 2026-03-01T12:00:00Z, SHA-256 0123456789ab

        Inputs:
        - `text`: What to review

        Outputs:
        - `verdict`
    "#]],
    );
}

#[test]
fn inputs_and_outputs_are_shown_with_where_they_come_from() {
    check_hover(
        &opened("let r = research(top$0ic: \"x\")"),
        expect![[r#"
        ```prose
        input topic: "What to research"
        ```

        input `topic` of `alice/research`, line 3

        https://registry.example/programs/alice/research, fetched 2026-03-01T12:00:00Z, SHA-256 0123456789ab
    "#]],
    );
    check_hover(
        &opened("let r = research(topic: \"x\")\nsession \"{r.sour$0ces}\""),
        expect![[r#"
        ```prose
        output sources = found.list
        ```

        output `sources` of `alice/research`, line 7

        https://registry.example/programs/alice/research, fetched 2026-03-01T12:00:00Z, SHA-256 0123456789ab
    "#]],
    );
    check_hover(
        &opened("let r$0 = research(topic: \"x\")"),
        expect![[r#"
        ```prose
        let r = research(topic: "x")
        ```

        variable `r`, line 3

        A result of `alice/research`, with `findings`, `sources`
    "#]],
    );
    check_hover(
        &opened("let { find$0ings } = research(topic: \"x\")"),
        expect![[r#"
        ```prose
        let { findings } = research(topic: "x")
        ```

        variable `findings`, line 3

        ---

        ```prose
        output findings = session "Sum up {found.list}"
        ```

        output `findings` of `alice/research`, line 6

        https://registry.example/programs/alice/research, fetched 2026-03-01T12:00:00Z, SHA-256 0123456789ab
    "#]],
    );
}

#[test]
fn definitions_lie_in_the_files_that_show_what_was_fetched() {
    check_definition(
        &opened("let r = rese$0arch(topic: \"x\")"),
        expect!["/cache/alice/research.prose:1: «»# Finds out what is known."],
    );
    check_definition(
        &opened("use \"alice/rese$0arch\" as again"),
        expect!["/cache/alice/research.prose:1: «»# Finds out what is known."],
    );
    check_definition(
        &opened("let r = research(top$0ic: \"x\")"),
        expect![[r#"/cache/alice/research.prose:3: input «topic»: "What to research""#]],
    );
    check_definition(
        &opened("let r = research(topic: \"x\")\nsession \"{r.sour$0ces}\""),
        expect!["/cache/alice/research.prose:7: output «sources» = found.list"],
    );
    check_definition(
        &opened("let { find$0ings } = research(topic: \"x\")"),
        expect![[r#"/cache/alice/research.prose:6: output «findings» = session "Sum up {found.list}""#]],
    );
}

#[test]
fn references_are_found_in_all_programs_that_import_one() {
    let main = "let r = research(topic: \"x\")\nsession \"{r.find$0ings}\"\nlet { findings } = research(topic: \"y\")";
    check_references(
        &opened(main),
        expect![[r#"
        /cache/alice/research.prose:6: output «findings» = session "Sum up {found.list}"
        /cache/example.com/flows/review.prose:3: let { «findings» } = research(topic: text)
        /main.prose:4: session "{r.«findings»}"
        /main.prose:5: let { «findings» } = research(topic: "y")
    "#]],
    );
    check_references(
        &opened("let r = research(top$0ic: \"x\")"),
        expect![[r#"
        /cache/alice/research.prose:3: input «topic»: "What to research"
        /cache/alice/research.prose:5: let found = look(about: «topic»)
        /cache/example.com/flows/review.prose:3: let { findings } = research(«topic»: text)
        /main.prose:3: let r = research(«topic»: "x")
    "#]],
    );
}

#[test]
fn imports_of_imports_work_likewise() {
    let inside = |word: &str| {
        let marked = word.split_at(1);
        opened_with("", &PROGRAMS.replacen(word, &format!("{}$0{}", marked.0, marked.1), 1))
    };
    check_hover(
        &inside("look(about"),
        expect![[r#"
        ```prose
        use "./sources" as look
        ```

        https://registry.example/programs/alice/sources, fetched 2026-03-01T12:00:00Z, SHA-256 0123456789ab

        Lists sources.

        Inputs:
        - `about`: What they are about

        Outputs:
        - `list`
    "#]],
    );
    check_definition(
        &inside("look(about"),
        expect!["/cache/registry.example/programs/alice/sources.prose:1: «»# Lists sources."],
    );
    check_hover(
        &inside("about: topic"),
        expect![[r#"
        ```prose
        input about: "What they are about"
        ```

        input `about` of `https://registry.example/programs/alice/sources`, line 2

        https://registry.example/programs/alice/sources, fetched 2026-03-01T12:00:00Z, SHA-256 0123456789ab
    "#]],
    );
    check_definition(
        &inside("about: topic"),
        expect![[
            r#"/cache/registry.example/programs/alice/sources.prose:2: input «about»: "What they are about""#
        ]],
    );
    check_definition(
        &inside("list}"),
        expect![[
            r#"/cache/registry.example/programs/alice/sources.prose:3: output «list» = session "List sources on {about}""#
        ]],
    );
    check_references(
        &inside("list}"),
        expect![[r#"
        /cache/registry.example/programs/alice/sources.prose:3: output «list» = session "List sources on {about}"
        /cache/alice/research.prose:6: output findings = session "Sum up {found.«list»}"
        /cache/alice/research.prose:7: output sources = found.«list»
    "#]],
    );
    check_definition(
        &inside("findings } ="),
        expect![[r#"/cache/alice/research.prose:6: output «findings» = session "Sum up {found.list}""#]],
    );
}

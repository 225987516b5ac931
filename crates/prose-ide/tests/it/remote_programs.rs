//! Imported programs that are not on this machine are known as well as those that are.

use crate::support::analysed;
use expect_test::{Expect, expect};
use prose_analysis::{AnalysisHost, SourceFile};
use prose_fixture::Fixture;
use prose_ide::{document_highlights, goto_definition, hover, references};
use prose_syntax::{TextRange, TextSize};

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

struct Opened {
    host: AnalysisHost,
    file: SourceFile,
    offset: TextSize,
}

/// A program with a cursor that imports two others, or one of those if the cursor is there.
fn opened(main: &str) -> Opened {
    opened_with(main, PROGRAMS)
}

fn opened_with(main: &str, programs: &str) -> Opened {
    let fixture = format!(
        "//- /main.prose\nuse \"alice/research\"\nuse \"https://example.com/flows/review.prose\"\n{main}\n{}",
        programs.trim_start()
    );
    let fixture = Fixture::parse(&fixture);
    let (host, files) = analysed(&fixture);
    let (index, offset) = fixture.cursor.expect("there is a cursor");
    Opened { file: files[index], host, offset }
}

impl Opened {
    fn show(&self, file: SourceFile, range: TextRange) -> String {
        let text = file.text(self.host.db()).as_str();
        let (start, end) = (usize::from(range.start()), usize::from(range.end()));
        let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let line_end = text[end..].find('\n').map_or(text.len(), |at| end + at);
        let path = file.path(self.host.db()).display().to_string();
        let line = text[..start].matches('\n').count() + 1;
        format!("{path}:{line}: {}«{}»{}", &text[line_start..start], &text[start..end], &text[end..line_end])
    }

    #[track_caller]
    fn check_hover(&self, expected: Expect) {
        let found = hover(self.host.db(), self.file, self.offset).expect("there is something to say");
        expected.assert_eq(&format!("{}\n", found.markdown));
    }

    #[track_caller]
    fn check_definition(&self, expected: Expect) {
        let found = goto_definition(self.host.db(), self.file, self.offset);
        let found = found.map(|found| found.targets).unwrap_or_default();
        let shown =
            found.iter().map(|target| format!("{}\n", self.show(target.file, target.selection_range)));
        expected.assert_eq(&shown.collect::<String>());
    }

    #[track_caller]
    fn check_references(&self, expected: Expect) {
        let programs = self.host.db().programs();
        let found = references(self.host.db(), self.file, self.offset, true, &programs);
        let found = found.unwrap_or_default();
        let shown = found.iter().map(|found| format!("{}\n", self.show(found.file, found.range)));
        expected.assert_eq(&shown.collect::<String>());
        let here = found.iter().filter(|found| found.file == self.file).map(|found| found.range);
        let marked = document_highlights(self.host.db(), self.file, self.offset);
        assert_eq!(marked.iter().map(|marked| marked.range).collect::<Vec<_>>(), here.collect::<Vec<_>>());
    }
}

#[test]
fn imports_are_shown_with_their_contract_and_version() {
    opened("let r = rese$0arch(topic: \"x\")").check_hover(expect![[r#"
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
    "#]]);
    opened("use \"https://example.com/flows/rev$0iew.prose\" as again").check_hover(expect![[r#"
        ```prose
        use "https://example.com/flows/review.prose" as again
        ```

        https://example.com/flows/review.prose, fetched 2026-03-01T12:00:00Z, SHA-256 0123456789ab

        Inputs:
        - `text`: What to review

        Outputs:
        - `verdict`
    "#]]);
}

#[test]
fn inputs_and_outputs_are_shown_with_where_they_come_from() {
    opened("let r = research(top$0ic: \"x\")").check_hover(expect![[r#"
        ```prose
        input topic: "What to research"
        ```

        input `topic` of `alice/research`, line 3

        https://registry.example/programs/alice/research, fetched 2026-03-01T12:00:00Z, SHA-256 0123456789ab
    "#]]);
    opened("let r = research(topic: \"x\")\nsession \"{r.sour$0ces}\"").check_hover(expect![[r#"
        ```prose
        output sources = found.list
        ```

        output `sources` of `alice/research`, line 7

        https://registry.example/programs/alice/research, fetched 2026-03-01T12:00:00Z, SHA-256 0123456789ab
    "#]]);
    opened("let r$0 = research(topic: \"x\")").check_hover(expect![[r#"
        ```prose
        let r = research(topic: "x")
        ```

        variable `r`, line 3

        A result of `alice/research`, with `findings`, `sources`
    "#]]);
    opened("let { find$0ings } = research(topic: \"x\")").check_hover(expect![[r#"
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
    "#]]);
}

#[test]
fn definitions_lie_in_the_files_that_show_what_was_fetched() {
    opened("let r = rese$0arch(topic: \"x\")").check_definition(expect![[r#"
        /cache/alice/research.prose:1: «»# Finds out what is known.
    "#]]);
    opened("use \"alice/rese$0arch\" as again").check_definition(expect![[r#"
        /cache/alice/research.prose:1: «»# Finds out what is known.
    "#]]);
    opened("let r = research(top$0ic: \"x\")").check_definition(expect![[r#"
        /cache/alice/research.prose:3: input «topic»: "What to research"
    "#]]);
    opened("let r = research(topic: \"x\")\nsession \"{r.sour$0ces}\"").check_definition(expect![[r#"
        /cache/alice/research.prose:7: output «sources» = found.list
    "#]]);
    opened("let { find$0ings } = research(topic: \"x\")").check_definition(expect![[r#"
        /cache/alice/research.prose:6: output «findings» = session "Sum up {found.list}"
    "#]]);
}

#[test]
fn references_are_found_in_all_programs_that_import_one() {
    let main = "let r = research(topic: \"x\")\nsession \"{r.find$0ings}\"\nlet { findings } = research(topic: \"y\")";
    opened(main).check_references(expect![[r#"
        /cache/alice/research.prose:6: output «findings» = session "Sum up {found.list}"
        /cache/example.com/flows/review.prose:3: let { «findings» } = research(topic: text)
        /main.prose:4: session "{r.«findings»}"
        /main.prose:5: let { «findings» } = research(topic: "y")
    "#]]);
    opened("let r = research(top$0ic: \"x\")").check_references(expect![[r#"
        /cache/alice/research.prose:3: input «topic»: "What to research"
        /cache/alice/research.prose:5: let found = look(about: «topic»)
        /cache/example.com/flows/review.prose:3: let { findings } = research(«topic»: text)
        /main.prose:3: let r = research(«topic»: "x")
    "#]]);
}

#[test]
fn imports_of_imports_work_likewise() {
    let inside = |word: &str| {
        let marked = word.split_at(1);
        opened_with("", &PROGRAMS.replacen(word, &format!("{}$0{}", marked.0, marked.1), 1))
    };
    inside("look(about").check_hover(expect![[r#"
        ```prose
        use "./sources" as look
        ```

        https://registry.example/programs/alice/sources, fetched 2026-03-01T12:00:00Z, SHA-256 0123456789ab

        Lists sources.

        Inputs:
        - `about`: What they are about

        Outputs:
        - `list`
    "#]]);
    inside("look(about").check_definition(expect![[r#"
        /cache/registry.example/programs/alice/sources.prose:1: «»# Lists sources.
    "#]]);
    inside("about: topic").check_hover(expect![[r#"
        ```prose
        input about: "What they are about"
        ```

        input `about` of `https://registry.example/programs/alice/sources`, line 2

        Lists sources.

        https://registry.example/programs/alice/sources, fetched 2026-03-01T12:00:00Z, SHA-256 0123456789ab
    "#]]);
    inside("about: topic").check_definition(expect![[r#"
        /cache/registry.example/programs/alice/sources.prose:2: input «about»: "What they are about"
    "#]]);
    inside("list}").check_definition(expect![[r#"
        /cache/registry.example/programs/alice/sources.prose:3: output «list» = session "List sources on {about}"
    "#]]);
    inside("list}").check_references(expect![[r#"
        /cache/registry.example/programs/alice/sources.prose:3: output «list» = session "List sources on {about}"
        /cache/alice/research.prose:6: output findings = session "Sum up {found.«list»}"
        /cache/alice/research.prose:7: output sources = found.«list»
    "#]]);
    inside("findings } =").check_definition(expect![[r#"
        /cache/alice/research.prose:6: output «findings» = session "Sum up {found.list}"
    "#]]);
}

//! Every name of every program can be changed and changed back, and nothing else changes with it.

use std::collections::HashSet;
use std::path::Path;
use std::time::Duration;

use prose_fixture::time::processor_time;

use crate::support::{official_programs, samples, with_names};
use proptest::prelude::*;
use prose_analysis::diagnostics::diagnostics;
use prose_analysis::{AnalysisHost, SourceFile, Text};
use prose_ide::{FileEdits, prepare_rename, rename};
use prose_syntax::{Fix, Severity, SyntaxKind, TextEdit, TextRange, TextSize, fix};

const FRESH: &str = "fresh_name1";

/// One program with nothing around it.
struct Program {
    host: AnalysisHost,
    file: SourceFile,
}

impl Program {
    fn new(text: &str) -> Self {
        let mut host = AnalysisHost::default();
        let file = host.set_text(Path::new("/main.prose"), Text::new(text));
        host.load_imports(file, |_| None);
        Self { host, file }
    }

    fn text(&self) -> &str {
        self.file.text(self.host.db()).as_str()
    }

    fn renamed(&self, offset: TextSize, name: &str) -> Result<(String, Vec<TextEdit>), String> {
        let edits = rename(self.host.db(), &[self.file], self.file, offset, name);
        match edits.map_err(|refusal| refusal.reason)?.as_slice() {
            [] => Ok((self.text().to_owned(), Vec::new())),
            [FileEdits { file, edits }] => {
                assert_eq!(*file, self.file);
                Ok((applied(self.text(), edits.clone()), edits.clone()))
            }
            more => panic!("there is one file, but {more:#?} are edited"),
        }
    }

    /// How many diagnostics there are of each kind.
    fn counts(&self) -> (usize, usize) {
        let found = diagnostics(self.host.db(), self.file);
        let errors = found.iter().filter(|diagnostic| diagnostic.severity() == Severity::Error);
        (errors.count(), found.len())
    }
}

#[track_caller]
fn applied(text: &str, edits: Vec<TextEdit>) -> String {
    if edits.is_empty() {
        return text.to_owned();
    }
    let fix = Fix::safe("Rename", edits);
    let applied = fix::apply(text, [&fix]);
    assert_eq!(applied.applied, [0], "edits overlap: {fix:#?}");
    applied.text
}

/// Which diagnostics there are to be as many of as before, once something has a fresh name. What is told of words that mean nothing, or of
/// lines that were not understood, depends on the names around them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kept {
    None,
    Errors,
    All,
}

/// Renames each thing that a text names to a fresh name and back. Returns how many there were, and why some were refused.
#[track_caller]
fn rename_all(text: &str, kept: Kept) -> (usize, Vec<String>) {
    let program = Program::new(text);
    let (errors, all) = program.counts();
    let parsed = prose_syntax::parse(text).syntax();
    let tokens = parsed.descendants_with_tokens().filter_map(|element| element.into_token());
    let words: Vec<TextRange> = tokens
        .filter(|token| token.kind() == SyntaxKind::IDENT || token.kind().is_keyword())
        .map(|token| token.text_range())
        .collect();
    let (mut seen, mut renamed, mut refused) = (HashSet::new(), 0, Vec::new());
    for word in words {
        let Ok(prepared) = prepare_rename(program.host.db(), program.file, word.start()) else { continue };
        assert_eq!(prepared.placeholder, text[prepared.range], "{prepared:?} of {text:?}");
        if !seen.insert(prepared.range) {
            continue;
        }
        let context = || format!("`{}` at {:?} of\n{text}", prepared.placeholder, prepared.range);
        let (fresh, edits) = match program.renamed(word.start(), FRESH) {
            Ok(renamed) => renamed,
            Err(reason) => {
                refused.push(format!("{}: {reason}", prepared.placeholder));
                continue;
            }
        };
        seen.extend(edits.iter().map(|edit| edit.range));
        let offset = fresh.find(FRESH).map(|at| TextSize::new(at as u32)).expect("the name is there");
        let fresh = Program::new(&fresh);
        let (fresh_errors, fresh_all) = fresh.counts();
        assert!(
            kept < Kept::Errors || fresh_errors == errors,
            "other errors with {}\n{}",
            context(),
            fresh.text()
        );
        assert!(
            kept < Kept::All || fresh_all == all,
            "other diagnostics with {}\n{}",
            context(),
            fresh.text()
        );
        let (back, _) = match fresh.renamed(offset, &prepared.placeholder) {
            Ok(back) => back,
            Err(reason) => panic!("not renamed back, since {reason}: {}\n{}", context(), fresh.text()),
        };
        // A key or an alias that has become necessary stays, with the name that it had without being written.
        let mut stays: Vec<TextEdit> = edits.into_iter().filter(|edit| edit.range.is_empty()).collect();
        for edit in &mut stays {
            edit.new_text = edit.new_text.replace(FRESH, &prepared.placeholder);
        }
        assert_eq!(back, applied(text, stays), "{}", context());
        renamed += 1;
    }
    (renamed, refused)
}

#[test]
fn every_name_of_the_samples_is_renamed_and_renamed_back() {
    let mut count = 0;
    for (path, text) in samples() {
        let (renamed, refused) = rename_all(&text, Kept::All);
        assert!(refused.is_empty(), "{}: {refused:#?}", path.display());
        count += renamed;
    }
    assert!(count > 50, "only {count} names were renamed");
}

#[test]
fn names_that_are_used_often_are_renamed_at_once() {
    let uses = |indent: &str, count: usize| {
        format!("{indent}session \"{{topic}} of {{r.topic}}\"\n{indent}  context: [topic, r]\n").repeat(count)
    };
    let in_file = format!("input topic: \"x\"\nlet r = topic\n{}", uses("", 10_000));
    let in_block = format!("block b(topic, r):\n{}", uses("  ", 2_000));
    for (text, at) in [(in_file, 6), (in_block, 8)] {
        let program = Program::new(&text);
        let mut found = None;
        let elapsed = processor_time(|| found = program.renamed(TextSize::new(at), FRESH).ok());
        let (renamed, edits) = found.expect("it can be renamed");
        println!("{} edits in {elapsed:?}", edits.len());
        assert_eq!(renamed, text.replace("topic", FRESH).replace("r.fresh_name1", "r.topic"));
        assert!(elapsed < Duration::from_secs(20), "{elapsed:?}");
    }
}

#[test]
#[ignore = "needs the official programs, see tests/fetch-official-programs"]
fn every_name_of_the_official_programs_is_renamed_and_renamed_back() {
    let (mut count, mut all_refused) = (0, Vec::new());
    for (path, text) in official_programs() {
        let (renamed, refused) = rename_all(&text, Kept::Errors);
        count += renamed;
        all_refused.extend(refused.into_iter().map(|reason| format!("{}: {reason}", path.display())));
    }
    println!("{count} names were renamed; refused were {all_refused:#?}");
    assert!(count > 500, "only {count} names were renamed");
    assert!(all_refused.len() * 50 < count, "{all_refused:#?}");
}

/// Statements that bind and use names in every way, with `A`, `B` and `C` for names.
const STATEMENTS: &[&str] = &[
    "input A: \"about {B}\"\n",
    "let A = session \"Use {B}\"\n",
    "let A = { B, C: B, key: A }\n",
    "const A = [B, 1]\n",
    "A = B + 1\n",
    "output A = B\n",
    "let { A, B } = do C(\"x\")\n",
    "let { A, B } = parallel:\n  A = session \"x\"\n  B = session \"y\"\n",
    "let C = parallel:\n  A = session \"x\"\n  B = session \"y\"\nsession \"{C.A} {C.B}\"\n",
    "agent A:\n  prompt: \"{B} {C}\"\n",
    "let A = session: B\n  context: { A, C }\n",
    "resume: A\n  context: A\n",
    "block A(B):\n  let C = session \"{B} {A}\"\n  output B = C\n  output C = B\n",
    "block A(B, C) (max_depth: 2):\n  A = B\n  do A(B: C, C: B)\n",
    "let A = do B(C: A)\nsession \"{A.B} {A.C}\"\n",
    "for A, B in C:\n  session \"{A} {B}\"\n  A = C\n",
    "parallel for A in [B]:\n  let C = A\n",
    "repeat 3 as A:\n  session \"{A} {B}\"\n",
    "loop until **{A} and {B}** (max: 3) as C:\n  session \"{C}\"\n",
    "try:\n  throw A\ncatch as B:\n  session \"{B.message} {C}\"\n",
    "let A = B | map:\n  session \"{item} {C}\"\n",
    "let A = B | reduce(C, A):\n  session \"{C} {A}\"\n",
    "session \"\"\"\n  {A} {B.C} {other[A]}\n\"\"\"\n",
    "use \"./main.prose\" as A\nlet B = A(B: C)\nsession \"{B.C}\"\n",
    "use \"alice/x\" as A\nlet B = A(B: C)\nsession \"{B.C}\"\n",
    "if **{A}**:\n  let B = C\nelse:\n  let B = A\n",
];

const NAMES: &[&str] = &["x", "y", "depth", "context", "item"];

fn generated() -> impl Strategy<Value = String> {
    let names = prop::sample::select(NAMES);
    let statement = (prop::sample::select(STATEMENTS), names.clone(), names.clone(), names);
    prop::collection::vec(statement, 1..12).prop_map(|statements| {
        // So each name is bound, and what is told of it depends on no others.
        let mut text: String = NAMES.iter().map(|name| format!("input {name}: \"x\"\n")).collect();
        text.extend(statements.into_iter().map(|(statement, a, b, c)| with_names(statement, [a, b, c])));
        text
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 50, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_name_of_generated_programs_is_renamed_and_renamed_back(text in generated()) {
        let (_, refused) = rename_all(&text, Kept::Errors);
        prop_assert!(refused.is_empty(), "{refused:#?} in\n{text}");
    }

    /// What is renamed in a program that is being typed is still what was meant, or it is rejected.
    #[test]
    fn names_of_broken_programs_are_renamed_and_renamed_back(
        text in generated(),
        at in any::<prop::sample::Index>(),
        length in 0_usize..6,
        piece in prop::sample::select(vec!["", "\"", "\"\"\"", "{", "}", "(", "\n", "\n  ", ":", "=", "é", "x", "use \"./x"]),
    ) {
        let mut text = text;
        let start = at.index(text.len() + 1);
        let end = (start + length).min(text.len());
        text.replace_range(start..end, piece);
        rename_all(&text, Kept::None);
    }
}

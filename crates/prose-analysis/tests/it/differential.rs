//! The incremental answer is the answer: after any edits, what a database has kept up with is what a fresh one finds.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseResult, TestRng, TestRunner};
use prose_analysis::diagnostics::diagnostics;
use prose_analysis::resolve::resolve;
use prose_analysis::statements::{Placed, parse, statements, summary};
use prose_analysis::{AnalysisHost, SourceFile, Text};
use prose_syntax::{Diagnostic, TextRange, TextSize};

/// Programs that use each other, with something of everything.
const PROGRAMS: &[(&str, &str)] = &[
    ("/main.prose", include_str!("../programs/main.prose")),
    ("/research.prose", include_str!("../programs/research.prose")),
    ("/report.prose", include_str!("../programs/report.prose")),
];

/// What is typed: words of the language, names of the programs, and pieces that open or close something.
const PIECES: &[&str] = &[
    "session",
    "agent",
    "block",
    "let ",
    "const ",
    "input ",
    "output ",
    "do ",
    "use ",
    "if ",
    "else:\n",
    "loop:\n",
    "parallel:\n",
    "for x in ",
    "try:\n",
    "catch:\n",
    "choice **c**:\n",
    "option \"o\":\n",
    "writer",
    "topic",
    "findings",
    "improve",
    "research",
    "notes",
    "draft",
    ":",
    "=",
    "\"",
    "\"\"\"",
    "**",
    "{topic}",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    ", ",
    "\n",
    "\n  ",
    "\n\n",
    "  ",
    "# c",
    "# prose: ignore[E119]\n",
    "persist: true\n",
    "context: ",
    "model: opus\n",
    "x",
    "3",
    "é",
    "\r\n",
];

#[derive(Debug, Clone)]
enum Edit {
    /// Puts a piece somewhere.
    Insert { at: usize, piece: &'static str },
    /// Removes some bytes.
    Delete { at: usize, length: usize },
    /// Copies a line to somewhere else.
    CopyLine { from: usize, to: usize },
    /// Removes a line.
    DeleteLine { at: usize },
}

fn edit() -> impl Strategy<Value = (usize, Edit)> {
    let edit = prop_oneof![
        4 => (any::<usize>(), 0..PIECES.len()).prop_map(|(at, piece)| Edit::Insert { at, piece: PIECES[piece] }),
        3 => (any::<usize>(), 1..12usize).prop_map(|(at, length)| Edit::Delete { at, length }),
        1 => (any::<usize>(), any::<usize>()).prop_map(|(from, to)| Edit::CopyLine { from, to }),
        1 => any::<usize>().prop_map(|at| Edit::DeleteLine { at }),
    ];
    (0..PROGRAMS.len(), edit)
}

/// The replaced bytes and what takes their place.
fn splice(text: &str, edit: &Edit) -> (std::ops::Range<usize>, String) {
    let boundary = |at: usize| {
        let at = at % (text.len() + 1);
        (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
    };
    let line = |at: usize| {
        let at = boundary(at);
        let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
        let end = text[at..].find('\n').map_or(text.len(), |newline| at + newline + 1);
        start..end
    };
    match edit {
        Edit::Insert { at, piece } => (boundary(*at)..boundary(*at), (*piece).to_owned()),
        Edit::Delete { at, length } => {
            let start = boundary(*at);
            let end = (start + length).min(text.len());
            let end = (end..=text.len()).find(|end| text.is_char_boundary(*end)).unwrap_or(text.len());
            (start..end, String::new())
        }
        Edit::CopyLine { from, to } => {
            let to = line(*to).start;
            (to..to, text[line(*from)].to_owned())
        }
        Edit::DeleteLine { at } => (line(*at), String::new()),
    }
}

fn size(bytes: usize) -> TextSize {
    TextSize::new(bytes as u32)
}

/// Replaces a part of a program.
fn replace(
    host: &mut AnalysisHost,
    path: &str,
    text: &mut String,
    replaced: std::ops::Range<usize>,
    inserted: &str,
) {
    let file = host.file(Path::new(path)).unwrap();
    let before = Arc::clone(parse(host.db(), file));
    let range = TextRange::new(size(replaced.start), size(replaced.end));
    text.replace_range(replaced, inserted);
    host.set_text(Path::new(path), Text::edited(&**text, before, range, TextSize::of(inserted)));
}

/// Runs edits of random cases.
fn run<E: Strategy>(cases: u32, edits: usize, edit: E, test: impl Fn(Vec<E::Value>) -> TestCaseResult) {
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let mut runner = TestRunner::new_with_rng(config, rng);
    if let Err(error) = runner.run(&prop::collection::vec(edit, edits), test) {
        panic!("{error}");
    }
}

#[test]
fn thousands_of_edits_leave_what_a_fresh_database_finds() {
    run(50, 50, edit(), |edits| {
        let mut host = AnalysisHost::default();
        let mut texts: Vec<String> = PROGRAMS.iter().map(|(_, text)| (*text).to_owned()).collect();
        let files: Vec<_> =
            PROGRAMS.iter().map(|(path, text)| host.set_text(Path::new(path), Text::new(*text))).collect();
        for (program, edit) in &edits {
            let (replaced, inserted) = splice(&texts[*program], edit);
            replace(&mut host, PROGRAMS[*program].0, &mut texts[*program], replaced, &inserted);

            let mut fresh = AnalysisHost::default();
            let fresh_files: Vec<_> = PROGRAMS
                .iter()
                .zip(&texts)
                .map(|((path, _), text)| fresh.set_text(Path::new(path), Text::new(&**text)))
                .collect();
            let missing = |_: &Path| None;
            for (file, fresh_file) in files.iter().zip(&fresh_files) {
                host.load_imports(*file, missing);
                fresh.load_imports(*fresh_file, missing);
            }
            for (file, fresh_file) in files.iter().zip(fresh_files) {
                prop_assert_eq!(
                    diagnostics(host.db(), *file),
                    diagnostics(fresh.db(), fresh_file),
                    "in\n{}",
                    texts.join("\n//-\n")
                );
            }
        }
        Ok(())
    });
}

/// A program of many chunks, whose parts name each other.
fn long_program() -> String {
    let part = |index: usize| {
        let (before, behind) = (index.saturating_sub(3), index + 3);
        format!(
            r#"# Part {index}.
agent writer_{index}:
  prompt: "Write part {index}"
let draft_{index} = session: writer_{index}
  prompt: "Write about {{draft_{before}}}"
session "Use {{draft_{index}}} for part {index}"
block improve_{index}(text):
  let better = session "Improve {{text}} after {{draft_{before}}}"
  do improve_{behind}(better)
do improve_{before}(draft_{index})
session "Say that part {index} is done"
"#
        )
    };
    (0..30).map(part).collect()
}

/// What is done to a program of many statements.
#[derive(Debug, Clone)]
enum Change {
    /// Puts a new statement above another one.
    Insert(usize, usize),
    /// Removes a statement.
    Delete(usize),
    /// Takes a statement to another place.
    Move(usize, usize),
    /// Repeats a statement at another place.
    Duplicate(usize, usize),
    /// Types into a line.
    Type(usize, &'static str),
    /// Has the whole text read again, as from a disk.
    Reload,
}

const NEW: &[&str] = &[
    "let extra = session \"Write more\"\n",
    "session \"Read the draft again\"\n",
    "use \"./other.prose\"\n",
    "agent writer_7:\n  model: opus\n",
    "block improve_9(text):\n  session \"Leave {text} alone\"\n",
    "output result = draft_5\n",
    "let draft_5 = \"once more\"\n",
    "throw \"It ends here\"\n",
    "if **the draft_3 is good**:\n  session \"Praise {draft_3}\"\n",
    "?? nothing that is known\n",
];

fn change() -> impl Strategy<Value = Change> {
    let at = any::<usize>;
    prop_oneof![
        3 => (at(), 0..NEW.len()).prop_map(|(at, new)| Change::Insert(at, new)),
        3 => at().prop_map(Change::Delete),
        2 => (at(), at()).prop_map(|(from, to)| Change::Move(from, to)),
        2 => (at(), at()).prop_map(|(from, to)| Change::Duplicate(from, to)),
        2 => (at(), 0..PIECES.len()).prop_map(|(at, piece)| Change::Type(at, PIECES[piece])),
        1 => Just(Change::Reload),
    ]
}

/// The lines of the statement around a place: from one that is not indented to the next.
fn statement_lines(text: &str, at: usize) -> std::ops::Range<usize> {
    let starts = text.match_indices('\n').map(|(at, _)| at + 1);
    let is_start = |at: &usize| text[*at..].starts_with(|first: char| !first.is_whitespace());
    let starts: Vec<usize> = std::iter::once(0).chain(starts.filter(is_start)).collect();
    let nth = at % starts.len();
    starts[nth]..starts.get(nth + 1).copied().unwrap_or(text.len())
}

#[test]
fn statements_that_come_go_and_move_leave_what_a_fresh_database_finds() {
    const PATH: &str = "/long.prose";
    run(12, 30, change(), |changes| {
        let mut host = AnalysisHost::default();
        let mut text = long_program();
        let file = host.set_text(Path::new(PATH), Text::new(&*text));
        for change in changes {
            let lines = |at| statement_lines(&text, at);
            let edits = match change {
                Change::Insert(at, new) => vec![(lines(at).start..lines(at).start, NEW[new].to_owned())],
                Change::Delete(at) => vec![(lines(at), String::new())],
                Change::Duplicate(from, to) => {
                    vec![(lines(to).start..lines(to).start, text[lines(from)].to_owned())]
                }
                Change::Move(from, to) => {
                    let (from, to) = (lines(from), lines(to).start);
                    let copy = (to..to, text[from.clone()].to_owned());
                    // The later one first, so that the other stays where it is.
                    if to > from.start {
                        vec![copy, (from, String::new())]
                    } else {
                        vec![(from, String::new()), copy]
                    }
                }
                Change::Type(at, piece) => {
                    let at = lines(at).end.saturating_sub(2);
                    let at = (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
                    vec![(at..at, piece.to_owned())]
                }
                Change::Reload => {
                    host.set_text(Path::new(PATH), Text::new(&*text));
                    Vec::new()
                }
            };
            for (replaced, inserted) in edits {
                replace(&mut host, PATH, &mut text, replaced, &inserted);
            }
            let mut fresh = AnalysisHost::default();
            let fresh_file = fresh.set_text(Path::new(PATH), Text::new(&*text));
            prop_assert_eq!(known(&host, file), known(&fresh, fresh_file), "in\n{}", text);
        }
        Ok(())
    });
}

/// What is known of a program: where its statements start, what they say and use, and what is wrong with it.
fn known(host: &AnalysisHost, file: SourceFile) -> (Vec<String>, Arc<[Diagnostic]>) {
    let db = host.db();
    let statement = |placed: &Placed<'_>| {
        let Placed { statement, start } = *placed;
        assert_eq!(statement.start(db), Some(start.into()));
        format!("{start} {:?} {:?}", summary(db, statement), resolve(db, statement))
    };
    (statements(db, file).list.iter().map(statement).collect(), Arc::clone(diagnostics(db, file)))
}

#[test]
fn the_programs_start_without_errors() {
    let mut host = AnalysisHost::default();
    for (path, text) in PROGRAMS {
        host.set_text(&PathBuf::from(path), Text::new(*text));
    }
    for (path, _) in PROGRAMS {
        let file = host.file(Path::new(path)).unwrap();
        host.load_imports(file, |_| None);
        let found = diagnostics(host.db(), file);
        assert!(
            found.iter().all(|found| !found.code.as_str().starts_with('E') || found.lenient),
            "{found:#?}"
        );
    }
}

//! The incremental answer is the answer: after any edits, what a database has kept up with is what a fresh one finds.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use prose_analysis::diagnostics::diagnostics;
use prose_analysis::statements::parse;
use prose_analysis::{AnalysisHost, Text};
use prose_syntax::{TextRange, TextSize};

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

#[test]
fn ten_thousand_edits_leave_what_a_fresh_database_finds() {
    const CASES: u32 = 200;
    const EDITS: usize = 50;
    let config = Config { cases: CASES, failure_persistence: None, ..Config::default() };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let mut runner = TestRunner::new_with_rng(config, rng);
    let edits = prop::collection::vec(edit(), EDITS);
    let result = runner.run(&edits, |edits| {
        let mut host = AnalysisHost::default();
        let mut texts: Vec<String> = PROGRAMS.iter().map(|(_, text)| (*text).to_owned()).collect();
        let files: Vec<_> =
            PROGRAMS.iter().map(|(path, text)| host.set_text(Path::new(path), Text::new(*text))).collect();
        for (program, edit) in &edits {
            let (replaced, inserted) = splice(&texts[*program], edit);
            let range = TextRange::new(size(replaced.start), size(replaced.end));
            let before = Arc::clone(parse(host.db(), files[*program]));
            texts[*program].replace_range(replaced, &inserted);
            let text = Text::edited(&*texts[*program], before, range, TextSize::of(&*inserted));
            host.set_text(Path::new(PROGRAMS[*program].0), text);

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
    if let Err(error) = result {
        panic!("{error}");
    }
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

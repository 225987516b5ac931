//! Broken programs: what somebody types, pastes and deletes, and what no person would write.

use std::fs;
use std::ops::Range;

use fastrand::Rng;
use prose_tests::repository;

/// A replacement of some bytes.
#[derive(Debug)]
pub(crate) struct Edit {
    pub(crate) range: Range<usize>,
    pub(crate) inserted: String,
}

/// What is inserted: each starts something, ends something, or stands where it cannot.
const PIECES: &[&str] = &[
    "\"",
    "\"\"\"",
    "**",
    "***",
    "****",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "{name}",
    "{a.b[0]}",
    "{a",
    "\\",
    "\\\"",
    ":",
    ",",
    ".",
    "...",
    "|",
    "->",
    "=",
    "==",
    "-",
    "?",
    "#",
    "# comment\n",
    "\n",
    "\r\n",
    "\r",
    "\n\n",
    "  ",
    "\t",
    " ",
    "\n  ",
    "\n    ",
    "\n\t",
    "\u{feff}",
    "é",
    "変数",
    "😀",
    "\u{a0}",
    "\0",
    "'",
    "`",
    "$",
    ";",
    "session",
    "session ",
    "resume: a",
    "agent a:",
    "do ",
    "do:",
    "let x = ",
    "if ",
    "elif **x**:",
    "else:",
    "\nelse:\n",
    "try:",
    "catch:",
    "\ncatch as e:\n",
    "finally:",
    "loop ",
    "repeat 3:",
    "for x in xs:",
    "parallel:",
    "choice **a**:",
    "option \"a\":",
    "| map:",
    "\n| filter:\n",
    "reduce(a, b):",
    "block b(",
    "input x: ",
    "output ",
    "use \"a\" as ",
    "prompt: \"\"\"\n",
    "context: {",
    "permissions:\n",
    "as ",
    "and ",
    "not ",
    "true",
    "1",
    "1.5",
    "120s",
    "max: 3",
    "(max: 3)",
    "f(",
    "a-b",
];

impl Edit {
    /// An edit somewhere in `text`.
    pub(crate) fn random(text: &str, random: &mut Rng) -> Edit {
        let at = text.floor_char_boundary(random.usize(..=text.len()));
        let piece = PIECES[random.usize(..PIECES.len())].to_owned();
        let line = line_at(text, at);
        match random.u8(..12) {
            0..=4 => Edit { range: at..at, inserted: piece },
            5..=6 => {
                let end = text.ceil_char_boundary((at + random.usize(1..=12)).min(text.len()));
                Edit { range: at..end, inserted: String::new() }
            }
            7 => {
                let end = text.ceil_char_boundary((at + random.usize(1..=60)).min(text.len()));
                Edit { range: at..end, inserted: piece }
            }
            // A line twice, no more, deeper, or less deep.
            8 => Edit { range: line.end..line.end, inserted: text[line].to_owned() },
            9 => Edit { range: line, inserted: String::new() },
            10 => Edit { range: line.start..line.start, inserted: " ".repeat(random.usize(1..=5)) },
            _ => {
                let indent = text[line.clone()].len() - text[line.clone()].trim_start_matches(' ').len();
                Edit { range: line.start..line.start + random.usize(..=indent), inserted: String::new() }
            }
        }
    }

    pub(crate) fn apply(&self, text: &mut String) {
        text.replace_range(self.range.clone(), &self.inserted);
    }
}

/// The line in which `at` stands, with its newline.
fn line_at(text: &str, at: usize) -> Range<usize> {
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let end = text[at..].find('\n').map_or(text.len(), |newline| at + newline + 1);
    start..end
}

/// `program` after some edits, now and then with other line ends, with tabs, or cut off.
pub(crate) fn mutant(program: &str, random: &mut Rng) -> String {
    let mut text = program.to_owned();
    for _ in 0..random.usize(1..=6) {
        Edit::random(&text, random).apply(&mut text);
    }
    match random.u8(..10) {
        0 => text = text.replace('\n', "\r\n"),
        1 => text = text.replace("  ", "\t"),
        2 => text.truncate(text.floor_char_boundary(random.usize(..=text.len()))),
        3 => text.insert(0, '\u{feff}'),
        4 => text = text.trim_end().to_owned(),
        _ => {}
    }
    text
}

/// The programs of this repository.
pub(crate) fn programs() -> Vec<String> {
    let mut paths = Vec::new();
    for folder in ["examples", "examples/library", "crates/prose-syntax/tests/programs"] {
        let entries = fs::read_dir(repository().join(folder)).unwrap().map(|entry| entry.unwrap().path());
        paths.extend(entries.filter(|path| path.extension().is_some_and(|extension| extension == "prose")));
    }
    paths.sort();
    assert!(paths.len() >= 16, "{paths:?}");
    paths.iter().map(|path| fs::read_to_string(path).unwrap()).collect()
}

/// What stands before a text that repeats a unit.
pub(crate) const OPENERS: &[&str] = &[
    "",
    "\"",
    "\"\"\"\n",
    "if **a\n",
    "***\n",
    "f(\n  ",
    "let x = [",
    "session \"a\"\n  ",
    "agent a:\n  prompt: \"\"\"\n",
];

/// What a text repeats: each starts a rule that cannot end, or makes the scanner look ahead.
pub(crate) const UNITS: &[&str] = &[
    " ",
    "\n",
    "\t",
    "\r",
    "#\n",
    "\n#",
    "  # a\n",
    "(",
    "[",
    "{",
    ")",
    "(\n",
    "[\n  ",
    "{a",
    "{a.",
    "{a[",
    "{a}",
    "\"",
    "\"\"\"",
    "\"\"\"\n",
    "\\",
    "*",
    "**",
    "***",
    "** ",
    "a **\n",
    "*** a\n",
    "if **a\n",
    "if **a:\n",
    "a: \"\"\"\n",
    "  a: \"\"\"\n",
    "\"a",
    "-",
    "->",
    "|",
    "| map:",
    "\n| map:\n",
    "a",
    "a-",
    "a.",
    "a(",
    "a[",
    "a ",
    "a, ",
    "a = ",
    "a\n",
    "a:\n",
    "a + ",
    "a ? ",
    "not ",
    "-a",
    "session ",
    "session \"a\" -> ",
    "session\n",
    "do ",
    "do:\n",
    "if a:\n",
    "else:\n",
    "try:\n",
    "catch:\n",
    "let ",
    "let a = 1\n",
    "let a = [\n",
    "x = f(1,\n",
    "é",
    "\0",
    "1",
    "1.",
    "12s",
    "...",
    "\n  a\n a\n",
    "if a:\n  b\n",
    "option \"a\":\n",
    ":",
    ",",
    "=",
    ";",
    "'",
    "as ",
    "input ",
    "output ",
];

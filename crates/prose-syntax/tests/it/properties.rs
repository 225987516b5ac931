//! What holds for every text: programs with random mistakes, tokens in random order, and any characters at all.

use std::sync::LazyLock;

use crate::invariants::isolation::{Lines, Original};
use crate::invariants::programs::{self, Program};
use crate::invariants::{check_fix_all, check_parse, check_reparse};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::Config;
use prose_syntax::FixSafety;

static PROGRAMS: LazyLock<Vec<Program>> = LazyLock::new(programs::all);

/// Tokens, halves of tokens, and what editors and other languages leave after.
const TOKENS: &[&str] = &[
    "use ",
    "import ",
    "from ",
    "input ",
    "output ",
    "agent ",
    "block ",
    "let ",
    "const ",
    "session ",
    "resume ",
    "do ",
    "parallel",
    "repeat ",
    "for ",
    " in ",
    "loop ",
    "until ",
    "while ",
    "try:",
    "catch ",
    "finally:",
    "throw ",
    "choice ",
    "option ",
    "if ",
    "elif ",
    "else:",
    "return ",
    "break",
    "continue",
    "assert ",
    " and ",
    " or ",
    "not ",
    " is ",
    " as ",
    "true",
    "null",
    "prompt: ",
    "context: ",
    "permissions:",
    "name",
    "a-b",
    "12",
    "1.5",
    "30s",
    "\"",
    "\"text\"",
    "\"\"\"",
    "\"{name}",
    "'",
    "'x'",
    "**",
    "***",
    "**so**",
    "->",
    "==",
    "!=",
    "<=",
    ">",
    "=",
    "+",
    "-",
    "*",
    "/",
    "|",
    "| map:",
    "| reduce(a, b):",
    ":",
    ",",
    ".",
    "...",
    "?",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "#",
    "//",
    "\\",
    "\\\"",
    ";",
    "@",
    "`",
    "“",
    "é",
    "日本",
    "🙂",
    "\u{FEFF}",
    "\0",
    "\u{7f}",
    "\t",
    " ",
    "    ",
    "\n",
    "\n  ",
    "\n    ",
    "\n\n",
    "\r\n",
    "\r",
    "\u{2028}",
    "\u{a0}",
];

fn token() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => select(TOKENS).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
    ]
}

fn tokens() -> impl Strategy<Value = String> {
    vec(token(), 0..60).prop_map(|tokens| tokens.concat())
}

#[derive(Debug, Clone)]
enum Mutation {
    DeleteLine(Index),
    DuplicateLine(Index, Index),
    SwapLines(Index, Index),
    Indent(Index, usize),
    Insert(Index, String),
    Delete(Index, usize),
    Truncate(Index),
    CarriageReturns(&'static str),
    ByteOrderMark,
    Tabs,
}

fn mutation() -> impl Strategy<Value = Mutation> {
    use Mutation::*;
    prop_oneof![
        4 => any::<Index>().prop_map(DeleteLine),
        2 => any::<(Index, Index)>().prop_map(|(from, to)| DuplicateLine(from, to)),
        2 => any::<(Index, Index)>().prop_map(|(a, b)| SwapLines(a, b)),
        2 => (any::<Index>(), 0..7usize).prop_map(|(line, columns)| Indent(line, columns)),
        8 => (any::<Index>(), token()).prop_map(|(at, token)| Insert(at, token)),
        4 => (any::<Index>(), 1..30usize).prop_map(|(at, len)| Delete(at, len)),
        1 => any::<Index>().prop_map(Truncate),
        1 => select(vec!["\r\n", "\r"]).prop_map(CarriageReturns),
        1 => Just(ByteOrderMark),
        1 => Just(Tabs),
    ]
}

/// The character boundary at `index`.
fn boundary(text: &str, index: &Index) -> usize {
    text.floor_char_boundary(index.index(text.len() + 1))
}

impl Mutation {
    fn apply(&self, text: &mut String) {
        let lines = Lines::new(text);
        let line = |index: &Index| {
            let range = lines.range(index.index(lines.len()));
            range.start..(range.end + 1).min(text.len())
        };
        match self {
            Mutation::DeleteLine(at) => {
                let range = line(at);
                text.replace_range(range, "");
            }
            Mutation::DuplicateLine(from, to) => {
                let (copy, at) = (text[line(from)].to_owned(), line(to).start);
                text.insert_str(at, &copy);
            }
            Mutation::SwapLines(a, b) => {
                let (a, b) = (line(a), line(b));
                let (first, second) = if a.start <= b.start { (a, b) } else { (b, a) };
                if first.end <= second.start {
                    let (one, other) = (text[first.clone()].to_owned(), text[second.clone()].to_owned());
                    text.replace_range(second, &one);
                    text.replace_range(first, &other);
                }
            }
            Mutation::Indent(at, columns) => {
                let at = at.index(lines.len());
                let start = lines.range(at).start;
                let end = start + lines.indentation(at).len();
                text.replace_range(start..end, &" ".repeat(*columns));
            }
            Mutation::Insert(at, token) => text.insert_str(boundary(text, at), token),
            Mutation::Delete(at, len) => {
                let start = boundary(text, at);
                let end = text.floor_char_boundary((start + len).min(text.len()));
                text.replace_range(start..end, "");
            }
            Mutation::Truncate(at) => text.truncate(boundary(text, at)),
            Mutation::CarriageReturns(end) => *text = text.replace('\n', end),
            Mutation::ByteOrderMark => text.insert(0, '\u{FEFF}'),
            Mutation::Tabs => *text = text.replace("  ", "\t"),
        }
    }
}

fn program() -> impl Strategy<Value = &'static str> {
    any::<Index>().prop_map(|index| index.get(&PROGRAMS).text.as_str())
}

fn broken_program() -> impl Strategy<Value = String> {
    (program(), vec(mutation(), 0..8)).prop_map(|(text, mutations)| {
        let mut text = text.to_owned();
        for mutation in mutations {
            mutation.apply(&mut text);
        }
        text
    })
}

/// Text to put into a program: nothing, tokens, or lines of another.
fn inserted() -> impl Strategy<Value = String> {
    prop_oneof![
        2 => Just(String::new()),
        4 => vec(token(), 1..4).prop_map(|tokens| tokens.concat()),
        1 => (program(), any::<Index>(), 1..200usize).prop_map(|(text, at, len)| {
            let start = boundary(text, &at);
            text[start..text.floor_char_boundary((start + len).min(text.len()))].to_owned()
        }),
    ]
}

fn config() -> Config {
    // A failure is kept as a test of its own, not as a seed.
    Config { failure_persistence: None, ..Config::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn any_text_has_a_tree(text in any::<String>()) {
        check_parse(&text);
    }

    #[test]
    fn any_tokens_have_a_tree(text in tokens()) {
        check_parse(&text);
    }

    #[test]
    fn any_broken_program_has_a_tree(text in broken_program()) {
        check_parse(&text);
    }

    #[test]
    fn parsing_after_edits_gives_what_parsing_afresh_gives(
        text in broken_program(),
        edits in vec((any::<Index>(), 0..40usize, inserted()), 1..8),
    ) {
        let mut text = text;
        let mut parsed = check_parse(&text);
        for (at, len, inserted) in edits {
            let start = boundary(&text, &at);
            let end = text.floor_char_boundary((start + len).min(text.len()));
            (parsed, text) = check_reparse(&parsed, &text, start..end, &inserted);
        }
    }

    #[test]
    fn parsing_after_edits_of_tokens_gives_what_parsing_afresh_gives(
        text in tokens(),
        edits in vec((any::<Index>(), 0..8usize, inserted()), 1..8),
    ) {
        let mut text = text;
        let mut parsed = check_parse(&text);
        for (at, len, inserted) in edits {
            let start = boundary(&text, &at);
            let end = text.floor_char_boundary((start + len).min(text.len()));
            (parsed, text) = check_reparse(&parsed, &text, start..end, &inserted);
        }
    }

    #[test]
    fn fixing_ends_and_never_makes_it_worse(text in broken_program()) {
        check_fix_all(&text, FixSafety::Safe);
        check_fix_all(&text, FixSafety::Unsafe);
    }

    #[test]
    fn fixing_tokens_ends_and_never_makes_it_worse(text in tokens()) {
        check_fix_all(&text, FixSafety::Safe);
        check_fix_all(&text, FixSafety::Unsafe);
    }

    #[test]
    fn random_garbage_in_one_line_changes_nothing_elsewhere(
        text in program(),
        line in any::<Index>(),
        // Nothing that starts so is a statement. A `#` would make a comment of the line.
        rest in vec(token().prop_filter("ends the line", |token| !token.contains(['\n', '\r', '#'])), 0..6),
    ) {
        let garbage = format!("@@ {}", rest.concat());
        let original = Original::new(text);
        let lines: Vec<usize> = original.replaceable().collect();
        let line = lines[line.index(lines.len())];
        if let Some(violation) = original.violation(line, &garbage) {
            panic!("{garbage:?} for {:?}\n{violation:#?}", original.lines.get(line));
        }
    }
}

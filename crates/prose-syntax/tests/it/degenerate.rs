//! Texts of no use but to break a parser: each has a tree, within a small stack and in about linear time.

use std::time::Duration;

use prose_fixture::time::processor_time;

use crate::invariants::check_parse;
use prose_syntax::{Severity, parse};

/// The stack of a thread of the standard library. That of a main thread is larger.
const STACK: usize = 2 << 20;

/// Parses on a small stack, with everything a caller may do with the tree. Returns whether there are errors.
#[track_caller]
fn check(name: &str, text: String) -> bool {
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(move || {
        let parsed = check_parse(&text);
        let tree = parsed.syntax();
        assert!(tree.descendants().last().is_some());
        parsed.diagnostics().iter().any(|diagnostic| diagnostic.severity() == Severity::Error)
    });
    thread.unwrap().join().unwrap_or_else(|_| panic!("parsing `{name}` panics"))
}

#[test]
fn line_ends_of_every_kind() {
    for end in ["\n", "\r\n", "\r"] {
        let text =
            ["repeat 2:", "  session \"x\"", "    prompt: \"\"\"", "  Text.", "  \"\"\"", ""].join(end);
        assert!(!check("line ends", text.clone()), "{text:?}");
        assert!(!check("no final line end", text.trim_end().to_owned()), "{text:?}");
    }
    assert!(!check("a byte order mark", "\u{FEFF}session \"x\"\n".into()));
    assert!(check("a byte order mark inside", "session \"x\"\n\u{FEFF}session \"y\"\n".into()));
    assert!(check("NUL bytes", "session \"x\"\n\0\0\nsession\0\"y\"\n".into()));
    for text in ["", "\n", "\r", " ", "\u{FEFF}", "#", "\t\n  \n"] {
        assert!(!check("nothing", text.into()), "{text:?}");
    }
}

/// What a line of a megabyte is made of, and whether it is an error.
const LONG_LINES: &[(&str, bool)] = &[
    ("(", true),
    ("[", true),
    ("{", true),
    (")", true),
    ("({[", true),
    ("\"", true),
    ("\"\"\"", true),
    ("\"\"\" ", true),
    ("**", true),
    ("** ", true),
    ("***", true),
    ("*** ", true),
    ("a.", true),
    ("a", true),
    ("a ", true),
    ("a(", true),
    ("a[", true),
    ("- ", true),
    ("-", true),
    ("not ", true),
    (" ", false),
    ("\t", false),
    ("\"{a}", true),
    ("\\", true),
    ("\"\\", true),
    ("a + ", true),
    ("a and ", true),
    ("a ? b : ", true),
    ("|", true),
    ("| map: ", true),
    ("->", true),
    ("session \"a\" -> ", true),
    ("session ", true),
    ("do: ", true),
    ("if a: ", true),
    ("else: ", true),
    ("parallel: ", true),
    ("a: ", true),
    ("a = ", true),
    ("let a = ", true),
    ("#", false),
    ("//", true),
    ("'", true),
    ("1", true),
    ("1.", true),
    ("é", true),
    ("\0", true),
    (",", true),
    ("=", true),
    (":", true),
    (";", true),
];

#[test]
fn a_long_text_on_one_line() {
    for &(unit, is_error) in LONG_LINES {
        assert_eq!(check(unit, unit.repeat(200_000 / unit.len())), is_error, "{unit:?}");
    }
}

/// Lines that are repeated.
const LINES: &[&str] = &[
    "\"\"\"\n",
    "a: \"\"\"\n",
    "  a: \"\"\"\n",
    "let a = \"\"\"\n  b: \"\"\"\n",
    "**\n",
    "***\n",
    "if **\n",
    "if ***\n**\n",
    "a = **b\n",
    "(\n",
    "a(\n",
    "let a = [\n  b,\n",
    "[\n)\n",
    "]\n",
    "if a:\nelif b:\n",
    "try:\n",
    "repeat 2:\n",
    "repeat 2:\nb()\n",
    "catch:\n",
    "else:\n",
    "| map:\n",
    "-> session \"a\"\n",
    "session \"a\"\n-> session \"b\"\n",
    "  a\n b\n",
    "if a:\n    b()\n  c()\n",
    "\"a\n",
    "'\n",
    "// a\n",
    "\t\n",
    "\r",
    "# a\n",
    "session \"a\"\n  prompt\n",
    "choice **a**:\n  b\n",
    "a\n",
    "@\n",
];

/// Eight times the time for four times the text: what is quadratic takes sixteen times as long.
const ALLOWED_GROWTH: u32 = 8;
const SHORT: usize = 64_000;
const LONG: usize = 4 * SHORT;

fn time(text: &str) -> Duration {
    processor_time(|| parse(text))
}

#[track_caller]
fn check_growth(unit: &str) {
    let (short, long) = (unit.repeat(SHORT / unit.len()), unit.repeat(LONG / unit.len()));
    let (mut of_short, mut of_long) = (Duration::MAX, Duration::MAX);
    // Caches that other work has emptied only add to a time, so the least of several is what the text takes. One that takes no time at all
    // says nothing about growth.
    let is_linear = (0..20).any(|_| {
        (of_short, of_long) = (of_short.min(time(&short)), of_long.min(time(&long)));
        of_long < of_short.max(Duration::from_millis(10)) * ALLOWED_GROWTH
    });
    assert!(is_linear, "{unit:?}: {SHORT} bytes take {of_short:?}, {LONG} bytes {of_long:?}");
}

#[test]
fn long_lines_take_linear_time() {
    for (unit, _) in LONG_LINES {
        check_growth(unit);
    }
}

#[test]
fn many_lines_take_linear_time() {
    for unit in LINES {
        check_growth(unit);
    }
}

#[test]
fn many_lines() {
    for unit in LINES {
        check(unit, unit.repeat(SHORT / unit.len()));
    }
    check("a hundred thousand lines of quotes", "\"\"\"\n".repeat(100_000));
}

#[test]
fn nested_brackets() {
    for (open, close) in
        [("(", ")"), ("[", "]"), ("{a: ", "}"), ("f(", ")"), ("a[", "]"), ("[(", ")]"), ("not (", ")")]
    {
        let nested = |depth: usize| format!("let a = {}1{}\n", open.repeat(depth), close.repeat(depth));
        assert!(check(open, nested(10_000)), "{open:?}");
        assert!(!check(open, nested(50)), "{open:?}");
        let lines = format!("let a = {}1{}\n", format!("{open}\n  ").repeat(10_000), close.repeat(10_000));
        assert!(check(open, lines), "{open:?}");
    }
}

#[test]
fn nested_blocks() {
    for header in [
        "do:",
        "if a:",
        "repeat 2:",
        "x = parallel:",
        "session \"a\"",
        "a",
        "@",
        "a:",
        "try:",
        "choice **a**:",
        "xs | map:",
    ] {
        let nested = |depth: usize| -> String {
            let lines = (0..depth).map(|level| format!("{}{header}\n", " ".repeat(level)));
            lines.chain([format!("{}session \"x\"\n", " ".repeat(depth))]).collect()
        };
        assert!(check(header, nested(2_000)), "{header:?}");
    }
    let nested: String = (0..10_000).map(|level| format!("{}do:\n", " ".repeat(level % 1_500))).collect();
    assert!(check("nested again and again", nested));
    let lines = (0..40).map(|level| format!("{}do:\n", " ".repeat(level)));
    assert!(!check("forty levels", lines.chain([format!("{}session \"x\"\n", " ".repeat(40))]).collect()));
}

#[test]
fn ten_thousand_levels_of_indentation() {
    // One more space for each level makes fifty megabytes of text.
    let nested: String = (0..10_000).map(|level| format!("{}do:\n", " ".repeat(level))).collect();
    assert!(check("ten thousand levels", nested));
}

#[test]
fn nested_on_one_line() {
    for unit in
        ["do: ", "if a: ", "x = do: ", "try: ", "loop: ", "a | map: ", "option \"a\": ", "-> ", "session a: "]
    {
        check(unit, format!("{}session \"x\"\n", unit.repeat(10_000)));
    }
}

#[test]
fn ten_thousand_clauses() {
    let clauses = "elif **b**:\n  session \"y\"\n".repeat(10_000);
    assert!(!check("elif", format!("if **a**:\n  session \"x\"\n{clauses}else:\n  session \"z\"\n")));
    let stages = "  | map: session \"x\"\n".repeat(10_000);
    assert!(!check("stages", format!("let a = b\n{stages}")));
    let arrows = " -> session \"x\"".repeat(10_000);
    assert!(!check("arrows", format!("session \"x\"{arrows}\n")));
    let options = "  option \"a\":\n    session \"x\"\n".repeat(10_000);
    assert!(!check("options", format!("choice **a**:\n{options}")));
    let sum = " + 1".repeat(10_000);
    assert!(!check("sum", format!("let a = 1{sum}\n")));
    let items = "1, ".repeat(100_000);
    assert!(!check("items", format!("let a = [{items}]\n")));
}

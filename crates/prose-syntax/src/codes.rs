//! The one table of diagnostic codes (decision 2).
//!
//! Codes up to `E028` and `W011` are those of the language reference and keep its numbers and meaning;
//! from `E101` and `W101` upward they are this project's own. `prose explain`, the documentation and the editors' links
//! are made from this table.

use std::fmt;
use std::str::FromStr;

use crate::diagnostic::Severity;

/// What is known about one code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CodeInfo {
    /// The code as it is shown, such as `E001`.
    pub name: &'static str,
    /// A title of a few words.
    pub title: &'static str,
    /// The severity in the default profile.
    pub severity: Severity,
    /// The severity in the `strict` profile.
    pub strict: Severity,
    /// Why it is reported and what to do, as Markdown.
    pub explanation: &'static str,
    /// A program that has the problem.
    pub wrong: &'static str,
    /// The same program without it.
    pub right: &'static str,
}

macro_rules! codes {
    ($($code:ident $severity:ident $strict:ident $title:literal
        $explanation:literal
        wrong $wrong:literal
        right $right:literal)*) => {
        /// A diagnostic code.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $(#[doc = $title] $code,)*
        }

        impl Code {
            /// Every code, in the order of the table.
            pub const ALL: &[Code] = &[$(Code::$code),*];

            /// The row of the table.
            pub fn info(self) -> &'static CodeInfo {
                match self {
                    $(Code::$code => &CodeInfo {
                        name: stringify!($code),
                        title: $title,
                        severity: Severity::$severity,
                        strict: Severity::$strict,
                        explanation: $explanation,
                        wrong: $wrong,
                        right: $right,
                    },)*
                }
            }
        }
    };
}

codes! {
    E001 Error Error "unterminated literal"
    "A string or a `**condition**` is opened and never closed. A one-line string ends on the line it starts on; a \
     triple-quoted string and a condition may span lines and end at the next marker of the same kind."
    wrong "session \"Say hello\n"
    right "session \"Say hello\"\n"

    E002 Error Error "unknown escape sequence"
    "A one-line string knows the escapes `\\\\`, `\\\"`, `\\n`, `\\t`, `\\{` and `\\}`. In a triple-quoted string any other \
     backslash is literal text."
    wrong "session \"C:\\dir\"\n"
    right "session \"C:\\\\dir\"\n"

    E003 Error Error "session without text or agent"
    "A `session` says what to do in a text, or names the agent whose prompt says it; a `resume` names the agent that goes on."
    wrong "session\n"
    right "session \"Say hello\"\n"

    E004 Error Error "unexpected text"
    "Something stands where the language has no place for it. Text for an agent is written in quotes; a value that is not used \
     by anything is bound with `let` or returned with `output`."
    wrong "let greeting = \"hello\" \"world\"\n"
    right "let greeting = \"hello world\"\n"

    E005 Error Error "something is missing"
    "A part that the statement needs is not there: a `:` at the end of a header, a `=` before a value, a closing bracket, a name, or \
     a value."
    wrong "repeat 3\n  session \"Try\"\n"
    right "repeat 3:\n  session \"Try\"\n"

    E020 Error Error "input without a name"
    "An `input` is known by its name, in the program and to its callers."
    wrong "input: \"What to research\"\n"
    right "input topic: \"What to research\"\n"

    E023 Error Error "output without a name"
    "An `output` with a `=` hands its value to the caller under a name. To return a value without one, leave the `=` out."
    wrong "output = session \"Write the report\"\n"
    right "output report = session \"Write the report\"\n"

    E101 Error Error "unexpected indentation"
    "A line is indented deeper than the one above it only below a header that ends in `:`, or as a property of an agent or a session."
    wrong "let count = 3\n  session \"Say hello\"\n"
    right "let count = 3\nsession \"Say hello\"\n"

    E102 Error Error "inconsistent indentation"
    "A line that ends a block goes back to the indentation of a line above. One that lies between two of them belongs to neither."
    wrong "repeat 2:\n    session \"One\"\n  session \"Two\"\n"
    right "repeat 2:\n    session \"One\"\n    session \"Two\"\n"

    E103 Error Error "tab in the indentation"
    "OpenProse is indented with spaces, two for each level. How wide a tab is depends on who looks at it."
    wrong "repeat 2:\n\tsession \"Try\"\n"
    right "repeat 2:\n  session \"Try\"\n"

    E104 Error Error "clause without its statement"
    "An `elif` or `else` belongs to an `if`, a `catch` or `finally` to a `try`, an `option` to a `choice`. A clause of `if` and \
     `try` stands at the indentation of its statement, an option one level deeper than its `choice`. An `if` has one `else`, its last clause."
    wrong "session \"Try\"\nelse:\n  session \"Give up\"\n"
    right "if **it is worth a try**:\n  session \"Try\"\nelse:\n  session \"Give up\"\n"

    E105 Error Error "try without catch or finally"
    "A `try` only makes sense with a `catch:` that handles the error, or a `finally:` that runs in any case."
    wrong "try:\n  session \"Deploy\"\n"
    right "try:\n  session \"Deploy\"\ncatch:\n  session \"Roll back\"\n"

    E106 Error Error "path of a program is not a string"
    "The path behind `use` is written in quotes."
    wrong "use alice/research\n"
    right "use \"alice/research\"\n"

    E107 Error Error "unknown statement"
    "The line starts with a word that starts no statement. Nothing is silently accepted, since an interpreter would have to guess what was meant."
    wrong "sesion \"Say hello\"\n"
    right "session \"Say hello\"\n"

    E108 Error Error "statement of another language"
    "The line is written as in another language, or in another dialect of this one. The message says how it is written here."
    wrong "repeat 3 times:\n  session \"Try\"\n"
    right "repeat 3:\n  session \"Try\"\n"

    E109 Error Error "string in the wrong quotes"
    "Strings are written between straight double quotes: `\"text\"`, or `\"\"\"text\"\"\"` over several lines."
    wrong "session 'Say hello'\n"
    right "session \"Say hello\"\n"

    E110 Error Error "comment in the wrong form"
    "A comment starts with `#`."
    wrong "// Greets the world.\nsession \"Say hello\"\n"
    right "# Greets the world.\nsession \"Say hello\"\n"

    E111 Error Error "nested too deeply"
    "Blocks and brackets are nested more than 128 levels deep. Move the inner part into a `block`."
    wrong "let list = [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]\n"
    right "let list = [[[1]]]\n"

    E112 Error Error "number out of range"
    "A count is a whole number and at least 1: that of `repeat`, and those of `max`, `count`, `retry` and `max_depth`."
    wrong "repeat 0:\n  session \"Try\"\n"
    right "repeat 1:\n  session \"Try\"\n"

    E113 Error Error "condition without markers"
    "A condition in words is judged by a model, and is written between `**` markers. A condition without markers is an expression over values, such as \
     `count > 3`."
    wrong "if the tests pass:\n  session \"Deploy\"\n"
    right "if **the tests pass**:\n  session \"Deploy\"\n"

    E114 Error Error "jump outside of a loop"
    "`break` leaves the innermost loop and `continue` goes on with its next iteration. Outside of a loop there is nothing to leave; `return` leaves a block."
    wrong "session \"Try\"\nbreak\n"
    right "loop until **it works** (max: 3):\n  session \"Try\"\n  break\n"

    E115 Error Error "invalid name"
    "A name is made of the letters a–z and A–Z, digits, `_` and `-`; it starts with a letter or `_`. Braces are replaced inside strings only."
    wrong "report_{item} = session \"Write the report\"\n"
    right "report_item = session \"Write the report\"\n"

    E116 Error Error "unknown pipeline operator"
    "A pipeline is made of `map`, `filter`, `pmap` and `reduce(total, item)`."
    wrong "[\"a\", \"b\"] | each:\n  session \"Look at {item}\"\n"
    right "[\"a\", \"b\"] | map:\n  session \"Look at {item}\"\n"

    W101 Warning Warning "empty body"
    "Nothing is indented below this line, so it does nothing."
    wrong "repeat 3:\n"
    right "repeat 3:\n  session \"Try\"\n"

    W102 Warning Warning "statement among options"
    "A `choice` picks one of its options; a statement beside them is never run."
    wrong "choice **which is best**:\n  option \"one\":\n    session \"One\"\n  session \"Two\"\n"
    right "choice **which is best**:\n  option \"one\":\n    session \"One\"\n  option \"two\":\n    session \"Two\"\n"

    W103 Information Information "legacy import"
    "`import \"skill\" from \"source\"` registers the name of a skill and is kept for old programs. Programs are imported with `use`."
    wrong "import \"web-search\" from \"github:example/web-search\"\n"
    right "use \"example/web-search\"\n"
}

impl Code {
    /// The code as it is shown, such as `E001`.
    pub fn as_str(self) -> &'static str {
        self.info().name
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The text names no code of the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownCode(pub String);

impl fmt::Display for UnknownCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not a diagnostic code", self.0)
    }
}

impl std::error::Error for UnknownCode {}

impl FromStr for Code {
    type Err = UnknownCode;

    /// Reads a code in any case: `e001` is `E001`.
    fn from_str(text: &str) -> Result<Self, UnknownCode> {
        Code::ALL
            .iter()
            .copied()
            .find(|code| code.as_str().eq_ignore_ascii_case(text))
            .ok_or_else(|| UnknownCode(text.to_owned()))
    }
}

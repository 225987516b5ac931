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

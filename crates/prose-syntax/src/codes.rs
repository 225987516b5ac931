//! The one table of diagnostic codes (decision 2).
//!
//! Codes up to `E028` and `W011` are those of the language reference and keep its numbers and meaning;
//! from `E101` and `W101` upward they are this project's own. `prose explain`, the documentation and the editors' links
//! are made from this table.

use std::fmt;
use std::str::FromStr;

use crate::severity::Severity;

mod table;

pub use table::Code;

/// The severity of a code in a profile, or off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Reported as [`Severity::Error`].
    Error,
    /// Reported as [`Severity::Warning`].
    Warning,
    /// Reported as [`Severity::Information`].
    Information,
    /// Reported as [`Severity::Hint`].
    Hint,
    /// Not reported.
    Off,
}

impl Level {
    /// Every level, from the most severe.
    pub const ALL: &[Level] = &[Level::Error, Level::Warning, Level::Information, Level::Hint, Level::Off];

    /// The severity, if it is reported.
    pub fn severity(self) -> Option<Severity> {
        match self {
            Level::Error => Some(Severity::Error),
            Level::Warning => Some(Severity::Warning),
            Level::Information => Some(Severity::Information),
            Level::Hint => Some(Severity::Hint),
            Level::Off => None,
        }
    }

    /// The lower-case name used in settings and in every textual output.
    pub fn as_str(self) -> &'static str {
        self.severity().map_or("off", Severity::as_str)
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A set of levels (decision 1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Profile {
    /// No error on a program that works.
    #[default]
    Default,
    /// The severities of the language reference to the letter.
    Strict,
}

impl Profile {
    /// Every profile.
    pub const ALL: &[Profile] = &[Profile::Default, Profile::Strict];

    /// The name used in settings and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Profile::Default => "default",
            Profile::Strict => "strict",
        }
    }
}

/// How editors render the range of a diagnostic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Tag {
    /// Faded: the code can be removed.
    Unnecessary,
    /// Struck through: the code still works, and there is a better form.
    Deprecated,
}

impl Tag {
    /// The lower-case name used in textual outputs.
    pub fn as_str(self) -> &'static str {
        match self {
            Tag::Unnecessary => "unnecessary",
            Tag::Deprecated => "deprecated",
        }
    }
}

/// A row of the table of codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CodeInfo {
    /// The code as it is shown, such as `E001`.
    pub name: &'static str,
    /// A title of a few words.
    pub title: &'static str,
    /// The level in the default profile.
    pub default: Level,
    /// The level in the default profile of cases that are known to be harmless. The checks decide which these are; see
    /// [`Diagnostic::lenient`](crate::Diagnostic::lenient).
    pub lenient: Level,
    /// The level in the `strict` profile.
    pub strict: Level,
    /// How editors render its range.
    pub tag: Option<Tag>,
    /// The explanation, as Markdown.
    pub explanation: &'static str,
    /// A program with the diagnostic. If it needs several files, a line `//- /path` starts each.
    pub wrong: &'static str,
    /// The corrected program.
    pub right: &'static str,
}

impl CodeInfo {
    /// The level in a profile, for a lenient case or for any other.
    pub fn level(&self, profile: Profile, lenient: bool) -> Level {
        match profile {
            Profile::Strict => self.strict,
            Profile::Default if lenient => self.lenient,
            Profile::Default => self.default,
        }
    }
}

impl Code {
    /// The code as it is shown, such as `E001`.
    pub fn as_str(self) -> &'static str {
        self.info().name
    }

    /// Whether it is an error by its name (`E…`), regardless of settings.
    pub fn is_error_code(self) -> bool {
        self.as_str().starts_with('E')
    }

    /// Whether it reports something unused. Its fixes remove code, and an error elsewhere may be the
    /// only reason that nothing uses it: `session: improve` for `do improve` leaves a block without a call.
    pub fn is_about_unused(self) -> bool {
        matches!(self, Code::W115 | Code::W116 | Code::W117 | Code::W118 | Code::W119 | Code::W120)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The text is not a code of the table.
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

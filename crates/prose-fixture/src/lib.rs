//! Test fixtures: several files in one string, with a cursor and the diagnostics that are expected.
//!
//! ```
//! # use prose_fixture::Fixture;
//! let fixture = Fixture::parse(
//!     r#"
//!     //- /main.prose
//!     use "./lib.prose" as lib
//!     sesion "Say hello"
//!     #<^^^^^ error[E107] unknown statement
//!     call $0lib
//!     //- /lib.prose
//!     session "Say hello"
//!     "#,
//! );
//! assert_eq!(fixture.files[1].path, "/lib.prose");
//! assert_eq!(fixture.files[0].marks[0].code, "E107");
//! ```
//!
//! # Files
//!
//! A line `//- /path` starts a file, and one such as `//- alice/research` or `//- https://example.com/lib.prose` a program of the network,
//! where a test takes these. A fixture without such a line is one file, `/main.prose`. A newline at the very start is dropped,
//! and so are the spaces that all lines start with, so that fixtures can be indented like the test around them. Everything else is
//! kept exactly. For a file whose own lines are all indented, write a header at the left edge.
//!
//! # Cursor
//!
//! One `$0` is a cursor, two are the ends of a selection. They are removed from the text, before marks are read.
//!
//! # Marks
//!
//! A comment below a line says what is expected in that line. Several may follow each other; they stay in the text, being comments.
//! Columns are characters.
//!
//! | mark | range |
//! |---|---|
//! | `# ^^^ error[E007]` | the columns above the carets |
//! | `#^^^ error[E007]` | the same, from the column next to the `#` |
//! | `#<^^^ error[E007]` | `<` moves the mark two columns to the left: the three columns from that of the `#` on |
//! | `# \| error[E005]` | empty, before the column above the bar; `#<\|` is one at the column of the `#` |
//! | `# ^^^..+2:5 error[E001]` | from the first caret up to column 5 of the second line below, not counting lines of marks |
//!
//! The severity (`error`, `warning`, `info` or `hint`) and the code may be followed by a part of the message.
//!
//! Mistakes in a fixture panic: they are mistakes of the test's author.

mod authority;
mod environment;
mod folder;
mod marks;
mod pages;
pub mod permissions;
#[cfg(target_os = "linux")]
pub mod postgres;
pub mod time;
pub mod wording;

pub use authority::Authority;
pub use environment::number;
pub use folder::tempdir;
pub use marks::{Mark, render};
pub use pages::check_page;
use rowan::{TextRange, TextSize};

const CURSOR: &str = "$0";
const HEADER: &str = "//- ";
const DEFAULT_PATH: &str = "/main.prose";

/// Files with their expected diagnostics.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fixture {
    /// The files in the order they are written; never empty.
    pub files: Vec<FixtureFile>,
    /// The index of the file with the cursor, and the place of the cursor, where the fixture has a single `$0`.
    pub cursor: Option<(usize, TextSize)>,
    /// The index of the file with the selection, and the selection, where the fixture has two `$0`.
    pub selection: Option<(usize, TextRange)>,
}

/// One file of a [`Fixture`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FixtureFile {
    /// The absolute path, with `/` between its parts; or what `use` names a program by that is not on this machine.
    pub path: String,
    /// The text without cursors, and with its marks.
    pub text: String,
    /// The expected diagnostics, in the order they are written.
    pub marks: Vec<Mark>,
}

impl Fixture {
    /// Reads a fixture. See the documentation of the crate for the notation.
    ///
    /// # Panics
    ///
    /// If the fixture itself is wrong.
    #[track_caller]
    pub fn parse(fixture: &str) -> Fixture {
        let mut files = Vec::new();
        let mut cursors = Vec::new();
        for (path, mut text) in split_files(&dedent(fixture)) {
            while let Some(at) = text.find(CURSOR) {
                text.replace_range(at..at + CURSOR.len(), "");
                cursors.push((files.len(), offset(at)));
            }
            assert!(
                !files.iter().any(|file: &FixtureFile| file.path == path),
                "the fixture has two files `{path}`"
            );
            let marks = marks::parse(&text);
            files.push(FixtureFile { path, text, marks });
        }
        let (cursor, selection) = match cursors[..] {
            [] => (None, None),
            [cursor] => (Some(cursor), None),
            [(file, start), (other, end)] => {
                assert!(file == other, "the selection starts in one file and ends in another");
                (None, Some((file, TextRange::new(start, end))))
            }
            _ => panic!("the fixture has {} `{CURSOR}`; two are the most", cursors.len()),
        };
        Fixture { files, cursor, selection }
    }

    /// The file with the cursor, and the place of the cursor in it.
    ///
    /// # Panics
    ///
    /// If the fixture has no cursor.
    #[track_caller]
    pub fn at_cursor(&self) -> (&FixtureFile, TextSize) {
        let (file, offset) = self.cursor.expect("the fixture should have one `$0`");
        (&self.files[file], offset)
    }

    /// The text of the file at `path`.
    pub fn text(&self, path: &str) -> Option<&str> {
        self.files.iter().find(|file| file.path == path).map(|file| &*file.text)
    }
}

impl FixtureFile {
    /// Compares what was found with the marks. A finding is its range and what is reported about it, as in `error[E007] the message`.
    ///
    /// # Panics
    ///
    /// If something expected was not found, or something else was. The message is the text with what was expected but not found after `-`
    /// and what was found unexpectedly after `+`.
    #[track_caller]
    pub fn check(&self, found: &[(TextRange, String)]) {
        if let Err(difference) = marks::compare(&self.text, &self.marks, found) {
            panic!("{} has other diagnostics than its marks say:\n\n{difference}", self.path);
        }
    }
}

/// Removes a newline at the start, and the spaces that all lines have in common.
pub fn dedent(fixture: &str) -> String {
    let fixture = fixture.strip_prefix("\r\n").or_else(|| fixture.strip_prefix('\n')).unwrap_or(fixture);
    let common = fixture
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| line.len() - line.trim_start_matches(' ').len())
        .min()
        .unwrap_or(0);
    fixture
        .split_inclusive('\n')
        .map(|line| {
            let spaces = line.len() - line.trim_start_matches(' ').len();
            &line[spaces.min(common)..]
        })
        .collect()
}

/// Splits a fixture at its headers into paths and texts.
#[track_caller]
fn split_files(fixture: &str) -> Vec<(String, String)> {
    let mut files: Vec<(String, String)> = Vec::new();
    let mut before = String::new();
    for line in fixture.split_inclusive('\n') {
        if let Some(path) = line.strip_prefix(HEADER) {
            let path = path.trim();
            assert!(
                path.contains('/'),
                "a header has a path that starts with `/`, or a program as `use` names it, unlike `{path}`"
            );
            files.push((path.to_owned(), String::new()));
        } else if let Some((_, text)) = files.last_mut() {
            text.push_str(line);
        } else {
            before.push_str(line);
        }
    }
    if files.is_empty() {
        return vec![(DEFAULT_PATH.to_owned(), before)];
    }
    assert!(before.trim().is_empty(), "there is text before the first `{HEADER}/path`: {before:?}");
    files
}

/// A position in a text.
fn offset(bytes: usize) -> TextSize {
    TextSize::try_from(bytes).expect("no fixture has 4 GiB")
}

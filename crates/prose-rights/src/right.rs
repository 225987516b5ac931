//! A right, as contracts show it and settings grant it.

use std::fmt;
use std::str::FromStr;

use globset::GlobBuilder;

use crate::paths::{is_outside, normalized};

/// Something that a fetched program may do only if the project grants it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Right {
    /// `files:docs/**`: pass on these files of the project.
    Files(String),
    /// `memory:project`, `memory:user`, `memory:PATH`: keep memories of agents where others do, and not only in a folder of its own.
    Memory(String),
    /// `skills:PATH`: name the skills at this path.
    Skills(String),
}

/// Why a text is not a right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidRight(String);

impl Right {
    /// The right to pass on the files at a path, or those that a path with `**` at its end stands for.
    pub fn files(path: &str) -> Self {
        Right::Files(normalized(path))
    }

    /// The right to keep memories at a path.
    pub fn memory(path: &str) -> Self {
        Right::Memory(normalized(path))
    }

    /// The right to name skills at a path.
    pub fn skills(path: &str) -> Self {
        Right::Skills(normalized(path))
    }

    /// Whether a program that has this right may do what needs the other one. Where it is only known in which folder the file will be, the right to
    /// some files there is enough: which file it is will be looked at again.
    pub fn covers(&self, asked: &Right) -> bool {
        match (self, asked) {
            (Right::Files(granted), Right::Files(asked)) => match asked.strip_suffix("**") {
                Some(folder) => reaches(granted, folder),
                None => matches(granted, asked),
            },
            (Right::Memory(granted), Right::Memory(asked)) if is_word(granted) || is_word(asked) => {
                granted == asked
            }
            (Right::Memory(granted), Right::Memory(asked))
            | (Right::Skills(granted), Right::Skills(asked)) => matches(granted, asked),
            _ => false,
        }
    }

    /// Whether the file at a path may be passed on.
    pub fn covers_file(&self, path: &str) -> bool {
        matches!(self, Right::Files(granted) if matches(granted, &normalized(path)))
    }
}

/// Whether a place of memories is one of those with a name.
fn is_word(place: &str) -> bool {
    matches!(place, "project" | "user")
}

/// Whether a glob stands for a path.
fn matches(glob: &str, path: &str) -> bool {
    if is_outside(glob) != is_outside(path) {
        return false;
    }
    glob == path
        || GlobBuilder::new(glob)
            .literal_separator(true)
            .backslash_escape(true)
            .build()
            .is_ok_and(|glob| glob.compile_matcher().is_match(path))
}

/// Whether a glob stands for any file in a folder, whose path ends with `/` or is empty.
fn reaches(glob: &str, folder: &str) -> bool {
    if is_outside(glob) != is_outside(folder) {
        return false;
    }
    let literal = glob.split(['*', '?', '[', '{', '\\']).next().unwrap_or_default();
    let literal = literal.rfind('/').map_or("", |slash| &literal[..=slash]);
    literal.starts_with(folder) || folder.starts_with(literal) && glob.contains("**")
}

impl FromStr for Right {
    type Err = InvalidRight;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let invalid = |why: String| Err(InvalidRight(why));
        let Some((kind, what)) = text.split_once(':') else {
            return invalid(format!(
                "`{text}` is not a right; expected `files:docs/**`, `memory:project`, `memory:user`, `memory:PATH` or `skills:PATH`"
            ));
        };
        let make: fn(&str) -> Self = match kind {
            "files" => Right::files,
            "memory" => Right::memory,
            "skills" => Right::skills,
            _ => {
                let kinds = ["files", "memory", "skills"];
                let near =
                    kinds.iter().find(|known| known.trim_end_matches('s') == kind.trim_end_matches('s'));
                let hint = near.map_or_else(
                    || "expected `files:`, `memory:` or `skills:`".to_owned(),
                    |known| format!("did you mean `{known}:{what}`?"),
                );
                return invalid(format!("`{kind}:` is not a kind of right; {hint}"));
            }
        };
        if what.trim().is_empty() {
            return invalid(format!("`{text}` names nothing; expected a path after `{kind}:`"));
        }
        if let Err(error) = GlobBuilder::new(what).literal_separator(true).backslash_escape(true).build() {
            return invalid(format!("`{what}` is not a valid glob: {}", error.kind()));
        }
        // A folder stands for what is in it.
        let folder = what.strip_suffix('/').map(|folder| format!("{folder}/**"));
        Ok(make(folder.as_deref().unwrap_or(what)))
    }
}

impl fmt::Display for Right {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Right::Files(what) => write!(f, "files:{what}"),
            Right::Memory(what) => write!(f, "memory:{what}"),
            Right::Skills(what) => write!(f, "skills:{what}"),
        }
    }
}

impl fmt::Display for InvalidRight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for InvalidRight {}

#[cfg(test)]
mod tests {
    use super::*;

    fn right(text: &str) -> Right {
        text.parse().unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn rights_are_written_as_they_are_read() {
        for text in ["files:docs/**", "memory:project", "memory:user", "memory:notes/x", "skills:tools/a"] {
            assert_eq!(right(text).to_string(), text);
        }
        assert_eq!(right("files:./docs/").to_string(), "files:docs/**");
    }

    #[test]
    fn what_is_no_right_is_explained() {
        let why = |text: &str| text.parse::<Right>().expect_err("this is no right").to_string();
        assert_eq!(
            why("docs"),
            "`docs` is not a right; expected `files:docs/**`, `memory:project`, `memory:user`, `memory:PATH` or `skills:PATH`"
        );
        assert_eq!(why("file:docs/**"), "`file:` is not a kind of right; did you mean `files:docs/**`?");
        assert_eq!(why("net:x"), "`net:` is not a kind of right; expected `files:`, `memory:` or `skills:`");
        assert_eq!(why("files: "), "`files: ` names nothing; expected a path after `files:`");
        assert!(why("files:[").starts_with("`[` is not a valid glob: "));
    }

    #[track_caller]
    fn check(granted: &str, asked: &str, covers: bool) {
        assert_eq!(right(granted).covers(&right(asked)), covers, "{granted} for {asked}");
    }

    #[test]
    fn globs_cover_the_paths_that_they_stand_for() {
        check("files:docs/**", "files:docs/a/b.md", true);
        check("files:docs/*.md", "files:docs/b.md", true);
        check("files:docs/*.md", "files:docs/a/b.md", false);
        check("files:docs", "files:docs/a.md", false);
        check("files:docs/**", "files:docs/../src/a.rs", false);
        check("files:**", "files:src/a.rs", true);
        check("files:**", "files:/etc/passwd", false);
        check("files:**", "files:../other/a", false);
        check("files:**", "files:~/a", false);
        check("files:/etc/*", "files:/etc/passwd", true);
        check("files:docs/**", "memory:docs/a", false);
        check("memory:**", "memory:project", false);
        check("memory:project", "memory:project", true);
        check("memory:notes/**", "memory:notes/x", true);
        check("skills:tools/*", "skills:./tools/a", true);
    }

    #[test]
    fn a_folder_of_which_the_file_is_not_known_needs_some_right_in_it() {
        check("files:docs/*.md", "files:docs/**", true);
        check("files:docs/a/*.md", "files:docs/**", true);
        check("files:docs/**", "files:docs/a/**", true);
        check("files:**", "files:**", true);
        check("files:src/**", "files:docs/**", false);
        check("files:docs/*", "files:docs/a/**", false);
        check("files:**", "files:../**", false);
    }
}

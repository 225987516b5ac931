//! A right, as contracts show it and settings grant it.

use std::fmt;
use std::str::FromStr;

use globset::GlobBuilder;
use serde::{Deserialize, Serialize};

use crate::paths::{is_outside, normalized};
use crate::{About, PermissionRule};

/// Something that a fetched program may do only if the project grants it. Serialised as it is written.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Right {
    /// `files:docs/**`: pass on these files of the project.
    Files(String),
    /// `memory:project`, `memory:user`, `memory:PATH`: keep memories of agents where others do, and not only in a folder of its own.
    Memory(String),
    /// `skills:PATH`: name the skills at this path.
    Skills(String),
    /// `execute:git log*`, `network:https://example.com/*`, `mcp:tracker`, `read:../notes/**`, `write:../notes/**`: let agents do what a pattern of a
    /// permission covers. `execute:*`, `network:*` and `mcp:*` cover everything.
    Tools(About, String),
}

impl From<Right> for String {
    fn from(right: Right) -> Self {
        right.to_string()
    }
}

impl TryFrom<String> for Right {
    type Error = InvalidRight;

    fn try_from(text: String) -> Result<Self, InvalidRight> {
        text.parse()
    }
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

    /// The rights to what a rule allows. None for a rule that allows nothing that agents could not do without it: they read and write in the
    /// project.
    pub fn of_rule(about: About, rule: &PermissionRule) -> Vec<Self> {
        match (about, rule) {
            (_, PermissionRule::Deny | PermissionRule::Prompt)
            | (About::Read | About::Write, PermissionRule::Allow) => Vec::new(),
            (About::Execute | About::Network | About::Mcp, PermissionRule::Allow) => {
                vec![Self::everything(about)]
            }
            (_, PermissionRule::Patterns(patterns)) => {
                let included = patterns.iter().filter(|pattern| !pattern.starts_with('!'));
                let rights = included.map(|pattern| Self::tools(about, pattern));
                let is_needed = |right: &Self| match right {
                    Right::Tools(About::Read | About::Write, path) => is_outside(path),
                    _ => true,
                };
                rights.filter(is_needed).collect()
            }
        }
    }

    /// The right to whatever a rule about a subject can allow.
    pub fn everything(about: About) -> Self {
        match about {
            About::Execute | About::Network | About::Mcp => Right::Tools(about, "*".to_owned()),
            About::Read | About::Write => Right::Tools(about, "/**".to_owned()),
        }
    }

    fn tools(about: About, pattern: &str) -> Self {
        match about {
            About::Execute | About::Network | About::Mcp => Right::Tools(about, pattern.trim().to_owned()),
            About::Read | About::Write => Right::Tools(about, normalized(pattern)),
        }
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
            (Right::Tools(about, granted), Right::Tools(other, asked)) => {
                about == other && includes(*about, granted, asked)
            }
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

/// Whether all that a pattern of a permission covers is also covered by another one, as far as their texts show it.
fn includes(about: About, granted: &str, asked: &str) -> bool {
    let is_path = matches!(about, About::Read | About::Write);
    if granted == asked || !is_path && matches!(granted, "*" | "**") {
        return true;
    }
    let is_literal = |text: &str| !text.contains(['*', '?', '[', ']', '{', '}', '\\', '!']);
    match about {
        About::Execute => granted
            .strip_suffix('*')
            .is_some_and(|start| is_literal(start) && !start.is_empty() && asked.starts_with(start)),
        About::Network => false,
        About::Mcp => {
            let start = match granted.strip_suffix('*') {
                Some(start) if start.contains('/') => start.to_owned(),
                Some(_) => return false,
                None if granted.contains('/') => return false,
                None => format!("{granted}/"),
            };
            is_literal(&start) && asked.starts_with(&start)
        }
        About::Read | About::Write => {
            let folder =
                granted.strip_suffix("**").filter(|folder| folder.ends_with('/') && is_literal(folder));
            folder.is_some_and(|folder| asked.starts_with(folder))
                || is_literal(asked) && matches(granted, asked)
        }
    }
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
                "`{text}` is not a right; expected `files:docs/**`, `memory:project`, `memory:user`, `memory:PATH`, `skills:PATH`, `execute:git log*`, \
                 `network:*`, `mcp:tracker`, `read:../notes/**` or `write:../notes/**`"
            ));
        };
        let make: fn(&str) -> Self = match kind {
            "files" => Right::files,
            "memory" => Right::memory,
            "skills" => Right::skills,
            "execute" | "bash" => |pattern| Right::tools(About::Execute, pattern),
            "network" => |pattern| Right::tools(About::Network, pattern),
            "mcp" => |pattern| Right::tools(About::Mcp, pattern),
            "read" => |path| Right::tools(About::Read, path),
            "write" => |path| Right::tools(About::Write, path),
            _ => {
                let kinds = ["files", "memory", "skills", "execute", "network", "mcp", "read", "write"];
                let near =
                    kinds.iter().find(|known| known.trim_end_matches('s') == kind.trim_end_matches('s'));
                let hint = near.map_or_else(
                    || {
                        "expected `files:`, `memory:`, `skills:`, `execute:`, `network:`, `mcp:`, `read:` or `write:`"
                            .to_owned()
                    },
                    |known| format!("did you mean `{known}:{what}`?"),
                );
                return invalid(format!("`{kind}:` is not a kind of right; {hint}"));
            }
        };
        if what.trim().is_empty() {
            return invalid(format!("`{text}` names nothing; expected a path after `{kind}:`"));
        }
        // Commands and addresses are no globs of paths.
        if matches!(kind, "execute" | "bash" | "network" | "mcp") {
            return Ok(make(what));
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
            Right::Tools(about, what) => write!(f, "{}:{what}", about.name()),
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
        for text in
            ["execute:git log*", "execute:[ -e x ]", "network:https://example.com/*", "write:../out/**"]
        {
            assert_eq!(right(text).to_string(), text);
        }
        assert_eq!(right("bash:git log*").to_string(), "execute:git log*");
        assert_eq!(right("read:../notes/").to_string(), "read:../notes/**");
        assert_eq!(right("files:./docs/").to_string(), "files:docs/**");
    }

    #[test]
    fn what_is_no_right_is_explained() {
        let why = |text: &str| text.parse::<Right>().expect_err("this is no right").to_string();
        assert_eq!(
            why("docs"),
            "`docs` is not a right; expected `files:docs/**`, `memory:project`, `memory:user`, `memory:PATH`, `skills:PATH`, `execute:git log*`, `network:*`, `mcp:tracker`, `read:../notes/**` or `write:../notes/**`"
        );
        assert_eq!(why("file:docs/**"), "`file:` is not a kind of right; did you mean `files:docs/**`?");
        assert_eq!(
            why("net:x"),
            "`net:` is not a kind of right; expected `files:`, `memory:`, `skills:`, `execute:`, `network:`, `mcp:`, `read:` or `write:`"
        );
        assert_eq!(why("files: "), "`files: ` names nothing; expected a path after `files:`");
        assert!(why("files:[").starts_with("`[` is not a valid glob: "));
    }

    #[test]
    fn only_what_agents_may_not_do_without_a_rule_needs_a_right() {
        #[track_caller]
        fn check(about: About, rule: PermissionRule, rights: &[&str]) {
            let of_rule: Vec<String> = Right::of_rule(about, &rule).iter().map(ToString::to_string).collect();
            assert_eq!(of_rule, rights);
        }
        let patterns = |patterns: &[&str]| {
            PermissionRule::Patterns(patterns.iter().map(|pattern| (*pattern).to_owned()).collect())
        };
        for about in About::ALL {
            check(about, PermissionRule::Deny, &[]);
            check(about, PermissionRule::Prompt, &[]);
        }
        check(About::Execute, PermissionRule::Allow, &["execute:*"]);
        check(About::Network, PermissionRule::Allow, &["network:*"]);
        check(About::Mcp, PermissionRule::Allow, &["mcp:*"]);
        check(
            About::Mcp,
            patterns(&["tracker", "docs/*", "!tracker/delete"]),
            &["mcp:tracker", "mcp:docs/*"],
        );
        check(About::Write, PermissionRule::Allow, &[]);
        check(About::Execute, patterns(&["git log*", "!git log -p*"]), &["execute:git log*"]);
        check(About::Write, patterns(&["docs/**", "docs/../../x", "~/x"]), &["write:../x", "write:~/x"]);
        check(About::Read, patterns(&["/etc/*"]), &["read:/etc/*"]);
    }

    #[test]
    fn patterns_cover_those_that_allow_no_more() {
        check("execute:*", "execute:rm -rf /", true);
        check("execute:git *", "execute:git log*", true);
        check("execute:git log*", "execute:git *", false);
        check("execute:git log", "execute:git log*", false);
        check("execute:?it*", "execute:git log", false);
        check("execute:*", "network:*", false);
        check("network:*", "network:https://example.com/*", true);
        check("network:https://example.com/*", "network:https://example.com/*", true);
        check("network:https://example.com*", "network:https://example.com.evil.org/", false);
        check("mcp:*", "mcp:tracker/search", true);
        check("mcp:tracker", "mcp:tracker/search_*", true);
        check("mcp:tracker", "mcp:trackers/search", false);
        check("mcp:tracker/*", "mcp:tracker/search", true);
        check("mcp:tracker/search_*", "mcp:tracker/search_open", true);
        check("mcp:tracker/search_*", "mcp:tracker/*", false);
        check("mcp:tracker/search", "mcp:tracker", false);
        check("mcp:t*", "mcp:tracker", false);
        check("write:../out/**", "write:../out/a/*.md", true);
        check("write:../out/*", "write:../out/**", false);
        check("write:../out/*", "write:../out/a.md", true);
        check("write:../**", "write:/etc/passwd", false);
        check("read:../out/**", "write:../out/a", false);
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

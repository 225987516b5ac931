//! Errors in the path of a `use`.

use std::fmt;

use crate::git_host::GitHost;

/// Why a path does not name a program (E011, E012).
///
/// Displayed as the rest of a sentence that starts with the path: "`alice research` contains a space".
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Invalid {
    /// The path is empty (E011).
    Empty,
    /// A space, or another invisible character.
    Space,
    /// A control character.
    ControlCharacter,
    /// An address with a scheme other than `https://`.
    Scheme(String),
    /// An address without a host.
    NoHost,
    /// An address that ends after its host.
    NoPath(String),
    /// An address with a user name or a password.
    Credentials,
    /// An invalid address, and why.
    Url(String),
    /// A single word.
    NoSlash,
    /// `handle/slug` of which one part is missing.
    MissingPart,
    /// `handle/slug` with other characters in it.
    Segments,
    /// `a/b/c`, which is no `handle/slug`.
    TooManySlashes,
    /// The program of a git host without owner, repository or file.
    GitParts(GitHost),
    /// The file of a git host does not end in `.prose`.
    GitFile(GitHost),
    /// Nothing after the `@` of the program of a git host.
    NoRevision,
    /// The text after the `@` cannot name a branch, a tag or a commit.
    Revision(String),
    /// `..`, `.` or nothing between two slashes of a path in a repository.
    GitPath(String),
    /// A local path in the program of a repository that leads out of that.
    OutsideRepository,
    /// A local path in a program of the network that leads to another host.
    OtherHost,
    /// A local path in a program of unknown address.
    NoAddress,
}

impl Invalid {
    /// Whether the path could become valid by typing on at its end.
    pub fn is_incomplete(&self) -> bool {
        matches!(
            self,
            Invalid::Empty
                | Invalid::NoHost
                | Invalid::NoPath(_)
                | Invalid::NoSlash
                | Invalid::MissingPart
                | Invalid::GitParts(_)
                | Invalid::GitFile(_)
                | Invalid::NoRevision
        )
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Invalid::Empty => f.write_str("is empty"),
            Invalid::Space => f.write_str("contains a space"),
            Invalid::ControlCharacter => f.write_str("contains a control character"),
            Invalid::Scheme(scheme) => {
                write!(f, "starts with `{scheme}://`; only `https://` and `http://` are supported")
            }
            Invalid::NoHost => f.write_str("has no host"),
            Invalid::NoPath(host) => {
                write!(f, "has no path to a program: `https://{host}/path/program.prose`")
            }
            Invalid::Credentials => {
                f.write_str("contains credentials; put a token in the credentials file of the user instead")
            }
            Invalid::Url(why) => write!(f, "is not a valid address: {why}"),
            Invalid::NoSlash => f.write_str("has no `/`; a program in a registry is `handle/slug`"),
            Invalid::MissingPart | Invalid::Segments => {
                f.write_str("is not a valid `handle/slug`; use letters, digits, `-`, `_` and `.`")
            }
            Invalid::TooManySlashes => {
                f.write_str("has more than one `/`; use `handle/slug`, or `./` for a local file")
            }
            Invalid::GitParts(host) => write!(
                f,
                "needs an owner, a repository and a file: `{}/owner/repo/program.prose`",
                host.name()
            ),
            Invalid::GitFile(host) => write!(
                f,
                "must end in `.prose`, or in `.prose@v1` for a tag, a branch or a commit: \
                 `{}/owner/repo/program.prose`",
                host.name()
            ),
            Invalid::NoRevision => f.write_str("ends with `@`; add a tag, a branch or a commit after it"),
            Invalid::Revision(revision) => {
                write!(f, "has `{revision}` after `@`, which is not a valid tag, branch or commit")
            }
            Invalid::GitPath(segment) if segment.is_empty() => {
                f.write_str("has an empty segment in its path")
            }
            Invalid::GitPath(segment) => {
                write!(f, "contains `{segment}`; the path starts at the root of the repository")
            }
            Invalid::OutsideRepository => f.write_str("leads out of the repository of the program"),
            Invalid::OtherHost => {
                f.write_str("leads to another host; use a full address that starts with `https://`")
            }
            Invalid::NoAddress => f.write_str("is relative to the address of the program, which is unknown"),
        }
    }
}

impl std::error::Error for Invalid {}

//! What is wrong with a path.

use std::fmt;

use crate::git::GitHost;

/// Why a path names no program (E011, E012).
///
/// Displayed as the rest of a sentence that starts with the path: "`alice research` has a space in it".
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Invalid {
    /// Nothing stands between the quotes (E011).
    Empty,
    /// A space, or another character that is not seen.
    Space,
    /// A character that controls a terminal.
    ControlCharacter,
    /// An address of another kind than `https://`.
    Scheme(String),
    /// An address without a host.
    NoHost,
    /// An address that ends behind its host.
    NoPath(String),
    /// An address with the name or the password of a user in it.
    Credentials,
    /// An address that the rules of addresses forbid, and why.
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
    /// Nothing behind the `@` of the program of a git host.
    NoRevision,
    /// What stands behind the `@` can name no branch, tag or commit.
    Revision(String),
    /// `..`, `.` or nothing between two slashes of a path in a repository.
    GitPath(String),
    /// A local path in the program of a repository that leads out of that.
    OutsideRepository,
    /// A local path in a program of the network that leads to another host.
    OtherHost,
    /// A local path in a program of which nobody knows where it came from.
    NoAddress,
}

impl Invalid {
    /// Whether more typing at its end could make the path a good one.
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
            Invalid::Space => f.write_str("has a space in it"),
            Invalid::ControlCharacter => f.write_str("has a control character in it"),
            Invalid::Scheme(scheme) => {
                write!(f, "starts with `{scheme}://`; only `https://` and `http://` are fetched")
            }
            Invalid::NoHost => f.write_str("has no host"),
            Invalid::NoPath(host) => {
                write!(f, "names no program on its host: `https://{host}/path/program.prose`")
            }
            Invalid::Credentials => f.write_str(
                "has credentials in it, which everyone who reads the program would see; a token belongs in the credentials file of \
                 the user",
            ),
            Invalid::Url(why) => write!(f, "is no address: {why}"),
            Invalid::NoSlash => f.write_str("has no `/`: a program in a registry is `handle/slug`"),
            Invalid::MissingPart | Invalid::Segments => f.write_str(
                "is no `handle/slug`: each of the two is made of letters, digits, `-`, `_` and `.`",
            ),
            Invalid::TooManySlashes => f.write_str(
                "has more than one `/`: a program in a registry is `handle/slug`, a local file starts with `./`",
            ),
            Invalid::GitParts(host) => write!(
                f,
                "needs an owner, a repository and a file: `{}/owner/repo/program.prose`",
                host.name()
            ),
            Invalid::GitFile(host) => write!(
                f,
                "needs a file that ends in `.prose`: `{0}/owner/repo/program.prose`, or \
                 `{0}/owner/repo/program.prose@v1` for a tag, a branch or a commit",
                host.name()
            ),
            Invalid::NoRevision => {
                f.write_str("ends with `@`, behind which a tag, a branch or a commit is expected")
            }
            Invalid::Revision(revision) => {
                write!(f, "asks for `{revision}`, which can be no tag, branch or commit")
            }
            Invalid::GitPath(segment) if segment.is_empty() => {
                f.write_str("has nothing between two `/` of its path")
            }
            Invalid::GitPath(segment) => {
                write!(f, "has `{segment}` in it; the path starts from the top of the repository")
            }
            Invalid::OutsideRepository => f.write_str("leads out of the repository of the program"),
            Invalid::OtherHost => f.write_str(
                "leads to another host than that of the program; a whole address starts with `https://`",
            ),
            Invalid::NoAddress => {
                f.write_str("starts from the address of the program, which is not known")
            }
        }
    }
}

impl std::error::Error for Invalid {}

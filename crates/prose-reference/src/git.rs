//! Programs in repositories of git hosts (decision 16).

use std::fmt;

use url::Url;

use crate::Invalid;
use crate::git_host::GitHost;

/// `github.com/owner/repo/path.prose[@ref]`
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GitProgram {
    /// The host.
    pub host: GitHost,
    /// The user or organisation.
    pub owner: String,
    /// The repository.
    pub repository: String,
    /// The file, from the top of the repository.
    pub path: String,
    /// A branch, a tag or a commit; without it, the newest commit of the default branch is meant.
    pub revision: Option<String>,
}

impl GitProgram {
    /// Reads what follows the host and a slash.
    pub(crate) fn parse(host: GitHost, rest: &str) -> Result<Self, Invalid> {
        let mut parts = rest.splitn(3, '/');
        let mut part = || parts.next().filter(|part| !part.is_empty()).ok_or(Invalid::GitParts(host));
        let (owner, repository, file) = (part()?, part()?, part()?);
        // The name of a folder may have an `@` in it, so only one after the file starts a revision.
        match file.split_once(".prose@") {
            Some((_, "")) => Err(Invalid::NoRevision),
            Some((stem, revision)) => {
                let path = format!("{stem}.prose");
                Self::new(host, owner, repository, &path, Some(revision.to_owned()))
            }
            None => Self::new(host, owner, repository, file, None),
        }
    }

    pub(crate) fn new(
        host: GitHost,
        owner: &str,
        repository: &str,
        path: &str,
        revision: Option<String>,
    ) -> Result<Self, Invalid> {
        let strange = [owner, repository].into_iter().chain(path.split('/'));
        if let Some(segment) = strange.into_iter().find(|segment| matches!(*segment, "" | "." | "..")) {
            // A slash at the end is the path of someone who is not done yet.
            let is_unfinished = segment.is_empty() && path.ends_with('/') && !path.contains("//");
            return Err(if is_unfinished {
                Invalid::GitFile(host)
            } else {
                Invalid::GitPath(segment.to_owned())
            });
        }
        if !path.ends_with(".prose") {
            return Err(Invalid::GitFile(host));
        }
        if let Some(revision) = revision.as_deref().filter(|revision| !is_revision(revision)) {
            return Err(Invalid::Revision(revision.to_owned()));
        }
        Ok(Self {
            host,
            owner: owner.to_owned(),
            repository: repository.to_owned(),
            path: path.to_owned(),
            revision,
        })
    }

    /// The same program at another branch, tag or commit.
    pub fn at(&self, revision: impl Into<String>) -> Self {
        Self { revision: Some(revision.into()), ..self.clone() }
    }

    /// The commit, where the revision is one already.
    pub fn commit(&self) -> Option<&str> {
        self.revision.as_deref().filter(|revision| is_commit(revision))
    }

    /// The address of the raw file.
    pub fn raw_url(&self) -> Url {
        let path = || self.path.split('/');
        match self.host {
            GitHost::GitHub => {
                let parts = [&*self.owner, &*self.repository].into_iter().chain(self.revision_parts());
                address("https://raw.githubusercontent.com/", parts.chain(path()))
            }
            GitHost::GitLab => {
                let parts = [&*self.owner, &*self.repository, "-", "raw"].into_iter();
                address("https://gitlab.com/", parts.chain(self.revision_parts()).chain(path()))
            }
            // The address for browsers needs to be told whether a revision is a branch, a tag or a commit.
            GitHost::Codeberg => {
                let parts = [&*self.owner, &*self.repository, "raw"].into_iter();
                let mut url = address("https://codeberg.org/api/v1/repos/", parts.chain(path()));
                if let Some(revision) = &self.revision {
                    url.query_pairs_mut().append_pair("ref", revision);
                }
                url
            }
        }
    }

    /// The address at which the host reports the commit of the revision.
    pub fn commit_url(&self) -> Url {
        let revision = self.revision.as_deref().unwrap_or("HEAD");
        match self.host {
            GitHost::GitHub => address(
                "https://api.github.com/repos/",
                [&*self.owner, &*self.repository, "commits", revision],
            ),
            GitHost::GitLab => {
                let project = format!("{}/{}", self.owner, self.repository);
                address("https://gitlab.com/api/v4/projects/", [&*project, "repository", "commits", revision])
            }
            GitHost::Codeberg => address(
                "https://codeberg.org/api/v1/repos/",
                [&*self.owner, &*self.repository, "git", "commits", revision],
            ),
        }
    }

    fn revision_parts(&self) -> impl Iterator<Item = &str> {
        self.revision.as_deref().unwrap_or("HEAD").split('/')
    }
}

impl fmt::Display for GitProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}/{}", self.host.name(), self.owner, self.repository, self.path)?;
        self.revision.as_ref().map_or(Ok(()), |revision| write!(f, "@{revision}"))
    }
}

/// `base` with `parts` after it, each of them one segment of the path.
pub(crate) fn address<'a>(base: &str, parts: impl IntoIterator<Item = &'a str>) -> Url {
    let mut url = Url::parse(base).expect("the addresses of git hosts are written above");
    url.path_segments_mut().expect("they have a path").pop_if_empty().extend(parts);
    url
}

/// Whether text is the whole name of a commit, by SHA-1 or SHA-256.
fn is_commit(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Whether git accepts text as the name of a branch or tag; see `git help check-ref-format`.
fn is_revision(text: &str) -> bool {
    let is_part = |part: &str| !part.is_empty() && !part.starts_with('.') && !part.ends_with(".lock");
    text.split('/').all(is_part)
        && !text.contains("..")
        && !text.contains("@{")
        && !text.starts_with('-')
        && !text.ends_with('.')
        && !text.contains(|c: char| c.is_whitespace() || c.is_control() || "~^:?*[\\".contains(c))
}

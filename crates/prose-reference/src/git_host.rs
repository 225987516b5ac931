//! Git hosts.

/// A git host whose files can be read one by one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum GitHost {
    /// `github.com`
    GitHub,
    /// `gitlab.com`
    GitLab,
    /// `codeberg.org`
    Codeberg,
}

impl GitHost {
    /// All of them.
    pub const ALL: [GitHost; 3] = [GitHost::GitHub, GitHost::GitLab, GitHost::Codeberg];

    /// The host as paths name it.
    pub fn name(self) -> &'static str {
        match self {
            GitHost::GitHub => "github.com",
            GitHost::GitLab => "gitlab.com",
            GitHost::Codeberg => "codeberg.org",
        }
    }

    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|host| host.name() == name)
    }
}

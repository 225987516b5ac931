//! The reference that the path of a `use` contains (decision 16).

use std::fmt;

use url::Url;

use crate::{GitHost, GitProgram, Invalid};

/// The program that the path of a `use` names. Displayed in its canonical spelling, which is the same for all paths that name the
/// program in the same way.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reference {
    /// `handle/slug`, `@handle/slug`
    Registry(RegistryProgram),
    /// `https://…`
    Url(Url),
    /// `github.com/owner/repo/path.prose[@ref]`
    Git(GitProgram),
    /// `./other.prose`, as it is written
    Local(String),
}

/// `handle/slug` or `@handle/slug`
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RegistryProgram {
    /// Whether it is written with an `@`.
    pub has_at: bool,
    /// Whose program it is.
    pub handle: String,
    /// The name of the program.
    pub slug: String,
}

impl Reference {
    /// Reads the path of a `use` in a program of this machine.
    pub fn parse(path: &str) -> Result<Self, Invalid> {
        if path.trim().is_empty() {
            return Err(Invalid::Empty);
        }
        if path.contains(char::is_whitespace) {
            return Err(Invalid::Space);
        }
        if path.contains(char::is_control) {
            return Err(Invalid::ControlCharacter);
        }
        if let Some((scheme, rest)) = path.split_once("://") {
            return match scheme.to_ascii_lowercase().as_str() {
                "http" | "https" if rest.is_empty() => Err(Invalid::NoHost),
                "http" | "https" => url(path).map(Reference::Url),
                _ => Err(Invalid::Scheme(scheme.to_owned())),
            };
        }
        if path.starts_with("./") || path.starts_with("../") || path.starts_with('/') {
            return Ok(Reference::Local(path.to_owned()));
        }
        let (first, rest) = path.split_once('/').unwrap_or((path, ""));
        if let Some(host) = GitHost::named(first) {
            return GitProgram::parse(host, rest).map(Reference::Git);
        }
        if path.ends_with(".prose") {
            return Ok(Reference::Local(path.to_owned()));
        }
        RegistryProgram::parse(path).map(Reference::Registry)
    }

    /// Whether it names a file of this machine.
    pub fn is_local(&self) -> bool {
        matches!(self, Reference::Local(_))
    }

    /// The addresses to request, in this order. `registry` is the address of the registry. Empty for a local program.
    pub fn urls(&self, registry: &Url) -> Vec<Url> {
        match self {
            Reference::Registry(program) => program.urls(registry),
            Reference::Url(url) => vec![url.clone()],
            Reference::Git(program) => vec![program.raw_url()],
            Reference::Local(_) => Vec::new(),
        }
    }

    /// A short name, for a status line.
    pub fn name(&self) -> &str {
        let last = |path: &'_ str| path.trim_end_matches('/').rfind('/').map_or(0, |slash| slash + 1);
        match self {
            Reference::Registry(program) => &program.slug,
            Reference::Url(url) => {
                let name = &url.path()[last(url.path())..];
                if name.is_empty() { url.host_str().unwrap_or_default() } else { name }
            }
            Reference::Git(program) => &program.path[last(&program.path)..],
            Reference::Local(path) => &path[last(path)..],
        }
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reference::Registry(program) => program.fmt(f),
            Reference::Url(url) => f.write_str(url.as_str()),
            Reference::Git(program) => program.fmt(f),
            Reference::Local(path) => f.write_str(path),
        }
    }
}

impl RegistryProgram {
    fn parse(path: &str) -> Result<Self, Invalid> {
        let (is_whole, has_at) = (path.contains('/'), path.starts_with('@'));
        let (handle, slug) = path.split_once('/').unwrap_or((path, ""));
        let handle = handle.strip_prefix('@').unwrap_or(handle);
        let is_segment = |segment: &str| {
            segment.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.'))
                // `.` and `..` would be folders in an address.
                && (segment.is_empty() || segment.contains(|c| c != '.'))
        };
        if slug.contains('/') {
            Err(Invalid::TooManySlashes)
        } else if !is_whole && is_segment(handle) {
            Err(Invalid::NoSlash)
        } else if !is_segment(handle) || !is_segment(slug) || (handle.is_empty() && is_whole) {
            Err(Invalid::Segments)
        } else if slug.is_empty() {
            Err(Invalid::MissingPart)
        } else {
            Ok(Self { has_at, handle: handle.to_owned(), slug: slug.to_owned() })
        }
    }

    /// As it is written, then in the other spelling, which is requested after a 404 (B8).
    fn urls(&self, registry: &Url) -> Vec<Url> {
        [self.has_at, !self.has_at]
            .into_iter()
            .filter_map(|has_at| {
                let handle = format!("{}{}", if has_at { "@" } else { "" }, self.handle);
                let mut url = registry.clone();
                url.path_segments_mut().ok()?.pop_if_empty().extend([handle.as_str(), &self.slug]);
                Some(url)
            })
            .collect()
    }
}

impl fmt::Display for RegistryProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}/{}", if self.has_at { "@" } else { "" }, self.handle, self.slug)
    }
}

/// The address of a program.
pub(crate) fn url(text: &str) -> Result<Url, Invalid> {
    let mut url = Url::parse(text).map_err(|error| match error {
        url::ParseError::EmptyHost => Invalid::NoHost,
        error => Invalid::Url(error.to_string()),
    })?;
    // By the rules of the web, `https:///x` names the host `x`.
    if text.split_once("://").is_some_and(|(_, rest)| rest.starts_with(['/', '\\'])) {
        return Err(Invalid::NoHost);
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(Invalid::Credentials);
    }
    if url.path() == "/" && url.query().is_none() {
        return Err(Invalid::NoPath(url.host_str().unwrap_or_default().to_owned()));
    }
    // The part after `#` is for readers of a page and never sent.
    url.set_fragment(None);
    Ok(url)
}

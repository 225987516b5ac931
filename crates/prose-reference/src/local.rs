//! Local paths in programs that came from the network.

use url::Url;

use crate::{GitProgram, Invalid, Reference};

impl Reference {
    /// Reads the path of a `use` in a program that came from `base`, which is a [`Url`](Reference::Url) or a
    /// [`Git`](Reference::Git) program. A local path starts from there; it never is a file of this machine.
    pub fn parse_in(path: &str, base: &Reference) -> Result<Self, Invalid> {
        match Self::parse(path)? {
            Reference::Local(path) => in_remote(&path, base),
            whole => Ok(whole),
        }
    }
}

/// What a local path means in the program at `base`: never a file of this machine.
fn in_remote(path: &str, base: &Reference) -> Result<Reference, Invalid> {
    match base {
        Reference::Git(program) => sibling(program, path).map(Reference::Git),
        Reference::Url(url) => relative(url, path).map(Reference::Url),
        Reference::Registry(_) | Reference::Local(_) => Err(Invalid::NoAddress),
    }
}

fn relative(base: &Url, path: &str) -> Result<Url, Invalid> {
    let url = base.join(path).map_err(|error| Invalid::Url(error.to_string()))?;
    // `//host/x.prose`, `/\host/x.prose` and `x:y.prose` are whole addresses by the rules of the web.
    if url.origin() != base.origin() || url.has_authority() != base.has_authority() {
        return Err(Invalid::OtherHost);
    }
    crate::reference::url(url.as_str())
}

fn sibling(program: &GitProgram, path: &str) -> Result<GitProgram, Invalid> {
    let mut parts: Vec<&str> = match path.strip_prefix('/') {
        Some(_) => Vec::new(),
        None => program.path.rsplit_once('/').map_or(Vec::new(), |(folder, _)| folder.split('/').collect()),
    };
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.pop().is_none() => return Err(Invalid::OutsideRepository),
            ".." => {}
            part => parts.push(part),
        }
    }
    GitProgram::new(
        program.host,
        &program.owner,
        &program.repository,
        &parts.join("/"),
        program.revision.clone(),
    )
}

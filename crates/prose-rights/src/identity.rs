//! The identity of a fetched program.

use prose_reference::{GitProgram, Reference};
use sha2::{Digest, Sha256};

/// The identity of a fetched program in a project: its name in settings, and its own folder for memories.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// Its name in settings, such as `alice/research`.
    pub name: String,
    /// Its folder for memories, below `agents/` in `.prose`: `p.prose.md/alice--research`.
    pub folder: String,
}

impl Identity {
    /// The program of a reference, in a project that has this registry. A program of the registry is the same by its name and by its address; a
    /// file in a repository is the same in all its revisions.
    pub fn new(reference: &Reference, registry: &str) -> Self {
        let named = match reference {
            Reference::Url(url) => {
                let rest = url.as_str().strip_prefix(registry).filter(|_| !registry.is_empty());
                let program = rest.and_then(|rest| Reference::parse(rest).ok());
                program.filter(|program| matches!(program, Reference::Registry(_)))
            }
            _ => None,
        };
        let reference = named.as_ref().unwrap_or(reference);
        let (host, parts) = match reference {
            Reference::Registry(program) => {
                (host(registry), vec![program.handle.clone(), program.slug.clone()])
            }
            Reference::Url(url) => {
                let path = format!(
                    "{}{}",
                    url.path(),
                    url.query().map_or(String::new(), |query| format!("?{query}"))
                );
                let parts = path.split('/').filter(|part| !part.is_empty()).map(str::to_owned);
                (host(url.as_str()), parts.collect())
            }
            Reference::Git(program) => {
                let mut parts = vec![program.owner.clone(), program.repository.clone()];
                parts.extend(program.path.split('/').map(str::to_owned));
                (program.host.name().to_owned(), parts)
            }
            Reference::Local(path) => ("local".to_owned(), vec![path.clone()]),
        };
        Self { name: name(&reference.to_string()), folder: format!("{}/{}", part(&[host]), part(&parts)) }
    }

    /// Whether a path, from the folder that holds `.prose`, lies in the folder of the program.
    pub fn owns(&self, path: &str) -> bool {
        let path = crate::normalized(path);
        let rest =
            path.strip_prefix(".prose/agents/").and_then(|rest| rest.strip_prefix(self.folder.as_str()));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

/// The name of the program that a path names: its canonical spelling, without the `@` that some write, and without a revision.
pub(crate) fn name(path: &str) -> String {
    match Reference::parse(path) {
        Ok(Reference::Registry(program)) => format!("{}/{}", program.handle, program.slug),
        Ok(Reference::Git(program)) => Reference::Git(GitProgram { revision: None, ..program }).to_string(),
        Ok(reference) => reference.to_string(),
        Err(_) => path.to_owned(),
    }
}

/// The host of an address, with its port.
fn host(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split('/').next().unwrap_or_default().replace(':', "_")
}

/// Parts of a path as one name of a folder. Where that alone could be the name of another path too, a hash tells them apart.
fn part(parts: &[String]) -> String {
    const MAX_CHARS: usize = 80;
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_' | '.');
    let plain = |part: &String| -> String {
        let part = part.strip_suffix(".prose").unwrap_or(part);
        part.chars().map(|c| if is_plain(c) { c } else { '-' }).collect()
    };
    let is_plain_part = |part: &String| {
        part.chars().all(is_plain)
            && !part.contains("--")
            && !part.starts_with(['-', '.'])
            && !part.ends_with(['-', '.'])
    };
    let mut name = parts.iter().map(plain).collect::<Vec<_>>().join("--");
    if name.is_empty() || name.len() > MAX_CHARS || !parts.iter().all(is_plain_part) {
        let hash = Sha256::digest(parts.join("/"));
        let hash: String = hash.iter().take(6).map(|byte| format!("{byte:02x}")).collect();
        name.truncate(MAX_CHARS);
        let name = name.trim_matches(['-', '.']);
        return format!("{name}--{hash}").trim_start_matches('-').to_owned();
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(reference: &str) -> (String, String) {
        let reference = Reference::parse(reference).unwrap_or_else(|error| panic!("{error}"));
        let Identity { name, folder } = Identity::new(&reference, "https://p.prose.md/");
        (name, folder)
    }

    #[test]
    fn a_program_has_one_name_and_one_folder() {
        let research = ("alice/research".to_owned(), "p.prose.md/alice--research".to_owned());
        assert_eq!(identity("alice/research"), research);
        assert_eq!(identity("@alice/research"), research);
        assert_eq!(identity("https://p.prose.md/alice/research"), research);
        assert_eq!(identity("https://p.prose.md/@alice/research"), research);
        assert_eq!(identity("https://example.com/flows/a.prose").1, "example.com/flows--a");
        assert_eq!(identity("http://127.0.0.1:8000/a.prose").1, "127.0.0.1_8000/a");
        let git = identity("github.com/alice/flows/deep/a.prose");
        assert_eq!(git.1, "github.com/alice--flows--deep--a");
        assert_eq!(identity("github.com/alice/flows/deep/a.prose@v1").1, git.1);
    }

    #[test]
    fn different_programs_have_different_folders() {
        let paths = [
            "alice--x/y",
            "alice/x--y",
            "alice/x-y",
            "Alice/x--y",
            "alice-/-x--y",
            "https://p.prose.md/alice/x/y",
            "https://example.com/alice/x/y",
            "https://example.com/alice/x?y",
            "https://example.com/alice/x%2fy",
        ];
        let mut folders: Vec<String> = paths.iter().map(|path| identity(path).1).collect();
        for folder in &folders {
            assert!(
                folder.split('/').all(|part| !part.is_empty() && !part.starts_with(['.', '-'])),
                "{folder}"
            );
        }
        folders.sort();
        folders.dedup();
        assert_eq!(folders.len(), paths.len(), "{folders:?}");
    }

    #[test]
    fn a_program_owns_its_folder_and_no_other() {
        let research =
            Identity { name: "alice/research".to_owned(), folder: "p.prose.md/alice--research".to_owned() };
        assert!(research.owns(".prose/agents/p.prose.md/alice--research/notes"));
        assert!(research.owns("./.prose/agents/p.prose.md/alice--research"));
        assert!(!research.owns(".prose/agents/p.prose.md/alice--research-2/notes"));
        assert!(!research.owns(".prose/agents/p.prose.md/alice--research/../bob--deep"));
        assert!(!research.owns(".prose/agents/writer"));
    }
}

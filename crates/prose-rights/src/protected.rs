//! The protected files: secrets, keys, and files that control what programs may do.

use std::sync::LazyLock;

use globset::{Glob, GlobSet, GlobSetBuilder};

/// The folders in which every file is protected.
const FOLDERS: &[&str] = &[".git", ".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker"];

/// The names of protected files, as globs in lower case.
const FILES: &[&str] = &[
    ".env",
    ".env.*",
    ".env_*",
    ".env-*",
    "*.env",
    ".envrc",
    "prose.toml",
    "id_rsa*",
    "id_dsa*",
    "id_ecdsa*",
    "id_ed25519*",
    "*.pem",
    "*.key",
    "*.p8",
    "*.ppk",
    "*.p12",
    "*.pfx",
    "*.jks",
    "*.keystore",
    "*.kdbx",
    ".npmrc",
    ".pypirc",
    ".netrc",
    "_netrc",
    ".pgpass",
    ".htpasswd",
    ".git-credentials",
    ".dockercfg",
    ".vault-token",
    "credentials",
    "credentials.*",
];

/// Names that look like secrets but by convention contain examples.
const EXAMPLES: &[&str] = &[".env.example", ".env.sample", ".env.template"];

/// Whether a file is protected, so that a program passes it on only if the user has listed it: `.env`, keys, settings and everything in `.git`. Must
/// be checked for the written path and for its target.
pub fn is_protected(path: &str) -> bool {
    // The table is constant, and a test compiles it.
    static NAMES: LazyLock<GlobSet> = LazyLock::new(|| {
        let globs = FILES.iter().filter_map(|name| Glob::new(name).ok());
        let mut set = GlobSetBuilder::new();
        globs.for_each(|glob| _ = set.add(glob));
        set.build().unwrap_or_default()
    });
    let parts: Vec<String> = parts(path).collect();
    let is_secret = |name: &String| NAMES.is_match(name) && !EXAMPLES.contains(&name.as_str());
    parts.iter().any(|part| is_folder(part, FOLDERS)) || parts.last().is_some_and(is_secret)
}

/// Whether a path is or leads into a `.git` folder.
pub fn is_in_git(path: &str) -> bool {
    parts(path).any(|part| is_folder(&part, &[".git"]))
}

/// The components of a path as any system may interpret them: some ignore case, others remove trailing blanks and dots, what follows a colon, and
/// invisible characters.
fn parts(path: &str) -> impl Iterator<Item = String> {
    path.split(['/', '\\']).filter_map(|part| {
        let is_drive = part.len() == 2 && part.ends_with(':');
        let part = part.split(':').next().filter(|_| !is_drive)?;
        let seen = |c: &char| !matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
        let part: String = part.chars().filter(seen).flat_map(char::to_lowercase).collect();
        let part = part.trim_end_matches([' ', '.']);
        (!part.is_empty()).then(|| part.to_owned())
    })
}

fn is_folder(part: &str, folders: &[&str]) -> bool {
    // The short name of `.git` on Windows.
    folders.contains(&part) || part == "git~1" && folders.contains(&".git")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_keys_and_settings_are_protected_however_they_are_written() {
        for path in [
            ".env",
            ".ENV",
            "./.env",
            "docs/../.env",
            ".env.",
            ".env ",
            ".env::$DATA",
            ".e\u{200b}nv",
            "deploy/.env.production",
            ".env_local",
            ".envrc",
            "AuthKey.p8",
            ".docker/config.json",
            "prod.env",
            "prose.toml",
            "Prose.TOML",
            "sub/prose.toml",
            ".git/config",
            ".GIT/config",
            "git~1/config",
            "sub/.git/hooks/pre-commit",
            "keys/id_rsa",
            "id_ed25519.pub",
            "server.pem",
            "server.KEY",
            ".npmrc",
            ".netrc",
            ".aws/credentials",
            "credentials.json",
            "C:\\work\\.env",
            "/home/me/.ssh/config",
        ] {
            assert!(is_protected(path), "{path}");
        }
    }

    #[test]
    fn other_files_are_not() {
        for path in [
            "docs/env.md",
            ".env.example",
            ".gitignore",
            ".github/workflows/ci.yml",
            "keys.md",
            "src/credentials/mod.rs",
            "environment",
            "docs/prose.toml.md",
            "",
        ] {
            assert!(!is_protected(path), "{path}");
        }
    }

    #[test]
    fn every_name_of_the_table_is_a_glob() {
        assert!(FILES.iter().all(|name| Glob::new(name).is_ok()));
    }

    #[test]
    fn git_folders_are_found_at_any_depth() {
        assert!(is_in_git(".git") && is_in_git("a/.Git/hooks") && is_in_git("/x/.git/b"));
        assert!(!is_in_git("a/.github") && !is_in_git("git"));
    }
}

//! Where paths lead, and which patterns cover them.

use std::io;
use std::path::{Component, Path, PathBuf};

use globset::GlobBuilder;
use prose_rights::is_protected;

/// Whether names that differ only in case name the same file.
const IGNORES_CASE: bool = cfg!(any(windows, target_os = "macos"));

/// The maximum number of links on the way to a file.
const MAX_LINKS: usize = 40;

/// Folders and files that decide what agents and editors execute, in lower case. They are protected against writing.
const CONTROL: &[&str] = &[
    ".claude",
    ".codex",
    ".opencode",
    ".gemini",
    ".qwen",
    ".agents",
    ".mcp.json",
    "opencode.json",
    "opencode.jsonc",
    ".vscode",
    ".idea",
    ".husky",
    ".direnv",
    ".bashrc",
    ".zshrc",
    ".profile",
    ".bash_profile",
    ".zprofile",
    ".zshenv",
    ".gitconfig",
    ".gitattributes",
    ".gitmodules",
];

/// Where a path leads, links and `..` followed as the system does. Parts that do not exist yet are kept.
pub(super) fn resolve(folder: &Path, path: &Path) -> io::Result<PathBuf> {
    // Where the folder itself is missing, its own path is all that is known.
    let mut resolved = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let mut rest: Vec<PathBuf> = vec![path.to_owned()];
    let mut links = 0;
    while let Some(next) = rest.pop() {
        let mut parts = next.components();
        let Some(part) = parts.next() else { continue };
        let left = parts.as_path().to_owned();
        match part {
            Component::Prefix(prefix) => {
                resolved = PathBuf::from(prefix.as_os_str());
            }
            Component::RootDir => {
                // Of `\x` on Windows, the drive stays.
                resolved.push("/");
            }
            Component::CurDir => {}
            Component::ParentDir => _ = resolved.pop(),
            Component::Normal(name) => {
                let path = resolved.join(name);
                match path.symlink_metadata() {
                    Ok(metadata) if metadata.is_symlink() => {
                        links += 1;
                        if links > MAX_LINKS {
                            return Err(io::Error::other("there are too many symbolic links on the way"));
                        }
                        rest.push(left);
                        rest.push(path.read_link()?);
                        continue;
                    }
                    // The name as the folder has it, where case does not count.
                    Ok(_) if IGNORES_CASE => resolved = path.canonicalize()?,
                    Ok(_) => resolved = path,
                    Err(error) if is_absent(&error) => resolved = path,
                    Err(error) => return Err(error),
                }
            }
        }
        rest.push(left);
    }
    Ok(resolved)
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// A path relative to the project with `/`, or absolute for one outside of it.
pub(super) fn shown(root: &Path, resolved: &Path) -> String {
    let inside = relative(root, resolved);
    let shown = inside.as_deref().unwrap_or(resolved);
    if shown.as_os_str().is_empty() {
        return ".".to_owned();
    }
    let shown = shown.to_string_lossy();
    if cfg!(windows) { shown.replace('\\', "/") } else { shown.into_owned() }
}

/// The part below the project; `None` outside of it.
pub(super) fn relative(root: &Path, resolved: &Path) -> Option<PathBuf> {
    let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    resolved.strip_prefix(root).ok().map(Path::to_owned)
}

/// Whether a file contains secrets, or controls what programs and agents may do: in either spelling, as written and as resolved.
pub(super) fn needs_approval(path: &str, writes: bool) -> bool {
    let parts = || path.split(['/', '\\']).filter(|part| !part.is_empty());
    let is_state = parts().any(|part| part.trim_end_matches([' ', '.']).eq_ignore_ascii_case(".prose"));
    let controls =
        || parts().any(|part| CONTROL.contains(&part.trim_end_matches([' ', '.']).to_lowercase().as_str()));
    is_protected(path) || is_state || writes && controls()
}

/// Whether a list of patterns covers a file: one pattern does, and none that starts with `!`.
pub(super) fn covers(patterns: &[String], root: &Path, resolved: &Path) -> bool {
    let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    let is_matched = |pattern: &str, ignores_case: bool| matches(pattern, &root, resolved, ignores_case);
    let mut excluded = patterns.iter().filter_map(|pattern| pattern.strip_prefix('!'));
    patterns.iter().any(|pattern| !pattern.starts_with('!') && is_matched(pattern, IGNORES_CASE))
        && !excluded.any(|pattern| is_matched(pattern, true))
}

/// Whether a list of patterns covers everything in a folder.
pub(super) fn covers_folder(patterns: &[String], root: &Path, folder: &Path) -> bool {
    let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    !patterns.iter().any(|pattern| pattern.starts_with('!'))
        && patterns.iter().any(|pattern| {
            let base = pattern
                .strip_suffix("**/*")
                .or_else(|| pattern.strip_suffix("**"))
                .or_else(|| pattern.strip_suffix('/'));
            let base = base.filter(|base| {
                (base.is_empty() || base.ends_with('/') || pattern.ends_with('/'))
                    && !base.contains(['*', '?', '[', '{'])
            });
            base.is_some_and(|base| folder.starts_with(absolute(base, &root)))
        })
}

fn matches(pattern: &str, root: &Path, resolved: &Path, ignores_case: bool) -> bool {
    // A folder covers what is in it.
    let pattern = match pattern.strip_suffix('/') {
        Some(folder) => format!("{folder}/**"),
        None => pattern.to_owned(),
    };
    let is_rooted =
        pattern.starts_with(['/', '~']) || pattern.starts_with("..") || Path::new(&pattern).is_absolute();
    // Only a pattern that leads out of the project covers what lies outside.
    let (pattern, path) = match resolved.strip_prefix(root) {
        Ok(inside) if !is_rooted => (prose_rights::normalized(&pattern), inside.to_owned()),
        _ if is_rooted => (absolute(&pattern, root).to_string_lossy().into_owned(), resolved.to_owned()),
        _ => return false,
    };
    let text = path.to_string_lossy();
    let text = if cfg!(windows) { text.replace('\\', "/") } else { text.into_owned() };
    let pattern = if cfg!(windows) { pattern.replace('\\', "/") } else { pattern };
    GlobBuilder::new(&pattern)
        .literal_separator(true)
        .backslash_escape(!cfg!(windows))
        .case_insensitive(ignores_case)
        .build()
        .is_ok_and(|glob| glob.compile_matcher().is_match(&text))
}

/// A pattern as an absolute path, without `.` and `..`.
fn absolute(pattern: &str, root: &Path) -> PathBuf {
    let path = match pattern.strip_prefix("~/").zip(std::env::home_dir()) {
        Some((rest, home)) => home.canonicalize().unwrap_or(home).join(rest),
        None => root.join(pattern),
    };
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => _ = plain.pop(),
            part => plain.push(part),
        }
    }
    plain
}

/// The files that a word with `*`, `?` or `[` stands for; `None` if there are too many to look at.
pub(super) fn expand(folder: &Path, word: &str) -> Option<Vec<PathBuf>> {
    const MAX_FILES: usize = 2_000;
    let mut found = vec![if Path::new(word).is_absolute() { PathBuf::from("/") } else { folder.to_owned() }];
    for part in word.split('/').filter(|part| !part.is_empty()) {
        if !part.contains(['*', '?', '[']) {
            found.iter_mut().for_each(|path| path.push(part));
            continue;
        }
        let glob =
            GlobBuilder::new(&part.replace("**", "*")).backslash_escape(true).build().ok()?.compile_matcher();
        let mut next = Vec::new();
        for path in found {
            // What is not a folder contains nothing.
            for entry in path.read_dir().into_iter().flatten().flatten() {
                let name = entry.file_name();
                let is_hidden = name.to_string_lossy().starts_with('.');
                if (!is_hidden || part.starts_with(['.', '['])) && glob.is_match(Path::new(&name)) {
                    next.push(entry.path());
                }
                if next.len() > MAX_FILES {
                    return None;
                }
            }
        }
        found = next;
    }
    Some(found)
}

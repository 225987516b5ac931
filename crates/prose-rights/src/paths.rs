//! Paths as programs and settings write them.

/// A path without `.`, `..` and empty parts, as far as the path alone shows. One that leads out of the project keeps what it
/// starts with: `/`, `~/` or `../`.
pub fn normalized(path: &str) -> String {
    let path = if cfg!(windows) { path.replace('\\', "/") } else { path.to_owned() };
    let is_absolute = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| !matches!(*last, ".." | "~")) => _ = parts.pop(),
            ".." if is_absolute => {}
            part => parts.push(part),
        }
    }
    let joined = parts.join("/");
    if is_absolute { format!("/{joined}") } else { joined }
}

/// Whether a normalised path leads out of the project.
pub(crate) fn is_outside(path: &str) -> bool {
    let first = path.split('/').next().unwrap_or_default();
    let is_drive = first.len() == 2 && first.ends_with(':');
    path.starts_with('/') || matches!(first, "~" | "..") || is_drive
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn detours_are_taken_out() {
        assert_eq!(normalized("./docs//a/../b.md"), "docs/b.md");
        assert_eq!(normalized("docs/../../x"), "../x");
        assert_eq!(normalized("/a/../../b"), "/b");
        assert_eq!(normalized("~/../x"), "~/../x");
        assert_eq!(normalized("."), "");
    }

    #[test]
    fn paths_out_of_the_project_are_known() {
        for path in ["/etc/passwd", "../x", "~/x", "C:/x", ".."] {
            assert!(is_outside(path), "{path}");
        }
        for path in ["docs/a", "..x", "~x", ""] {
            assert!(!is_outside(path), "{path}");
        }
    }
}

//! The imports and requested rights of a text.

use std::path::Path;

use prose_analysis::{AnalysisHost, Text, imports, rights};
use prose_rights::Right;

/// The paths that a program imports, each once.
pub fn import_paths(text: &str) -> Vec<String> {
    let mut host = AnalysisHost::default();
    let file = host.set_text(Path::new("program.prose"), Text::new(text));
    let mut paths: Vec<String> = Vec::new();
    for path in imports::import_paths(host.db(), file) {
        if !paths.iter().any(|known| *known == *path) {
            paths.push(path.into());
        }
    }
    paths
}

/// The rights that a fetched program with this text requests.
pub fn requested_rights(text: &str) -> Vec<Right> {
    let mut host = AnalysisHost::default();
    let file = host.set_text(Path::new("program.prose"), Text::new(text));
    rights::asked(host.db(), file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_those_of_statements_and_not_of_texts() {
        let text = "# use \"a/comment\"\nuse \"a/b\"\nuse \"./c.prose\" as c\nsession \"\"\"\nuse \"a/text\"\n\"\"\"\nuse \"a/b\" as again\n";
        assert_eq!(import_paths(text), ["a/b", "./c.prose"]);
        assert_eq!(import_paths("use\nuse\n\0"), <[&str; 0]>::default());
    }
}

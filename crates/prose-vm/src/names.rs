//! Names that become paths (decision 14).

/// Whether a name can be that of a file or a folder: one part of a path that leads nowhere else.
pub fn is_safe(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= 200
        && !name.starts_with('.')
        && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'))
}

/// What is said about a name that cannot.
pub fn unsafe_name(what: &str, name: &str) -> String {
    format!("the {what} `{name}` cannot have files: its name has to consist of letters, digits, `_` and `-`")
}

/// The name of the file of a segment: three digits, more when three are not enough (R47).
pub fn segment_file(agent: &str, number: u32) -> String {
    format!("{agent}-{number:03}.md")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r047_segments_have_three_digits_and_four_when_needed() {
        assert_eq!(segment_file("captain", 3), "captain-003.md");
        assert_eq!(segment_file("captain", 1000), "captain-1000.md");
    }

    #[test]
    fn names_that_lead_elsewhere_are_not_safe() {
        for name in ["", ".", "..", "a/b", "a\\b", "..x", "a:b", "a\0"] {
            assert!(!is_safe(name), "{name}");
        }
        for name in ["captain", "größe", "a-b_c", "v1.2"] {
            assert!(is_safe(name), "{name}");
        }
    }
}

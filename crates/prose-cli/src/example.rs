//! The built-in example programs.

/// An example with its name.
pub(crate) struct Example {
    pub(crate) name: &'static str,
    pub(crate) text: &'static str,
}

macro_rules! examples {
    ($($name:literal)*) => {
        &[$(Example { name: $name, text: include_str!(concat!("../../../examples/", $name, ".prose")) }),*]
    };
}

/// The examples that stand alone.
pub(crate) const EXAMPLES: &[Example] =
    examples!("hello" "code-review" "incident" "release-notes" "localise" "newsletter");

impl Example {
    /// Its first comment.
    pub(crate) fn summary(&self) -> &str {
        let comment = self.text.lines().find_map(|line| line.strip_prefix('#'));
        comment.map_or("", str::trim)
    }
}

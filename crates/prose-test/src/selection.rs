//! Which cases are run.

use crate::file::TestFile;
use crate::variant::Variant;

/// Selects variants by name.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// The variants have one of these texts in their id or in the path of their file, in any case; empty for all.
    pub texts: Vec<String>,
}

impl Selection {
    /// Whether a variant is selected.
    pub fn has(&self, file: &TestFile, variant: &Variant) -> bool {
        let name = format!("{}::{}", file.path.display(), variant.id).to_lowercase();
        self.texts.is_empty() || self.texts.iter().any(|text| name.contains(&text.to_lowercase()))
    }

    /// The selected variants of a file.
    pub fn variants(&self, file: &TestFile) -> Vec<Variant> {
        file.variants().into_iter().filter(|variant| self.has(file, variant)).collect()
    }
}

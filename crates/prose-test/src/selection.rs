//! Which cases are run.

use crate::file::TestFile;
use crate::variant::Variant;

/// Selects variants by name.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// The variants have one of these texts in their id or in the path of their file, in any case; empty for all.
    pub texts: Vec<String>,
    /// Whether a text is the whole name of a case or the whole id of a variant, with or without the path of the file and `::` before it.
    pub is_exact: bool,
}

impl Selection {
    /// Whether a variant is selected.
    pub fn has(&self, file: &TestFile, variant: &Variant) -> bool {
        if self.texts.is_empty() {
            return true;
        }
        let path = file.path.to_string_lossy();
        if self.is_exact {
            let case = file.cases.get(variant.case).map(|case| case.name.as_str());
            let is_name = |text: &str| text == variant.id || Some(text) == case;
            let of_file = |text: &str| text.strip_prefix(&*path)?.strip_prefix("::").map(is_name);
            return self.texts.iter().any(|text| is_name(text) || of_file(text) == Some(true));
        }
        let name = format!("{path}::{}", variant.id).to_lowercase();
        self.texts.iter().any(|text| name.contains(&text.to_lowercase()))
    }

    /// The selected variants of a file.
    pub fn variants(&self, file: &TestFile) -> Vec<Variant> {
        file.variants().into_iter().filter(|variant| self.has(file, variant)).collect()
    }
}

//! Addresses of registries.

use toml::de::DeValue;

/// The address of a registry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegistryUrl(String);

impl RegistryUrl {
    /// The address; it ends with `/`, so that a path can be appended. Empty if the file names one that cannot be read: what a company names
    /// for itself is not to be asked of the public registry because of a slip.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// An address that cannot be read.
    pub(crate) fn unknown() -> Self {
        Self(String::new())
    }

    /// Whether there is an address in a value that is none of a registry, where one was meant perhaps.
    pub(crate) fn is_in(value: &DeValue<'_>) -> bool {
        match value {
            DeValue::String(text) => Self::parse(text).is_some(),
            DeValue::Table(table) => table.values().any(|value| Self::is_in(value.get_ref())),
            _ => false,
        }
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"))?;
        let starts_with_host = rest.starts_with(|c: char| !matches!(c, '/' | ':'));
        let is_plain = !rest
            .contains(|c: char| c.is_whitespace() || c.is_control() || matches!(c, '?' | '#' | '@' | '\\'));
        (starts_with_host && is_plain).then(|| Self(format!("{}/", text.trim_end_matches('/'))))
    }
}

impl Default for RegistryUrl {
    fn default() -> Self {
        Self("https://p.prose.md/".to_owned())
    }
}

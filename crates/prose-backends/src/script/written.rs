//! The entries of a script, as they are written.

use prose_vm::error::ErrorKind;
use serde::Serialize;

/// An entry of a script, as it is written.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Entry {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) agent: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) label: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) place: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reply: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) delay: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) met: Option<bool>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) no_progress: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) choose: Option<Choose>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) reason: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) value: Option<toml::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) json: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) absent: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) segments: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fail: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) kind: Option<ErrorKind>,
}

/// What is chosen.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Choose {
    /// By its label.
    Label(String),
    /// By its number, from 1.
    Number(usize),
}

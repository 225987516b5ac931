//! The table of known providers.

use super::api::Api;

/// A provider of models, or a kind of server that has its API.
#[derive(Debug, PartialEq, Eq)]
pub struct KnownProvider {
    /// Its name in settings.
    pub name: &'static str,
    /// What it is, for messages and the documentation.
    pub title: &'static str,
    pub(super) api: Api,
    /// Its address; `None` if the project has to set one.
    pub base_url: Option<&'static str>,
    /// The environment variable with its key; `None` if it needs none.
    pub key_variable: Option<&'static str>,
    /// Whether it binds answers to schemas.
    pub(super) binds_answers: bool,
    /// Its models for the sizes that programs name (R24), from small to large; empty if it has those that its user has installed.
    pub sizes: &'static [(&'static str, &'static str)],
}

/// The size for sessions without a model.
pub(super) const DEFAULT_SIZE: &str = "sonnet";

/// All known providers.
pub const PROVIDERS: &[KnownProvider] = &[
    KnownProvider {
        name: "anthropic",
        title: "Anthropic",
        api: Api::Anthropic,
        base_url: Some("https://api.anthropic.com"),
        key_variable: Some("ANTHROPIC_API_KEY"),
        binds_answers: true,
        sizes: &[("haiku", "claude-haiku-5-5"), ("sonnet", "claude-sonnet-5-5"), ("opus", "claude-opus-5-5")],
    },
    KnownProvider {
        name: "openai",
        title: "OpenAI",
        api: Api::OpenAi,
        base_url: Some("https://api.openai.com/v1"),
        key_variable: Some("OPENAI_API_KEY"),
        binds_answers: true,
        sizes: &[("haiku", "gpt-5-mini"), ("sonnet", "gpt-5.5"), ("opus", "gpt-6")],
    },
    KnownProvider {
        name: "google",
        title: "Google Gemini",
        api: Api::Gemini,
        base_url: Some("https://generativelanguage.googleapis.com/v1beta"),
        key_variable: Some("GEMINI_API_KEY"),
        binds_answers: true,
        sizes: &[
            ("haiku", "gemini-2.5-flash-lite"),
            ("sonnet", "gemini-2.5-flash"),
            ("opus", "gemini-2.5-pro"),
        ],
    },
    KnownProvider {
        name: "ollama",
        title: "Ollama",
        api: Api::OpenAi,
        base_url: Some("http://localhost:11434/v1"),
        key_variable: None,
        binds_answers: true,
        sizes: &[],
    },
    KnownProvider {
        name: "vllm",
        title: "vLLM",
        api: Api::OpenAi,
        base_url: Some("http://localhost:8000/v1"),
        key_variable: None,
        binds_answers: true,
        sizes: &[],
    },
    KnownProvider {
        name: "compatible",
        title: "any server with the API of OpenAI",
        api: Api::OpenAi,
        base_url: None,
        key_variable: None,
        binds_answers: false,
        sizes: &[],
    },
];

impl KnownProvider {
    /// The provider of a name.
    pub fn named(name: &str) -> Option<&'static Self> {
        PROVIDERS.iter().find(|provider| provider.name == name)
    }

    /// Its model for a size.
    pub(super) fn sized(&self, size: &str) -> Option<&'static str> {
        self.sizes.iter().find(|(name, _)| *name == size).map(|(_, model)| *model)
    }
}

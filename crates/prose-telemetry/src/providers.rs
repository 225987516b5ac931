//! The providers of models, as the conventions name them.

/// The provider that a harness asks; the harness itself if it does not follow from that. `configured` is that of the harness `provider`.
pub(crate) fn provider<'a>(harness: &'a str, configured: Option<&'a str>) -> &'a str {
    match (harness, configured) {
        ("claude", _) => "anthropic",
        ("codex", _) => "openai",
        ("gemini", _) => "gcp.gemini",
        ("provider", Some(configured)) => match configured {
            "google" | "gemini" => "gcp.gemini",
            "mistral" => "mistral_ai",
            "xai" => "x_ai",
            other => other,
        },
        (harness, _) => harness,
    }
}

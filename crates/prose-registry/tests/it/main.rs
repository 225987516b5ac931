//! The crate as those who use it see it, against servers on loopback.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod cache;
mod credentials;
mod faults;
mod fetching;
mod hostile;
mod lock;
mod safety;
mod serve;
mod sharing;
mod support;
mod tls;
mod vendor;
mod walk;

#[test]
fn the_documentation_has_every_variable_of_the_environment() {
    let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/registry.md");
    let text = std::fs::read_to_string(page).unwrap();
    for name in [
        prose_registry::ALLOW_HTTP,
        prose_registry::CACHE_DIR,
        prose_registry::CREDENTIALS_FILE,
        prose_registry::EXTRA_CA,
        prose_registry::OFFLINE,
        prose_registry::TOKENS,
    ] {
        assert!(text.contains(&format!("| `{name}` |")), "{name}");
    }
}

//! Which patterns cover an address.

use globset::GlobBuilder;
use url::Url;

/// Whether a list of patterns covers an address: one pattern does, and none that starts with `!`. `None` if the address cannot be understood.
pub(super) fn covers(patterns: &[String], address: &str) -> Option<bool> {
    let url = Url::parse(address).ok().filter(|url| url.has_host())?;
    let mut excluded = patterns.iter().filter_map(|pattern| pattern.strip_prefix('!'));
    let is_given = patterns.iter().any(|pattern| !pattern.starts_with('!') && matches(pattern, &url));
    Some(is_given && !excluded.any(|pattern| matches(pattern, &url)))
}

/// Scheme, host and path are matched one by one, so that no part of an address stands in for another.
fn matches(pattern: &str, url: &Url) -> bool {
    if matches!(pattern, "*" | "**") {
        return true;
    }
    let (scheme, rest) = match pattern.split_once("://") {
        Some((scheme, rest)) => (Some(scheme), rest),
        None => (None, pattern),
    };
    let (host, path) = match rest.find('/') {
        Some(at) => (&rest[..at], &rest[at..]),
        None => (rest, ""),
    };
    let (host, port) = match host.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (host, None),
    };
    let glob = |pattern: &str, text: &str| {
        GlobBuilder::new(pattern)
            .case_insensitive(false)
            .backslash_escape(false)
            .build()
            .is_ok_and(|glob| glob.compile_matcher().is_match(text))
    };
    let known_port = url.port_or_known_default().map(|port| port.to_string()).unwrap_or_default();
    let is_port = match port {
        Some(port) => port == "*" || port == known_port,
        // A host alone stands for its usual port; `*` for any.
        None => url.port().is_none() || host == "*",
    };
    let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
    let has_credentials = !url.username().is_empty() || url.password().is_some();
    let is_scheme = match scheme {
        Some(scheme) => scheme == "*" || scheme.eq_ignore_ascii_case(url.scheme()),
        None => matches!(url.scheme(), "http" | "https"),
    };
    is_scheme
        && !has_credentials
        && is_port
        && glob(&host.to_ascii_lowercase(), url.host_str().unwrap_or_default())
        && (matches!(path, "" | "/") || glob(path, &format!("{}{query}", url.path())))
}

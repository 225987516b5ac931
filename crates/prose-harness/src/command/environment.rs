//! The environment of agents' programs: the variables that they need, and no secrets of other programs.

/// The variables that every program receives if they are set; a trailing `*` is a wildcard. Keys and tokens are not included: those of an agent are
/// named in its settings.
pub const ALWAYS_PASSED: &[&str] = &[
    // User and locale.
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "TZ",
    "TERM",
    "TMPDIR",
    "TMP",
    "TEMP",
    "XDG_*",
    // Network access.
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    // Additional variables for Windows.
    "APPDATA",
    "COMSPEC",
    "HOMEDRIVE",
    "HOMEPATH",
    "LOCALAPPDATA",
    "PATHEXT",
    "PROGRAMDATA",
    "PROGRAMFILES",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "USERNAME",
    "USERPROFILE",
    "WINDIR",
];

/// The variables of a program: those above and the additional ones.
pub(crate) fn passed(additional: &[String]) -> Vec<(String, String)> {
    let is_passed = |name: &str| {
        ALWAYS_PASSED
            .iter()
            .copied()
            .chain(additional.iter().map(String::as_str))
            .any(|pattern| matches(pattern, name))
    };
    // Names that are not Unicode cannot be in the settings either.
    let variables = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let mut passed: Vec<_> = variables.filter(|(name, _)| is_passed(name)).collect();
    // Replies are text without terminal colours.
    passed.push(("NO_COLOR".to_owned(), "1".to_owned()));
    passed
}

/// Variables with their values, as far as they are set.
pub(crate) fn values(names: &[String]) -> impl Iterator<Item = (String, String)> {
    names.iter().filter_map(|name| Some((name.clone(), std::env::var(name).ok()?)))
}

fn matches(pattern: &str, name: &str) -> bool {
    // Windows ignores case.
    let (pattern, name) = match cfg!(windows) {
        true => (pattern.to_ascii_uppercase(), name.to_ascii_uppercase()),
        false => (pattern.to_owned(), name.to_owned()),
    };
    match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == pattern,
    }
}

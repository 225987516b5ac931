//! The environment of agents' programs: what they need to work, and nothing that is only meant for others.

/// The variables that every program gets, if they are set; `*` at the end stands for anything. Keys and tokens are not among them: those of an
/// agent are named in its settings.
pub const ALWAYS_PASSED: &[&str] = &[
    // Who and where.
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
    // How the network is reached.
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
    // What Windows needs besides.
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

/// The variables that a program gets: those above and the additional ones.
pub(super) fn passed(additional: &[String]) -> Vec<(String, String)> {
    let is_passed = |name: &str| {
        ALWAYS_PASSED
            .iter()
            .copied()
            .chain(additional.iter().map(String::as_str))
            .any(|pattern| matches(pattern, name))
    };
    // What is no Unicode cannot be named in settings either.
    let variables = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let mut passed: Vec<_> = variables.filter(|(name, _)| is_passed(name)).collect();
    // Replies are text, without the colours of a terminal.
    passed.push(("NO_COLOR".to_owned(), "1".to_owned()));
    passed
}

fn matches(pattern: &str, name: &str) -> bool {
    // Windows does not tell cases apart.
    let (pattern, name) = match cfg!(windows) {
        true => (pattern.to_ascii_uppercase(), name.to_ascii_uppercase()),
        false => (pattern.to_owned(), name.to_owned()),
    };
    match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == pattern,
    }
}

//! Tokens for registries: from the environment or from a file of the user, never from a workspace.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fmt, fs, io};

use etcetera::BaseStrategy;
use serde::Deserialize;
use url::Url;

use crate::malformed;
use crate::secret::Secret;

/// The environment variable with tokens, separated by spaces: `https://registry.example.com=TOKEN`.
///
/// Each names its host, since the address of the registry is in a file of the workspace: a variable with nothing but a token
/// would be sent to whatever host that file names.
pub const TOKENS: &str = "PROSE_REGISTRY_TOKENS";

/// The environment variable with the path of another credentials file.
pub const CREDENTIALS_FILE: &str = "PROSE_CREDENTIALS_FILE";

/// The token for each host, which is never sent to another one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Credentials {
    /// By the origin of the address: scheme, host and port.
    tokens: BTreeMap<String, Secret>,
}

/// Why a token or a whole file is not used. No message contains a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CredentialsProblem {
    /// Others can read the file.
    Permissions {
        /// The file.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// The file cannot be read.
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        error: String,
    },
    /// The file is malformed.
    Malformed {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
    },
    /// A token without an address, or with one that no token may be sent to.
    Address {
        /// The file, or the variable of the environment.
        place: String,
        /// What is there for the address.
        address: String,
    },
    /// A token that cannot be sent.
    Token {
        /// The file, or the variable of the environment.
        place: String,
        /// The address it is for.
        address: String,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    tokens: BTreeMap<String, String>,
}

impl Credentials {
    /// The tokens of the user: from `prose/credentials.toml` in the settings folder, and from the environment, which takes precedence.
    pub fn of_user() -> (Self, Vec<CredentialsProblem>) {
        let named = env::var_os(CREDENTIALS_FILE).filter(|path| !path.is_empty()).map(PathBuf::from);
        let default =
            || Some(etcetera::choose_base_strategy().ok()?.config_dir().join("prose/credentials.toml"));
        let (mut credentials, mut problems) =
            named.or_else(default).map(|path| Self::load(&path)).unwrap_or_default();
        if let Ok(text) = env::var(TOKENS) {
            problems.extend(credentials.read_tokens(&text));
        }
        (credentials, problems)
    }

    /// Those of a file:
    ///
    /// ```toml
    /// [tokens]
    /// "https://registry.example.com" = "TOKEN"
    /// ```
    ///
    /// A missing file is not a problem. A file that other users can read is not used.
    pub fn load(path: &Path) -> (Self, Vec<CredentialsProblem>) {
        let mut credentials = Self::default();
        let problems = match read_private(path) {
            Ok(None) => Vec::new(),
            Ok(Some(text)) => credentials.read_file(path, &text),
            Err(problem) => vec![problem],
        };
        (credentials, problems)
    }

    /// Those in the text of the variable [`TOKENS`], on top of what is known.
    pub fn read_tokens(&mut self, text: &str) -> Vec<CredentialsProblem> {
        let mut problems = Vec::new();
        for pair in text.split_whitespace() {
            let added = match pair.split_once('=') {
                Some((address, token)) => self.add(TOKENS, address, token),
                // What is here may well be a token, so it is not shown.
                None => Err(CredentialsProblem::Address { place: TOKENS.to_owned(), address: String::new() }),
            };
            problems.extend(added.err());
        }
        problems
    }

    fn read_file(&mut self, path: &Path, text: &str) -> Vec<CredentialsProblem> {
        let file: File = match toml::from_str(text) {
            Ok(file) => file,
            Err(error) => {
                // The message of the parser shows the line, and with it perhaps a token.
                let line = malformed::line(text, &error);
                return vec![CredentialsProblem::Malformed { path: path.to_owned(), line }];
            }
        };
        let place = path.display().to_string();
        file.tokens.iter().filter_map(|(address, token)| self.add(&place, address, token).err()).collect()
    }

    /// A token for an address, which is asked for nothing but the origin.
    fn add(&mut self, place: &str, address: &str, token: &str) -> Result<(), CredentialsProblem> {
        let url = Url::parse(address).ok().filter(|url| {
            let has_user = !url.username().is_empty() || url.password().is_some();
            // Everyone on the way could read the token of an address without encryption.
            !has_user && (url.scheme() == "https" || url.scheme() == "http" && is_loopback(url))
        });
        let place = || place.to_owned();
        let Some(url) = url else {
            // An address with a user in it has a password as well.
            let address = if address.contains('@') { String::new() } else { address.to_owned() };
            return Err(CredentialsProblem::Address { place: place(), address });
        };
        if token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(CredentialsProblem::Token { place: place(), address: address.to_owned() });
        }
        self.tokens.insert(url.origin().ascii_serialization(), Secret::new(token));
        Ok(())
    }

    /// The token for an address.
    pub(crate) fn token(&self, url: &Url) -> Option<&Secret> {
        self.tokens.get(&url.origin().ascii_serialization())
    }
}

/// Whether an address is one of this machine, by its name or its number.
pub(crate) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(url::Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// The text of a file that only its owner can read.
fn read_private(path: &Path) -> Result<Option<String>, CredentialsProblem> {
    let unreadable =
        |error: io::Error| CredentialsProblem::Unreadable { path: path.to_owned(), error: error.to_string() };
    // Reading a pipe without a writer would block.
    if path.metadata().is_ok_and(|metadata| !metadata.is_file()) {
        return Err(unreadable(io::Error::other("it is not a file")));
    }
    let file = match fs::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(error)),
    };
    // The permissions are those of the file that is read, whatever takes its place in between.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = file.metadata().map_err(unreadable)?.permissions().mode() & 0o777;
        if mode & 0o077 != 0 {
            return Err(CredentialsProblem::Permissions { path: path.to_owned(), mode });
        }
    }
    io::read_to_string(file).map(Some).map_err(unreadable)
}

impl fmt::Display for CredentialsProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CredentialsProblem::Permissions { path, mode } => write!(
                f,
                "the tokens in {0} are not used, since other users can read the file (mode {mode:o}); run `chmod 600 {0}`",
                path.display()
            ),
            CredentialsProblem::Unreadable { path, error } => {
                write!(f, "the tokens in {} cannot be read: {error}", path.display())
            }
            CredentialsProblem::Malformed { path, line } => write!(
                f,
                "the tokens in {} are not used, since line {line} is neither `[tokens]` nor \
                 `\"https://registry.example.com\" = \"TOKEN\"`",
                path.display()
            ),
            CredentialsProblem::Address { place, address } => {
                write!(f, "{place} has a token that is not used: ")?;
                match address.as_str() {
                    "" => f.write_str("it has no address; write `https://registry.example.com=TOKEN`"),
                    address => write!(f, "`{address}` is not an address that starts with `https://`"),
                }
            }
            CredentialsProblem::Token { place, address } => {
                write!(f, "{place} has no token for {address}, or one with spaces or non-ASCII characters")
            }
        }
    }
}

impl std::error::Error for CredentialsProblem {}

//! The settings of the client.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use std::{env, fmt};

use prose_reference::Reference;
use url::Url;

use crate::addresses::{Resolver, SystemResolver};
use crate::credentials::{Credentials, CredentialsProblem};
use crate::lock::{Lock, LockMismatch, Pin};
use crate::secret::Secret;
use crate::tls::EXTRA_CA;
use crate::vendor::Vendor;

/// The environment variable that allows `http://` for hosts other than loopback, with the value `1`.
pub const ALLOW_HTTP: &str = "PROSE_ALLOW_HTTP";

/// The environment variable that disables all requests, with the value `1`.
pub const OFFLINE: &str = "PROSE_OFFLINE";

/// The settings of the client.
#[derive(Clone)]
pub struct Settings {
    /// The address that `handle/slug` is appended to.
    pub registry: Url,
    /// Copies in a folder, which come before the cache and the network.
    pub vendor: Option<Vendor>,
    /// The lock file, if it applies: only texts that it records are accepted.
    pub lock: Option<Locked>,
    /// Whether requests are disabled and cached texts are used regardless of their age.
    pub offline: bool,
    /// Whether `http://` is allowed for hosts other than loopback.
    pub allow_http: bool,
    /// How long a program is fresh, so that no request is made.
    pub fresh_for: Duration,
    /// How long a failure is remembered, so that no request is made at each edit.
    pub failed_for: Duration,
    /// The limits of a request in time and size.
    pub limits: Limits,
    /// The proxies.
    pub proxies: Proxies,
    /// A file with additional trusted certificates, in PEM.
    pub extra_ca: Option<PathBuf>,
    /// The tokens of the user.
    pub credentials: Credentials,
    /// The resolver of host names.
    pub names: Arc<dyn Resolver>,
}

/// A lock file that applies: only texts that it records are accepted.
#[derive(Debug, Clone)]
pub enum Locked {
    /// A readable lock file.
    Pins {
        /// What is pinned.
        lock: Arc<Lock>,
        /// Whether programs that it does not name are rejected.
        is_complete: bool,
    },
    /// An unreadable lock file, and why. Every program is rejected, since each may be pinned to another text.
    Unreadable(Arc<str>),
}

impl Locked {
    /// The lock file at a path (decision 28). `None` if there is none.
    pub fn load(path: &Path) -> Option<Self> {
        match Lock::load(path) {
            Ok(lock) => Some(Self::Pins { lock: Arc::new(lock?), is_complete: false }),
            Err(error) => Some(Self::Unreadable(error.reason().into())),
        }
    }

    /// The pin of a program; `None` if any text is accepted.
    pub(crate) fn pin(
        &self,
        reference: &Reference,
        registry: &Url,
    ) -> Result<Option<&Pin>, Box<LockMismatch>> {
        match self {
            Self::Unreadable(why) => {
                let reference = reference.to_string();
                Err(Box::new(LockMismatch::Unreadable { reference, why: why.to_string() }))
            }
            Self::Pins { lock, is_complete } => {
                match lock.get(reference).or_else(|| lock.at(&reference.urls(registry))) {
                    None if *is_complete => {
                        Err(Box::new(LockMismatch::NotLocked { reference: reference.to_string() }))
                    }
                    pin => Ok(pin),
                }
            }
        }
    }
}

/// The limits of a request in time and size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Timeout for connecting.
    pub connect: Duration,
    /// Timeout for each chunk of the response.
    pub idle: Duration,
    /// Timeout for a reference in total: redirects, the other spelling, and all attempts.
    pub total: Duration,
    /// How many times a request that may succeed later is retried.
    pub retries: u32,
    /// The wait before the first retry; it doubles each time, unless the host reports another one.
    pub retry_delay: Duration,
    /// How many redirects are followed.
    pub redirects: usize,
    /// The maximum size of a text in bytes, after decompression.
    pub bytes: usize,
    /// The maximum number of concurrent requests to one host.
    pub requests_per_host: usize,
    /// The maximum number of concurrent requests.
    pub requests: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(5),
            idle: Duration::from_secs(5),
            total: Duration::from_secs(20),
            retries: 2,
            retry_delay: Duration::from_millis(300),
            redirects: 5,
            bytes: crate::MAX_BYTES,
            // So that 100 imports take less than ten round trips, and a small registry is not flooded.
            requests_per_host: 16,
            requests: 48,
        }
    }
}

/// The proxies. Their addresses may contain a password.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Proxies {
    /// For `http://`.
    pub http: Option<Secret>,
    /// For `https://`.
    pub https: Option<Secret>,
    /// The hosts that bypass the proxy, separated by commas. Loopback addresses always do.
    pub except: String,
}

impl Proxies {
    /// From `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY`, in capitals or not, as curl reads them.
    pub fn from_environment() -> Self {
        let var = |name: &str| {
            let value = env::var(name.to_lowercase()).or_else(|_| env::var(name));
            value.ok().filter(|value| !value.is_empty())
        };
        let proxy = |name| var(name).or_else(|| var("ALL_PROXY")).map(Secret::new);
        // In a CGI program, `HTTP_PROXY` is a header of the request.
        let http = if env::var_os("REQUEST_METHOD").is_some() { None } else { proxy("HTTP_PROXY") };
        Self { http, https: proxy("HTTPS_PROXY"), except: var("NO_PROXY").unwrap_or_default() }
    }
}

impl Settings {
    /// The default settings for a registry.
    pub fn new(registry: Url) -> Self {
        Self {
            registry,
            vendor: None,
            lock: None,
            offline: false,
            allow_http: false,
            fresh_for: Duration::from_secs(60 * 60),
            failed_for: Duration::from_secs(30),
            limits: Limits::default(),
            proxies: Proxies::default(),
            extra_ca: None,
            credentials: Credentials::default(),
            names: Arc::new(SystemResolver),
        }
    }

    /// The settings of the user, with proxies, certificates and tokens, and the problems of the tokens.
    pub fn of_user(registry: Url) -> (Self, Vec<CredentialsProblem>) {
        let (credentials, problems) = Credentials::of_user();
        let is_set = |name| env::var_os(name).is_some_and(|value| value == "1");
        let settings = Self {
            offline: is_set(OFFLINE),
            allow_http: is_set(ALLOW_HTTP),
            proxies: Proxies::from_environment(),
            extra_ca: env::var_os(EXTRA_CA).filter(|path| !path.is_empty()).map(PathBuf::from),
            credentials,
            ..Self::new(registry)
        };
        (settings, problems)
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("registry", &self.registry.as_str())
            .field("vendor", &self.vendor.as_ref().map(Vendor::dir))
            .field("is_locked", &self.lock.is_some())
            .field("offline", &self.offline)
            .field("allow_http", &self.allow_http)
            .field("fresh_for", &self.fresh_for)
            .field("failed_for", &self.failed_for)
            .field("limits", &self.limits)
            .field("proxies", &self.proxies)
            .field("extra_ca", &self.extra_ca)
            .field("credentials", &self.credentials)
            .finish_non_exhaustive()
    }
}

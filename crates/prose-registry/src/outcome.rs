//! The outcome of a look-up, and its message.

use std::fmt;
use std::time::Duration;

use url::Url;

use crate::addresses::NotPublic;
use crate::lock::LockMismatch;
use crate::program::Program;
use crate::settings::ALLOW_HTTP;

/// The outcome of a look-up. Displayed as one sentence that starts with the reference and ends with what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The reference in its canonical spelling.
    pub reference: String,
    /// The program, or the reason why there is none.
    pub result: Result<Found, Problem>,
}

/// A program that was found, and its provenance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The program.
    pub program: Program,
    /// Its provenance.
    pub by: Provenance,
}

/// Where a text came from, and how current it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Provenance {
    /// Fetched from the host just now.
    Host,
    /// Confirmed by the host just now as unchanged.
    HostUnchanged,
    /// From the cache. The age is the time since the host confirmed it; `None` if a clock was wrong.
    Cache(Option<Duration>),
    /// From the cache, since fetching is disabled.
    Offline(Option<Duration>),
    /// From the folder of vendored copies.
    Vendored,
    /// Any source: the hash in the lock file confirms it.
    Lock,
}

/// Why there is no program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Problem {
    /// The host does not have the program.
    NotFound {
        /// The addresses that were asked.
        asked: Vec<Url>,
        /// Similar known references, the nearest first.
        near: Vec<String>,
    },
    /// The host returned something that is not a program.
    NotAProgram {
        /// The address that answered.
        url: Url,
        /// What it is.
        what: NotAProgram,
    },
    /// The host could not be reached, or did not return the program.
    Unreachable {
        /// The address that was asked.
        url: Url,
        /// Why.
        why: Unreachable,
        /// The last known text.
        last: Option<Box<Program>>,
    },
    /// The request was not made.
    Refused(Refusal),
    /// The lock file records another text, or none.
    Locked(Box<LockMismatch>),
}

/// Why a response is not a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotAProgram {
    /// HTML or XML, such as a web page.
    Page,
    /// Binary data.
    Binary,
    /// Invalid UTF-8 at this byte.
    NotUtf8(usize),
    /// More than so many bytes.
    TooLarge(usize),
}

/// Why a host did not return a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unreachable {
    /// Fetching is disabled, and the program is not in the cache.
    Offline,
    /// No request was allowed, and the program is not in the cache.
    NotFetched,
    /// The name of the host cannot be resolved.
    Name(String),
    /// No connection to the host.
    Connect(String),
    /// No response within the timeout.
    TimedOut(Duration),
    /// The certificate is not trusted.
    Certificate(String),
    /// The response is incomplete or not HTTP.
    Broken(String),
    /// The host requires a token, or rejects it.
    Unauthorized {
        /// The status.
        status: u16,
        /// Whether a token was sent.
        with_token: bool,
    },
    /// The host limits requests; after how long to retry, if it reports that.
    Busy(Option<Duration>),
    /// Another status.
    Status(u16),
    /// Too many redirects.
    Redirects(usize),
    /// A redirect to an invalid address.
    BadRedirect(String),
    /// The client itself cannot be created.
    Client(String),
}

/// Why a request was not made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// A local file, which this crate does not read.
    Local,
    /// `http://`, which is allowed only for loopback addresses.
    NotEncrypted(Url),
    /// A scheme that is not fetched, in a redirect.
    Scheme(Url),
    /// The name or the password of a user, in a redirect.
    Credentials,
    /// A program from the network requested an address that is not public.
    NotPublic {
        /// The host.
        host: String,
        /// Its address, and why it is not public.
        why: String,
        /// Whether a redirect led there.
        by_redirect: bool,
    },
    /// The chain of imports from the workspace is too long.
    TooDeep(usize),
    /// Too many programs in total.
    TooMany(usize),
    /// No path can be appended to the address of the registry.
    Registry(Url),
}

impl Unreachable {
    /// After how long a retry may succeed; `None` if it cannot.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Unreachable::Name(_)
            | Unreachable::Connect(_)
            | Unreachable::TimedOut(_)
            | Unreachable::Broken(_) => Some(Duration::ZERO),
            Unreachable::Busy(wait) => Some(wait.unwrap_or_default()),
            Unreachable::Status(status) => (*status >= 500).then_some(Duration::ZERO),
            Unreachable::Offline
            | Unreachable::NotFetched
            | Unreachable::Certificate(_)
            | Unreachable::Unauthorized { .. }
            | Unreachable::Redirects(_)
            | Unreachable::BadRedirect(_)
            | Unreachable::Client(_) => None,
        }
    }
}

impl Outcome {
    /// The outcome for a reference in its canonical spelling.
    pub fn new(reference: impl Into<String>, result: Result<Found, Problem>) -> Self {
        Self { reference: reference.into(), result }
    }

    /// The program to use: what was found, or else the last known text.
    pub fn program(&self) -> Option<&Program> {
        match &self.result {
            Ok(found) => Some(&found.program),
            Err(Problem::Unreachable { last, .. }) => last.as_deref(),
            Err(_) => None,
        }
    }

    /// The address that the program has moved to permanently.
    pub fn moved_to(&self) -> Option<&Url> {
        self.result.as_ref().ok()?.program.source.moved_to.as_ref()
    }
}

impl From<NotPublic> for Refusal {
    fn from(found: NotPublic) -> Self {
        Refusal::NotPublic { why: found.to_string(), host: found.host, by_redirect: false }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Err(Problem::Locked(mismatch)) = &self.result {
            return mismatch.fmt(f);
        }
        write!(f, "`{}` ", self.reference)?;
        match &self.result {
            Ok(found) => found.by.fmt(f)?,
            Err(problem) => problem.fmt(f)?,
        }
        match self.moved_to() {
            Some(url) => write!(f, "; it has moved permanently to {url}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Provenance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Provenance::Host => f.write_str("was fetched"),
            Provenance::HostUnchanged => f.write_str("is unchanged"),
            Provenance::Cache(age) => write!(f, "comes from the cache, {}", Age(*age)),
            Provenance::Offline(age) => {
                write!(f, "comes from the cache, {}, since fetching is disabled", Age(*age))
            }
            Provenance::Lock => f.write_str("matches the lock file"),
            Provenance::Vendored => f.write_str("comes from the vendored copies"),
        }
    }
}

/// How old a text is, in the largest unit that fits.
struct Age(Option<Duration>);

impl fmt::Display for Age {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(age) = self.0 else { return f.write_str("fetched at a time in the future") };
        let units = [("day", 86_400), ("hour", 3_600), ("minute", 60)];
        match units.into_iter().find(|(_, seconds)| age.as_secs() >= *seconds) {
            Some((unit, seconds)) => {
                let count = age.as_secs() / seconds;
                write!(f, "fetched {count} {unit}{} ago", if count == 1 { "" } else { "s" })
            }
            None => f.write_str("fetched just now"),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::NotFound { asked, near } => {
                let asked: Vec<&str> = asked.iter().map(Url::as_str).collect();
                write!(f, "was not found at {}", asked.join(" or "))?;
                match near.as_slice() {
                    [] => Ok(()),
                    [one] => write!(f, "; did you mean `{one}`?"),
                    several => write!(f, "; did you mean one of `{}`?", several.join("`, `")),
                }
            }
            Problem::NotAProgram { url, what } => write!(f, "is not a program: {url} {what}"),
            Problem::Unreachable { why: why @ (Unreachable::Offline | Unreachable::NotFetched), .. } => {
                why.fmt(f)
            }
            Problem::Unreachable { url, why, last } => {
                let place = url.host_str().unwrap_or(url.as_str());
                write!(f, "could not be fetched: {place} {why}")?;
                let known = if last.is_some() { "; the cached text is used" } else { "" };
                f.write_str(known)
            }
            Problem::Refused(refusal) => refusal.fmt(f),
            Problem::Locked(mismatch) => mismatch.fmt(f),
        }
    }
}

impl fmt::Display for NotAProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotAProgram::Page => f.write_str("is a web page; use the address of the raw text"),
            NotAProgram::Binary => f.write_str("is not text"),
            NotAProgram::NotUtf8(at) => {
                write!(f, "is not valid UTF-8 at byte {at}; save the program as UTF-8")
            }
            NotAProgram::TooLarge(most) => {
                write!(f, "is larger than {most} bytes")
            }
        }
    }
}

impl fmt::Display for Unreachable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unreachable::Offline => {
                f.write_str("is not in the cache, and fetching is disabled; run `prose fetch` with a network")
            }
            Unreachable::NotFetched => f.write_str("is not fetched yet; run `prose fetch`"),
            Unreachable::Name(why) => {
                write!(f, "cannot be resolved ({why}); check the name and the network")
            }
            Unreachable::Connect(why) => write!(f, "cannot be connected to ({why})"),
            Unreachable::TimedOut(limit) => {
                write!(f, "did not answer within {}", humantime::format_duration(*limit))
            }
            Unreachable::Certificate(why) => write!(
                f,
                "has a certificate that is not trusted ({why}); add your own authority to the file that {} names",
                crate::tls::EXTRA_CA
            ),
            Unreachable::Broken(why) => write!(f, "sent an incomplete response ({why})"),
            Unreachable::Unauthorized { status, with_token: true } => {
                write!(f, "rejects the token (status {status}); it may have expired")
            }
            Unreachable::Unauthorized { status, with_token: false } => write!(
                f,
                "requires a token (status {status}); add one to the credentials file or to {}",
                crate::credentials::TOKENS
            ),
            Unreachable::Busy(Some(wait)) => {
                write!(f, "is limiting requests; retry in {} s", wait.as_secs())
            }
            Unreachable::Busy(None) => f.write_str("is limiting requests (status 429)"),
            Unreachable::Status(status) => write!(f, "answered with status {status}"),
            Unreachable::Redirects(most) => {
                write!(f, "redirects in a loop, or more than {most} times")
            }
            Unreachable::BadRedirect(to) => write!(f, "redirects to `{to}`, which is not a valid address"),
            Unreachable::Client(why) => write!(f, "cannot be requested: {why}"),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Local => f.write_str("is a local file and is not fetched"),
            Refusal::NotEncrypted(url) => write!(
                f,
                "is not fetched: {url} is not encrypted; use `https://`, or allow `http://` by setting {ALLOW_HTTP}=1"
            ),
            Refusal::Scheme(url) => {
                write!(f, "is not fetched: it redirects to {url}; only `https://` and `http://` are followed")
            }
            Refusal::Credentials => {
                f.write_str("is not fetched: it redirects to an address with credentials in it")
            }
            Refusal::NotPublic { why, by_redirect, .. } => {
                let who = if *by_redirect { "a redirect" } else { "a program from the network" };
                write!(
                    f,
                    "is not fetched: {why}, and {who} may request only public hosts; import it in your own program if you trust it"
                )
            }
            Refusal::TooDeep(most) => {
                write!(f, "is not fetched: its chain of imports has more than {most} programs")
            }
            Refusal::TooMany(most) => write!(f, "is not fetched: more than {most} programs are imported"),
            Refusal::Registry(url) => {
                write!(f, "is not fetched: no path can be appended to the address of the registry, {url}")
            }
        }
    }
}

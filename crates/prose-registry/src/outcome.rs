//! What became of a look-up, in words.

use std::fmt;
use std::time::Duration;

use url::Url;

use crate::addresses::NotPublic;
use crate::lock::LockMismatch;
use crate::program::Program;
use crate::settings::ALLOW_HTTP;

/// What became of a look-up. Displayed as one sentence that starts with the reference and says what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The reference in its canonical spelling.
    pub reference: String,
    /// What was found.
    pub result: Result<Found, Problem>,
}

/// A program, and how fresh it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The program.
    pub program: Program,
    /// Who vouches for it.
    pub by: By,
}

/// Who vouches for a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// The host, which gave it just now.
    Host,
    /// The host, which said just now that it is still the same.
    HostUnchanged,
    /// The cache. The age is that of the host's word; `None` if the clock or that was wrong.
    Cache(Option<Duration>),
    /// The cache, since nothing may be asked.
    Offline(Option<Duration>),
    /// The folder of vendored copies.
    Vendored,
    /// The lock file, which names the hash of the text.
    Lock,
}

/// Why there is no program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Problem {
    /// The host has none.
    NotFound {
        /// The addresses that were asked.
        asked: Vec<Url>,
        /// References that are known and nearly the same, the nearest first.
        near: Vec<String>,
    },
    /// What the host has is no program.
    NotAProgram {
        /// The address that answered.
        url: Url,
        /// What it is.
        what: NotAProgram,
    },
    /// The host could not be asked, or did not answer to the question.
    Unreachable {
        /// The address that was asked.
        url: Url,
        /// Why.
        why: Unreachable,
        /// The last text that is known.
        last: Option<Box<Program>>,
    },
    /// It was not even tried.
    Refused(Refusal),
    /// The lock file names another text, or none.
    Locked(Box<LockMismatch>),
}

/// What an answer is instead of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotAProgram {
    /// HTML or XML, such as a page for browsers.
    Page,
    /// No text.
    Binary,
    /// No UTF-8 from this byte on.
    NotUtf8(usize),
    /// More than so many bytes.
    TooLarge(usize),
}

/// Why a host could not be asked, or did not answer to the question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unreachable {
    /// Nothing may be asked, and nothing is known.
    Offline,
    /// It was not to be asked, and nothing is known.
    NotFetched,
    /// The name of the host leads to no address.
    Name(String),
    /// The host takes no connection.
    Connect(String),
    /// Nothing came for too long.
    TimedOut(Duration),
    /// The certificate is not believed.
    Certificate(String),
    /// The answer broke off, or is none of HTTP.
    Broken(String),
    /// The host asks who we are, or does not like the answer.
    Unauthorized {
        /// The status.
        status: u16,
        /// Whether a token was sent.
        with_token: bool,
    },
    /// The host has too much to do, and perhaps says for how long.
    Busy(Option<Duration>),
    /// Another status.
    Status(u16),
    /// More redirects than are followed.
    Redirects(usize),
    /// A redirect that leads to no address.
    BadRedirect(String),
    /// The client itself does not work.
    Client(String),
}

/// Why nothing was tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// A file of this machine is not for this crate to read.
    Local,
    /// `http://`, which is allowed for this machine only.
    NotEncrypted(Url),
    /// A scheme that is not fetched, in a redirect.
    Scheme(Url),
    /// The name or the password of a user, in a redirect.
    Credentials,
    /// A program of the network wants an address that is not public.
    NotPublic {
        /// The host.
        host: String,
        /// What is known of its address.
        why: String,
        /// Whether a redirect led there.
        by_redirect: bool,
    },
    /// Too many programs on the way from the workspace.
    TooDeep(usize),
    /// Too many programs at all.
    TooMany(usize),
    /// The registry has no address to ask.
    Registry(Url),
}

impl Unreachable {
    /// Where the reason may pass by itself: how long the host wants to be left alone, at least.
    pub fn may_pass(&self) -> Option<Duration> {
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
    pub(crate) fn new(reference: impl Into<String>, result: Result<Found, Problem>) -> Self {
        Self { reference: reference.into(), result }
    }

    /// The program to work with: what was found, or else the last that is known.
    pub fn program(&self) -> Option<&Program> {
        match &self.result {
            Ok(found) => Some(&found.program),
            Err(Problem::Unreachable { last, .. }) => last.as_deref(),
            Err(_) => None,
        }
    }

    /// Where the program has gone for good.
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
            Some(url) => write!(f, "; its host says that it has moved to {url} for good"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for By {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            By::Host => f.write_str("was fetched"),
            By::HostUnchanged => f.write_str("is unchanged"),
            By::Cache(age) => write!(f, "comes from the cache, {}", Age(*age)),
            By::Offline(age) => {
                write!(f, "comes from the cache, {}, since nothing may be fetched", Age(*age))
            }
            By::Lock => f.write_str("is the text that is locked"),
            By::Vendored => f.write_str("comes from the vendored copies"),
        }
    }
}

/// How old a text is, in the largest unit that fits.
struct Age(Option<Duration>);

impl fmt::Display for Age {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(age) = self.0 else { return f.write_str("fetched at a time that lies in the future") };
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
            Problem::NotAProgram { url, what } => write!(f, "is no program: {url} {what}"),
            Problem::Unreachable { why: why @ (Unreachable::Offline | Unreachable::NotFetched), .. } => {
                why.fmt(f)
            }
            Problem::Unreachable { url, why, last } => {
                let place = url.host_str().unwrap_or(url.as_str());
                write!(f, "could not be fetched: {place} {why}")?;
                let known = if last.is_some() { "; the last text known is used" } else { "" };
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
            NotAProgram::Page => {
                f.write_str("is a page for browsers; the address of the bare text is needed")
            }
            NotAProgram::Binary => f.write_str("is no text"),
            NotAProgram::NotUtf8(at) => write!(f, "is no UTF-8 at byte {at}; save the program as UTF-8"),
            NotAProgram::TooLarge(most) => {
                write!(f, "has more than {most} bytes, which no program needs")
            }
        }
    }
}

impl fmt::Display for Unreachable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unreachable::Offline => f.write_str(
                "is not in the cache, and nothing may be fetched; `prose fetch` brings it there once there is a network",
            ),
            Unreachable::NotFetched => f.write_str("was not fetched yet; `prose fetch` does that"),
            Unreachable::Name(why) => {
                write!(f, "has no address ({why}); is the name right, and is there a network?")
            }
            Unreachable::Connect(why) => write!(f, "takes no connection ({why})"),
            Unreachable::TimedOut(limit) => {
                write!(f, "did not answer within {}", humantime::format_duration(*limit))
            }
            Unreachable::Certificate(why) => write!(
                f,
                "has a certificate that is not believed ({why}); a certificate of your own authority goes into the file that {} names",
                crate::tls::EXTRA_CA
            ),
            Unreachable::Broken(why) => write!(f, "sent an answer that breaks off ({why})"),
            Unreachable::Unauthorized { status, with_token: true } => {
                write!(f, "does not accept the token (status {status}); it may have expired")
            }
            Unreachable::Unauthorized { status, with_token: false } => write!(
                f,
                "lets only those in who have a token (status {status}); put one into the credentials file or into {}",
                crate::credentials::TOKENS
            ),
            Unreachable::Busy(Some(wait)) => {
                write!(f, "has too much to do and asks to come back in {} s", wait.as_secs())
            }
            Unreachable::Busy(None) => f.write_str("has too much to do (status 429)"),
            Unreachable::Status(status) => write!(f, "answered with status {status}"),
            Unreachable::Redirects(most) => {
                write!(f, "redirects in a circle, or more than {most} times")
            }
            Unreachable::BadRedirect(to) => write!(f, "redirects to `{to}`, which is no address"),
            Unreachable::Client(why) => write!(f, "cannot be asked: {why}"),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Local => f.write_str("is a file of this machine and not fetched"),
            Refusal::NotEncrypted(url) => write!(
                f,
                "is not fetched: everyone on the way could change what {url} answers; use `https://`, or allow `http://` by \
                 {ALLOW_HTTP}=1 in the environment"
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
                    "is not fetched: {why}, and {who} must not ask other than public hosts on your behalf; import it in a program of \
                     your own if you trust it"
                )
            }
            Refusal::TooDeep(most) => {
                write!(f, "is not fetched: more than {most} programs import each other on the way to it")
            }
            Refusal::TooMany(most) => write!(f, "is not fetched: more than {most} programs are imported"),
            Refusal::Registry(url) => {
                write!(
                    f,
                    "is not fetched: the address of the registry, {url}, is none that a path can be appended to"
                )
            }
        }
    }
}

//! The text of a program and where it came from.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use prose_reference::Reference;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256};
use url::Url;

/// A program from the network, the cache or a folder of vendored copies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// The text.
    pub text: Arc<str>,
    /// Where it came from.
    pub source: Source,
}

/// Where the text of a program came from. This is what the cache keeps about a reference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Source {
    /// The reference in its canonical spelling.
    pub reference: String,
    /// The address that was asked first.
    pub url: Url,
    /// The address that answered with the text: after redirects, and perhaps that of the other spelling (B8).
    pub final_url: Url,
    /// The address that the program has moved to permanently, as its host reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved_to: Option<Url>,
    /// The `ETag` of the text, for conditional requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub etag: Option<String>,
    /// The `Last-Modified` header, unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_modified: Option<String>,
    /// When the host last sent or confirmed the text.
    pub fetched: Timestamp,
    /// The hash of the text.
    pub sha256: Hash,
}

impl Program {
    /// What local paths in the text start from; see [`Reference::parse_in`].
    pub fn base(&self) -> Reference {
        match Reference::parse(&self.source.reference) {
            // A repository has no one address from which the others could be told: the revision may come after the path.
            Ok(reference @ Reference::Git(_)) => reference,
            _ => Reference::Url(self.source.final_url.clone()),
        }
    }
}

impl Source {
    /// A text that an address gave at a time, without any detour.
    pub fn new(reference: impl Into<String>, url: Url, sha256: Hash, fetched: Timestamp) -> Self {
        Self {
            reference: reference.into(),
            final_url: url.clone(),
            url,
            moved_to: None,
            etag: None,
            last_modified: None,
            fetched,
            sha256,
        }
    }

    /// How long ago the host confirmed the text. `None` if that lies in the future by more than clocks differ, as after a clock
    /// that was wrong, so that the text cannot count as fresh for years.
    pub fn age(&self, now: SystemTime) -> Option<Duration> {
        const CLOCKS_DIFFER: Duration = Duration::from_secs(60);
        match now.duration_since(self.fetched.to_system_time()) {
            Ok(age) => Some(age),
            Err(ahead) => (ahead.duration() <= CLOCKS_DIFFER).then_some(Duration::ZERO),
        }
    }
}

/// A point in time, in whole seconds. Displayed and written as `2026-01-31T12:00:00Z`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Timestamp(u64);

impl Timestamp {
    /// The current time.
    pub fn now() -> Self {
        Self::from(SystemTime::now())
    }

    /// The same time as the standard library represents it.
    pub fn to_system_time(self) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(self.0)
    }
}

impl From<SystemTime> for Timestamp {
    fn from(time: SystemTime) -> Self {
        // No time of this program lies before 1970; after the year 9999 it could not be written.
        let seconds = time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        Self(seconds.min(253_402_300_799))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        humantime::format_rfc3339_seconds(self.to_system_time()).fmt(f)
    }
}

impl FromStr for Timestamp {
    type Err = humantime::TimestampError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        humantime::parse_rfc3339(text).map(Self::from)
    }
}

/// The SHA-256 of a text, written in 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Hash([u8; 32]);

impl Hash {
    /// Computes the hash of bytes.
    pub fn of(bytes: impl AsRef<[u8]>) -> Self {
        Self(Sha256::digest(bytes).into())
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Hash {
    type Err = InvalidHash;

    fn from_str(text: &str) -> Result<Self, InvalidHash> {
        let is_hash = text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let mut hash = [0; 32];
        if !is_hash {
            return Err(InvalidHash);
        }
        for (byte, digits) in hash.iter_mut().zip(text.as_bytes().chunks(2)) {
            let digits = std::str::from_utf8(digits).map_err(|_| InvalidHash)?;
            *byte = u8::from_str_radix(digits, 16).map_err(|_| InvalidHash)?;
        }
        Ok(Self(hash))
    }
}

/// The text is not a SHA-256.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidHash;

impl fmt::Display for InvalidHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a SHA-256 has 64 hexadecimal digits")
    }
}

impl std::error::Error for InvalidHash {}

/// Both are written as text, in the cache as in the lock file.
macro_rules! as_text {
    ($($type:ty),*) => {$(
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
            }
        }
    )*};
}

as_text!(Timestamp, Hash);

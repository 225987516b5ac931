//! From a reference to the text of the program: HTTP, cache, lock file, vendored copies.
//!
//! [`Client::get`] looks up a [`Reference`] and gives an [`Outcome`]: a program, or a sentence about why there is none. Where the
//! path of a `use` is local, nothing here reads it.

mod addresses;
mod cache;
mod client;
mod credentials;
mod lock;
mod malformed;
mod outcome;
mod program;
mod secret;
mod serve;
mod settings;
mod tls;
mod vendor;
mod walk;
mod web;

pub use addresses::{Resolver, SystemResolver};
pub use cache::{CACHE_DIR, Cache, CacheProblem, Cleaned, MAX_BYTES};
pub use client::{Client, Freshness, Importer, MAX_DEPTH};
pub use credentials::{CREDENTIALS_FILE, Credentials, CredentialsProblem, TOKENS};
pub use lock::{LOCK_FILE, Lock, LockError, LockMismatch, Pin};
pub use outcome::{Found, NotAProgram, Outcome, Problem, Provenance, Refusal, Unreachable};
pub use program::{Hash, InvalidHash, Program, Source, Timestamp};
pub use prose_reference::{GitHost, GitProgram, Invalid, Reference, RegistryProgram};
pub use secret::Secret;
pub use serve::RegistryServer;
pub use settings::{ALLOW_HTTP, Limits, Locked, OFFLINE, Proxies, Settings};
pub use tls::{EXTRA_CA, config as tls_config, config_with as tls_config_with};
pub use vendor::{Vendor, VendorError};
pub use walk::{MAX_PROGRAMS, Visited};

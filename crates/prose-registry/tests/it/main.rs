//! The crate as those who use it see it, against servers on loopback.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod cache;
mod credentials;
mod faults;
mod fetching;
mod lock;
mod safety;
mod serve;
mod sharing;
mod support;
mod tls;
mod vendor;
mod walk;

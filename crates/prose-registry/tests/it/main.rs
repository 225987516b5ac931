//! The crate as those who use it see it, against servers on loopback.

mod cache;

//! Drivers of agents that speak a protocol while they work.

pub mod connection;
pub mod provider;

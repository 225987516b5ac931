//! Holds requests back while a run is debugged.

use std::future::Future;
use std::pin::Pin;

use crate::effect::Request;

/// Decides when the requests of a run start.
///
/// Nothing of it is recorded: between two outcomes a program computes without asking anyone, so a run whose requests start later is the same run. A
/// debugger stops at an event by holding the requests that were made after it.
pub trait Gate: Send + Sync {
    /// A request is made. It is called in the order of the output of the machine, so that all earlier events have been observed.
    fn requested(&self, request: &Request);

    /// The machine waits for outcomes, and requests are about to start.
    fn settled(&self);

    /// Whether a request may start now.
    fn may_start(&self, request: &Request) -> bool;

    /// Completes when a request that was held may start.
    fn opened(&self) -> Opened<'_>;
}

/// The future opening of a [`Gate`].
pub type Opened<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

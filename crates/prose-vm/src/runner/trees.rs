//! The interface between a run and the working trees of its branches.

use std::future::Future;
use std::pin::Pin;

use crate::effect::Failure;
use crate::error::ErrorKind;
use crate::trees::{TreeOutcome, TreeRequest};

/// The future result of a request about working trees.
pub type TreeFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, Failure>> + Send + 'a>>;

/// The backend of working trees. It performs requests one after the other, in the order in which they are made.
pub trait Trees: Send + Sync {
    /// Performs a request. Changes that cannot be merged are an [`ErrorKind::Conflict`].
    fn perform<'a>(&'a self, request: &'a TreeRequest) -> TreeFuture<'a, TreeOutcome>;

    /// Makes sure that the folder of an opened tree exists before a session works in it. A tree that was removed because nothing in it was changed is
    /// copied again.
    fn restore<'a>(&'a self, folder: &'a str) -> TreeFuture<'a, ()>;

    /// Has the next [`Trees::restore`] of an opened tree copy it again: what is in it belongs to sessions that the changed program does not have.
    fn discard(&self, folder: &str) {
        let _ = folder;
    }
}

/// The backend of runs without working trees.
pub struct NoTrees;

impl NoTrees {
    fn failure() -> Failure {
        Failure::new(ErrorKind::Other, "this run has no working trees")
    }
}

impl Trees for NoTrees {
    fn perform<'a>(&'a self, _: &'a TreeRequest) -> TreeFuture<'a, TreeOutcome> {
        Box::pin(std::future::ready(Err(Self::failure())))
    }

    fn restore<'a>(&'a self, _: &'a str) -> TreeFuture<'a, ()> {
        Box::pin(std::future::ready(Err(Self::failure())))
    }
}

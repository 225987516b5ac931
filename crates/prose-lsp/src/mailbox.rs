//! Sending messages to the owner of the state without knowing all that it receives.

use std::sync::Arc;
use std::sync::mpsc::Sender;

/// Sends messages of one kind to the owner, from any thread.
pub(crate) struct Mailbox<M>(Arc<dyn Fn(M) -> bool + Send + Sync>);

impl<M: 'static> Mailbox<M> {
    /// The mailbox of an owner whose messages have `M` as one kind.
    pub(crate) fn new<All: From<M> + Send + 'static>(owner: &Sender<All>) -> Self {
        let owner = owner.clone();
        Self(Arc::new(move |message| owner.send(message.into()).is_ok()))
    }

    /// Sends a message. Returns whether the owner is still there to receive it.
    pub(crate) fn send(&self, message: M) -> bool {
        (self.0)(message)
    }
}

impl<M> Clone for Mailbox<M> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

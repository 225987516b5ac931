//! The loop of the owner: every message in the order in which it was received.

use std::sync::mpsc::{Receiver, TryRecvError};

use crate::messages::{Message, SessionMessage};
use crate::owner::state::Owner;
use crate::panics::guard;

impl Owner {
    /// Handles messages until the client is gone.
    pub(crate) fn run(mut self, messages: &Receiver<Message>) {
        loop {
            // Diagnostics wait until no message does: of several edits in a row only the last one's are worth sending.
            let message = if self.is_up_to_date() {
                messages.recv().map_err(|_| TryRecvError::Disconnected)
            } else {
                messages.try_recv()
            };
            match message {
                Ok(Message::Session(SessionMessage::End)) => return,
                Ok(message) => {
                    // A message that panics is lost, but not the state; `receive` leaves that in order at every step.
                    let _ = guard("handling a message", || self.receive(message));
                }
                Err(TryRecvError::Empty) => {
                    let _ = guard("publishing diagnostics", || self.catch_up());
                }
                Err(TryRecvError::Disconnected) => return,
            }
        }
    }

    pub(super) fn receive(&mut self, message: Message) {
        if message.changes_diagnostics() {
            self.requests.state += 1;
            self.tests.is_outdated = true;
        }
        match message {
            Message::Session(message) => self.session_message(message),
            Message::Document(message) => self.document_message(message),
            Message::Read(message) => self.read_message(message),
            Message::Import(message) => self.import_message(message),
            Message::Run(message) => self.run_message(message),
            Message::Test(message) => self.test_message(message),
            Message::Workspace(message) => self.workspace_message(message),
        }
    }
}

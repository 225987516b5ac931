//! What the threads and tasks of a worker report to its loop.

use std::sync::Arc;

use prose_vm::activity::PermissionAnswer;

use crate::effects::{Asked, Done};
use crate::lead::Led;

/// Something that has happened.
pub(crate) enum News {
    /// The agent of a claim asks a question.
    Asked(i64, Asked),
    /// A question of a run that is led here has an answer: the claim, the number of the question, and the answer.
    Answered(i64, i64, PermissionAnswer),
    /// A claim has ended; without anything done, since this machine has no resources for it.
    Performed(i64, Option<Done>),
    /// A run is not executed here any more.
    Led(Arc<str>, i64, Led),
    /// The answer to a message.
    Replied(i64, String),
}

//! Turns panics into errors.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A piece of work that panicked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Panicked {
    /// The work, as the object of "while".
    pub(crate) doing: String,
    /// The message of the panic.
    pub(crate) message: String,
}

impl fmt::Display for Panicked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the language server hit a bug while {}: {}. It keeps working; please report this with the server's log.",
            self.doing, self.message
        )
    }
}

/// Does `work` and turns a panic into a value and a line of the log.
///
/// The caller must discard or rebuild whatever `work` was changing.
pub(crate) fn guard<T>(doing: impl Into<String>, work: impl FnOnce() -> T) -> Result<T, Panicked> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| {
        let panicked = Panicked { doing: doing.into(), message: message(payload.as_ref()) };
        tracing::error!("{panicked}");
        panicked
    })
}

fn message(payload: &(dyn Any + Send)) -> String {
    payload
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_a_message_that_names_the_request() {
        let panicked = guard("folding", || -> u8 { panic!("line {} is odd", 3) }).unwrap_err();
        assert_eq!(
            panicked.to_string(),
            "the language server hit a bug while folding: line 3 is odd. It keeps working; please report this with the \
             server's log."
        );
    }

    #[test]
    fn work_without_a_panic_keeps_its_result() {
        assert_eq!(guard("counting", || 7), Ok(7));
    }
}

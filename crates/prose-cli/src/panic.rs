//! Reports panics, which are defects of this tool, as errors.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};

thread_local! {
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Silences panics, unless backtraces are enabled, and records their location.
pub(crate) fn install_hook() {
    let default = take_hook();
    set_hook(Box::new(move |info| {
        PLACE.set(info.location().map(ToString::to_string));
        if std::env::var_os("RUST_BACKTRACE").is_some_and(|wanted| wanted != "0") {
            default(info);
        }
    }));
}

/// Calls `work`; a panic becomes a message that requests a report.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    // State that a panic may leave inconsistent is not used again: `work` owns it or only reads.
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        let place = PLACE.take().map(|place| format!(" ({place})")).unwrap_or_default();
        format!("this is a defect in `prose`, please report it: {}{place}", message(&*panic))
    })
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("a panic without a message")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_a_sentence() {
        assert_eq!(caught(|| 7), Ok(7));
        let problem = caught(|| panic!("no token at {}", 12)).unwrap_err();
        assert!(
            problem.starts_with("this is a defect in `prose`, please report it: no token at 12"),
            "{problem}"
        );
    }
}

//! Texts that are put together often, such as places and paths.

use std::cell::Cell;
use std::sync::Arc;

thread_local! {
    /// The memory in which texts are put together.
    static BUFFER: Cell<String> = const { Cell::new(String::new()) };
}

/// A shared text. It is written into the memory of the one before, so that it takes one allocation.
pub(crate) fn shared(write: impl FnOnce(&mut String)) -> Arc<str> {
    let mut text = BUFFER.take();
    text.clear();
    write(&mut text);
    let shared = text.as_str().into();
    BUFFER.set(text);
    shared
}

//! The functions that the module exports. A request and its answer are texts in the memory of the module.

// The host writes into the memory of the module and reads from it.
#![allow(unsafe_code)]

use std::cell::RefCell;

use crate::Language;

thread_local! {
    static LANGUAGE: RefCell<Language> = RefCell::default();
}

/// How many bytes the length of an answer takes before its text.
const PREFIX: usize = size_of::<u32>();

/// Memory for a request of this many bytes, which [`call`] releases.
#[unsafe(no_mangle)]
pub extern "C" fn allocate(length: usize) -> *mut u8 {
    Box::into_raw(vec![0; length].into_boxed_slice()).cast()
}

/// Answers a request: its length in 4 bytes, the lowest first, then the text of the answer. The host passes it to [`release`] when it has read it.
///
/// # Safety
///
/// `request` comes from [`allocate`] with this length, and is not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn call(request: *mut u8, length: usize) -> *mut u8 {
    // SAFETY: this is the slice that `allocate` has given away.
    let request = unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(request, length)) };
    let answer = LANGUAGE.with_borrow_mut(|language| language.answer(&String::from_utf8_lossy(&request)));
    let mut bytes = Vec::with_capacity(PREFIX + answer.len());
    // A module has 4 GiB of memory at most.
    bytes.extend_from_slice(&(answer.len() as u32).to_le_bytes());
    bytes.extend_from_slice(answer.as_bytes());
    Box::into_raw(bytes.into_boxed_slice()).cast()
}

/// Releases an answer.
///
/// # Safety
///
/// `answer` comes from [`call`], and is not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn release(answer: *mut u8) {
    // SAFETY: an answer starts with its length, and is the slice that `call` has given away.
    unsafe {
        let length = u32::from_le_bytes(*answer.cast::<[u8; PREFIX]>()) as usize;
        drop(Box::from_raw(std::ptr::slice_from_raw_parts_mut(answer, PREFIX + length)));
    }
}

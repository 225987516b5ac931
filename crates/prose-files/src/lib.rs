//! Reading and writing files that may be prepared by others.
//!
//! [`read()`] and [`read_text`] read the files that a person, a program or a project names: at most so many bytes, and nothing that would block a
//! reader. [`Folder`] is an open folder whose files are private and below which no link is followed. [`private`] repairs the permissions of
//! files that earlier versions have written.

mod access;
mod folder;
#[cfg(any(not(unix), test))]
mod portable;
pub mod private;
mod read;
#[cfg(unix)]
mod unix;

pub use access::Identity;
pub use folder::{FileAccessError, Folder, has_too_many_files};
pub use read::{
    Limit, ReadError, decode, is_utf16, read, read_named, read_named_text, read_stream, read_text, reason,
};

//! How files are opened and put into their places.

use std::time::SystemTime;

/// How temporary files start, by which those of a process that was killed are found again.
pub(crate) const TEMPORARY: &str = ".prose-tmp-";

/// Identifies an unchanged file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    pub(crate) modified: Option<SystemTime>,
    pub(crate) length: u64,
    /// Another file may have been put in the place of the one there was. Always 0 where files have no number.
    pub(crate) inode: u64,
}

/// How a file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    /// Reading and writing a file that is made if it is missing.
    ReadWrite,
    /// Writing after what is there.
    Append,
    /// The same for a file that is made if it is missing.
    AppendOrCreate,
    /// The same for a file that must not be there.
    CreateNew,
    /// Writing somewhere in what is there.
    Write,
}

/// How a file gets into its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Placement {
    /// It is probably not there yet.
    First,
    /// It changes places with the one that is there. Some file systems bring a file to the disk before it replaces another one; where the two change
    /// places instead, they do not, which is a hundred times faster for a file that is often rewritten.
    Exchange,
    /// It replaces the one that is there.
    Replace,
}

/// A name for a temporary file that hardly any other has.
pub(crate) fn temporary_name() -> String {
    let random: String = (0..10).map(|_| fastrand::alphanumeric()).collect();
    format!("{TEMPORARY}{random}")
}

//! The output formats of `prose check`. Each turns checked files, sorted by path, into text.

pub(crate) mod concise;
pub(crate) mod diff;
pub(crate) mod full;
pub(crate) mod github;
pub(crate) mod json;
pub(crate) mod repository;
pub(crate) mod sarif;

#[cfg(test)]
mod tests;

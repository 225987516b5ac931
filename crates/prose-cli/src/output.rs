//! The output formats of `prose check`. Each turns checked files, sorted by path, into text.

pub(crate) mod checkstyle;
pub(crate) mod concise;
pub(crate) mod diff;
pub(crate) mod full;
pub(crate) mod github;
pub(crate) mod gitlab;
pub(crate) mod json;
pub(crate) mod junit;
pub(crate) mod repository;
pub(crate) mod sarif;
pub(crate) mod statistics;

#[cfg(test)]
mod tests;

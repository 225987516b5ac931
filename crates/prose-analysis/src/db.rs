//! The database: what is put in, and who remembers what was made of it.

#![allow(missing_docs, reason = "the macros of salsa write functions that have none")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use prose_syntax::{Parse, TextRange, TextSize};
use rustc_hash::FxHashMap;
use smol_str::SmolStr;

/// The database as the queries see it.
#[salsa::db]
pub trait Db: salsa::Database {}

/// The database.
#[salsa::db]
#[derive(Clone)]
pub struct Database {
    storage: salsa::Storage<Self>,
}

#[salsa::db]
impl salsa::Database for Database {}

#[salsa::db]
impl Db for Database {}

impl Default for Database {
    fn default() -> Self {
        Self { storage: salsa::Storage::new(None) }
    }
}

impl Database {
    /// A database that tells of every query that runs, such as `check(Id(3))`.
    pub fn with_log(log: impl Fn(String) + Send + Sync + 'static) -> Self {
        let callback = move |event: salsa::Event| {
            if let salsa::EventKind::WillExecute { database_key } = event.kind {
                log(format!("{database_key:?}"));
            }
        };
        Self { storage: salsa::Storage::new(Some(Box::new(callback))) }
    }
}

/// The text of a program, and what is known of the text before the last edit.
#[derive(Debug, Clone)]
pub struct Text {
    text: Arc<str>,
    edited: Option<Edited>,
}

/// How a text came from an earlier one.
#[derive(Debug, Clone)]
struct Edited {
    before: Parse,
    replaced: TextRange,
    inserted: TextSize,
}

impl Text {
    /// A text of which nothing is known.
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        Self { text: text.into(), edited: None }
    }

    /// The text after one edit: `replaced` of the text before was replaced by `inserted` bytes. Its parse keeps all of `before`
    /// that the edit does not touch, and is equal to that of the same text without a history.
    pub fn edited(text: impl Into<Arc<str>>, before: Parse, replaced: TextRange, inserted: TextSize) -> Self {
        Self { text: text.into(), edited: Some(Edited { before, replaced, inserted }) }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The same text, shared.
    pub fn shared(&self) -> Arc<str> {
        Arc::clone(&self.text)
    }

    pub(crate) fn parse(&self) -> Parse {
        match &self.edited {
            Some(Edited { before, replaced, inserted }) => before.reparse(*replaced, *inserted, &self.text),
            None => prose_syntax::parse(&self.text),
        }
    }
}

/// A program.
#[salsa::input(debug)]
pub struct SourceFile {
    /// Its path, as other programs reach it.
    #[returns(ref)]
    pub path: Arc<Path>,
    /// Its text.
    #[returns(ref)]
    pub text: Text,
    /// The settings that it is under.
    #[returns(copy)]
    pub settings: Settings,
    /// The programs that it can import.
    #[returns(copy)]
    pub workspace: Workspace,
}

/// The settings that change what a program means. Levels and profiles do not: they are applied to what the analysis finds.
#[salsa::input(debug)]
pub struct Settings {
    /// The models that have a name of their own (decision 5), with what they stand for.
    #[returns(ref)]
    pub models: Arc<BTreeMap<SmolStr, String>>,
}

/// The programs that can be imported.
#[salsa::input(debug)]
pub struct Workspace {
    /// The local programs by their normalised path. None where there is certainly no such file; a path that is not listed is not known.
    #[returns(ref)]
    pub files: Arc<FxHashMap<PathBuf, Option<SourceFile>>>,
}

//! The database: what is put in, and who remembers what was made of it.

#![allow(missing_docs, reason = "the macros of salsa write functions that have none")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use dashmap::{DashMap, DashSet};
use prose_syntax::{Parse, TextRange, TextSize};
use salsa::Setter;
use smol_str::SmolStr;

/// The database as the queries see it.
#[salsa::db]
pub trait Db: salsa::Database {
    /// The place at a normalised path. One that was never asked for is put on the list of those that somebody has to look at.
    fn place(&self, path: PathBuf) -> Place;
}

/// The database.
#[salsa::db]
#[derive(Clone)]
pub struct Database {
    storage: salsa::Storage<Self>,
    places: Arc<DashMap<PathBuf, Place>>,
    /// The places that some program imports from, or did once.
    asked: Arc<DashSet<PathBuf>>,
    unknown: Arc<Mutex<Vec<PathBuf>>>,
}

#[salsa::db]
impl salsa::Database for Database {}

#[salsa::db]
impl Db for Database {
    fn place(&self, path: PathBuf) -> Place {
        if !self.asked.contains(&path) {
            self.asked.insert(path.clone());
        }
        if let Some(place) = self.places.get(&path) {
            return *place;
        }
        let entry = self.places.entry(path);
        let path = entry.key().clone();
        *entry.or_insert_with(|| {
            let place = Place::new(self, Arc::from(path.as_path()), Content::Unknown, None);
            self.unknown.lock().unwrap_or_else(PoisonError::into_inner).push(path);
            place
        })
    }
}

impl Default for Database {
    fn default() -> Self {
        Self::new(salsa::Storage::new(None))
    }
}

impl Database {
    fn new(storage: salsa::Storage<Self>) -> Self {
        Self { storage, places: Arc::default(), asked: Arc::default(), unknown: Arc::default() }
    }

    /// The places that were asked for since the last time, and that nobody has looked at.
    pub fn take_unknown(&self) -> Vec<PathBuf> {
        let asked = std::mem::take(&mut *self.unknown.lock().unwrap_or_else(PoisonError::into_inner));
        // Some may have been said in the meantime.
        asked.into_iter().filter(|path| self.is_unknown(path)).collect()
    }

    /// Ends the work on another thread that this is a view for, if somebody waits to change something. Work that takes long without asking
    /// queries has to say when it can be ended.
    pub fn give_way(&self) {
        salsa::Database::unwind_if_revision_cancelled(self);
    }

    fn is_unknown(&self, path: &Path) -> bool {
        self.known_place(path).is_none_or(|place| place.content(self) == Content::Unknown)
    }

    /// The place at a normalised path, if somebody has asked for it or said what is there.
    pub(crate) fn known_place(&self, path: &Path) -> Option<Place> {
        self.places.get(path).map(|place| *place)
    }

    /// The program at a normalised path.
    pub fn file_at(&self, path: &Path) -> Option<SourceFile> {
        match self.known_place(path)?.content(self) {
            Content::Program(file) => Some(file),
            Content::Missing | Content::Unknown => None,
        }
    }

    /// Every program that is known, by path.
    pub fn programs(&self) -> Vec<SourceFile> {
        let places: Vec<Place> = self.places.iter().map(|place| *place).collect();
        let mut programs: Vec<SourceFile> = places
            .into_iter()
            .filter_map(|place| match place.content(self) {
                Content::Program(file) => Some(file),
                Content::Missing | Content::Unknown => None,
            })
            .collect();
        programs.sort_by(|a, b| a.path(self).cmp(b.path(self)));
        programs
    }

    /// Whether somebody has asked for a place.
    pub(crate) fn is_asked_for(&self, path: &Path) -> bool {
        self.asked.contains(path)
    }

    /// Says what is at a place.
    pub fn set_content(&mut self, path: PathBuf, content: Content) {
        match self.known_place(&path) {
            Some(place) if place.content(self) == content => {}
            Some(place) => _ = place.set_content(self).to(content),
            // A place that nobody has asked for concerns nothing that is known.
            None => {
                let place = Place::new(self, Arc::from(path.as_path()), content, None);
                self.places.insert(path, place);
            }
        }
    }

    /// Says that there is no program at a place, and which one beside it was probably meant.
    pub(crate) fn set_missing(&mut self, path: PathBuf, near: Option<SmolStr>) {
        self.set_content(path.clone(), Content::Missing);
        let place = self.places.get(&path).map(|place| *place);
        if let Some(place) = place.filter(|place| place.near(self) != near) {
            place.set_near(self).to(near);
        }
    }

    /// A database that tells of every query that runs, such as `check(Id(3))`.
    pub fn with_log(log: impl Fn(String) + Send + Sync + 'static) -> Self {
        let callback = move |event: salsa::Event| {
            if let salsa::EventKind::WillExecute { database_key } = event.kind {
                log(format!("{database_key:?}"));
            }
        };
        Self::new(salsa::Storage::new(Some(Box::new(callback))))
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
    before: Arc<Parse>,
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
    pub fn edited(
        text: impl Into<Arc<str>>,
        before: Arc<Parse>,
        replaced: TextRange,
        inserted: TextSize,
    ) -> Self {
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
}

/// The settings that change what a program means. Levels and profiles do not: they are applied to what the analysis finds.
#[salsa::input(debug)]
pub struct Settings {
    /// The models that have a name of their own (decision 5), with what they stand for.
    #[returns(ref)]
    pub models: Arc<BTreeMap<SmolStr, String>>,
}

/// A place that a program may be imported from.
#[salsa::input(debug)]
pub struct Place {
    /// The normalised path.
    #[returns(ref)]
    pub path: Arc<Path>,
    /// What is there.
    #[returns(copy)]
    pub content: Content,
    /// The name of the program in the same folder that was probably meant, where there is none here.
    #[returns(clone)]
    pub near: Option<SmolStr>,
}

/// What is at a place that programs are imported from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// Nobody has looked yet.
    Unknown,
    /// No file.
    Missing,
    /// A program.
    Program(SourceFile),
}

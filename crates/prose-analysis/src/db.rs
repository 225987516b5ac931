//! The database: its inputs and the storage of query results.

#![allow(missing_docs, reason = "the macros of salsa write functions that have none")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dashmap::{DashMap, DashSet};
use prose_rights::Grants;
use prose_syntax::{Diagnostic, Parse, TextRange, TextSize};
use rustc_hash::FxHashSet;
use salsa::Setter;
use smol_str::SmolStr;

use crate::interface::Contract;
use crate::location::{Location, Note, Origin, Registry, Remote, normalized};

/// The database as the queries see it.
#[salsa::db]
pub trait Db: salsa::Database {
    /// The place of a program. One that was never requested is not loaded.
    fn place(&self, location: Location) -> Place;
}

/// The database.
#[salsa::db]
#[derive(Clone)]
pub struct Database {
    storage: salsa::Storage<Self>,
    places: Arc<DashMap<Location, Place>>,
    /// The places that some program imports from, or did once.
    asked: Arc<DashSet<Location>>,
}

#[salsa::db]
impl salsa::Database for Database {}

#[salsa::db]
impl Db for Database {
    fn place(&self, location: Location) -> Place {
        if !self.asked.contains(&location) {
            self.asked.insert(location.clone());
        }
        if let Some(place) = self.places.get(&location) {
            return *place;
        }
        let entry = self.places.entry(location);
        let location = entry.key().clone();
        *entry.or_insert_with(|| Place::new(self, location, Content::Unknown, None))
    }
}

impl Default for Database {
    fn default() -> Self {
        Self::new(salsa::Storage::new(None))
    }
}

impl Database {
    fn new(storage: salsa::Storage<Self>) -> Self {
        Self { storage, places: Arc::default(), asked: Arc::default() }
    }

    /// Unwinds the work on this snapshot if the host waits for a change. Work that takes long without running
    /// queries must call this where it can be ended.
    pub fn unwind_if_cancelled(&self) {
        salsa::Database::unwind_if_revision_cancelled(self);
    }

    /// The place of a program, if it was requested or set.
    pub(crate) fn known_place(&self, location: &Location) -> Option<Place> {
        self.places.get(location).map(|place| *place)
    }

    /// The program at a normalised path, or the remote one whose text is stored there.
    pub fn file_at(&self, path: &Path) -> Option<SourceFile> {
        self.known_place(&Location::File(path.to_owned()))?.program(self)
    }

    /// The places that a program is imported from: its path, and for one of the network what names it there.
    pub(crate) fn places_of(&self, program: SourceFile) -> Vec<Place> {
        let remote = match program.origin(self) {
            Origin::Local => None,
            Origin::Remote(origin) => Some(Location::Remote(Remote {
                registry: program.project(self).registry.clone(),
                reference: origin.reference.clone(),
            })),
        };
        let locations = [Some(Location::File(normalized(program.path(self)))), remote];
        locations.into_iter().flatten().filter_map(|location| self.known_place(&location)).collect()
    }

    /// Every program that is known, by path.
    pub fn programs(&self) -> Vec<SourceFile> {
        let places: Vec<Place> = self.places.iter().map(|place| *place).collect();
        let mut programs: Vec<SourceFile> =
            places.into_iter().filter_map(|place| place.program(self)).collect();
        programs.sort_by(|a, b| a.path(self).cmp(b.path(self)));
        programs.dedup();
        programs
    }

    /// Whether a place was requested.
    pub(crate) fn is_asked_for(&self, location: &Location) -> bool {
        self.asked.contains(location)
    }

    /// The requested paths, in no order.
    pub(crate) fn asked_for_files(&self) -> Vec<PathBuf> {
        self.asked.iter().filter_map(|location| location.file().map(Path::to_owned)).collect()
    }

    /// The requested remote programs, in no order.
    pub(crate) fn remotes(&self) -> Vec<Remote> {
        self.asked.iter().filter_map(|location| location.remote().cloned()).collect()
    }

    /// Sets the content of a place and the note about it.
    pub(crate) fn set_place(&mut self, location: Location, content: Content, note: Option<Arc<Note>>) {
        self.set_content(location.clone(), content);
        self.set_note(&location, note);
    }

    /// Sets the content of a place.
    pub(crate) fn set_content(&mut self, location: Location, content: Content) {
        match self.known_place(&location) {
            Some(place) if place.content(self) == content => {}
            Some(place) => _ = place.set_content(self).to(content),
            // No query depends on a place that was not requested.
            None => {
                let place = Place::new(self, location.clone(), content, None);
                self.places.insert(location, place);
            }
        }
    }

    fn set_note(&mut self, location: &Location, note: Option<Arc<Note>>) {
        if let Some(place) = self.known_place(location).filter(|place| *place.note(self) != note) {
            place.set_note(self).to(note);
        }
    }

    /// A database that logs every query that runs, such as `check(Id(3))`.
    pub fn with_log(log: impl Fn(String) + Send + Sync + 'static) -> Self {
        let callback = move |event: salsa::Event| {
            if let salsa::EventKind::WillExecute { database_key } = event.kind {
                log(format!("{database_key:?}"));
            }
        };
        Self::new(salsa::Storage::new(Some(Box::new(callback))))
    }
}

/// The text of a program, and its last edit.
#[derive(Debug, Clone)]
pub struct Text {
    contents: Contents,
    edited: Option<Edited>,
}

/// The characters of a text, shared by all its clones.
#[derive(Debug, Clone)]
pub enum Contents {
    /// A text that others share, too.
    Shared(Arc<str>),
    /// A text that was made for the analysis. It is not copied: an edit of a long document takes one copy less.
    Owned(Arc<String>),
}

impl From<Arc<str>> for Contents {
    fn from(text: Arc<str>) -> Self {
        Self::Shared(text)
    }
}

impl From<&str> for Contents {
    fn from(text: &str) -> Self {
        Self::Shared(text.into())
    }
}

impl From<String> for Contents {
    fn from(text: String) -> Self {
        Self::Owned(Arc::new(text))
    }
}

/// How a text came from an earlier one.
#[derive(Debug, Clone)]
struct Edited {
    before: Arc<Parse>,
    replaced: TextRange,
    inserted: TextSize,
}

impl Text {
    /// A text without history.
    pub fn new(text: impl Into<Contents>) -> Self {
        Self { contents: text.into(), edited: None }
    }

    /// The text after one edit: `replaced` of the text before was replaced by `inserted` bytes. Its parse keeps all of `before`
    /// that the edit does not touch, and is equal to that of the same text without a history.
    pub fn edited(
        text: impl Into<Contents>,
        before: Arc<Parse>,
        replaced: TextRange,
        inserted: TextSize,
    ) -> Self {
        Self { contents: text.into(), edited: Some(Edited { before, replaced, inserted }) }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        match &self.contents {
            Contents::Shared(text) => text,
            Contents::Owned(text) => text,
        }
    }

    /// The same text for longer than the analysis.
    pub fn shared(&self) -> Arc<str> {
        match &self.contents {
            Contents::Shared(text) => Arc::clone(text),
            Contents::Owned(text) => text.as_str().into(),
        }
    }

    pub(crate) fn parse(&self) -> Parse {
        match &self.edited {
            Some(Edited { before, replaced, inserted }) => {
                before.reparse(*replaced, *inserted, self.as_str())
            }
            None => prose_syntax::parse(self.as_str()),
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
    /// The project that it belongs to.
    #[returns(ref)]
    pub project: Project,
    /// Where the text came from.
    #[returns(ref)]
    pub origin: Origin,
    /// The number of lines above the text in its document, so that messages name lines of the document.
    #[returns(copy)]
    pub lines_above: usize,
    /// The skills that it names and its sessions cannot use.
    #[returns(ref)]
    pub missing_skills: MissingSkills,
    /// What the analysis has found, if the trees of the program are released. The host outdates it with everything that it depends on.
    #[returns(ref)]
    #[doc(hidden)]
    pub results: Option<Arc<Results>>,
}

/// The results of a program that stay when its trees are released. Each belongs to the query of its name, which returns it.
#[derive(Debug)]
pub struct Results {
    pub(crate) diagnostics: Arc<[Diagnostic]>,
    pub(crate) error_count: usize,
    pub(crate) contract: Contract,
    pub(crate) words_of_unparsed_lines: Vec<SmolStr>,
    pub(crate) import_places: FxHashSet<Place>,
    pub(crate) imported_programs: Vec<SourceFile>,
    pub(crate) named_skills: BTreeSet<NamedSkill>,
}

/// A skill of an agent.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NamedSkill {
    /// The agent; `None` for a session without one.
    pub agent: Option<SmolStr>,
    /// The name or the path of the skill.
    pub name: SmolStr,
}

/// Why the sessions of an agent cannot use a skill.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct MissingSkill {
    /// What is wrong, in one clause, and how to fix it unless another skill was probably meant.
    pub message: String,
    /// The skill that was probably meant.
    pub near: Option<SmolStr>,
}

/// The skills of a file that cannot be used.
pub type MissingSkills = Arc<BTreeMap<NamedSkill, MissingSkill>>;

/// The harnesses of agents, by the names of the agents.
pub type AgentHarnesses = Arc<BTreeMap<SmolStr, SmolStr>>;

/// Aliases of models (decision 5), with the model ids.
pub type Models = Arc<BTreeMap<SmolStr, String>>;

/// The settings of a project that change what its programs mean. Levels and profiles do not: they are applied to what the analysis finds.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Project {
    /// The aliases of models.
    pub models: Models,
    /// The sources of programs that are not local.
    pub registry: Registry,
    /// The configured harness, whose sessions the permissions are for.
    pub harness: Option<SmolStr>,
    /// The harnesses of agents with one of their own.
    pub agent_harnesses: AgentHarnesses,
    /// The rights of fetched programs.
    pub grants: Arc<Grants>,
    /// The names of the configured MCP servers.
    pub servers: Arc<BTreeSet<SmolStr>>,
}

impl Project {
    /// A project with its aliases of models and its registry.
    pub fn new<'a>(
        aliases: impl IntoIterator<Item = (&'a String, &'a String)>,
        registry: impl Into<Registry>,
    ) -> Self {
        let models = aliases.into_iter().map(|(name, id)| (name.into(), id.clone())).collect();
        Self { models: Models::new(models), registry: registry.into(), ..Self::default() }
    }

    /// The same project with a harness.
    pub fn with_harness(self, harness: impl Into<SmolStr>) -> Self {
        Self { harness: Some(harness.into()), ..self }
    }

    /// The same project with harnesses of agents.
    pub fn with_agent_harnesses<'a>(self, agents: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let agents = agents.into_iter().map(|(agent, harness)| (agent.into(), harness.into()));
        Self { agent_harnesses: Arc::new(agents.collect()), ..self }
    }

    /// The same project with rights of fetched programs.
    pub fn with_grants(self, grants: Grants) -> Self {
        Self { grants: Arc::new(grants), ..self }
    }

    /// The same project with MCP servers.
    pub fn with_servers<'a>(self, names: impl IntoIterator<Item = &'a str>) -> Self {
        let servers = names.into_iter().map(SmolStr::from).collect();
        Self { servers: Arc::new(servers), ..self }
    }
}

/// A place that a program may be imported from.
#[salsa::input(debug)]
pub struct Place {
    /// Where it is.
    #[returns(ref)]
    pub location: Location,
    /// What is there.
    #[returns(copy)]
    pub content: Content,
    /// A note about it.
    #[returns(ref)]
    pub note: Option<Arc<Note>>,
}

impl Place {
    /// The program there.
    pub fn program(self, db: &dyn Db) -> Option<SourceFile> {
        match self.content(db) {
            Content::Program(file) => Some(file),
            Content::Missing | Content::Unknown => None,
        }
    }

    /// Whether it is not loaded yet.
    pub(crate) fn is_unsettled(self, db: &dyn Db) -> bool {
        self.content(db) == Content::Unknown && self.note(db).is_none()
    }
}

/// What is at a place that programs are imported from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// Unknown, or not loaded yet.
    Unknown,
    /// No program.
    Missing,
    /// A program.
    Program(SourceFile),
}

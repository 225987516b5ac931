//! Which settings a program is under.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use prose_files::{Limit, ReadError};
use prose_syntax::{Code, Diagnostic, Level, Profile, Severity, TextRange, TextSize};

use crate::setting::{NamedInSettings, Problem};
use crate::{Config, RegistryUrl, document, file};

/// A folder of programs and the settings for them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Project {
    /// The file with the settings, if there is one.
    pub path: Option<PathBuf>,
    /// The settings.
    pub config: Config,
    /// What is wrong with the file.
    pub problems: Vec<Diagnostic>,
    /// The first of the problems that prevents programs of the project from being run: an error in how they are run, or of TOML.
    pub run_error: Option<Diagnostic>,
    /// The skills that agents have by the settings.
    pub named_skills: Vec<NamedInSettings>,
    /// The text that the problems are about.
    pub text: String,
    /// Why the file cannot be read, as the rest of a sentence that starts with its path.
    pub unreadable: Option<String>,
}

/// Levels that come before those of the file, from a command line or an editor.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Overrides {
    /// The profile.
    pub profile: Option<Profile>,
    /// Levels of single codes.
    pub levels: Vec<(Code, Level)>,
}

impl Project {
    /// The settings in a text.
    pub fn parse(path: Option<PathBuf>, text: String) -> Self {
        let (config, problems, named_skills) = document::read(&text);
        Self { named_skills, ..Self::new(path, text, config, problems) }
    }

    /// Reads the settings at a path. A file that cannot be read is like none; why is returned next to it. Bytes that are not UTF-8 are a problem among others.
    pub fn load(path: PathBuf) -> (Self, Option<ReadError>) {
        let bytes = match prose_files::read(&path, Limit::SETTINGS) {
            Ok(bytes) => bytes,
            Err(error) => {
                let mut config = Config::default();
                config.registry.url = RegistryUrl::unknown();
                let unreadable = Some(error.to_string());
                return (Self { path: Some(path), config, unreadable, ..Self::default() }, Some(error));
            }
        };
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if prose_files::is_utf16(&bytes) {
            // Read as UTF-8, it would have an error per line, about characters that are not there.
            let (config, ..) = document::read("");
            let start = TextRange::empty(TextSize::new(0));
            let message = "the file is encoded in UTF-16; save it as UTF-8";
            let problems = vec![document::of_toml(Diagnostic::new(Code::E141, start, message))];
            return (Self::new(Some(path), text, config, problems), None);
        }
        let (config, mut problems, named_skills) = document::read(&text);
        let invalid = std::str::from_utf8(&bytes).err().map(|error| error.valid_up_to());
        if let Some(at) = invalid.and_then(|at| TextSize::try_from(at).ok()) {
            let range = TextRange::at(at, TextSize::of(char::REPLACEMENT_CHARACTER));
            let message = "the file is not valid UTF-8; save it as UTF-8";
            let after = problems.partition_point(|problem| problem.diagnostic.range.start() < at);
            problems.insert(after, document::of_toml(Diagnostic::new(Code::E141, range, message)));
        }
        (Self { named_skills, ..Self::new(Some(path), text, config, problems) }, None)
    }

    fn new(path: Option<PathBuf>, text: String, config: Config, problems: Vec<Problem>) -> Self {
        let run_error = problems.iter().find(|problem| problem.prevents_runs);
        let run_error = run_error.map(|problem| problem.diagnostic.clone());
        let problems = problems.into_iter().map(|problem| problem.diagnostic).collect();
        Self { path, config, problems, run_error, named_skills: Vec::new(), text, unreadable: None }
    }

    /// How grave a finding in a program is, or none if it is not reported. `program` is the absolute path of the program.
    pub fn severity(
        &self,
        overrides: &Overrides,
        program: &Path,
        diagnostic: &Diagnostic,
    ) -> Option<Severity> {
        let check = &self.config.check;
        let relative =
            self.path.as_deref().and_then(Path::parent).and_then(|folder| program.strip_prefix(folder).ok());
        if relative.is_some_and(|path| check.per_file_ignores.ignores(path, diagnostic.code)) {
            return None;
        }
        if let Some((_, level)) = overrides.levels.iter().rev().find(|(code, _)| *code == diagnostic.code) {
            return level.severity();
        }
        let profile = overrides.profile.unwrap_or(check.profile);
        check.level_in(profile, diagnostic.code, diagnostic.lenient).severity()
    }
}

/// The projects that programs belong to, each read once.
#[derive(Default)]
pub struct Projects {
    accepts: Option<Box<Accepts>>,
    by_folder: HashMap<PathBuf, Arc<Project>>,
    by_file: HashMap<PathBuf, Arc<Project>>,
    failures: Vec<(PathBuf, ReadError)>,
    ignored: BTreeSet<PathBuf>,
}

/// Whether the file at a path is read, if it is found and not named.
type Accepts = dyn Fn(&Path) -> bool + Send + Sync;

impl fmt::Debug for Projects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Projects").field("by_file", &self.by_file).finish_non_exhaustive()
    }
}

impl Projects {
    /// Projects whose files are read only if they are accepted. Those that are not are as good as not there.
    pub fn accepting(accepts: impl Fn(&Path) -> bool + Send + Sync + 'static) -> Self {
        Self { accepts: Some(Box::new(accepts)), ..Self::default() }
    }

    /// The project of a program: that of the nearest `prose.toml` in its folder or above.
    pub fn of(&mut self, program: &Path) -> Arc<Project> {
        let folder = program.parent().unwrap_or(Path::new(""));
        if let Some(project) = self.by_folder.get(folder) {
            return Arc::clone(project);
        }
        let (accepts, ignored) = (&self.accepts, &mut self.ignored);
        let found = file::find_accepted(folder, |path| {
            let is_accepted = accepts.as_ref().is_none_or(|accepts| accepts(path));
            if !is_accepted {
                ignored.insert(path.to_owned());
            }
            is_accepted
        });
        let project = found.map(|path| self.at(path)).unwrap_or_default();
        self.by_folder.insert(folder.to_owned(), Arc::clone(&project));
        project
    }

    /// The project with the settings at a path.
    pub fn at(&mut self, path: PathBuf) -> Arc<Project> {
        if let Some(project) = self.by_file.get(&path) {
            return Arc::clone(project);
        }
        let (project, failure) = Project::load(path.clone());
        self.failures.extend(failure.map(|failure| (path.clone(), failure)));
        let project = Arc::new(project);
        self.by_file.insert(path, Arc::clone(&project));
        project
    }

    /// Forgets what was read, since a file has changed.
    pub fn forget(&mut self) {
        self.by_folder.clear();
        self.by_file.clear();
    }

    /// The files that could not be read since this was last asked.
    pub fn take_failures(&mut self) -> Vec<(PathBuf, ReadError)> {
        std::mem::take(&mut self.failures)
    }

    /// The files that were found and not accepted since this was last asked.
    pub fn take_ignored(&mut self) -> BTreeSet<PathBuf> {
        std::mem::take(&mut self.ignored)
    }

    /// Every file of settings that was read, by its path.
    pub fn files(&self) -> Vec<Arc<Project>> {
        let mut files: Vec<_> = self.by_file.values().cloned().collect();
        files.sort_by(|a, b| a.path.cmp(&b.path));
        files
    }
}

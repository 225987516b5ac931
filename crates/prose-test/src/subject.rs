//! The program that is tested.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use prose_analysis::{AnalysisHost, Text};
use prose_config::Config;
use prose_project::Diagnosed;
use prose_project::files::identity;
use prose_project::imports::ImportOptions;
use prose_project::load;
use prose_project::runnable::Refusal;
use prose_vm::program::{Coverable, Program};

/// A program that is tested, with the settings of its project.
#[derive(Clone)]
pub struct Subject {
    /// The path of its file.
    pub path: PathBuf,
    /// The program.
    pub program: Arc<Program>,
    /// The settings.
    pub config: Config,
    /// The folder of the project: that of `prose.toml`, or that of the program.
    pub root: PathBuf,
    /// What tests of the program can cover.
    pub coverable: Arc<Coverable>,
}

/// Why a program cannot be tested.
#[derive(Debug, Clone, Default)]
pub struct Unloadable {
    /// The reason, as the rest of a sentence that starts with the name of the program.
    pub reason: String,
    /// The text of its file, if that could be read.
    pub text: String,
    /// The errors of the program.
    pub errors: Vec<Diagnosed>,
}

impl Subject {
    /// A program that was loaded elsewhere, such as the one that an editor holds.
    pub fn new(path: PathBuf, program: Arc<Program>, config: Config, root: PathBuf) -> Self {
        let coverable = Arc::new(program.coverable());
        Self { path, program, config, root, coverable }
    }

    /// Loads a program, as a run does.
    pub fn load(path: &Path, options: ImportOptions) -> Result<Self, Box<Unloadable>> {
        let unloadable = |reason: &str, text: &str, errors: Vec<Diagnosed>| {
            Box::new(Unloadable { reason: reason.to_owned(), text: text.to_owned(), errors })
        };
        let loaded = load::load_file(path, options).map_err(|reason| unloadable(&reason, "", Vec::new()))?;
        if let Some(failure) = loaded.failures.first() {
            let reason = format!("cannot be run: `{}` {}", failure.path.display(), failure.reason);
            return Err(unloadable(&reason, &loaded.file_text, Vec::new()));
        }
        let program = match loaded.program {
            Ok(program) => program,
            Err(refusal) => {
                let errors = match &refusal {
                    Refusal::Errors(errors) => errors.clone(),
                    _ => Vec::new(),
                };
                return Err(unloadable(&refusal.to_string(), &loaded.file_text, errors));
            }
        };
        let folder = || identity(path).parent().map(Path::to_owned).unwrap_or_default();
        let root = loaded.rules.folder().map_or_else(folder, identity);
        Ok(Self::new(path.to_owned(), program, loaded.rules.config().clone(), root))
    }

    /// A program in a text, without settings, for tests of this crate and for examples.
    pub fn of_text(path: &Path, text: &str) -> Self {
        let mut host = AnalysisHost::default();
        let file = host.set_text(path, Text::new(text));
        let root = path.parent().map(Path::to_owned).unwrap_or_default();
        Self::new(path.to_owned(), Program::new(host.db(), file), Config::default(), root)
    }

    /// The files of its local imports, directly or through others, and of itself.
    pub fn files(&self) -> Vec<PathBuf> {
        let imports = self.local_imports().into_iter().map(|(path, _)| path);
        std::iter::once(identity(&self.path)).chain(imports).collect()
    }

    /// The local programs that it imports, directly or through others, by their paths.
    pub(crate) fn local_imports(&self) -> Vec<(PathBuf, Arc<Program>)> {
        let own = identity(&self.path);
        let mut found: Vec<(PathBuf, Arc<Program>)> = Vec::new();
        let mut waiting = vec![Arc::clone(&self.program)];
        while let Some(program) = waiting.pop() {
            for imported in program.imports.iter().filter_map(|import| import.program.as_ref()) {
                let path = identity(Path::new(&imported.from));
                if imported.fetched.is_none() && path != own && found.iter().all(|(known, _)| *known != path)
                {
                    found.push((path, Arc::clone(imported)));
                    waiting.push(Arc::clone(imported));
                }
            }
        }
        found
    }
}

//! A program that a client runs, and the request for its run.

use std::fmt;
use std::sync::Arc;

use prose_project::Diagnosed;
use prose_project::load::Loaded;
use prose_project::runnable::Refusal;
use prose_run::{RunRequest, Start, TrustSubject};
use prose_syntax::LineIndex;
use prose_vm::program::Program;
use prose_vm::value::Value;
use smol_str::SmolStr;

use crate::folder::Folder;

/// A program that can be run, with its inputs.
pub(crate) struct Runnable {
    pub(crate) loaded: Loaded,
    pub(crate) program: Arc<Program>,
    pub(crate) inputs: Vec<(SmolStr, Value)>,
}

/// Why a program cannot be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unloaded {
    /// It cannot be read.
    Unread(String),
    /// It was read and is not run, with a line for each error in it.
    Refused(String, Vec<String>),
}

impl fmt::Display for Unloaded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unloaded::Unread(reason) => f.write_str(reason),
            Unloaded::Refused(reason, errors) if errors.is_empty() => f.write_str(reason),
            Unloaded::Refused(reason, errors) => write!(f, "{reason}:\n{}", errors.join("\n")),
        }
    }
}

impl Runnable {
    /// Loads a program.
    pub(crate) fn load(folder: &Folder, path: &str) -> Result<Self, Unloaded> {
        let mut loaded = folder.load(path).map_err(Unloaded::Unread)?;
        if let Some(failure) = loaded.failures.first() {
            return Err(Unloaded::Unread(format!("`{}` {}", folder.shown(&failure.path), failure.reason)));
        }
        let nothing = Err(Refusal::NotThere);
        match std::mem::replace(&mut loaded.program, nothing) {
            Ok(program) => Ok(Self { loaded, program, inputs: Vec::new() }),
            Err(refusal) => {
                let errors = match &refusal {
                    Refusal::Errors(errors) => listed(&loaded.file_text, errors),
                    _ => Vec::new(),
                };
                Err(Unloaded::Refused(format!("`{path}` {refusal}"), errors))
            }
        }
    }

    /// The same with inputs. The error names one that the program does not have.
    pub(crate) fn with_inputs(
        self,
        inputs: impl IntoIterator<Item = (SmolStr, Value)>,
    ) -> Result<Self, String> {
        let inputs: Vec<_> = inputs.into_iter().collect();
        match inputs.iter().find_map(|(name, _)| self.program.refusal_of_input(name)) {
            Some(refusal) => Err(refusal),
            None => Ok(Self { inputs, ..self }),
        }
    }

    /// What the user has to trust before the program is run.
    pub(crate) fn subject(&self, folder: &Folder) -> TrustSubject {
        TrustSubject::new(&folder.project_of(&self.loaded).root, self.loaded.rules.config())
    }

    /// The request for a run: with the harness, the limits and the permissions of the project.
    pub(crate) fn request(self, folder: &Folder, start: Start) -> RunRequest {
        let project = folder.project_of(&self.loaded);
        let config = self.loaded.rules.config();
        let request = RunRequest::new(self.program, project, start, config, folder.trust());
        RunRequest { inputs: self.inputs, ..request }
    }
}

/// The first errors of a program, a line for each.
fn listed(text: &str, errors: &[Diagnosed]) -> Vec<String> {
    let lines = LineIndex::new(text);
    let line = |error: &Diagnosed| {
        let line = lines.line(error.diagnostic.range.start().into()) + 1;
        format!("line {line}: {}", error.diagnostic.message)
    };
    errors.iter().take(MAX_ERRORS).map(line).collect()
}

/// How many errors of a program are listed.
const MAX_ERRORS: usize = 10;

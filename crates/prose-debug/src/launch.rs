//! What is debugged: a program that is started, a run that has ended, or one that another process executes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use prose_project::files::identity;
use prose_project::imports::ImportOptions;
use prose_project::load::load;
use prose_project::position::Positions;
use prose_project::runnable::Refusal;
use prose_run::control::{Client, ControlError};
use prose_run::{Caps, Project, RunRequest, Start, UserTrust, is_confirmed, project_at, recorded_run};
use prose_state::folder::resolved;
use prose_state::replay::RecordedRun;
use prose_vm::event::RunHead;
use prose_vm::value::Value;
use serde::Deserialize;

/// What the server of the protocol is started with.
#[derive(Debug, Clone)]
pub struct Options {
    /// The working folder, if a client names none.
    pub folder: PathBuf,
    /// What the user trusts.
    pub trust: UserTrust,
}

/// The arguments of `launch` and `attach`, as the settings of a client have them.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Arguments {
    /// The program to start: a path, a program in a document such as `README.md#1`, or a reference.
    pub(crate) program: Option<String>,
    /// The run to look at: any part of its id, or a file of `prose runs export`.
    pub(crate) run: Option<String>,
    /// The working folder.
    cwd: Option<PathBuf>,
    /// The inputs of the program.
    inputs: BTreeMap<String, serde_json::Value>,
    /// The backend, instead of that of the settings.
    harness: Option<String>,
    /// The script of the backend `script`.
    script: Option<PathBuf>,
    /// The seed of the backend `offline`.
    seed: u64,
    /// Whether to fetch nothing.
    offline: bool,
    /// The limits of the run.
    max_cost: Option<f64>,
    max_tokens: Option<u64>,
    max_sessions: Option<u32>,
    /// Whether to stop at the first statement.
    pub(crate) stop_on_entry: Option<bool>,
    /// Whether breakpoints are ignored.
    pub(crate) no_debug: bool,
}

/// What is debugged.
pub(crate) enum Target {
    /// A run that is started.
    Launch(Box<RunRequest>),
    /// A run that has ended. It is only read.
    Recorded(Box<RecordedRun>, Project),
    /// A run that another process executes.
    Attached { recorded: Box<RecordedRun>, project: Project, client: Box<Client> },
}

impl Arguments {
    fn folder(&self, options: &Options) -> PathBuf {
        self.cwd.as_ref().map_or_else(|| options.folder.clone(), |cwd| options.folder.join(cwd))
    }

    /// Finds what is debugged. The error is a message for the user.
    pub(crate) fn target(&self, options: &Options) -> Result<Target, String> {
        match (&self.run, &self.program) {
            (Some(run), _) => self.recorded(run, options),
            (None, Some(program)) => Ok(Target::Launch(Box::new(self.request(program, None, options)?))),
            (None, None) => {
                Err("nothing to debug: set `program` to a program, or `run` to a run that `prose runs` lists"
                    .to_owned())
            }
        }
    }

    fn recorded(&self, run: &str, options: &Options) -> Result<Target, String> {
        let folder = self.folder(options);
        let of_program = self.program.as_ref().and_then(|program| {
            let file = folder.join(program);
            prose_project::Settings::default().of(&file).folder().map(identity)
        });
        let project = project_at(of_program, &folder, &options.trust);
        let named = folder.join(run);
        let name = if named.is_file() { named.to_string_lossy().into_owned() } else { run.to_owned() };
        let recorded = recorded_run(&project, &name).map_err(|error| error.for_editor())?;
        let recorded = Box::new(recorded);
        let is_live = recorded.path.parent().map(Client::connect);
        match is_live {
            Some(Ok(client)) if !named.is_file() => {
                Ok(Target::Attached { recorded, project, client: Box::new(client) })
            }
            Some(Err(error @ ControlError::NoChannel(_))) if !named.is_file() => Err(error.to_string()),
            _ => Ok(Target::Recorded(recorded, project)),
        }
    }

    /// A request for another run of the program of a recorded run.
    pub(crate) fn request_of(
        &self,
        recorded: &RecordedRun,
        project: &Project,
        options: &Options,
    ) -> Result<RunRequest, String> {
        let RunHead { run, from, .. } = &recorded.head;
        let is_inside = resolved(Path::new(from)).starts_with(resolved(&project.root));
        // What the journal of somebody else names has to lie in the project.
        if !is_inside && !is_confirmed(project, run, &options.trust.files) {
            return Err(format!(
                "nothing confirms that you started run {run} on this machine with the program `{from}`, which is not in the project; if that is right, start \
                 the fork with `prose runs fork {run} --program {from}`"
            ));
        }
        self.request(from, Some(project), options)
    }

    /// A request for a run of a program.
    fn request(
        &self,
        program: &str,
        project: Option<&Project>,
        options: &Options,
    ) -> Result<RunRequest, String> {
        let folder = self.folder(options);
        let file = folder.join(program);
        let is_file = file.exists()
            || prose_markdown::program_at_path(&file).is_some_and(|(document, _)| document.exists());
        let named = if is_file { file.to_string_lossy().into_owned() } else { program.to_owned() };
        let import = ImportOptions { offline: self.offline, ..ImportOptions::default() };
        let loaded = load(&named, import).map_err(|why| format!("`{program}` {why}"))?;
        if let Some(failure) = loaded.failures.first() {
            return Err(format!("`{}` {}", failure.path.display(), failure.reason));
        }
        let refused = |refusal: &Refusal| refused(program, &loaded.file_text, refusal);
        let runnable = loaded.program.as_ref().map_err(refused)?;
        let runnable = Arc::clone(runnable);
        let config = loaded.rules.config().clone();
        let of_program = || project_at(loaded.rules.folder().map(identity), &folder, &options.trust);
        let project = project.cloned().unwrap_or_else(of_program);
        let mut request = RunRequest::new(runnable, project, Start::New, &config, options.trust.clone());
        request.harness = self.harness.clone().or_else(|| self.script.is_some().then(|| "script".to_owned()));
        request.script = self.script.as_ref().map(|script| folder.join(script));
        request.seed = self.seed;
        request.money.caps =
            Caps { cost: self.max_cost, tokens: self.max_tokens, sessions: self.max_sessions };
        for (name, value) in &self.inputs {
            if let Some(refusal) = request.program.refusal_of_input(name) {
                return Err(refusal);
            }
            request.inputs.push((name.as_str().into(), Value::from_json(value)));
        }
        Ok(request)
    }
}

/// Why a program is not run, with its first errors.
fn refused(program: &str, text: &str, refusal: &Refusal) -> String {
    const MAX_SHOWN: usize = 3;
    let mut message = format!("`{program}` {refusal}");
    if let Refusal::Errors(errors) = refusal {
        let positions = Positions::new(text);
        for error in errors.iter().take(MAX_SHOWN) {
            let line = positions.position(error.diagnostic.range.start()).line;
            message.push_str(&format!("; line {line}: {}", error.diagnostic.message));
        }
    }
    message
}

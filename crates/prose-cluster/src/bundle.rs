//! Everything that a run needs: its program with the programs that it imports, the settings of its project, and what the user has passed.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use prose_config::{Config, FILE_NAME, WhenWaiting};
use prose_files::{Limit, read_text};
use prose_project::UserFiles;
use prose_project::imports::ImportOptions;
use prose_project::load::{copies_of_imports, load_file};
use prose_project::skills::{Skills, is_path};
use prose_project::trust::accepts_settings;
use prose_registry::{LOCK_FILE, Vendor};
use prose_run::{Caps, FromRun, Grants, Project, Right, RunRequest, Start, UserTrust, asks_model};
use prose_state::context_file;
use prose_state::replay::RecordedRun;
use prose_vm::earlier::ChangedVariable;
use prose_vm::error::ErrorKind;
use prose_vm::place::{NamedLine, Place, imported_name};
use prose_vm::program::{ContextFile, Program};
use prose_vm::questions::Attribution;
use prose_vm::value::Value;
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use crate::repository::Repository;
use crate::skill_files::{MAX_BYTES, SkillFile, SkillFileError, add_skill};

/// The latest version of bundles that this version takes. A bundle has the first version that has all of it, so that older workers take what they know.
pub(crate) const VERSION: i32 = SKILLS;

/// The version of bundles of runs that start from nothing, of those that are forks or have limits for when they are resumed, of those whose agents work
/// in a repository, and of those with skills.
const FIRST: i32 = 1;
const FORKS: i32 = 2;
const REPOSITORIES: i32 = 3;
const SKILLS: i32 = 4;

/// The folder in a bundle with copies of fetched programs.
const COPIES: &str = ".prose-imports";

/// A bundle.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bundle {
    pub(crate) version: i32,
    /// The file of the program, or the document with its number.
    program: String,
    /// Texts by their path in the project.
    files: BTreeMap<String, String>,
    /// The files of skills by their path in the project.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    skills: BTreeMap<String, SkillFile>,
    /// What the user has passed.
    pub options: Options,
    /// The run whose answers it takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) fork: Option<Box<ForkOf>>,
    /// The limits that the run is resumed with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) raised: Option<Raised>,
}

/// Limits of a run that is resumed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Raised {
    /// By which epoch they are set: a later one finds them recorded, and perhaps others that were set after them.
    pub(crate) epoch: i64,
    pub(crate) caps: Caps,
}

/// What a fork takes from another run of the server, as [`FromRun`] has it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ForkOf {
    pub(crate) run: SmolStr,
    before: Option<u64>,
    variables: Vec<ChangedVariable>,
    replies: Vec<(Place, Arc<str>)>,
    by: Option<Attribution>,
}

impl ForkOf {
    /// The start of the fork, with what the other run has recorded.
    pub(crate) fn start(&self, recorded: RecordedRun) -> Start {
        Start::From(Box::new(FromRun {
            before: self.before,
            is_live: true,
            is_replay: false,
            variables: self.variables.clone(),
            replies: self.replies.clone(),
            by: self.by.clone(),
            ..FromRun::replay(recorded)
        }))
    }
}

/// What a user has passed for a run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Options {
    /// The inputs.
    pub inputs: Vec<(SmolStr, Value)>,
    /// The harness, also where it is that of the settings.
    pub harness: String,
    /// The text of the script of the harness `script`.
    pub script: Option<String>,
    /// The seed of the harness `offline`.
    pub seed: u64,
    /// The delay of each of its replies.
    pub delay: Duration,
    /// The maximum number of parallel sessions.
    pub max_parallel: Option<std::num::NonZeroU32>,
    /// The limits.
    pub caps: Caps,
    /// The time after which it stops.
    pub timeout: Option<Duration>,
    /// The rights of fetched programs.
    pub allow: Vec<Right>,
    /// Whether sessions run with permissions that their harness cannot enforce.
    pub allow_unenforced_permissions: bool,
    /// The span of a trace that the run was submitted in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traceparent: Option<SmolStr>,
    /// The repository that agents work in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repository: Option<Repository>,
}

/// Why a run cannot be bundled, or a bundle cannot be run.
#[derive(Debug)]
pub enum BundleError {
    /// A program that other machines cannot find.
    Elsewhere(String),
    /// A file cannot be read or written.
    Io(PathBuf, io::Error),
    /// The programs that it imports cannot be copied.
    Imports(String),
    /// It was made by a newer version.
    Version(i32),
    /// A path in it leads out of its folder.
    Path(String),
    /// The program cannot be run, and why.
    Refused(String),
}

impl fmt::Display for BundleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Elsewhere(what) => f.write_str(what),
            Self::Io(path, error) => write!(f, "`{}`: {error}", path.display()),
            Self::Imports(reason) => write!(f, "cannot copy the imported programs: {reason}"),
            Self::Version(version) => write!(
                f,
                "the run was submitted by a newer version of `prose`: its bundle has version {version}, and this one takes versions up to {VERSION}"
            ),
            Self::Path(path) => write!(f, "the bundle of the run has a file outside of its folder: `{path}`"),
            Self::Refused(reason) => f.write_str(reason),
        }
    }
}

impl std::error::Error for BundleError {}

impl BundleError {
    fn of_skill(error: SkillFileError) -> Self {
        match error {
            SkillFileError::Io(path, error) => Self::Io(path, error),
            SkillFileError::Unsuitable(path, why) => {
                Self::Elsewhere(format!("`{}` is a part of a skill, but {why}", path.display()))
            }
        }
    }
}

impl Bundle {
    /// Bundles a program of a project, as it is loaded with the settings, whose file has a path.
    pub fn new(
        program: &Program,
        config: &Config,
        path: &Path,
        root: &Path,
        options: Options,
    ) -> Result<Self, BundleError> {
        if let Some((agent, line)) = program.lasting_memory() {
            return Err(BundleError::Elsewhere(format!(
                "the agent `{agent}` (line {line}) keeps a memory that outlives the run, in files of one machine; run the program without `--on`, or let the \
                 agent remember for the run alone with `persist: true`"
            )));
        }
        let root = root.canonicalize().map_err(|error| BundleError::Io(root.to_owned(), error))?;
        let mut files = BTreeMap::new();
        let (file, number) = match prose_project::parts::document_of(path) {
            Some((document, number)) => (document, Some(number)),
            None => (path.to_owned(), None),
        };
        let name = add(&mut files, &root, &file)?;
        let program_name = match number {
            Some(number) => format!("{name}#{number}"),
            None => name,
        };
        add_imports(&mut files, &root, program)?;
        for name in [FILE_NAME, LOCK_FILE] {
            let path = root.join(name);
            // Settings of another user have no effect here, and none on workers either.
            let is_ignored = name == FILE_NAME && !accepts_settings(&UserTrust::of_user().store(), &path);
            if path.exists() && !is_ignored {
                add(&mut files, &root, &path)?;
            }
        }
        let copies = copies_of_imports(&file).map_err(BundleError::Imports)?;
        if !copies.is_empty() {
            let folder = tempfile::tempdir().map_err(|error| BundleError::Io(std::env::temp_dir(), error))?;
            Vendor::write(folder.path(), &copies).map_err(|error| BundleError::Imports(error.to_string()))?;
            let entries = fs::read_dir(folder.path());
            let entries = entries.map_err(|error| BundleError::Io(folder.path().to_owned(), error))?;
            for entry in entries.flatten() {
                let text = text_of(&entry.path())?;
                files.insert(format!("{COPIES}/{}", entry.file_name().to_string_lossy()), text);
            }
        }
        let grants = config.grants().with_all(&options.allow);
        add_context_files(&mut files, program.context_files(&grants), &root)?;
        let skills = skills_of(program, config, &grants, &options, &root)?;
        let version = match options.repository {
            _ if !skills.is_empty() => SKILLS,
            Some(_) => REPOSITORIES,
            None => FIRST,
        };
        Ok(Self { version, program: program_name, files, skills, options, fork: None, raised: None })
    }

    /// The same program as a fork, with what it takes of the run that it leaves.
    pub fn forked(self, from: &FromRun) -> Self {
        let fork = ForkOf {
            run: from.recorded.head.run.clone(),
            before: from.before,
            variables: from.variables.clone(),
            replies: from.replies.clone(),
            by: from.by.clone(),
        };
        Self { version: self.version.max(FORKS), fork: Some(Box::new(fork)), ..self }
    }

    /// The same with the limits that the leader of an epoch resumes the run with.
    pub(crate) fn resumed(self, epoch: i64, caps: Caps) -> Self {
        Self { version: self.version.max(FORKS), raised: Some(Raised { epoch, caps }), ..self }
    }

    /// Reads a bundle.
    pub fn read(text: &str) -> Result<Self, BundleError> {
        #[derive(Deserialize)]
        struct Versioned {
            version: i32,
        }
        let broken = |error: serde_json::Error| {
            BundleError::Refused(format!("the bundle of the run cannot be read: {error}"))
        };
        let Versioned { version } = serde_json::from_str(text).map_err(broken)?;
        if version > VERSION {
            return Err(BundleError::Version(version));
        }
        serde_json::from_str(text).map_err(broken)
    }

    /// Writes those of its files that a folder does not have.
    pub fn unpack(&self, root: &Path) -> Result<(), BundleError> {
        for (name, file) in &self.skills {
            unpack_file(root, name, |path| file.write(path))?;
        }
        self.unpack_texts(root).map(drop)
    }

    /// The same without skills, for a checkout of the repository, which has its own. Returns the paths of what was not there before.
    pub(crate) fn unpack_texts(&self, root: &Path) -> Result<Vec<String>, BundleError> {
        let mut new = Vec::new();
        let script = self.options.script.as_ref().map(|text| (SCRIPT, text));
        for (name, text) in self.files.iter().map(|(name, text)| (&**name, text)).chain(script) {
            if unpack_file(root, name, |path| fs::write(path, text))? {
                new.push(name.to_owned());
            }
        }
        Ok(new)
    }

    /// The request for the run, in the folder that it is unpacked in.
    pub fn request(&self, root: &Path, start: Start) -> Result<RunRequest, BundleError> {
        let options = ImportOptions {
            offline: true,
            vendor: Some(root.join(COPIES)).filter(|folder| folder.is_dir()),
            ..ImportOptions::default()
        };
        let refused = |why: String| BundleError::Refused(format!("`{}` {why}", self.program));
        let loaded = load_file(&root.join(&self.program), options).map_err(refused)?;
        let mut program = loaded.program.map_err(|refusal| refused(refusal.to_string()))?;
        // Where it is unpacked says nothing to anyone.
        if let Some(program) = Arc::get_mut(&mut program) {
            program.from.clone_from(&self.program);
        }
        let config = loaded.rules.config();
        // What stands in the settings of a bundle was decided by who submitted it to a server that this worker serves.
        let trust = UserTrust { files: UserFiles::of_user(), is_trusted: true };
        let mut request = RunRequest::new(program, Project::new(root), start, config, trust);
        let is_resumed = matches!(request.start, Start::Resume { .. });
        request.names_program = matches!(request.start, Start::From(_));
        let Options { delay, seed, allow_unenforced_permissions, .. } = self.options;
        (request.delay, request.seed) = (delay, seed);
        request.harness = Some(self.options.harness.clone());
        request.script = self.options.script.as_ref().map(|_| root.join(SCRIPT));
        request.grants = config.grants().with_all(&self.options.allow);
        request.limits.allow_unenforced_permissions = allow_unenforced_permissions;
        request.config.max_parallel = self.options.max_parallel.or(request.config.max_parallel);
        // It waits for answers where it is led.
        request.config.when_waiting = WhenWaiting::Stay;
        request.config.notify = Vec::new();
        // What a run was started with is recorded.
        if !is_resumed {
            request.inputs = self.options.inputs.clone();
            request.traceparent.clone_from(&self.options.traceparent);
            request.timeout = self.options.timeout;
            request.money.caps = self.options.caps;
        }
        Ok(request)
    }
}

/// Writes a file of a bundle into a folder, unless a link there leads elsewhere. Returns whether it was written, and not there before.
fn unpack_file(
    root: &Path,
    name: &str,
    write: impl FnOnce(&Path) -> io::Result<()>,
) -> Result<bool, BundleError> {
    let is_inside = Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
    if !is_inside || name.contains(['\\', ':']) {
        return Err(BundleError::Path(name.to_owned()));
    }
    let path = root.join(name);
    let mut above = path.ancestors().skip(1).take_while(|folder| *folder != root);
    if path.symlink_metadata().is_ok() || above.any(Path::is_symlink) {
        return Ok(false);
    }
    let written = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| write(&path));
    written.map_err(|error| BundleError::Io(path, error))?;
    Ok(true)
}

/// Adds the files that contexts name, under the paths by which the leader of the run will look for them.
fn add_context_files(
    files: &mut BTreeMap<String, String>,
    named: Vec<ContextFile>,
    root: &Path,
) -> Result<(), BundleError> {
    // What a project allows is not asked here: the server of a cluster is no place for keys.
    let project = Project::new(root);
    for ContextFile { file, line, import } in named {
        let place = NamedLine { program: import.as_deref().map(imported_name), line };
        let refused = |why: &str| {
            BundleError::Elsewhere(format!(
                "context file `{}` ({place}) cannot be sent to workers: {why}",
                file.path
            ))
        };
        let name = context_file::portable_path(&file.path).ok_or_else(|| {
            refused("give its path from the folder of the project, without `..`, `:` and `\\`; all of that folder may be named, and nothing else")
        })?;
        if !root.join(&name).exists() {
            return Err(refused(
                "it does not exist; workers get the files that are there when the run is submitted, and none that an agent writes later: let the session reply with \
                 what it makes",
            ));
        }
        let text = context_file::read(&project, &file).map_err(|failure| match failure.kind {
            ErrorKind::UnsafePath => refused(
                "it may contain secrets or control what programs may do, leads out of the project, or the fetched program that names it has no right to it",
            ),
            _ => refused(&failure.message),
        })?;
        files.insert(name, text.to_string());
    }
    Ok(())
}

/// The files of the skills that sessions of a program have.
fn skills_of(
    program: &Program,
    config: &Config,
    grants: &Grants,
    options: &Options,
    root: &Path,
) -> Result<BTreeMap<String, SkillFile>, BundleError> {
    let mut names: BTreeSet<SmolStr> = BTreeSet::new();
    for session in program.session_permissions() {
        let of_settings = session.agent.and_then(|agent| config.agents.get(agent.as_str())?.skills.as_ref());
        match of_settings {
            Some(own) => names.extend(own.iter().map(|skill| SmolStr::new(skill.as_str()))),
            None => names.extend(
                session.skills.into_iter().filter(|skill| skill.is_granted(grants)).map(|skill| skill.name),
            ),
        }
    }
    let skills = Skills::of(root);
    let (mut files, mut left) = (BTreeMap::new(), MAX_BYTES);
    for skill in names {
        let folders = skills.folders_of(&skill);
        if folders.is_empty() && is_path(&skill) && asks_model(&options.harness) {
            return Err(BundleError::Elsewhere(format!(
                "skill `{skill}` cannot be sent to workers: it is not the path of a folder in the project that has a `SKILL.md`"
            )));
        }
        for (folder, name) in folders {
            add_skill(&mut files, &folder, &name, &mut left).map_err(BundleError::of_skill)?;
        }
    }
    Ok(files)
}

/// The script of the harness `script` in the folder of a bundle.
const SCRIPT: &str = ".prose-script.toml";

fn add_imports(
    files: &mut BTreeMap<String, String>,
    root: &Path,
    program: &Program,
) -> Result<(), BundleError> {
    for imported in program.imports.iter().filter_map(|import| import.program.as_ref()) {
        // Those that are fetched are copied with all that they import.
        if imported.fetched.is_none() {
            let before = files.len();
            add(files, root, Path::new(&imported.from))?;
            // The same program may be imported by several paths.
            if files.len() > before {
                add_imports(files, root, imported)?;
            }
        }
    }
    Ok(())
}

/// Adds a file of the project. Returns its path there.
fn add(files: &mut BTreeMap<String, String>, root: &Path, path: &Path) -> Result<String, BundleError> {
    let found = path.canonicalize().map_err(|error| BundleError::Io(path.to_owned(), error))?;
    let Ok(inside) = found.strip_prefix(root) else {
        return Err(BundleError::Elsewhere(format!(
            "`{}` is not in the folder of the project, `{}`, which is all that other machines get; move it there",
            path.display(),
            root.display()
        )));
    };
    let parts = inside.components().map(|part| part.as_os_str().to_string_lossy());
    let name = parts.collect::<Vec<_>>().join("/");
    files.insert(name.clone(), text_of(&found)?);
    Ok(name)
}

fn text_of(path: &Path) -> Result<String, BundleError> {
    read_text(path, Limit::STATE)
        .map_err(|error| BundleError::Io(path.to_owned(), io::Error::other(error.to_string())))
}

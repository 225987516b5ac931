//! Settings of the client and of `prose.toml`.

use std::collections::{BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use prose_analysis::location::LockFile;
use prose_analysis::skills::{MissingSkills, NamedSkill};
use prose_analysis::{Database, SourceFile, host};
use prose_config::{Config, FetchMode, HarnessName, Overrides, RunConfig, Word};
use prose_ide::HintOptions;
use prose_project::runnable::{self, Refusal, runnable};
use prose_project::settings::{ignored_for, lock_folder};
use prose_project::{Diagnosed, Failure, Rules};
use prose_registry::LOCK_FILE;
use prose_run::{Money, Project, Routes, RunRequest, Start, TrustSubject, UserTrust};
use prose_syntax::{Code, Diagnostic, Level, Profile, Severity, TextRange};
use prose_vm::program::Program;
use ropey::Rope;
use serde_json::Value;

/// The settings that one program is under.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct FileConfig {
    path: PathBuf,
    rules: Arc<Rules>,
    /// The lock file, if there is one.
    lock: Option<LockFile>,
    client: Arc<ClientSettings>,
}

/// The settings of the client, which override those of the project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ClientSettings {
    /// When imported programs are fetched.
    fetch: Option<FetchMode>,
    /// Whether programs in Markdown documents are served.
    markdown: Option<bool>,
    /// Whether programs that are not open are checked.
    checks_workspace: bool,
    /// The hints of the analysis to show: all that are not switched off.
    hints: HintOptions,
    /// Whether the workspace is trusted. No program of an untrusted one is run: its programs are, in effect, those of another author. A client that does
    /// not say leaves it to what the person has said with `prose trust`, before an agent is started.
    pub(crate) trusted: Option<bool>,
    /// The harness, which overrides the project's.
    pub(crate) harness: Option<HarnessName>,
    /// How many sessions run at the same time, likewise.
    max_parallel: Option<NonZeroU32>,
    /// The command of the harness `command`, likewise.
    command: Option<Vec<Word>>,
    /// The environment variables of agents, likewise.
    environment: Option<Vec<Word>>,
    /// Whether statements show how they went.
    pub(crate) inlay_hints: bool,
    /// Whether programs and blocks show what a run is expected to come to.
    pub(crate) estimates: bool,
    /// The lenses to show, in addition to those that run the program: all that are not switched off.
    pub(crate) lenses: LensOptions,
    /// Whether agents may keep their memory in folders outside the project (decision 14).
    pub(crate) allows_outside: bool,
}

/// Kinds of lenses that the client may switch off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LensOptions {
    /// The number of references of agents, blocks and inputs.
    pub(crate) references: bool,
    /// What the last run returned for each output.
    pub(crate) outputs: bool,
    /// The commands that run a session, a condition or a block alone.
    pub(crate) parts: bool,
}

impl Default for ClientSettings {
    fn default() -> Self {
        Self::read(&Value::Null)
    }
}

impl ClientSettings {
    fn read(settings: &Value) -> Self {
        let settings = section(settings);
        let harnesses: Vec<&str> = HarnessName::ALL.iter().map(|name| name.as_str()).collect();
        let one_of_them = format!("one of {}", harnesses.join(", "));
        let harness = setting(settings, "/run/harness", &one_of_them, |name| match name.as_str()? {
            // Editors send this for a setting that is not set.
            "" => Some(None),
            name => HarnessName::ALL.iter().find(|known| name == known.as_str()).map(|known| Some(*known)),
        });
        let flag = |path: &str| setting(settings, path, "true or false", Value::as_bool);
        let words = |path: &str| {
            setting(settings, path, "a list of strings", |list| {
                list.as_array()?.iter().map(|word| Word::new(word.as_str()?)).collect()
            })
        };
        let shows = |kind: &str| flag(&format!("/inlayHints/{kind}")).unwrap_or(true);
        let shows_lens = |kind: &str| flag(&format!("/lenses/{kind}")).unwrap_or(true);
        let trusted = settings.get("trusted").and_then(Value::as_bool);
        Self {
            trusted,
            fetch: match trusted {
                // An untrusted workspace fetches nothing: what is asked for, and where, would be its choice.
                Some(false) => Some(FetchMode::Off),
                _ => setting(settings, "/registry/fetch", "\"automatic\", \"manual\" or \"off\"", |mode| {
                    FetchMode::ALL.iter().copied().find(|known| mode == known.as_str())
                }),
            },
            markdown: flag("/markdown/enabled"),
            checks_workspace: flag("/check/workspace").unwrap_or(true),
            hints: HintOptions {
                models: shows("models"),
                parameters: shows("parameters"),
                contracts: shows("contracts"),
                iterations: shows("iterations"),
            },
            harness: harness.flatten(),
            max_parallel: setting(
                settings,
                "/run/maxParallel",
                &format!("a whole number from 1 to {}", u32::MAX),
                |number| NonZeroU32::new(number.as_u64()?.try_into().ok()?),
            ),
            command: words("/run/command"),
            environment: words("/run/environment"),
            inlay_hints: flag("/run/inlayHints").unwrap_or(true),
            estimates: flag("/run/estimates").unwrap_or(true),
            lenses: LensOptions {
                references: shows_lens("references"),
                outputs: shows_lens("outputs"),
                parts: shows_lens("parts"),
            },
            allows_outside: flag("/run/allowOutside").unwrap_or(false),
        }
    }
}

impl FileConfig {
    /// How grave a finding in the program is, or none if it is not reported.
    pub(crate) fn severity(&self, diagnostic: &Diagnostic) -> Option<Severity> {
        self.rules.severity(&self.path, diagnostic)
    }

    /// The skills that sessions cannot use of those that the program names.
    pub(crate) fn missing_skills(&self, named: &BTreeSet<NamedSkill>) -> MissingSkills {
        self.rules.missing_skills(&self.path, named)
    }

    /// When imported programs are fetched.
    pub(crate) fn fetch_mode(&self) -> FetchMode {
        self.client.fetch.unwrap_or(self.rules.config().registry.fetch)
    }

    /// Whether programs in Markdown documents are served.
    pub(crate) fn serves_markdown(&self) -> bool {
        self.client.markdown.unwrap_or(self.rules.config().markdown.enabled)
    }

    /// The folder that the lock file is in, or would be.
    pub(crate) fn lock_folder(&self) -> Option<&Path> {
        let path = self.lock.as_ref().map(|lock| &*lock.path).or(self.project_file());
        path.unwrap_or(&self.path).parent()
    }

    /// The file that the settings come from.
    pub(crate) fn project_file(&self) -> Option<&Path> {
        self.rules.project().path.as_deref()
    }

    /// The settings of the project.
    pub(crate) fn config(&self) -> &Config {
        self.rules.config()
    }

    /// The folder of the project: that of its settings, or that of the program.
    pub(crate) fn root(&self) -> PathBuf {
        let folder = self.rules.folder().or_else(|| self.path.parent());
        folder.map(Path::to_owned).unwrap_or_default()
    }

    /// How programs run.
    pub(crate) fn run(&self) -> RunConfig {
        let RunConfig { max_parallel, command, environment, harness, .. } = &self.rules.config().run;
        let client = &self.client;
        RunConfig {
            harness: client.harness.unwrap_or(*harness),
            max_parallel: client.max_parallel.or(*max_parallel),
            command: client.command.as_ref().unwrap_or(command).clone(),
            environment: client.environment.as_ref().unwrap_or(environment).clone(),
            ..self.rules.config().run.clone()
        }
    }

    /// A run of a program of the project.
    pub(crate) fn run_request(&self, program: Arc<Program>, project: Project, start: Start) -> RunRequest {
        let subject = self.subject(&project.root);
        let request = RunRequest::new(program, project, start, self.rules.config(), self.user_trust());
        RunRequest { config: self.run(), subject, ..request }
    }

    /// What a person has to trust before a program of the project at `root` starts an agent. That the client chooses one is the person's own word, as it is on
    /// a command line; a command and variables may come from settings that lie in the workspace.
    pub(crate) fn subject(&self, root: &Path) -> TrustSubject {
        let config = self.rules.config();
        let run = RunConfig { harness: config.run.harness, ..self.run() };
        TrustSubject::new(root, &Config { run, ..config.clone() })
    }

    /// Whether the user trusts the project, in the editor or elsewhere.
    pub(crate) fn user_trust(&self) -> UserTrust {
        UserTrust { is_trusted: self.client.trusted == Some(true), ..UserTrust::of_user() }
    }

    /// The backends of agents.
    pub(crate) fn routes(&self) -> Routes {
        Routes::of(self.rules.config())
    }

    /// The limits and the prices of runs.
    pub(crate) fn money(&self) -> Money {
        Money::of(self.rules.config())
    }

    /// The program, or why it is not run.
    pub(crate) fn runnable(&self, db: &Database, file: SourceFile) -> Result<Arc<Program>, Refusal> {
        runnable(db, file, &self.rules, &self.path)
    }

    /// Remarks about what a program is run with that are no diagnostics of a file.
    pub(crate) fn remarks(&self, db: &Database, file: SourceFile) -> Vec<String> {
        let mut remarks = runnable::remarks(db, file, &self.rules);
        if self.client.trusted != Some(true) {
            remarks.extend(ignored_for(&self.path));
        }
        remarks
    }

    /// The errors that keep a program from being run, the first one first.
    pub(crate) fn errors(&self, db: &Database, file: SourceFile) -> Vec<Diagnosed> {
        runnable::errors(db, file, &self.rules, &self.path)
    }

    /// Why the settings keep every program from being run, if they do.
    pub(crate) fn check_settings(&self) -> Result<(), Refusal> {
        runnable::check_settings(&self.rules)
    }

    /// The first error in the settings that keeps programs from being run: the file, its text and the place in it.
    pub(crate) fn run_error(&self) -> Option<(&Path, Rope, TextRange)> {
        let project = self.rules.project();
        let error = project.run_error.as_ref()?;
        Some((project.path.as_deref()?, Rope::from_str(&project.text), error.range))
    }

    /// The settings of the client.
    pub(crate) fn client(&self) -> &ClientSettings {
        &self.client
    }

    /// Which hints of the analysis the client shows.
    pub(crate) fn hints(&self) -> HintOptions {
        self.client.hints
    }

    /// What changes what the program means.
    pub(crate) fn meaning(&self) -> host::Project {
        let mut meaning = self.rules.meaning();
        meaning.registry.vendor = self.rules.vendor().map(Into::into);
        meaning.registry.lock = self.lock.clone();
        meaning
    }
}

/// The problems of a `prose.toml`.
pub(crate) struct Problems {
    /// The text that they are found in.
    pub(crate) text: Rope,
    pub(crate) found: Vec<Diagnosed>,
}

/// The settings of a session.
#[derive(Debug, Default)]
pub(crate) struct Settings {
    files: prose_project::Settings,
    /// The lock files that were looked for, by where they would be.
    locks: HashMap<PathBuf, Option<LockFile>>,
    /// The folders of the lock files of programs without settings, by the folders of the programs.
    lock_folders: HashMap<PathBuf, PathBuf>,
    client: Arc<ClientSettings>,
}

impl Settings {
    /// Whether programs are checked that are not open.
    pub(crate) fn checks_workspace(&self) -> bool {
        self.client.checks_workspace
    }

    /// The settings that a program is under.
    pub(crate) fn of(&mut self, path: &Path) -> Arc<FileConfig> {
        let rules = self.files.of(path);
        for Failure { path, reason } in self.files.take_failures() {
            tracing::warn!("{} has no effect: it {reason}", path.display());
        }
        for remark in self.files.take_ignored() {
            tracing::warn!("{remark}");
        }
        let client = Arc::clone(&self.client);
        let lock = self.lock_path(&rules, path).and_then(|lock| {
            let read = |path: &PathBuf| read_lock(path);
            self.locks.entry(lock).or_insert_with_key(read).clone()
        });
        let path = path.to_owned();
        Arc::new(FileConfig { path, rules, lock, client })
    }

    /// Where the lock file of a program is, or would be: next to the settings, or the nearest one of a program without any.
    fn lock_path(&mut self, rules: &Rules, program: &Path) -> Option<PathBuf> {
        let folder = rules.folder().or_else(|| program.parent()).filter(|folder| folder.is_absolute())?;
        if rules.folder().is_some() {
            return Some(folder.join(LOCK_FILE));
        }
        let found =
            self.lock_folders.entry(folder.to_owned()).or_insert_with_key(|folder| lock_folder(folder));
        Some(found.join(LOCK_FILE))
    }

    /// Looks at the lock files again. Gives whether one is another than it was.
    pub(crate) fn read_locks(&mut self) -> bool {
        let mut changes = false;
        for (path, lock) in &mut self.locks {
            let read = read_lock(path);
            changes |= *lock != read;
            *lock = read;
        }
        changes
    }

    /// What is wrong with the settings that a program is under, and where they are; none if there are none.
    pub(crate) fn problems_of_project(&mut self, program: &Path) -> Option<Problems> {
        let rules = self.files.of(program);
        rules.folder()?;
        Some(Problems { text: Rope::from_str(&rules.project().text), found: rules.problems() })
    }

    /// The problems of an open settings file.
    pub(crate) fn problems_of_text(&self, path: &Path, text: &Rope) -> Problems {
        Problems { text: text.clone(), found: self.files.diagnose(path, &text.to_string()) }
    }

    /// Reads every `prose.toml` again when it is asked for.
    pub(crate) fn forget_files(&mut self) {
        self.files.forget_files();
        self.locks.clear();
        self.lock_folders.clear();
    }

    /// Takes over what the client is set to: `{ "check": { "profile": "strict", "levels": { "W105": "off" } } }`. Gives whether that changes
    /// anything. What is not understood is logged and has no effect.
    pub(crate) fn set_overrides(&mut self, settings: &Value) -> bool {
        let client = ClientSettings::read(settings);
        let changes = self.files.set_overrides(overrides(settings)) || *self.client != client;
        if self.client.trusted != client.trusted {
            self.files.trust(client.trusted == Some(true));
        }
        self.client = Arc::new(client);
        changes
    }
}

/// The lock file at a path. One that cannot be read is there all the same, and has every import refused.
fn read_lock(path: &Path) -> Option<LockFile> {
    let is_file = path.metadata().ok()?.is_file();
    let mut hasher = DefaultHasher::new();
    is_file.then(|| std::fs::read(path).ok()).hash(&mut hasher);
    Some(LockFile { path: path.into(), version: hasher.finish() })
}

/// Clients send their settings with or without the name of the section around them.
fn section(settings: &Value) -> &Value {
    settings.get("prose").unwrap_or(settings)
}

/// A setting of the client; none if it is not set, or not understood, which is logged.
fn setting<T>(settings: &Value, path: &str, expected: &str, read: impl Fn(&Value) -> Option<T>) -> Option<T> {
    let value = settings.pointer(path).filter(|value| !value.is_null())?;
    let known = read(value);
    if known.is_none() {
        let name = path.trim_start_matches('/').replace('/', ".");
        tracing::warn!("`{name}` is {value}, but must be {expected}");
    }
    known
}

fn overrides(settings: &Value) -> Overrides {
    let settings = section(settings);
    let profile = setting(settings, "/check/profile", "\"default\" or \"strict\"", |profile| {
        Profile::ALL.iter().copied().find(|known| profile == known.as_str())
    });
    let mut overrides = Overrides { profile, ..Overrides::default() };
    let levels = setting(settings, "/check/levels", "an object with a level for each code", |levels| {
        levels.as_object().cloned()
    });
    for (code, level) in levels.iter().flatten() {
        let known = Level::ALL.iter().copied().find(|known| level.as_str() == Some(known.as_str()));
        match (code.parse::<Code>(), known) {
            (Ok(code), Some(level)) => overrides.levels.push((code, level)),
            (Err(unknown), _) => tracing::warn!("in `check.levels`, {unknown}"),
            (_, None) => tracing::warn!(
                "the level of {code} is {level}, but must be \"error\", \"warning\", \"info\", \"hint\" or \"off\""
            ),
        }
    }
    overrides
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn clients_set_profile_and_levels_with_or_without_the_section() {
        let expected = Overrides { profile: Some(Profile::Strict), levels: vec![(Code::W105, Level::Off)] };
        let check = json!({ "check": { "profile": "strict", "levels": { "w105": "off" } } });
        assert_eq!(overrides(&check), expected);
        assert_eq!(overrides(&json!({ "prose": check })), expected);
    }

    #[test]
    fn clients_set_how_programs_run() {
        let run = json!({
            "run": {
                "harness": "claude",
                "maxParallel": 2,
                "command": ["my-agent", "--quiet"],
                "environment": [],
                "inlayHints": false,
                "allowOutside": true,
            },
            "trusted": false,
        });
        let words = |words: &[&str]| words.iter().map(|word| Word::new(word)).collect();
        let expected = ClientSettings {
            trusted: Some(false),
            fetch: Some(FetchMode::Off),
            harness: Some(HarnessName::Claude),
            max_parallel: NonZeroU32::new(2),
            command: words(&["my-agent", "--quiet"]),
            environment: words(&[]),
            inlay_hints: false,
            allows_outside: true,
            ..ClientSettings::default()
        };
        assert_eq!(ClientSettings::read(&run), expected);
        assert_eq!(ClientSettings::read(&json!({ "prose": run })), expected);
        // Editors send this for a setting that is not set.
        for odd in [
            json!(null),
            json!({ "run": { "harness": "" } }),
            json!({ "run": { "harness": "x", "inlayHints": 3, "allowOutside": "x" } }),
            json!({ "run": { "maxParallel": 0, "command": "my-agent", "environment": [""] } }),
        ] {
            assert_eq!(ClientSettings::read(&odd), ClientSettings::default(), "{odd}");
        }
    }

    #[test]
    fn settings_of_clients_for_runs_precede_those_of_projects() {
        let mut settings = Settings::default();
        let run = |settings: &mut Settings| settings.of(Path::new("/nowhere/a.prose")).run();
        assert_eq!(run(&mut settings), RunConfig::default());
        settings.set_overrides(
            &json!({ "run": { "maxParallel": 2, "command": ["my-agent"], "environment": ["KEY"] } }),
        );
        let RunConfig { max_parallel, command, environment, .. } = run(&mut settings);
        assert_eq!(max_parallel.map(NonZeroU32::get), Some(2));
        assert_eq!([command[0].as_str(), environment[0].as_str()], ["my-agent", "KEY"]);
    }

    #[test]
    fn clients_switch_hints_off_one_by_one() {
        let hints = |settings: Value| ClientSettings::read(&settings).hints;
        let off = |kind: &str| hints(json!({ "prose": { "inlayHints": { kind: false } } }));
        assert_eq!(off("models"), HintOptions { models: false, ..HintOptions::ALL });
        assert_eq!(off("parameters"), HintOptions { parameters: false, ..HintOptions::ALL });
        assert_eq!(off("contracts"), HintOptions { contracts: false, ..HintOptions::ALL });
        assert_eq!(off("iterations"), HintOptions { iterations: false, ..HintOptions::ALL });
        assert_eq!(off("else"), HintOptions::ALL);
        assert_eq!(hints(json!({ "inlayHints": { "models": "no" } })), HintOptions::ALL);
    }

    #[test]
    fn settings_of_clients_for_markdown_precede_those_of_projects() {
        let mut settings = Settings::default();
        let mut serves = |markdown| {
            settings.set_overrides(&json!({ "prose": { "markdown": { "enabled": markdown } } }));
            settings.of(Path::new("/nowhere/README.md")).serves_markdown()
        };
        assert_eq!([serves(json!(false)), serves(json!(true)), serves(json!(null))], [false, true, true]);
        assert!(serves(json!("no")));
    }

    #[test]
    fn odd_settings_have_no_effect() {
        for odd in [
            json!(null),
            json!([]),
            json!({ "check": 3 }),
            json!({ "check": { "profile": "lax", "levels": { "E999": "off", "W105": 7 } } }),
        ] {
            assert_eq!(overrides(&odd), Overrides::default(), "{odd}");
        }
    }
}

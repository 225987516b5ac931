//! Decides what agents may do, in one place for all harnesses.
//!
//! [`decide`] compares a tool call with the permissions of a session; [`permit`] also asks the user and reports denials. Whatever is not understood
//! is asked: a command is allowed only if all that it runs, reads and writes is.

mod commands;
mod mcp;
mod network;
mod paths;
mod shell;

use std::path::{Path, PathBuf};

pub use self::mcp::McpTool;
pub use prose_rights::{About, Enforcement};
use prose_vm::activity::{Activity, Denial, PermissionQuestion, Reporter, ToolKind};
use prose_vm::effect::{Failure, MemoryScope, Permission, PermissionRule, SessionTask};
use prose_vm::error::ErrorKind;
use prose_vm::harness::RunFolders;

use commands::Effects;
use shell::{Item, SimpleCommand, Word};

/// A tool call of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolRequest {
    /// The kind of tool.
    pub kind: ToolKind,
    /// The name of the tool and what it is called with, in one line.
    pub title: String,
    /// The files and folders that it concerns, absolute or relative to the project.
    pub paths: Vec<String>,
    /// The shell command.
    pub command: Option<String>,
    /// The address on the network.
    pub url: Option<String>,
    /// The tool of an MCP server.
    pub mcp: Option<McpTool>,
}

impl ToolRequest {
    /// A call without files, command and address.
    pub fn new(kind: ToolKind, title: impl Into<String>) -> Self {
        Self { kind, title: title.into(), paths: Vec::new(), command: None, url: None, mcp: None }
    }

    /// A shell command.
    pub fn command(command: impl Into<String>) -> Self {
        let command = command.into();
        Self { command: Some(command.clone()), ..Self::new(ToolKind::Execute, command) }
    }

    /// The use of a file.
    pub fn file(kind: ToolKind, path: impl Into<String>) -> Self {
        let path = path.into();
        let verb = match kind {
            ToolKind::Read => "read",
            ToolKind::Delete => "delete",
            ToolKind::Move => "move",
            ToolKind::Search => "search",
            _ => "write",
        };
        Self { title: format!("{verb} {path}"), paths: vec![path], ..Self::new(kind, "") }
    }

    /// A tool of an MCP server.
    pub fn mcp(tool: McpTool) -> Self {
        Self { mcp: Some(tool.clone()), ..Self::new(ToolKind::Other, tool.name()) }
    }

    /// A request to an address.
    pub fn fetch(url: impl Into<String>) -> Self {
        let url = url.into();
        Self { title: format!("fetch {url}"), url: Some(url), ..Self::new(ToolKind::Fetch, "") }
    }
}

/// The folders and files of a session.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Folders {
    /// The folder in which the agent works. Patterns are relative to it.
    pub root: PathBuf,
    /// The files that the session passes to the agent, which it may always read.
    pub passed: Vec<PathBuf>,
    /// The files that the session has the agent write: it may, unless nothing may be written.
    pub results: Vec<PathBuf>,
}

impl Folders {
    /// The folders of a session.
    pub fn of(task: &SessionTask, run: &RunFolders) -> Self {
        let binding = run.file(&task.binding.path).filter(|_| task.writes_result);
        let mut results: Vec<PathBuf> = binding.into_iter().collect();
        if let Some(memory) = &task.memory {
            let place = &memory.place;
            let folder = match place.scope {
                MemoryScope::Execution => run.file(&place.folder),
                MemoryScope::Project | MemoryScope::Custom => Some(run.root.join(&*place.folder)),
                MemoryScope::User => std::env::home_dir().map(|home| home.join(&*place.folder)),
            };
            results.extend(folder.map(|folder| folder.join("memory.md")));
        }
        let context = task.context.iter().filter_map(|item| item.path.as_deref());
        let passed = context.map(|path| run.root.join(path));
        let passed = passed.chain(task.skill_files().map(|file| run.root.join(file))).collect();
        Self { root: run.of_session(task), passed, results }
    }
}

/// What is decided about a tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// It is allowed.
    Allow,
    /// It is denied.
    Deny {
        /// The rule and why it denies the call.
        reason: String,
    },
    /// The user decides.
    Ask {
        /// The rule that asks, such as `bash: prompt`, or what is not understood.
        rule: String,
        /// Whether the program or the project has written the rule. Without a user such a rule stops the run; otherwise the call is denied.
        is_written: bool,
    },
}

impl Decision {
    fn deny(reason: impl Into<String>) -> Self {
        Decision::Deny { reason: reason.into() }
    }

    fn doubt(rule: impl Into<String>) -> Self {
        Decision::Ask { rule: rule.into(), is_written: false }
    }

    /// The stricter one of two decisions.
    fn and(self, other: Self) -> Self {
        let strictness = |decision: &Self| match decision {
            Decision::Allow => 0,
            Decision::Ask { is_written: false, .. } => 1,
            Decision::Ask { is_written: true, .. } => 2,
            Decision::Deny { .. } => 3,
        };
        if strictness(&other) > strictness(&self) { other } else { self }
    }
}

/// Decides whether an agent with these permissions may use a tool.
pub fn decide(permissions: &[Permission], tool: &ToolRequest, folders: &Folders) -> Decision {
    Judge { permissions, folders }.tool(tool)
}

/// Decides whether an agent may use a tool: asks the user where that is needed, and reports the denial.
///
/// # Errors
///
/// Fails if a written rule asks and no one is there to answer, which stops the run.
pub async fn permit(
    reporter: &Reporter,
    agent: Option<&str>,
    permissions: &[Permission],
    tool: &ToolRequest,
    folders: &Folders,
) -> Result<bool, Failure> {
    let title = one_line(&tool.title);
    let denied = |reason: String| {
        reporter.report(Activity::Denied(Denial { title: title.clone(), reason }));
        Ok(false)
    };
    match decide(permissions, tool, folders) {
        Decision::Allow => Ok(true),
        Decision::Deny { reason } => denied(reason),
        Decision::Ask { rule, is_written } => {
            let question = PermissionQuestion {
                id: question_id(),
                agent: agent.map(Into::into),
                title: title.clone(),
                rule: rule.clone(),
                is_deniable: !is_written,
            };
            match reporter.ask(question).await {
                Some(true) => Ok(true),
                Some(false) => denied(format!("the user denied it ({rule})")),
                None if is_written => {
                    let who = agent.map_or("a session".to_owned(), |agent| format!("agent `{agent}`"));
                    let message = format!(
                        "{who} asks for permission to use `{title}` (`{rule}`), but no one is there to answer; resume the run at a terminal or in an \
                         editor, or replace `prompt` by `allow`, `deny` or patterns"
                    );
                    Err(Failure::new(ErrorKind::ApprovalNeeded, message))
                }
                None => denied(format!("{rule}, and no one is there to answer")),
            }
        }
    }
}

/// A number for a question, unique in this process.
fn question_id() -> smol_str::SmolStr {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(1);
    smol_str::format_smolstr!("permission-{}", NEXT.fetch_add(1, Ordering::Relaxed))
}

/// A text for a terminal: in one line, without control characters and not too long.
fn one_line(text: &str) -> String {
    const MAX_CHARS: usize = 2_000;
    let mut line = String::new();
    for (index, c) in text.trim().chars().enumerate() {
        if index == MAX_CHARS {
            let left = text.trim().chars().count() - MAX_CHARS;
            line.push_str(&format!("… ({left} more characters)"));
            break;
        }
        match c {
            '\n' => line.push_str("\\n"),
            c if c.is_control() || is_invisible(c) => line.extend(c.escape_unicode()),
            c => line.push(c),
        }
    }
    line
}

/// Characters that hide or reorder others.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// The maximum nesting of `sh -c`.
const MAX_SHELLS: usize = 4;

struct Judge<'a> {
    permissions: &'a [Permission],
    folders: &'a Folders,
}

impl Judge<'_> {
    fn rules(&self, about: About) -> impl Iterator<Item = &Permission> {
        self.permissions.iter().filter(move |rule| About::of(&rule.about) == Some(about))
    }

    /// Whether a rule allows less than everything.
    fn restricts(&self, about: About) -> Option<&Permission> {
        self.rules(about).find(|rule| rule.rule != PermissionRule::Allow)
    }

    fn tool(&self, tool: &ToolRequest) -> Decision {
        if let Some(tool) = &tool.mcp {
            return self.mcp_tool(tool);
        }
        let about = match tool.kind {
            ToolKind::Think => return Decision::Allow,
            ToolKind::Read | ToolKind::Search => About::Read,
            ToolKind::Edit | ToolKind::Delete | ToolKind::Move => About::Write,
            ToolKind::Execute => return self.command(tool.command.as_deref(), tool.paths.as_slice()),
            ToolKind::Fetch => return self.fetch(tool.url.as_deref()),
            ToolKind::Other => {
                return Decision::doubt(format!("the tool `{}` is not known", one_line(&tool.title)));
            }
        };
        if let Some(rule) = self.rules(about).find(|rule| rule.rule.denies_all()) {
            let is_passed = |path: &String| about == About::Read && self.is_passed(Path::new(path));
            if tool.paths.is_empty() || !tool.paths.iter().all(is_passed) {
                return Decision::deny(denies(rule));
            }
        }
        if tool.paths.is_empty() {
            // A search without a place looks everywhere in the project.
            return match tool.kind {
                ToolKind::Search => self.file(About::Read, Path::new("."), ".", true),
                _ => Decision::doubt("the tool names no file"),
            };
        }
        let is_search = tool.kind == ToolKind::Search;
        tool.paths
            .iter()
            .map(|path| self.file(about, Path::new(path), path, is_search))
            .fold(Decision::Allow, Decision::and)
    }

    /// Whether the session passes a file to the agent.
    fn is_passed(&self, path: &Path) -> bool {
        let Folders { root, passed, results } = self.folders;
        paths::resolve(root, path).is_ok_and(|resolved| {
            passed.iter().chain(results).any(|own| paths::resolve(root, own).is_ok_and(|own| own == resolved))
        })
    }

    /// The use of a file, in the folder of the project unless the path is absolute.
    fn file(&self, about: About, path: &Path, written: &str, is_search: bool) -> Decision {
        let Folders { root, results, .. } = self.folders;
        let writes = about == About::Write;
        let resolved = match paths::resolve(root, path) {
            Ok(resolved) => resolved,
            Err(error) => {
                return Decision::doubt(format!("`{}` cannot be resolved: {error}", one_line(written)));
            }
        };
        let is_own = if writes {
            results.iter().any(|own| paths::resolve(root, own).is_ok_and(|own| own == resolved))
        } else {
            self.is_passed(path)
        };
        if is_own && !(writes && self.rules(about).any(|rule| rule.rule.denies_all())) {
            return Decision::Allow;
        }
        let name = paths::shown(root, &resolved);
        let place =
            if name == written { format!("`{name}`") } else { format!("`{name}` (`{}`)", one_line(written)) };
        let mut decision = Decision::Allow;
        let mut is_ruled = false;
        for rule in self.rules(about) {
            decision = decision.and(match &rule.rule {
                PermissionRule::Deny => Decision::deny(denies(rule)),
                PermissionRule::Prompt => {
                    is_ruled = true;
                    Decision::Ask { rule: rule.rule.shown(&rule.about), is_written: true }
                }
                PermissionRule::Patterns(patterns) => {
                    is_ruled = true;
                    let is_folder = is_search && resolved.is_dir();
                    if is_folder && paths::covers_folder(patterns, root, &resolved)
                        || !is_folder && paths::covers(patterns, root, &resolved)
                    {
                        Decision::Allow
                    } else {
                        Decision::deny(format!("`{}` does not cover {place}", rule.rule.shown(&rule.about)))
                    }
                }
                PermissionRule::Allow => Decision::Allow,
            });
        }
        let relative = paths::relative(root, &resolved);
        if !is_ruled && relative.is_none() {
            decision = decision.and(Decision::doubt(format!("{place} is outside of the project")));
        }
        // Where the project itself lies says nothing about a file in it.
        let inside = relative.as_deref().unwrap_or(&resolved).to_string_lossy().into_owned();
        if paths::needs_approval(&inside, writes)
            || paths::needs_approval(written_part(root, path, written), writes)
        {
            decision = decision.and(Decision::doubt(format!("{place} is a protected file")));
        }
        decision
    }

    fn fetch(&self, url: Option<&str>) -> Decision {
        let mut rules = self.rules(About::Network).peekable();
        if rules.peek().is_none() {
            return Decision::doubt("no rule for `network`");
        }
        rules
            .map(|rule| match &rule.rule {
                PermissionRule::Allow => Decision::Allow,
                PermissionRule::Deny => Decision::deny(denies(rule)),
                PermissionRule::Prompt => {
                    Decision::Ask { rule: rule.rule.shown(&rule.about), is_written: true }
                }
                PermissionRule::Patterns(patterns) => {
                    let named = rule.rule.shown(&rule.about);
                    match url {
                        None if patterns.iter().any(|pattern| pattern == "*") => Decision::Allow,
                        None => Decision::deny(format!("`{named}` names addresses, and the tool names none")),
                        Some(url) => match network::covers(patterns, url) {
                            Some(true) => Decision::Allow,
                            Some(false) => {
                                Decision::deny(format!("`{named}` does not cover `{}`", one_line(url)))
                            }
                            None => Decision::deny(format!(
                                "`{}` is not an address that `{named}` can cover",
                                one_line(url)
                            )),
                        },
                    }
                }
            })
            .fold(Decision::Allow, Decision::and)
    }

    fn command(&self, command: Option<&str>, places: &[String]) -> Decision {
        let mut rules = self.rules(About::Execute).peekable();
        if rules.peek().is_none() {
            return Decision::deny(
                "no rule allows shell commands; write `bash: allow`, or patterns such as `execute: [\"git log*\"]`, below `permissions:` of the agent \
                 or in `[run.permissions]` in `prose.toml`",
            );
        }
        if let Some(rule) = rules.find(|rule| rule.rule.denies_all()) {
            return Decision::deny(denies(rule));
        }
        let Some(command) = command else { return Decision::doubt("the tool shows no command") };
        let asked = self.rules(About::Execute).find(|rule| rule.rule == PermissionRule::Prompt);
        let asked = asked.map_or(Decision::Allow, |rule| Decision::Ask {
            rule: rule.rule.shown(&rule.about),
            is_written: true,
        });
        let place = places.iter().map(|place| self.file(About::Read, Path::new(place), place, true));
        let decision = place.fold(asked, Decision::and);
        decision.and(self.script(command, &mut self.folders.root.clone(), 0))
    }

    /// A word of a command without the folder of the project: where that lies, such as in `.prose`, says nothing about a file in it.
    fn inside<'w>(&self, word: &'w str) -> &'w str {
        written_part(&self.folders.root, Path::new(word), word)
    }

    /// Whether only certain commands may run.
    fn has_patterns(&self) -> bool {
        self.rules(About::Execute).any(|rule| matches!(rule.rule, PermissionRule::Patterns(_)))
    }

    /// A rule that a command could break without anybody seeing it.
    fn breakable(&self) -> Option<&Permission> {
        [About::Read, About::Write, About::Network].into_iter().find_map(|about| self.restricts(about))
    }

    fn script(&self, text: &str, folder: &mut PathBuf, depth: usize) -> Decision {
        if depth > MAX_SHELLS {
            return Decision::doubt("shells are nested too deeply");
        }
        let script = shell::parse(text);
        let mut decision = Decision::Allow;
        if let Some(doubt) = script.doubts.first() {
            decision = self.unknown(text, doubt);
        } else if script.is_opaque() && !self.has_patterns() && self.breakable().is_none() {
            decision = self.unknown(text, "a program that runs its input");
        }
        let start = folder.clone();
        let mut outer = Vec::new();
        for item in &script.items {
            match item {
                Item::Enter => outer.push(folder.clone()),
                Item::Leave => *folder = outer.pop().unwrap_or_else(|| start.clone()),
                Item::Command(command) => decision = decision.and(self.simple(command, folder, depth)),
            }
        }
        // Later commands of the agent may start where this one ends.
        let restricts = |about| self.restricts(about).is_some_and(|rule| rule.rule != PermissionRule::Prompt);
        if *folder != start && (restricts(About::Read) || restricts(About::Write)) {
            decision = decision.and(Decision::doubt("`cd` outside of parentheses; write `(cd FOLDER && …)`"));
        }
        decision
    }

    /// A command, or a part of one, whose effects are not known.
    fn unknown(&self, text: &str, what: &str) -> Decision {
        if self.has_patterns() {
            return Decision::doubt(format!("{what} cannot be compared with patterns"));
        }
        if let Some(rule) = self.breakable() {
            return Decision::doubt(format!("{what} might break `{}`", rule.rule.shown(&rule.about)));
        }
        // The text of a script may name protected files anywhere.
        let is_part = |c: char| c.is_alphanumeric() || "._-/\\~".contains(c);
        let mut words = text.split(|c| !is_part(c)).filter(|word| !word.is_empty());
        match words.find(|word| paths::needs_approval(self.inside(word), true)) {
            Some(word) => Decision::doubt(format!("a command names `{word}`, which is a protected file")),
            None => Decision::Allow,
        }
    }

    fn simple(&self, command: &SimpleCommand, folder: &mut PathBuf, depth: usize) -> Decision {
        let mut decision = Decision::Allow;
        for redirect in &command.redirects {
            let about = if redirect.writes { About::Write } else { About::Read };
            decision = decision.and(self.word_file(about, &redirect.file, folder));
        }
        if command.words.is_empty() {
            return decision;
        }
        let words = commands::unwrapped(&command.words);
        let shown_command =
            one_line(&command.words.iter().map(|word| word.source.as_str()).collect::<Vec<_>>().join(" "));
        if command.assigns && (self.has_patterns() || self.breakable().is_some()) {
            decision = decision.and(Decision::doubt(format!("variables are set for `{shown_command}`")));
        }
        let effects = commands::effects(words);
        match &effects {
            Effects::Nothing => return decision,
            Effects::Script(script) => {
                return decision.and(self.script(script, &mut folder.clone(), depth + 1));
            }
            Effects::ChangesFolder(target) => {
                return decision.and(self.change_folder(*target, command, folder));
            }
            _ => {}
        }
        for rule in self.rules(About::Execute) {
            if let PermissionRule::Patterns(patterns) = &rule.rule {
                decision = decision.and(self.covered(rule, patterns, words, folder, &shown_command));
            }
        }
        match effects {
            Effects::Files { reads, writes } => {
                for (about, files) in [(About::Read, reads), (About::Write, writes)] {
                    for file in files {
                        decision = decision.and(self.word_file(about, file, folder));
                    }
                }
            }
            Effects::Network | Effects::Unknown => {
                if effects == Effects::Network
                    && let Some(rule) = self.rules(About::Network).find(|rule| rule.rule.denies_all())
                {
                    return decision.and(Decision::deny(denies(rule)));
                }
                if !self.has_patterns()
                    && let Some(rule) = self.breakable()
                {
                    let rule = rule.rule.shown(&rule.about);
                    decision =
                        decision.and(Decision::doubt(format!("`{shown_command}` might break `{rule}`")));
                }
                let named = words
                    .iter()
                    .skip(1)
                    .flat_map(|word| word.text.split(['=', ':', ',', '@', ' ', '\'', '"', '(', ')']));
                if let Some(named) =
                    named.into_iter().find(|word| paths::needs_approval(self.inside(word), false))
                {
                    let named = one_line(named);
                    decision = decision.and(Decision::doubt(format!(
                        "a command names `{named}`, which is a protected file"
                    )));
                }
                // `git log *` may turn a name such as `--output=f` into an option; other words may stand for protected files.
                for word in words.iter().filter(|word| word.has_glob && !word.is_expanded) {
                    decision = decision.and(self.expanded_names(word, folder));
                }
            }
            Effects::Nothing | Effects::Script(_) | Effects::ChangesFolder(_) => {}
        }
        decision
    }

    /// Whether patterns cover a command.
    fn covered(
        &self,
        rule: &Permission,
        patterns: &[String],
        words: &[Word],
        folder: &Path,
        shown_command: &str,
    ) -> Decision {
        let root = &self.folders.root;
        let program_paths: Vec<String> = commands::program(words)
            .filter(|program| program.contains('/'))
            .and_then(|program| paths::resolve(folder, Path::new(program)).ok())
            .map(|path| paths::shown(root, &path))
            .into_iter()
            .collect();
        let is_covered = |pattern: &str| commands::covers(pattern, words, &program_paths);
        let covering = patterns.iter().find(|pattern| !pattern.starts_with('!') && is_covered(pattern));
        let is_excluded = patterns.iter().filter_map(|pattern| pattern.strip_prefix('!')).any(is_covered);
        let Some(pattern) = covering.filter(|_| !is_excluded) else {
            return Decision::deny(format!(
                "`{}` does not cover `{shown_command}`",
                rule.rule.shown(&rule.about)
            ));
        };
        let named: Vec<&str> = pattern.split_whitespace().collect();
        if let Some(option) = commands::risky_option(words, &named) {
            return Decision::doubt(format!(
                "`{}` of `{shown_command}` can write files or run programs",
                one_line(option)
            ));
        }
        if commands::is_launcher(words) {
            return Decision::doubt(format!("`{shown_command}` runs what it reads or computes"));
        }
        if words.iter().any(|word| word.is_expanded) {
            return Decision::doubt(format!("a value in `{shown_command}` is known only when it runs"));
        }
        Decision::Allow
    }

    fn change_folder(
        &self,
        target: Option<&Word>,
        command: &SimpleCommand,
        folder: &mut PathBuf,
    ) -> Decision {
        let target =
            target.and_then(Word::literal).filter(|target| !command.is_piped && !target.starts_with('-'));
        let resolved = target.and_then(|target| paths::resolve(folder, Path::new(target)).ok());
        match resolved {
            Some(resolved) if paths::relative(&self.folders.root, &resolved).is_some() => {
                *folder = resolved;
                Decision::Allow
            }
            Some(resolved) if !self.has_patterns() && self.breakable().is_none() => {
                *folder = resolved;
                Decision::Allow
            }
            _ if !self.has_patterns() && self.breakable().is_none() => Decision::Allow,
            _ => Decision::doubt("`cd` to a folder that is not known to be in the project"),
        }
    }

    /// A file that a word of a command names.
    fn word_file(&self, about: About, word: &Word, folder: &Path) -> Decision {
        const DEVICES: &[&str] = &["/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty", "-"];
        let text = word.text.as_str();
        if DEVICES.contains(&text) && word.literal().is_some() {
            return Decision::Allow;
        }
        let is_free = !self.has_patterns() && self.restricts(about).is_none();
        if word.is_expanded {
            return match is_free {
                true => Decision::Allow,
                false => Decision::doubt(format!(
                    "the file `{}` is known only when the command runs",
                    one_line(text)
                )),
            };
        }
        if word.has_glob {
            let Some(files) = paths::expand(folder, text) else {
                return Decision::doubt(format!("`{}` matches too many files", one_line(text)));
            };
            let files =
                files.iter().map(|file| self.command_file(about, file, &file.to_string_lossy(), is_free));
            return files.fold(Decision::Allow, Decision::and);
        }
        let home = word.starts_at_home.then(std::env::home_dir).flatten();
        let path = match home {
            Some(home) => home.join(text.trim_start_matches('~').trim_start_matches('/')),
            None => folder.join(text),
        };
        self.command_file(about, &path, text, is_free)
    }

    /// A file that a command uses. A command without restrictions may use any file that is not protected, as it could anyway.
    fn command_file(&self, about: About, path: &Path, written: &str, is_free: bool) -> Decision {
        let is_search = about == About::Read && path.is_dir();
        match self.file(about, path, written, is_search) {
            Decision::Ask { rule, is_written: false }
                if is_free && rule.ends_with("is outside of the project") =>
            {
                Decision::Allow
            }
            decision => decision,
        }
    }

    /// The names that a word with `*` stands for.
    fn expanded_names(&self, word: &Word, folder: &Path) -> Decision {
        if self.has_patterns() && word.text.starts_with(['*', '?', '[']) {
            return Decision::doubt(format!("`{}` may expand to an option", one_line(&word.text)));
        }
        let files = paths::expand(folder, &word.text).unwrap_or_default();
        match files.iter().find(|file| {
            let inside = paths::relative(&self.folders.root, file);
            paths::needs_approval(&inside.as_deref().unwrap_or(file).to_string_lossy(), false)
        }) {
            Some(file) => Decision::doubt(format!(
                "`{}` matches `{}`, which is a protected file",
                one_line(&word.text),
                file.display()
            )),
            None => Decision::Allow,
        }
    }
}

/// The path as written, without the folder of the project.
fn written_part<'a>(root: &Path, path: &'a Path, written: &'a str) -> &'a str {
    path.strip_prefix(root).ok().and_then(Path::to_str).unwrap_or(written)
}

fn denies(rule: &Permission) -> String {
    format!("`{}`", rule.rule.shown(&rule.about))
}

//! Decides what agents may do, in one place for all harnesses.
//!
//! [`decide`] compares a tool call with the permissions of a session; [`permit`] also asks the user and reports denials. Whatever is not understood
//! is asked: a command is allowed only if all that it runs, reads and writes is.

mod commands;
mod execution;
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

/// The files that may be used without a rule about them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// Those in the project.
    Project,
    /// All that are not protected.
    Everything,
}

struct Judge<'a> {
    permissions: &'a [Permission],
    folders: &'a Folders,
}

impl Judge<'_> {
    fn rules(&self, about: About) -> impl Iterator<Item = &Permission> {
        self.permissions.iter().filter(move |rule| About::of(&rule.about) == Some(about))
    }

    /// The strictest decision of the rules about something. `covered` decides by the patterns of a rule, which it gets as written, too.
    fn by_rules(&self, about: About, covered: impl Fn(&str, &[String]) -> Decision) -> Decision {
        let decisions = self.rules(about).map(|rule| match &rule.rule {
            PermissionRule::Allow => Decision::Allow,
            PermissionRule::Deny => Decision::deny(denies(rule)),
            PermissionRule::Prompt => Decision::Ask { rule: rule.rule.shown(&rule.about), is_written: true },
            PermissionRule::Patterns(patterns) => covered(&rule.rule.shown(&rule.about), patterns),
        });
        decisions.fold(Decision::Allow, Decision::and)
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

    /// The use of a file by a tool, in the folder of the project unless the path is absolute.
    fn file(&self, about: About, path: &Path, written: &str, is_search: bool) -> Decision {
        self.file_within(about, path, written, is_search, Reach::Project)
    }

    /// The same for a tool or a command that reaches files outside of the project or does not.
    fn file_within(
        &self,
        about: About,
        path: &Path,
        written: &str,
        is_search: bool,
        reach: Reach,
    ) -> Decision {
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
        let mut decision = self.by_rules(about, |rule, patterns| {
            let is_folder = is_search && resolved.is_dir();
            let is_covered = match is_folder {
                true => paths::covers_folder(patterns, root, &resolved),
                false => paths::covers(patterns, root, &resolved),
            };
            match is_covered {
                true => Decision::Allow,
                false => Decision::deny(format!("`{rule}` does not cover {place}")),
            }
        });
        let is_ruled = self
            .rules(about)
            .any(|rule| matches!(rule.rule, PermissionRule::Prompt | PermissionRule::Patterns(_)));
        let relative = paths::relative(root, &resolved);
        if !is_ruled && reach == Reach::Project && relative.is_none() {
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
        if self.rules(About::Network).next().is_none() {
            return Decision::doubt("no rule for `network`");
        }
        self.by_rules(About::Network, |rule, patterns| match url {
            None if patterns.iter().any(|pattern| pattern == "*") => Decision::Allow,
            None => Decision::deny(format!("`{rule}` names addresses, and the tool names none")),
            Some(url) => match network::covers(patterns, url) {
                Some(true) => Decision::Allow,
                Some(false) => Decision::deny(format!("`{rule}` does not cover `{}`", one_line(url))),
                None => {
                    Decision::deny(format!("`{}` is not an address that `{rule}` can cover", one_line(url)))
                }
            },
        })
    }
}

/// The path as written, without the folder of the project.
fn written_part<'a>(root: &Path, path: &'a Path, written: &'a str) -> &'a str {
    path.strip_prefix(root).ok().and_then(Path::to_str).unwrap_or(written)
}

fn denies(rule: &Permission) -> String {
    format!("`{}`", rule.rule.shown(&rule.about))
}

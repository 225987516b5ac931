//! The logs of agents in the folder of a run: what each reported, for the person who looks for the reason of a result.
//!
//! The journal has what a resumed run needs. The logs have the rest, up to [`MAX_LOG`] bytes each, and nothing depends on them: one that cannot be
//! written is left out.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use prose_files::Folder;
use prose_vm::activity::Activity;
use prose_vm::effect::{RequestId, Usage};
use prose_vm::event::{Event, EventKind};
use smol_str::SmolStr;

/// The folder of the logs, in that of the run.
pub const LOGS_FOLDER: &str = "agents";

/// The maximum length of a log in bytes, without the line that says what was cut.
pub const MAX_LOG: u64 = 10 * 1024 * 1024;

/// The log of a session, relative to the folder of the run.
pub fn path(request: RequestId, name: &str) -> String {
    format!("{LOGS_FOLDER}/{}", file_name(request, name))
}

fn file_name(RequestId(request): RequestId, name: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    let name: String = name.chars().map(|c| if is_plain(c) { c } else { '_' }).take(60).collect();
    format!("{request}-{name}.log")
}

/// Writes the logs of the agents of a run.
#[derive(Debug)]
pub struct AgentLogs {
    run: PathBuf,
    limit: u64,
    /// The names of open requests: those of the results of sessions.
    names: HashMap<RequestId, SmolStr>,
    logs: HashMap<RequestId, Log>,
}

#[derive(Debug)]
struct Log {
    /// `None` after a failure.
    file: Option<File>,
    length: u64,
    cut: u64,
    /// Which kind of text the last entry was.
    text: Option<TextKind>,
    ends_line: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TextKind {
    Reply,
    Reasoning,
}

impl AgentLogs {
    /// The logs of the run in a folder.
    pub fn new(run: &Path) -> Self {
        Self::with_limit(run, MAX_LOG)
    }

    /// The same with another maximum length of a log.
    pub fn with_limit(run: &Path, limit: u64) -> Self {
        Self { run: run.to_owned(), limit, names: HashMap::new(), logs: HashMap::new() }
    }

    /// Takes up an event of the run.
    pub fn observe(&mut self, event: &Event) {
        match &event.kind {
            EventKind::SessionStarted { request, task } => {
                self.names.insert(*request, task.binding.name.clone());
            }
            EventKind::ConditionAsked { request: Some(request), .. } => {
                self.names.insert(*request, "condition".into());
            }
            EventKind::Activity { request, activity } => self.write(event.at, *request, activity),
            EventKind::Effect { request, .. } => {
                self.names.remove(request);
                self.close(*request);
            }
            EventKind::RunEnded(_) => {
                for request in self.logs.keys().copied().collect::<Vec<_>>() {
                    self.close(request);
                }
            }
            _ => {}
        }
    }

    fn write(&mut self, at: u64, request: RequestId, activity: &Activity) {
        let limit = self.limit;
        let log = match self.logs.entry(request) {
            std::collections::hash_map::Entry::Occupied(log) => log.into_mut(),
            std::collections::hash_map::Entry::Vacant(free) => {
                let name = self.names.get(&request).map_or("request", SmolStr::as_str);
                free.insert(Log::open(&self.run, &file_name(request, name)))
            }
        };
        let kind = match activity {
            Activity::Text { text } => Some((TextKind::Reply, text)),
            Activity::Reasoning { text } => Some((TextKind::Reasoning, text)),
            _ => None,
        };
        let mut entry = String::new();
        if let Some((kind, text)) = kind {
            if log.text != Some(kind) {
                log.start_line(&mut entry);
                let name = if kind == TextKind::Reply { "text" } else { "reasoning" };
                let _ = writeln!(entry, "[{}] {name}", time(at));
            }
            entry += text;
            log.text = Some(kind);
        } else {
            log.start_line(&mut entry);
            let _ = writeln!(entry, "[{}] {}", time(at), described(activity));
            log.text = None;
        }
        log.append(&entry, limit);
    }

    fn close(&mut self, request: RequestId) {
        if let Some(mut log) = self.logs.remove(&request) {
            log.close();
        }
    }
}

impl Log {
    fn open(run: &Path, name: &str) -> Self {
        let opened = Folder::open(run)
            .and_then(|run| run.make_folder(Path::new(LOGS_FOLDER)))
            .and_then(|folder| folder.appender_or_create(name));
        let file = opened.ok();
        // A resumed run continues the log of an interrupted session.
        let length = file.as_ref().and_then(|file| file.metadata().ok()).map_or(0, |metadata| metadata.len());
        Self { file, length, cut: 0, text: None, ends_line: true }
    }

    fn start_line(&self, entry: &mut String) {
        if !self.ends_line {
            entry.push('\n');
        }
    }

    fn append(&mut self, entry: &str, limit: u64) {
        if self.cut > 0 || self.length + entry.len() as u64 > limit {
            if self.cut == 0 {
                let mebibytes = limit as f64 / (1024.0 * 1024.0);
                self.put(&format!(
                    "\nThis log has reached its limit of {mebibytes} MiB; later reports are left out.\n"
                ));
            }
            self.cut += entry.len() as u64;
            return;
        }
        self.length += entry.len() as u64;
        self.put(entry);
    }

    fn put(&mut self, text: &str) {
        self.ends_line = text.is_empty() && self.ends_line || text.ends_with('\n');
        if let Some(file) = &mut self.file
            && file.write_all(text.as_bytes()).is_err()
        {
            self.file = None;
        }
    }

    fn close(&mut self) {
        if self.cut > 0 {
            self.put(&format!("Left out: {} bytes.\n", self.cut));
        } else if !self.ends_line {
            self.put("\n");
        }
    }
}

fn time(milliseconds: u64) -> String {
    humantime::format_rfc3339_millis(UNIX_EPOCH + Duration::from_millis(milliseconds)).to_string()
}

fn duration(milliseconds: u64) -> String {
    humantime::format_duration(Duration::from_millis(milliseconds)).to_string()
}

/// An activity in one line.
fn described(activity: &Activity) -> String {
    let line = match activity {
        Activity::Text { text } | Activity::Reasoning { text } => text.to_string(),
        Activity::Tool(tool) => {
            let word = |value: serde_json::Value| value.as_str().unwrap_or_default().to_owned();
            let (kind, status) = (word(serde_json::json!(tool.kind)), word(serde_json::json!(tool.status)));
            let unnamed = tool.paths.iter().filter(|path| !tool.title.contains(path.as_str()));
            let paths: String = unnamed.map(|path| format!(" {path}")).collect();
            format!("tool {} {kind} {status}: {}{paths}", tool.id, tool.title)
        }
        Activity::Asked(question) => format!("asks for permission ({}): {}", question.rule, question.title),
        Activity::Answered { id, answer } => {
            let word = if answer.is_allowed { "allowed" } else { "denied" };
            let by = answer.by.as_ref().map_or(String::new(), |by| format!(" by {by}"));
            format!("question {id} was answered: {word}{by} {}", answer.from.phrase())
        }
        Activity::Denied(denial) => format!("denied ({}): {}", denial.reason, denial.title),
        Activity::ProviderRetry(retry) => {
            let status = retry.status.map_or(String::new(), |status| format!(" with status {status}"));
            format!(
                "provider failed{status}, retry {} in {}: {}",
                retry.attempt,
                duration(retry.delay_ms),
                retry.message
            )
        }
        Activity::Used(Usage { input_tokens, output_tokens, cost, .. }) => {
            let cost = cost.map_or(String::new(), |cost| format!(", ${cost:.4}"));
            format!("used {input_tokens} input tokens, {output_tokens} output tokens{cost}")
        }
        Activity::Agent(agent) => {
            let model = agent.model.as_ref().map_or(String::new(), |model| format!(", model {model}"));
            let transcript = agent.transcript.as_ref();
            let transcript =
                transcript.map_or(String::new(), |path| format!(", transcript {}", path.display()));
            format!("session {}{model}{transcript}", agent.id)
        }
        Activity::Continued { id } => format!("continues session {id}"),
        Activity::Given(attribution) => format!("answered {}", attribution.from.phrase()),
        Activity::Note { text } => text.clone(),
        Activity::Stalled { silent_ms } => format!("no report for {}", duration(*silent_ms)),
    };
    line.replace(['\n', '\r'], " ")
}

//! What an agent does under each rule of permissions, also where a call tries to get around it.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::LazyLock;

use futures_util::StreamExt;
use prose_vm::activity::{Activity, ToolKind, ToolStatus};
use prose_vm::effect::{Permission, PermissionRule, SessionTask};
use prose_vm::error::ErrorKind;
use prose_vm::harness::Harness;
use serde_json::{Value, json};

use crate::agents::{AgentProject, Reports, calls_tool, reply, task};

/// The number of sessions that work at once.
const AT_ONCE: usize = 4;

/// How often a session is tried whose command has shown nothing.
const MAX_TRIES: usize = 5;

/// What the model wants to do. Paths and commands are relative to the project; `{n}` is the number of the case.
#[derive(Debug, Clone, Copy)]
pub enum Use {
    /// Write a file.
    Write(&'static str),
    /// Read a file.
    Read(&'static str),
    /// Run a command.
    Run(&'static str),
    /// Run a command that shows a file.
    Show(&'static str),
    /// Run another command that shows a file: the command and the file.
    Look(&'static str, &'static str),
    /// Fetch a page.
    Fetch(&'static str),
}

/// The call of a tool: its name and its arguments.
pub type Call = (&'static str, Value);

/// A permission and its rule or pattern, the answer of the user to questions (`None`: no one is there), and what the model wants to do.
pub type Case = (&'static str, &'static str, Option<bool>, Use);

/// The cases about writing.
pub const WRITES: &[Case] = &[
    ("write", "allow", None, Use::Write("docs/made-{n}")),
    ("write", "deny", None, Use::Write("docs/made-{n}")),
    ("write", "docs/", None, Use::Write("docs/made-{n}")),
    ("write", "docs/", None, Use::Write("made-{n}")),
    ("write", "docs/", None, Use::Write("docs/../made-{n}")),
    ("write", "docs/", None, Use::Write("docs/link/made-{n}")),
    ("write", "docs/", None, Use::Write("../made-{n}")),
    ("write", "prompt", Some(true), Use::Write("docs/made-{n}")),
    ("write", "prompt", Some(false), Use::Write("docs/made-{n}")),
    ("write", "prompt", None, Use::Write("docs/made-{n}")),
];

/// The cases about reading.
pub const READS: &[Case] = &[
    ("read", "allow", None, Use::Read("docs/seen-{n}")),
    ("read", "deny", None, Use::Read("docs/seen-{n}")),
    ("read", "docs/", None, Use::Read("docs/seen-{n}")),
    ("read", "docs/", None, Use::Read("seen-{n}")),
    ("read", "docs/", None, Use::Read("docs/../seen-{n}")),
    ("read", "docs/", None, Use::Read("docs/link/seen-{n}")),
    ("read", "docs/", None, Use::Read("../seen-{n}")),
    ("read", "prompt", Some(true), Use::Read("docs/seen-{n}")),
    ("read", "prompt", Some(false), Use::Read("docs/seen-{n}")),
    ("read", "prompt", None, Use::Read("docs/seen-{n}")),
];

/// The cases about commands.
pub const COMMANDS: &[Case] = &[
    ("execute", "allow", None, Use::Run("touch made-{n}")),
    ("execute", "deny", None, Use::Run("touch made-{n}")),
    ("execute", "touch *", None, Use::Run("touch made-{n}")),
    ("execute", "echo *", None, Use::Run("touch made-{n}")),
    ("execute", "echo *", None, Use::Run("echo tides; touch made-{n}")),
    ("execute", "echo *", None, Use::Run("echo $(touch made-{n})")),
    ("execute", "sort *", None, Use::Run("sort --output=made-{n} /dev/null")),
    ("execute", "prompt", Some(true), Use::Run("touch made-{n}")),
    ("execute", "prompt", Some(false), Use::Run("touch made-{n}")),
    ("execute", "prompt", None, Use::Run("touch made-{n}")),
    ("execute", "deny", None, Use::Show("docs/seen-{n}")),
    ("execute", "cat *", None, Use::Show("docs/seen-{n}")),
    ("read", "docs/", None, Use::Show("docs/seen-{n}")),
    ("read", "docs/", None, Use::Show("docs/link/seen-{n}")),
];

/// The cases about pages. Nothing answers at their address, so a call that is allowed fails.
pub const PAGES: &[Case] = &[
    ("network", "allow", None, Use::Fetch("http://127.0.0.1:9/docs/{n}")),
    ("network", "deny", None, Use::Fetch("http://127.0.0.1:9/docs/{n}")),
    ("network", "http://127.0.0.1:9/docs/*", None, Use::Fetch("http://127.0.0.1:9/docs/{n}")),
    ("network", "http://127.0.0.1:9/docs/*", None, Use::Fetch("http://127.0.0.1:9/{n}")),
    ("network", "http://127.0.0.1:9/docs/*", None, Use::Fetch("http://127.0.0.1:9/docs/../{n}")),
    ("network", "http://127.0.0.1:9/docs/*", None, Use::Fetch("http://127.0.0.1:9@localhost:9/docs/{n}")),
    ("network", "http://127.0.0.1:9/docs/*", None, Use::Fetch("http://127.0.0.1:9.example.com/docs/{n}")),
    ("network", "prompt", Some(true), Use::Fetch("http://127.0.0.1:9/docs/{n}")),
    ("network", "prompt", Some(false), Use::Fetch("http://127.0.0.1:9/docs/{n}")),
    ("network", "prompt", None, Use::Fetch("http://127.0.0.1:9/docs/{n}")),
];

/// The cases about commands that use the network. `{url}` is a page that exists.
pub const NETWORK_COMMANDS: &[Case] = &[
    ("network", "allow", None, Use::Run("curl -sS -o made-{n} {url}")),
    ("network", "deny", None, Use::Run("curl -sS -o made-{n} {url}")),
    ("network", "deny", None, Use::Run("sh -c 'curl -sS -o made-{n} {url}'")),
    ("network", "deny", None, Use::Run("echo tides && curl -sS -o made-{n} {url}")),
    ("network", "https://example.com/*", None, Use::Run("curl -sS -o made-{n} {url}")),
    ("network", "prompt", Some(true), Use::Run("curl -sS -o made-{n} {url}")),
    ("network", "prompt", Some(false), Use::Run("curl -sS -o made-{n} {url}")),
    ("network", "prompt", None, Use::Run("curl -sS -o made-{n} {url}")),
];

/// The cases about commands that write, some of which agents take for reading.
pub const WRITING_COMMANDS: &[Case] = &[
    ("write", "docs/", None, Use::Run("echo tides > made-{n}")),
    ("write", "docs/", None, Use::Run("uniq /dev/null made-{n}")),
    ("write", "docs/", None, Use::Run("sort --output=made-{n} /dev/null")),
    ("write", "docs/", None, Use::Run("echo tides | tee made-{n}")),
    ("write", "docs/", None, Use::Run("sh -c 'touch made-{n}'")),
    ("write", "docs/", None, Use::Run("cd docs && touch ../made-{n}")),
    ("write", "deny", None, Use::Run("uniq /dev/null made-{n}")),
    ("write", "deny", None, Use::Run("touch \"$PWD/made-{n}\"")),
    ("write", "deny", None, Use::Run("touch docs/link/../made-{n}")),
    ("write", "deny", None, Use::Run("python3 -c 'open(\"made-{n}\", \"w\")'")),
];

/// The cases about commands that read.
pub const READING_COMMANDS: &[Case] = &[
    ("read", "docs/", None, Use::Look("cat docs/../elsewhere/seen-{n}", "elsewhere/seen-{n}")),
    ("read", "docs/", None, Use::Look("(cd elsewhere && cat seen-{n})", "elsewhere/seen-{n}")),
    ("read", "docs/", None, Use::Look("head < elsewhere/seen-{n}", "elsewhere/seen-{n}")),
    (
        "read",
        "docs/",
        None,
        Use::Look("python3 -c 'print(open(\"elsewhere/seen-{n}\").read())'", "elsewhere/seen-{n}"),
    ),
];

/// What a case wants to do in a project.
#[derive(Debug, Clone)]
pub enum Wanted {
    /// Write a file, by its absolute path.
    Write(String),
    /// Read a file, by its absolute path.
    Read(String),
    /// Run a command in the project.
    Run(String),
    /// Fetch a page.
    Fetch(String),
}

impl Use {
    fn template(self) -> &'static str {
        match self {
            Use::Write(text) | Use::Read(text) | Use::Run(text) | Use::Show(text) | Use::Fetch(text) => text,
            Use::Look(command, _) => command,
        }
    }

    /// Whether it is one of a page.
    pub fn is_fetch(self) -> bool {
        matches!(self, Use::Fetch(_))
    }

    fn text(self, number: usize) -> String {
        self.template().replace("{n}", &number.to_string())
    }

    fn wanted(self, number: usize, root: &Path) -> Wanted {
        let text = self.text(number);
        let path = || root.join(&text).to_string_lossy().into_owned();
        match self {
            Use::Write(_) => Wanted::Write(path()),
            Use::Read(_) => Wanted::Read(path()),
            Use::Run(_) | Use::Look(..) => Wanted::Run(text.replace("{url}", page())),
            Use::Fetch(_) => Wanted::Fetch(text),
            Use::Show(_) => Wanted::Run(format!("cat {text}")),
        }
    }
}

/// The files of the cases, and the fixtures for a model that makes their calls.
pub fn fixtures(root: &Path, cases: &[Case], call: impl Fn(Wanted) -> Call) -> Vec<Value> {
    for folder in ["docs", "elsewhere"] {
        fs::create_dir_all(root.join(folder)).expect("the folder is new");
    }
    symlink("../elsewhere", root.join("docs/link")).expect("the folder is new");
    let fixtures = cases.iter().enumerate().flat_map(|(number, (_, _, _, used))| {
        let wanted = used.wanted(number, root);
        if let Use::Read(path) | Use::Show(path) | Use::Look(_, path) = used {
            fs::write(root.join(path.replace("{n}", &number.to_string())), format!("{}\n", marker(number)))
                .expect("the folder is writable");
        }
        let (tool, arguments) = call(wanted);
        let seen = json!({
            "match": { "userMessage": prompt(number), "toolResultContains": marker(number) },
            "response": { "content": SEEN },
        });
        std::iter::once(seen).chain(calls_tool(&prompt(number), tool, arguments, "That is all."))
    });
    fixtures.collect()
}

/// The address of a page that exists. Its server ends with the process.
fn page() -> &'static str {
    static PAGE: LazyLock<String> = LazyLock::new(|| {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port of this machine is free");
        let address = listener.local_addr().expect("it listens");
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let _ = stream.read(&mut [0; 4096]);
                // A client that goes away in between is none of its concern.
                let _ = stream
                    .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\ntide\n");
            }
        });
        format!("http://{address}/")
    });
    &PAGE
}

/// Whether a page was requested: a tool has started that fetches one, and was not denied.
fn has_fetched(reports: &[Activity]) -> bool {
    let has = |wanted: fn(ToolStatus) -> bool| {
        let is = |it: &Activity| matches!(it, Activity::Tool(tool) if tool.kind == ToolKind::Fetch && wanted(tool.status));
        reports.iter().any(is)
    };
    has(|status| status == ToolStatus::Running)
        && has(|status| matches!(status, ToolStatus::Completed | ToolStatus::Failed))
}

/// Whether a command has run.
fn has_run(reports: &[Activity]) -> bool {
    let is = |it: &Activity| matches!(it, Activity::Tool(tool) if tool.kind == ToolKind::Execute && tool.status == ToolStatus::Completed);
    reports.iter().any(is)
}

fn prompt(number: usize) -> String {
    format!("[case {number}]")
}

/// The reply of a model that has seen the content of a file.
const SEEN: &str = "I have seen it.";

/// The content of the file that a case reads.
fn marker(number: usize) -> String {
    format!("tide number {number} of the day")
}

/// A case in one line, such as `write: docs/ | write made`.
pub fn shown((about, rule, answer, used): &Case) -> String {
    let answer = match answer {
        Some(true) => ", allowed",
        Some(false) => ", denied",
        None => "",
    };
    let verb = match used {
        Use::Write(_) => "write ",
        Use::Read(_) => "read ",
        Use::Run(_) | Use::Look(..) => "",
        Use::Fetch(_) => "fetch ",
        Use::Show(_) => "cat ",
    };
    let text = used.template().replace("-{n}", "").replace("{n}", "");
    format!("{about}: {rule}{answer} | {verb}{text}")
}

/// The permission of a case.
pub fn permission((about, rule, ..): &Case) -> Permission {
    let rule = match *rule {
        "allow" => PermissionRule::Allow,
        "deny" => PermissionRule::Deny,
        "prompt" => PermissionRule::Prompt,
        pattern => PermissionRule::Patterns(vec![pattern.to_owned()]),
    };
    Permission { about: (*about).into(), rule }
}

/// What comes of each case. `requests` is the start of the paths by which the agent asks its provider.
pub async fn outcomes(
    harness: &dyn Harness,
    project: &AgentProject,
    requests: &str,
    cases: &[Case],
) -> Vec<String> {
    let sessions = cases.iter().enumerate().map(|(number, case)| async move {
        let (about, _, answer, used) = case;
        let mut permissions = vec![permission(case)];
        if matches!(used, Use::Run(_) | Use::Show(_) | Use::Look(..)) && *about != "execute" {
            permissions.push(Permission { about: "execute".into(), rule: PermissionRule::Allow });
        }
        let task = SessionTask { permissions, ..task(&prompt(number)) };
        let mut tries = 0;
        loop {
            let (reporter, mut reports) = Reports::new(*answer);
            let reply = reply(harness, task.clone(), &reporter).await;
            let reports = reports.take();
            tries += 1;
            // On a busy machine, Qwen Code loses what a command has written that ends at once: it looks for it before it has read it.
            let has_lost = matches!(used, Use::Show(_) | Use::Look(..))
                && has_run(&reports)
                && reply.as_ref().is_ok_and(|reply| &*reply.text != SEEN);
            if !has_lost || tries == MAX_TRIES {
                break (reply, reports);
            }
        }
    });
    let results: Vec<_> = futures_util::stream::iter(sessions).buffered(AT_ONCE).collect().await;
    let asked = project.provider.requests(requests);
    let asked: Vec<String> = asked.iter().map(|request| request["body"].to_string()).collect();
    let root = project.root();
    let outcomes = cases.iter().zip(results).enumerate().map(|(number, ((.., used), (reply, reports)))| {
        let text = used.text(number);
        let has_happened = match used {
            // The server does not keep the text of a long request.
            Use::Read(_) | Use::Show(_) | Use::Look(..) => {
                reply.as_ref().is_ok_and(|reply| &*reply.text == SEEN)
                    || asked.iter().any(|body| body.contains(&marker(number)))
            }
            Use::Write(_) => root.join(&text).exists(),
            Use::Run(_) => root.join(format!("made-{number}")).exists(),
            Use::Fetch(_) => has_fetched(&reports),
        };
        let is_denied = reports.iter().any(|report| matches!(report, Activity::Denied(_)));
        match reply {
            _ if has_happened && is_denied => "done, although it was denied".to_owned(),
            Ok(_) if has_happened => "done".to_owned(),
            Ok(_) if is_denied => "denied".to_owned(),
            // The agent itself has refused it.
            Ok(_) => "not done".to_owned(),
            Err(failure) if failure.kind == ErrorKind::ApprovalNeeded && !has_happened => {
                "stopped".to_owned()
            }
            Err(failure) => format!("failed: {}", failure.message),
        }
    });
    outcomes.collect()
}

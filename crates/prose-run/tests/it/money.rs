//! What runs with a provider cost, and what stops them. A server on this machine plays the provider.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use prose_analysis::{AnalysisHost, Text};
use prose_config::Config;
use prose_run::{
    EstimateRequest, Grants, History, MAX_RUNS, Money, Project, Questions, Routes, RunHooks, RunRequest,
    Start, TrustSubject, UserFiles, UserTrust, estimate_run, prepare,
};
use prose_vm::activity::NoApprovals;
use prose_vm::effect::InputRequest;
use prose_vm::event::{Event, EventKind, RunEnd, RunStatus, StateMode};
use prose_vm::harness::HarnessFuture;
use prose_vm::program::Program;
use prose_vm::runner::{Inputs, Limits};
use prose_vm::value::Value;
use serde_json::json;
use tempfile::TempDir;

/// A provider with the API of OpenAI that answers each request with 20 output tokens. It ends with the process.
struct Provider {
    address: String,
    asked: Arc<AtomicU32>,
}

impl Provider {
    /// Starts one that reports the input tokens for a request of so many bytes.
    fn start(input_tokens: fn(usize) -> usize) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}/v1", listener.local_addr().unwrap());
        let asked = Arc::new(AtomicU32::new(0));
        let count = Arc::clone(&asked);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let count = Arc::clone(&count);
                thread::spawn(move || answer(stream, &count, input_tokens));
            }
        });
        Self { address, asked }
    }
}

/// Answers the requests of a connection.
fn answer(stream: TcpStream, count: &AtomicU32, input_tokens: fn(usize) -> usize) -> Option<()> {
    let mut stream = BufReader::new(stream);
    loop {
        let mut length = 0;
        loop {
            let mut line = String::new();
            (stream.read_line(&mut line).ok()? > 0).then_some(())?;
            match line.trim_end().split_once(": ") {
                Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                    length = value.parse().ok()?;
                }
                None if line.trim_end().is_empty() => break,
                _ => {}
            }
        }
        let mut body = vec![0; length];
        stream.read_exact(&mut body).ok()?;
        count.fetch_add(1, Ordering::SeqCst);
        let body: serde_json::Value = serde_json::from_slice(&body).ok()?;
        let schema = &body["response_format"]["json_schema"]["schema"];
        let text = if schema.is_object() { filled(schema).to_string() } else { "ok".to_owned() };
        let parts = [
            json!({ "id": "1", "model": body["model"], "choices": [{ "delta": { "content": text } }] }),
            json!({ "choices": [{ "delta": {}, "finish_reason": "stop" }] }),
            json!({ "choices": [], "usage": { "prompt_tokens": input_tokens(length), "completion_tokens": 20 } }),
        ];
        let events: String = parts.iter().map(|part| format!("data: {part}\n\n")).collect();
        let events = events + "data: [DONE]\n\n";
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {}\r\n\r\n",
            events.len()
        );
        stream.get_mut().write_all((head + &events).as_bytes()).ok()?;
    }
}

/// The first value that a schema allows.
fn filled(schema: &serde_json::Value) -> serde_json::Value {
    if let Some(first) = schema["enum"].get(0) {
        return first.clone();
    }
    match schema["type"].as_str() {
        Some("object") => {
            let properties = schema["properties"].as_object().into_iter().flatten();
            properties.map(|(name, schema)| (name.clone(), filled(schema))).collect()
        }
        Some("boolean") => json!(true),
        Some("integer" | "number") => json!(1),
        Some("array") => json!([]),
        _ => json!("x"),
    }
}

/// A project whose sessions cost 14 cents each.
struct Projects {
    folder: TempDir,
    provider: Provider,
}

/// What came of a run.
struct Ended {
    run: String,
    end: RunEnd,
    limits: Option<String>,
    events: Vec<Event>,
}

/// Gives each input a word.
struct Words;

impl Inputs for Words {
    fn give<'a>(&'a self, _: &'a InputRequest) -> HarnessFuture<'a, Value> {
        Box::pin(std::future::ready(Ok(Value::text("word"))))
    }
}

impl Projects {
    fn new() -> Self {
        Self::with_provider(Provider::start(|_| 100))
    }

    fn with_provider(provider: Provider) -> Self {
        Self { folder: TempDir::new().unwrap(), provider }
    }

    fn config(&self, limits: &str) -> Config {
        let text = format!(
            "[run]\nharness = \"provider\"\n[run.provider]\nname = \"ollama\"\nmodel = \"mock\"\nbase-url = \"{}\"\n\
             [prices.mock]\ninput = 1000\noutput = 2000\n{limits}",
            self.provider.address
        );
        let (config, problems) = Config::parse(&text);
        assert!(problems.is_empty(), "{problems:?}");
        config
    }

    fn project(&self, name: &str) -> Project {
        let folder = self.folder.path().join(name);
        fs::create_dir_all(&folder).unwrap();
        Project::new(&folder)
    }

    fn run(&self, name: &str, program: &Arc<Program>, limits: &str, start: Start) -> Ended {
        let config = self.config(limits);
        let project = self.project(name);
        let subject = TrustSubject::new(&project.root, &config);
        let prepared = prepare(RunRequest {
            program: Arc::clone(program),
            project,
            start,
            part: None,
            id: None,
            state: StateMode::Filesystem,
            harness: Some("provider".to_owned()),
            script: None,
            stand_in: None,
            dispatch: None,
            model: None,
            seed: 0,
            delay: Duration::ZERO,
            inputs: Vec::new(),
            routes: Routes::of(&config),
            config: config.run.clone(),
            grants: Grants::default(),
            limits: Limits { max_parallel: 4, ..Limits::default() },
            money: Money { limits: config.limits.clone(), prices: config.prices.clone(), ..Money::default() },
            timeout: None,
            traceparent: None,
            subject,
            trust: UserTrust { files: UserFiles::at(self.folder.path().join("state")), is_trusted: true },
            names_program: true,
        });
        let prepared = prepared.unwrap_or_else(|failure| panic!("{failure}"));
        let (run, limits) = (prepared.run().to_owned(), prepared.limits());
        let mut events = Vec::new();
        let hooks = RunHooks {
            questions: Questions::answered_by(Arc::new(Words), Arc::new(NoApprovals)),
            observer: &mut |event, _| events.push(event.clone()),
            interrupted: Box::pin(std::future::pending()),
            narration: None,
        };
        let finished = prepared.execute(hooks).unwrap_or_else(|failure| panic!("{failure}"));
        Ended { run, end: finished.end, limits, events }
    }
}

fn program(text: &str) -> Arc<Program> {
    let mut host = AnalysisHost::default();
    let file = host.set_text(Path::new("/main.prose"), Text::new(text));
    Program::new(host.db(), file)
}

fn resume(run: &str) -> Start {
    Start::Resume { run: run.into(), accept_changes: false }
}

const MANY: &str = "repeat 10:\n  session \"A\"\n";

#[test]
fn a_cap_stops_a_run_and_a_higher_one_continues_it() {
    let projects = Projects::new();
    let program = program(MANY);
    // A session costs 100 * $0.001 and 20 * $0.002.
    let stopped = projects.run("a", &program, "[limits.run]\nmax-cost = 0.5\n", Start::New);
    assert_eq!(
        stopped.limits.as_deref(),
        Some(
            "at most $0.50 (`limits.run.max-cost`); while no price is known, 100,000 tokens or 10 requests stand for $0.50"
        )
    );
    let reason = stopped.end.error.as_ref().unwrap().to_string();
    assert_eq!(reason, "the limit of $0.50 is reached (`limits.run.max-cost`): $0.56 used");
    assert_eq!((stopped.end.sessions, stopped.end.status), (4, RunStatus::Interrupted));

    let resumed = projects.run("a", &program, "[limits.run]\nmax-cost = 50\n", resume(&stopped.run));
    assert_eq!((resumed.end.sessions, resumed.end.status), (10, RunStatus::Completed));
    assert_eq!(projects.provider.asked.load(Ordering::SeqCst), 10);
    let usage = resumed.end.usage.unwrap();
    assert_eq!((usage.input_tokens, usage.output_tokens), (1_000, 200));
    assert!((usage.cost.unwrap() - 1.4).abs() < 1e-9);
}

#[test]
fn runs_at_the_same_time_share_the_limit_of_the_day() {
    let projects = Projects::new();
    let program = program("parallel for x in [1, 2, 3, 4]:\n  repeat 10:\n    session \"A\"\n");
    let limits = "[limits.day]\nmax-cost = 2.8\n";
    let runs: Vec<Ended> = thread::scope(|scope| {
        let start = |name| {
            let (projects, program) = (&projects, &program);
            scope.spawn(move || projects.run(name, program, limits, Start::New))
        };
        let runs = [start("a"), start("b")];
        runs.map(|run| run.join().unwrap()).into()
    });
    let asked = projects.provider.asked.load(Ordering::SeqCst);
    // 20 sessions cost $2.80, and each run has at most four at work.
    assert!((20..28).contains(&asked), "{asked}");
    for run in &runs {
        let reason = run.end.error.as_ref().unwrap().to_string();
        assert!(
            reason.starts_with("the limit of $2.80 per day is reached (`limits.day.max-cost`)"),
            "{reason}"
        );
    }
    // A third one starts nothing.
    let third = projects.run("c", &program, limits, Start::New);
    assert_eq!((third.end.sessions, third.end.status), (0, RunStatus::Interrupted));
    assert_eq!(projects.provider.asked.load(Ordering::SeqCst), asked);
    let resumed = projects.run(
        "a",
        &program,
        "[limits.run]\nmax-cost = 100\n[limits.day]\nmax-cost = 100\n",
        resume(&runs[0].run),
    );
    assert_eq!(resumed.end.status, RunStatus::Completed);
}

#[test]
fn what_a_run_has_used_is_kept_when_its_program_changes() {
    let projects = Projects::new();
    let limits = "[limits.run]\nmax-cost = 100\n";
    let first =
        "agent a:\n  prompt: \"A\"\nlet one = session: a\n  prompt: \"One\"\nlet two = session \"Two\"\n";
    let ended = projects.run("a", &program(&format!("{first}throw \"no\"\n")), limits, Start::New);
    assert_eq!(ended.end.status, RunStatus::Failed);
    let changed = program(&format!("{first}session \"Three\"\n"));
    let start = Start::Resume { run: ended.run.as_str().into(), accept_changes: true };
    let resumed = projects.run("a", &changed, limits, start);
    assert_eq!(
        (projects.provider.asked.load(Ordering::SeqCst), resumed.end.status),
        (3, RunStatus::Completed)
    );
    assert_eq!(resumed.end.usage.unwrap().input_tokens, 300);
    let of_effects = resumed.events.iter().filter_map(|event| match &event.kind {
        EventKind::Effect { work, .. } => Some((work.usage?.input_tokens, work.is_reused)),
        _ => None,
    });
    assert_eq!(of_effects.collect::<Vec<_>>(), [(100, true), (100, true), (100, false)]);
}

/// Checks that what happened lies in the range of the estimate, before and after earlier runs refine it.
fn check_estimate(name: &str, text: &str) {
    // As providers count English: a token has about four bytes.
    let projects = Projects::with_provider(Provider::start(|bytes| bytes / 4));
    let program = program(text);
    // A program without an end of its own is stopped: what it used is still within the estimate.
    let limits = "[limits.run]\nmax-cost = 100000\nmax-sessions = 200\n";
    let config = projects.config(limits);
    let money = Money { limits: config.limits.clone(), prices: config.prices.clone(), ..Money::default() };
    for execution in 0..2 {
        let history = History::read(&projects.project("p"), &program, MAX_RUNS);
        let estimate = estimate_run(&EstimateRequest {
            program: &program,
            harness: "provider",
            money: &money,
            config: &config.run,
            routes: &Routes::of(&config),
            inputs: &[],
            history: &history,
        });
        let ended = projects.run("p", &program, limits, Start::New);
        let usage = ended.end.usage.unwrap_or_default();
        let (least, most) = (estimate.bounds.least, estimate.bounds.most);
        let sessions = f64::from(ended.end.sessions);
        let tokens = (usage.input_tokens + usage.output_tokens) as f64;
        let what = format!(
            "{name}, execution {execution}: {sessions} sessions, {tokens} tokens, {estimate}\n{text}"
        );
        assert!(sessions <= most.sessions && tokens <= most.tokens, "{what}");
        if ended.end.status == RunStatus::Completed {
            assert!(sessions >= least.sessions && tokens >= least.tokens, "{what}");
            let cost = usage.cost.unwrap_or_default();
            assert!(
                !estimate.is_priced || cost >= least.cost - 1e-9 && cost <= most.cost + 1e-9,
                "{cost} {what}"
            );
        }
    }
}

/// Checks the programs of a folder that need no more than their text: no imports, files and permissions. Returns their number.
fn check_estimates(folder: &Path) -> u32 {
    let mut count = 0;
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            count += check_estimates(&path);
            continue;
        }
        let Ok(text) = fs::read_to_string(&path) else { continue };
        let needs_more = ["use \"", "file ", "permissions:", "persist: user", "skills:"]
            .iter()
            .any(|word| text.contains(word));
        if path.extension().is_some_and(|extension| extension == "prose") && !needs_more {
            check_estimate(&path.display().to_string(), &text);
            count += 1;
        }
    }
    count
}

#[test]
fn an_estimate_has_the_price_of_the_model_that_answers() {
    let estimate = |harness: &str, model: &str, settings: &str| {
        let text = format!("agent a:\n  model: {model}\nsession: a\n  prompt: \"A\"\n");
        let (config, problems) = Config::parse(settings);
        assert!(problems.is_empty(), "{problems:?}");
        let money = Money { prices: config.prices.clone(), ..Money::default() };
        let estimate = estimate_run(&EstimateRequest {
            program: &program(&text),
            harness,
            money: &money,
            config: &config.run,
            routes: &Routes::of(&config),
            inputs: &[],
            history: &History::default(),
        });
        estimate.is_priced.then_some(estimate.bounds.expected.cost)
    };
    let mine = "[run.provider]\nname = \"ollama\"\nmodel = \"mine\"\n[prices.mine]\ninput = 0\noutput = 0\n";
    // Whatever size the program names, the server has one model.
    assert_eq!(estimate("provider", "opus", mine), Some(0.0));
    // Codex has no model for a size and uses its default, whose price is not known.
    assert_eq!(estimate("codex", "opus", mine), None);
    // A session of an agent that uses tools costs more, and so does a larger model.
    let [opus, haiku] = ["opus", "haiku"].map(|model| estimate("claude", model, "").unwrap());
    assert!(opus > haiku && haiku > estimate("provider", "haiku", "").unwrap());
    // Settings replace the model, and the harness, of an agent.
    assert_eq!(estimate("claude", "opus", "[agents.a]\nmodel = \"haiku\"\n"), Some(haiku));
    assert_eq!(estimate("claude", "opus", &format!("{mine}[agents.a]\nharness = \"provider\"\n")), Some(0.0));
}

#[test]
fn runs_with_a_provider_lie_in_the_range_of_their_estimate() {
    assert!(check_estimates(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")) > 2);
    check_estimate(
        "loops",
        "loop until **done** (max: 3):\n  session \"A\"\nrepeat 2:\n  if **fine**:\n    session \"B\"\n",
    );
    check_estimate(
        "parallel",
        "parallel (\"first\"):\n  session \"A\"\n  session \"B\"\nchoice **best**:\n  option \"x\":\n    session \"X\"\n  option \"y\":\n    session \"Y\"\n",
    );
}

#[test]
#[ignore = "needs PROSE_OFFICIAL_PROGRAMS, the folder of the official programs"]
fn official_programs_with_a_provider_lie_in_the_range_of_their_estimate() {
    let folder = std::env::var_os("PROSE_OFFICIAL_PROGRAMS").unwrap();
    assert!(check_estimates(Path::new(&folder)) > 0);
}

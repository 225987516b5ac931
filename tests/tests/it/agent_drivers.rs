//! What holds for every driver: `prose run` with each real agent and each provider, whose server is on this machine.

#![cfg(target_os = "linux")]

use std::io::{BufRead, BufReader};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use prose_tests::agents::{AgentProject, USAGE, occurrences, replies, replies_of_captain, wait_until};
use prose_tests::drivers::{DRIVERS, Driver, age, at_once, each_agent, output};
use prose_tests::fault_proxy::{Fault, FaultProxy};
use prose_tests::planted;
use serde_json::{Value, json};

const PROGRAM: &str = "session \"Look into tides\"\n";

/// A project whose provider answers each request with a fault.
fn faulty(fault: Fault) -> (AgentProject, FaultProxy) {
    let project = AgentProject::new(|_| vec![replies("Look into tides", "Tides come and go.")]);
    let proxy = FaultProxy::start(&project.provider.address, move |_| Some(fault));
    (project, proxy)
}

/// Does the same with each driver, some at the same time, and reports all that it does not hold for.
#[track_caller]
fn for_each(check: impl Fn(&Driver) -> Result<(), String> + Sync) {
    let drivers: Vec<&Driver> = DRIVERS.iter().filter(|driver| driver.is_chosen()).collect();
    let failed: Vec<String> = drivers
        .iter()
        .zip(at_once(&drivers, check))
        .filter_map(|(driver, result)| {
            let result = result.unwrap_or_else(|| Err("it panics".to_owned()));
            Some(format!("{}: {}", driver.title, result.err()?))
        })
        .collect();
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}

#[test]
#[ignore = "needs npm"]
fn a_rejected_key_ends_the_run_with_how_to_sign_in() {
    for_each(|driver| {
        let (project, proxy) = faulty(Fault::Status(401));
        let start = Instant::now();
        let output = output(&mut driver.run(&project, &proxy.address(), "none", PROGRAM));
        let errors = String::from_utf8_lossy(&output.stderr);
        let asked = proxy.asked().len();
        // The agents themselves would ask for minutes.
        if output.status.code() != Some(3)
            || !errors.contains(driver.sign_in)
            || !(1..=driver.max_rejected).contains(&asked)
        {
            return Err(format!(
                "{} after {asked} requests and {:?}: {errors}",
                output.status,
                start.elapsed()
            ));
        }
        Ok(())
    });
}

#[test]
#[ignore = "needs npm"]
fn no_run_succeeds_whose_provider_has_failed() {
    for_each(|driver| {
        let (project, proxy) = faulty(Fault::Status(400));
        let output = output(&mut driver.run(&project, &proxy.address(), "none", PROGRAM));
        let errors = String::from_utf8_lossy(&output.stderr);
        match output.status.code() {
            Some(1) if errors.contains("400") || errors.contains("reported an error") => Ok(()),
            _ => Err(format!("{} after {} requests: {errors}", output.status, proxy.asked().len())),
        }
    });
}

#[test]
#[ignore = "needs npm"]
fn r043_a_resumed_agent_continues_its_own_session() {
    each_agent(|driver, model| {
        let project = AgentProject::new(|_| {
            let mut fixtures = replies_of_captain();
            // For what an agent asks besides, such as for a title.
            fixtures.push(json!({ "match": {}, "response": { "content": "Voyage" } }));
            fixtures
        });
        let prose = |arguments: &[&str]| {
            let mut command = driver.prose(&project, &project.provider.address, "none");
            command.args(arguments);
            command
        };
        let (told, log, tokens) = project.resume_captain(&prose, model.requests, driver.name, age);
        assert!(occurrences(&told, "Plan the voyage") == 1, "{told:#?}");
        assert!(occurrences(&told, "We sail at dawn") == 1, "{told:#?}");
        assert!(occurrences(&told, "## Agent Memory: captain") == 0, "{told:#?}");
        assert!(log.contains("continues session"), "{log}");
        // What the first session has used is not counted again.
        assert_eq!(tokens, [USAGE.input, USAGE.input]);
    });
}

#[test]
#[ignore = "needs npm"]
fn a_key_is_in_nothing_that_prose_writes() {
    const KEY: &str = "sk-planted/0123+456789abcdef";
    for_each(|driver| {
        let (project, proxy) = faulty(Fault::Quoting(401));
        let address = proxy.address();
        let run = output(driver.run(&project, &address, KEY, PROGRAM).arg("--json"));
        let show = output(driver.prose(&project, &address, KEY).args(["runs", "show", "--json"]));
        if run.status.code() != Some(3) || show.stdout.is_empty() {
            return Err(String::from_utf8_lossy(&[run.stderr, show.stderr].concat()).into_owned());
        }
        let outputs = [run.stdout, run.stderr, show.stdout, show.stderr];
        for (number, output) in outputs.iter().enumerate() {
            std::fs::write(project.root().join(format!("output-{number}")), output).unwrap();
        }
        // Also no half of it.
        let (first, second) = KEY.split_at(KEY.len() / 2);
        let found: Vec<_> =
            [first, second].into_iter().flat_map(|part| planted::find(&project.root(), part)).collect();
        if found.is_empty() { Ok(()) } else { Err(format!("the key is in {found:?}")) }
    });
}

/// A model that each driver has, by the title of the driver, and whether it always reports what its provider has it wait for. The other agents ask
/// again without a word; of these, `claude-agent-acp` reports it on a busy machine.
const MODELS: &[(&str, &str, bool)] = &[
    ("claude", "claude-sonnet-4-5", true),
    ("codex", "gpt-5.1-codex", true),
    ("opencode", "mock/tides", true),
    ("opencode-acp", "mock/tides", false),
    ("claude-agent-acp", "sonnet", false),
    ("codex-acp", "gpt-6.1-sol", true),
    ("codex-acp, the provider of Codex itself", "gpt-6.1-sol", true),
    ("gemini", "gemini-2.5-pro", false),
    ("qwen", "qwen3-coder-plus", false),
    ("provider, Anthropic", "claude-sonnet-4-5", true),
    ("provider, OpenAI", "gpt-5.1", true),
    ("provider, Gemini", "gemini-2.5-pro", true),
];

/// The prices of the models in US dollars per million tokens, unlike those of any provider, and what the session costs by them.
const PRICES: &str = "input = 700\noutput = 9_000\n";
const COST: f64 = 0.88;

/// The session is asked twice, and its provider counts the second time.
#[test]
#[ignore = "needs npm"]
fn tokens_cost_and_retries_are_those_of_the_provider() {
    for_each(|driver| {
        let (_, model, reports_retries) =
            MODELS.iter().find(|(title, ..)| *title == driver.title).ok_or("it is not in the table")?;
        let project = AgentProject::new(|_| {
            vec![
                replies("Look into tides", "Tides come and go."),
                // For what an agent asks besides, such as for a title.
                json!({ "match": {}, "response": { "content": "Tides" } }),
            ]
        });
        let proxy = FaultProxy::start(&project.provider.address, |number| {
            (number == 1).then_some(Fault::RetryAfter(429, 1))
        });
        let program = format!("session \"Look into tides\"\n  model: {model:?}\n");
        let mut run = driver.run(&project, &proxy.address(), "none", &program);
        let settings = project.root().join("prose.toml");
        let others = std::fs::read_to_string(&settings).unwrap_or_default();
        std::fs::write(&settings, format!("{others}[prices.{model:?}]\n{PRICES}")).unwrap();
        let run = output(run.arg("--json"));
        let show = output(driver.prose(&project, &proxy.address(), "none").args(["runs", "show", "--json"]));
        let events = String::from_utf8_lossy(&run.stdout);
        let is_retry = |line: &&str| line.contains("\"provider-retry\"") && line.contains("imit");
        let retries = events.lines().filter(is_retry).count();
        let shown: Value = serde_json::from_slice(&show.stdout).unwrap_or_default();
        let attempt = &shown["nodes"][1]["attempts"][0];
        let is_counted = [&attempt["usage"], &shown["end"]["usage"]].into_iter().all(|usage| {
            usage["input_tokens"] == USAGE.input
                && usage["output_tokens"] == USAGE.output
                && usage["cost"].as_f64().is_some_and(|cost| (cost - COST).abs() < 1e-9)
        });
        let is_told = if *reports_retries { retries == 1 } else { retries <= 1 };
        match run.status.success() && is_counted && is_told {
            true => Ok(()),
            false => Err(format!("{}, {retries} retries, {attempt}: {events}", run.status)),
        }
    });
}

/// The agents for which `prose` writes a file with rules.
const WITH_RULES: &[&str] = &["gemini", "qwen"];

/// The files that `prose` has written into a folder for temporary files.
fn files_of_prose(folder: &Path) -> usize {
    let names = std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.file_name());
    names.filter(|name| name.to_string_lossy().starts_with("prose-rules-")).count()
}

#[test]
#[ignore = "needs npm"]
fn a_session_without_a_reply_is_stalled_and_nothing_of_a_killed_run_is_left() {
    for_each(|driver| {
        let (project, proxy) = faulty(Fault::Hang);
        let temporary = project.home().join("temporary");
        std::fs::create_dir(&temporary).unwrap();
        let mut run = driver.run(&project, &proxy.address(), "none", PROGRAM);
        let settings = project.root().join("prose.toml");
        let others = std::fs::read_to_string(&settings).unwrap_or_default();
        std::fs::write(&settings, format!("run.stalled-after = \"1s\"\n{others}")).unwrap();
        let mut run = run
            .arg("--json")
            .env("TMPDIR", &temporary)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let told = BufReader::new(run.stdout.take().unwrap()).lines().map_while(Result::ok);
        let is_stalled = Arc::new(AtomicBool::new(false));
        let stalled = Arc::clone(&is_stalled);
        std::thread::spawn(move || {
            for line in told {
                stalled.fetch_or(line.contains("\"stalled\""), Ordering::Relaxed);
            }
        });
        let waited = catch_unwind(AssertUnwindSafe(|| {
            wait_until("the model is asked", || !proxy.asked().is_empty());
            // A provider reports nothing before its first answer.
            if driver.model.is_some() {
                wait_until("the session is stalled", || is_stalled.load(Ordering::Relaxed));
            }
        }));
        let written = files_of_prose(&temporary);
        run.kill().and_then(|()| run.wait()).unwrap();
        waited.map_err(|_| "it is not asked, or not reported as stalled".to_owned())?;
        wait_until("all processes have ended", || project.processes().is_empty());
        wait_until("the files of the agent are removed", || files_of_prose(&temporary) == 0);
        match WITH_RULES.contains(&driver.name) == (written > 0) {
            true => Ok(()),
            false => Err(format!("there were {written} files with rules")),
        }
    });
}

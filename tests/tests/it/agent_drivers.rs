//! What holds for every driver: `prose run` with each real agent and each provider, whose server is on this machine.

#![cfg(target_os = "linux")]

use std::panic::AssertUnwindSafe;
use std::time::Instant;

use prose_tests::agents::{AgentProject, occurrences, replies, replies_of_captain, wait_until};
use prose_tests::drivers::{DRIVERS, Driver, age, output};
use prose_tests::fault_proxy::{Fault, FaultProxy};
use prose_tests::planted;
use serde_json::json;

const PROGRAM: &str = "session \"Look into tides\"\n";

/// A project whose provider answers each request with a fault.
fn faulty(fault: Fault) -> (AgentProject, FaultProxy) {
    let project = AgentProject::new(|_| vec![replies("Look into tides", "Tides come and go.")]);
    let proxy = FaultProxy::start(&project.provider.address, move |_| Some(fault));
    (project, proxy)
}

/// Does the same with each driver, and reports all that it does not hold for.
#[track_caller]
fn for_each(check: impl Fn(&Driver) -> Result<(), String>) {
    let failed: Vec<String> = DRIVERS
        .iter()
        .filter_map(|driver| Some(format!("{}: {}", driver.title, check(driver).err()?)))
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

/// The agents whose own sessions are continued in other tests, with more.
const TESTED_ALONE: &[&str] = &["claude", "codex"];

#[test]
#[ignore = "needs npm"]
fn r043_a_resumed_agent_continues_its_own_session() {
    let mut failed = Vec::new();
    for (driver, model) in Driver::of_agents().filter(|(driver, _)| !TESTED_ALONE.contains(&driver.name)) {
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
        let resumed = AssertUnwindSafe(|| {
            let (told, log, _) = project.resume_captain(&prose, model.requests, driver.name, age);
            assert!(occurrences(&told, "Plan the voyage") == 1, "{told:#?}");
            assert!(occurrences(&told, "We sail at dawn") == 1, "{told:#?}");
            assert!(occurrences(&told, "## Agent Memory: captain") == 0, "{told:#?}");
            assert!(log.contains("continues session"), "{log}");
        });
        if std::panic::catch_unwind(resumed).is_err() {
            failed.push(driver.name);
        }
    }
    assert_eq!(failed, [] as [&str; 0]);
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

#[test]
#[ignore = "needs npm"]
fn no_process_outlives_a_killed_run() {
    for_each(|driver| {
        let (project, proxy) = faulty(Fault::Hang);
        let mut run = driver.start(&project, &proxy.address(), PROGRAM);
        wait_until("the model is asked", || !proxy.asked().is_empty());
        run.kill().and_then(|()| run.wait()).unwrap();
        wait_until("all processes have ended", || project.processes().is_empty());
        Ok(())
    });
}

//! Faults of providers with every driver: what a run survives, and what it says.

#![cfg(target_os = "linux")]

use std::thread;

use prose_tests::agents::{AgentProject, replies};
use prose_tests::drivers::{DRIVERS, Driver, output};
use prose_tests::fault_proxy::{Fault, FaultProxy};
use serde_json::json;

/// The faults, each of which is the answer to a request; those between them are answered.
const FAULTS: &[Fault] =
    &[Fault::Status(500), Fault::Status(529), Fault::Reset, Fault::Half, Fault::RetryAfter(429, 1)];

/// As long that half of it is not the whole. A text that repeats itself would end the session of some agents.
fn tides(number: usize) -> String {
    let hours = 0..12;
    let lines: Vec<String> = hours
        .map(|hour| format!("At hour {hour}, the gauge showed {}.", (number + 3) * hour * hour))
        .collect();
    lines.join(" ")
}

/// What an agent continues that has received the first half of a reply. The others ask for the whole again.
const CONTINUED: &[(&str, &str)] = &[("qwen", "Tides")];

/// What passes the first half of a reply on, and then the whole, as parts of one message: nothing tells them apart.
const REPEATED: &[&str] = &["opencode-acp"];

fn survives(driver: &Driver) -> Result<(), String> {
    let numbers = 0..FAULTS.len();
    let project = AgentProject::new(|_| {
        let sessions =
            numbers.clone().map(|number| replies(&format!("Look into tide {number}"), &tides(number)));
        // For what an agent asks besides, such as for a title.
        sessions.chain([json!({ "match": {}, "response": { "content": "Tides" } })]).collect()
    });
    let proxy = FaultProxy::start(&project.provider.address, |number| {
        (number % 2 == 1).then(|| FAULTS.get(number / 2).copied()).flatten()
    });
    let session = |number: usize| format!("output said{number} = session \"Look into tide {number}.\"\n");
    let program: String = numbers.clone().map(session).collect();
    let run = output(&mut driver.run(&project, &proxy.address(), "none", &program));
    let (said, errors) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    let asked = proxy.asked();
    let happened = asked.iter().filter(|asked| asked.fault.is_some()).count();
    let expected: String = numbers.map(|number| format!("said{number}: {}\n", tides(number))).collect();
    let is_same = |(said, expected): (&str, &str)| {
        let continued = CONTINUED.iter().find(|(name, _)| *name == driver.name);
        let (name, whole) = expected.split_once(": ").unwrap();
        let half = said.strip_suffix(whole).and_then(|said| said.strip_prefix(name)?.strip_prefix(": "));
        said == expected
            || REPEATED.contains(&driver.name) && half.is_some_and(|half| whole.starts_with(half))
            || continued
                .and_then(|(_, rest)| said.strip_suffix(rest))
                .is_some_and(|half| expected.starts_with(half.trim_end()))
    };
    let is_expected =
        said.lines().count() == expected.lines().count() && said.lines().zip(expected.lines()).all(is_same);
    match run.status.success() && is_expected && happened == FAULTS.len() {
        true => Ok(()),
        false => Err(format!("{} after {happened} faults of {}: {said}{errors}", run.status, asked.len())),
    }
}

#[test]
#[ignore = "needs npm"]
fn sessions_survive_the_faults_of_their_provider() {
    // Agents wait for most of the time before they ask again.
    let failed: Vec<String> = thread::scope(|scope| {
        let chosen = DRIVERS.iter().filter(|driver| driver.is_chosen());
        let started: Vec<_> = chosen.map(|driver| (driver, scope.spawn(|| survives(driver)))).collect();
        let ended = started.into_iter().map(|(driver, run)| (driver, run.join().expect("it panics nowhere")));
        ended.filter_map(|(driver, result)| Some(format!("{}: {}", driver.title, result.err()?))).collect()
    });
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}

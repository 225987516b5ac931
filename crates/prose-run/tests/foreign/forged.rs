//! Folders of runs that somebody else made, or changed: what their traces say has not ended is asked, what they prove is not, and nothing leads
//! out of the project.

use std::time::{Duration, Instant};

use fastrand::Rng;

use crate::imitated::{Program, Stopped};
use crate::{Foreign, ID};

/// How many programs are tried in a test of every day.
const QUICK: u64 = 30;

/// At how many places each of them stops.
const MAX_STOPS: usize = 8;

/// How long the long test takes.
const LONG: Duration = Duration::from_secs(40);

/// The folder that a machine has left.
fn left(program: &Program, stopped: &Stopped) -> Foreign {
    let foreign = Foreign::new(&program.text, &stopped.state, &[]);
    for (file, text) in &stopped.files {
        foreign.write(&format!("bindings/{file}"), text);
    }
    foreign
}

/// Stops a program at some of the times at which its state was written, and goes on each time. Gives how many these were.
fn check_stops(seed: u64) -> u32 {
    let mut random = Rng::with_seed(seed);
    let program = Program::random(&mut random);
    let seed_of_run = random.u64(..);
    let count = (1..).take_while(|cut| program.stop_after(*cut, seed_of_run).is_stopped).count();
    let mut cuts: Vec<usize> = (1..=count).collect();
    random.shuffle(&mut cuts);
    cuts.truncate(MAX_STOPS);
    for &cut in &cuts {
        let stopped = program.stop_after(cut, seed_of_run);
        let went = left(&program, &stopped).resume().unwrap();
        let told = || {
            let files: Vec<&String> = stopped.files.keys().collect();
            format!(
                "seed {seed}, stop {cut}:\n{}\n{files:?}\nwent:\n{}",
                stopped.state,
                went.lines.join("\n")
            )
        };
        let mut asked: Vec<&str> =
            went.lines.iter().filter_map(|line| line.strip_prefix("asked T")).collect();
        asked.sort_unstable();
        let mut expected: Vec<&str> = stopped.asked.iter().map(|task| &task[1..]).collect();
        expected.sort_unstable();
        assert_eq!(asked, expected, "{}", told());
        for line in &went.lines {
            assert!(!line.starts_with("the program failed"), "{}", told());
            if let Some((task, value)) = line.strip_prefix("kept  ").and_then(|kept| kept.split_once(": ")) {
                // A loop that has ended in an earlier iteration is repeated once, whatever it did there.
                let is_known = value == format!("{task} in its file") || value == "(the result was not kept)";
                assert!(is_known, "{}", told());
            }
        }
    }
    cuts.len() as u32
}

#[test]
fn r104_wherever_another_machine_stopped_exactly_what_has_not_ended_is_asked() {
    let stops: u32 = (0..QUICK).map(check_stops).sum();
    assert!(stops > 100, "{stops}");
}

#[test]
#[ignore = "takes a minute"]
fn r104_wherever_another_machine_stopped_exactly_what_has_not_ended_is_asked_of_many_programs() {
    let start = Instant::now();
    let first = std::env::var("PROSE_SESSION_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1000);
    let mut seed: u64 = first;
    while start.elapsed() < LONG {
        check_stops(seed);
        seed += 1;
    }
    eprintln!("{} programs from seed {first} on, in {ID}", seed - first);
}

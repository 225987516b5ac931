//! Runs that are killed at any moment go on without losing or repeating what was recorded (decision 10).
#![cfg(unix)]

pub(crate) mod place;

use std::collections::BTreeMap;
use std::fs;
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use prose_tests::prose_binary;

use place::{Place, collect};

/// What came of a run that nobody killed, and how long it took.
fn undisturbed(state: &'static str) -> (BTreeMap<String, String>, Vec<u8>, Duration) {
    let place = Place::with_state(state);
    // Building the binary is no part of the run.
    prose_binary();
    let start = Instant::now();
    let output = place.run().output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    (place.left(), output.stdout, start.elapsed())
}

fn check(state: &'static str, kills: usize, seed: u64) {
    let (expected, said, mut took) = undisturbed(state);
    let mut random = fastrand::Rng::with_seed(seed);
    let mut hit = 0;
    let mut nth = 0;
    while nth < kills || (hit * 2 <= kills && nth < 4 * kills) {
        nth += 1;
        let place = Place::with_state(state);
        let mut run = place.start();
        sleep(took.mul_f64(random.f64() * 1.1));
        let was_running = run.try_wait().unwrap().is_none();
        run.kill().unwrap();
        run.wait().unwrap();
        // What agents still do that were at work belongs to the time before.
        sleep(Duration::from_millis(30));
        let journal = place.journal().unwrap_or_default();
        if !was_running {
            // The machine had more to do when the undisturbed run was timed.
            took = took.mul_f64(0.9);
        }
        // One that had just come to its end has nothing to go on with.
        if !was_running || journal.is_empty() || journal.contains(r#""event":"run-ended""#) {
            continue;
        }
        hit += 1;
        let recorded = place.recorded();
        let before = place.asked();
        let output = place.resume();
        assert_eq!(output.stdout, said, "kill {nth}");
        let after = place.asked();
        for prompt in &recorded {
            if prompt != "This one fails" {
                assert_eq!(before.get(prompt), after.get(prompt), "kill {nth}: asked again: {prompt}");
            }
        }
        let left = place.left();
        for (file, text) in &expected {
            assert_eq!(left.get(file), Some(text), "kill {nth}: {file}");
        }
        let more: Vec<_> = left.keys().filter(|file| !expected.contains_key(*file)).collect();
        assert!(more.is_empty(), "kill {nth}: {more:?}");
    }
    assert!(hit * 2 > kills, "only {hit} of {kills} runs were still running when they were killed");
}

#[test]
fn a_run_that_was_killed_goes_on_where_it_was() {
    check("filesystem", 12, 7);
}

#[test]
fn a_run_in_a_database_that_was_killed_goes_on_where_it_was() {
    check("sqlite", 12, 9);
}

#[test]
#[ignore = "takes some minutes"]
fn runs_that_were_killed_at_many_moments_go_on_where_they_were() {
    let kills = prose_fixture::number("PROSE_KILLS").unwrap_or(300);
    // The runs mostly wait.
    thread::scope(|scope| {
        for (state, seed) in [("filesystem", 7), ("sqlite", 8)] {
            scope.spawn(move || check(state, kills / 2, seed));
        }
    });
}

#[track_caller]
fn check_one_process(state: &'static str) {
    let place = Place::with_state(state);
    let mut run = place.start();
    place.wait_for_lines(&mut run, 5);
    let output = place.prose(&["resume"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains(&run.id().to_string()), "{stderr}");
    run.kill().unwrap();
    run.wait().unwrap();
    // The lock has died with its owner.
    place.resume();
}

#[test]
fn a_run_can_be_resumed_by_one_process_at_a_time() {
    check_one_process("filesystem");
    check_one_process("sqlite");
}

#[test]
fn two_runs_in_one_folder_do_not_disturb_each_other() {
    let place = Place::new();
    let (expected, ..) = undisturbed("filesystem");
    let mut runs = [place.start(), place.start()];
    for run in &mut runs {
        assert_eq!(run.wait().unwrap().code(), Some(0));
    }
    let folders: Vec<_> = fs::read_dir(place.path().join(".prose/runs")).unwrap().collect();
    assert_eq!(folders.len(), 2);
    for folder in folders {
        let mut left = BTreeMap::new();
        collect(&folder.unwrap().path(), "/runs/run", &mut left);
        for (file, text) in left.iter().filter(|(file, _)| file.contains("bindings")) {
            assert_eq!(expected.get(file), Some(text), "{file}");
        }
    }
}

//! Processes and memory of 64 sessions at the same time.

use std::collections::HashMap;
use std::fs;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use prose_tests::drivers::Driver;

use crate::mock::{Mock, answer, project};
use crate::server::Does;

const SESSIONS: usize = 64;

pub(crate) fn measure() {
    println!(
        "| 64 sessions | asked at the same time | processes | memory of the agents | of `prose` | free before |"
    );
    println!("|---|--:|--:|--:|--:|--:|");
    for (title, answer_after, flags) in [
        // Long enough for all sessions to wait at the same time.
        ("codex", 20, &["--max-parallel", "64"][..]),
        ("provider, OpenAI", 2, &["--max-parallel", "64"]),
        // As many as fit into the memory.
        ("claude", 2, &[]),
    ] {
        let driver = Driver::named(title);
        let (at_once, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (mock, project) = (holding(&at_once, &most, Duration::from_secs(answer_after)), project());
        let items: Vec<String> = (0..SESSIONS).map(|item| item.to_string()).collect();
        let program =
            format!("parallel for item in [{}]:\n  session \"Count wave {{item}}\"\n", items.join(", "));
        let mut command = driver.run(&project, mock.url(), "none", &program);
        let free = megabytes("/proc/meminfo", "MemAvailable:");
        let mut run = command.args(flags).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let mut seen: HashMap<u32, u32> = HashMap::new();
        let (mut agents, mut ours) = (0.0_f64, 0.0_f64);
        while run.try_wait().unwrap().is_none() {
            let of_run = descendants(run.id());
            of_run.iter().for_each(|process| *seen.entry(*process).or_default() += 1);
            agents = agents.max(of_run.iter().map(|process| memory(*process)).sum());
            ours = ours.max(memory(run.id()));
            std::thread::sleep(Duration::from_millis(50));
        }
        assert!(run.wait().unwrap().success(), "{title}");
        // Codex also starts a shell for a moment with each session.
        let processes = seen.values().filter(|samples| **samples > 20).count();
        println!(
            "| {title} | {} | {processes} | {agents:.0} MB | {ours:.0} MB | {free:.0} MB |",
            most.load(Ordering::Relaxed)
        );
    }
}

/// A server that takes some time for each answer, and counts the requests that it answers at once.
fn holding(at_once: &Arc<AtomicUsize>, most: &Arc<AtomicUsize>, time: Duration) -> Mock {
    let (at_once, most) = (Arc::clone(at_once), Arc::clone(most));
    Mock::start(move |_, asked| {
        let answer = answer(asked, "Tides come and go.");
        if matches!(answer, Does::Streams(_)) {
            most.fetch_max(at_once.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
            let at_once = Arc::clone(&at_once);
            std::thread::spawn(move || {
                std::thread::sleep(time);
                at_once.fetch_sub(1, Ordering::Relaxed);
            });
        }
        Does::Later(time, Box::new(answer))
    })
}

/// The processes that a process has started, and those that they have started.
fn descendants(of: u32) -> Vec<u32> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let processes = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let parent = |process: u32| {
        let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse::<u32>().ok()
    };
    let parents: HashMap<u32, u32> =
        processes.filter_map(|process| Some((process, parent(process)?))).collect();
    let is_of = |process: u32| {
        let mut parent = process;
        while let Some(next) = parents.get(&parent) {
            if *next == of {
                return true;
            }
            parent = *next;
        }
        false
    };
    parents.keys().copied().filter(|process| is_of(*process)).collect()
}

/// The memory of a process, without what it shares with others.
fn memory(process: u32) -> f64 {
    megabytes(&format!("/proc/{process}/smaps_rollup"), "Pss:")
}

/// A line of a file in megabytes.
fn megabytes(path: &str, name: &str) -> f64 {
    let text = fs::read_to_string(path).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or("0");
    let kilobytes: f64 = line.trim().trim_end_matches("kB").trim().parse().unwrap_or(0.0);
    kilobytes * 1024.0 / 1e6
}

//! How the time for a program grows with each list in it.
//!
//!     cargo bench -p prose-tests --bench growth
//!     cargo bench -p prose-tests --bench growth -- 'comment lines' cycle
//!
//! Words are parts of the names of lists; without any, all are measured. `--of=check,fmt` measures some kinds of work alone. Each list is made longer
//! until a kind of work takes long enough to be measured; what is printed is how many times longer the work takes for twice the list: 2 where it
//! grows with the list, 4 where it grows with the square. Lists that go over several lines are measured a second time in a block, since what stands
//! in one statement is looked at together.

#![allow(clippy::print_stdout, reason = "the figures go to standard output")]

mod lists;
mod machine;
mod work;

use std::time::Duration;

use lists::{LISTS, List};
use work::{KINDS, Kind};

/// What takes so long is long enough to be measured.
const LONG: Duration = Duration::from_millis(20);
/// Nothing is made longer that takes so long.
const TOO_LONG: Duration = Duration::from_secs(4);
/// Lists do not get longer than that.
const MAX_LENGTH: usize = 1 << 17;
/// Programs do not get longer than that.
const MAX_BYTES: usize = 24 << 20;
/// What is above is printed in bold.
const SUSPECT: f64 = 2.8;

fn main() {
    // `cargo test` runs benchmarks too, to see that they start.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let (options, words): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|word| word.starts_with("--"));
    let of = options.iter().find_map(|option| option.strip_prefix("--of=")).unwrap_or_default().to_owned();
    // Deep programs need what the threads of the command have.
    let measure = std::thread::Builder::new().stack_size(64 << 20).spawn(move || {
        let is_wanted = |kind: &&Kind| of.is_empty() || of.split(',').any(|name| name == kind.name);
        let kinds: Vec<&Kind> = KINDS.iter().filter(is_wanted).collect();
        let names: Vec<&str> = kinds.iter().map(|kind| kind.name).collect();
        println!("| list | {} |", names.join(" | "));
        println!("|---|{}", "--:|".repeat(names.len()));
        for (list, in_block) in lists(&words) {
            let growing = Growing { list, in_block };
            let figures: Vec<String> = kinds.iter().map(|kind| growing.figure(kind)).collect();
            let place = if in_block { ", in a block" } else { "" };
            println!("| {}{place} | {} |", list.name, figures.join(" | "));
        }
    });
    measure.expect("a thread can be started").join().expect("no work panics");
}

/// The lists that are wanted, and whether they stand in a block.
fn lists(words: &[String]) -> Vec<(&'static List, bool)> {
    let is_wanted = |list: &&List| words.is_empty() || words.iter().any(|word| list.name.contains(word));
    let has_lines = |list: &List| (list.program)(8).lines().count() >= 8;
    let places = |list| if has_lines(list) { &[false, true][..] } else { &[false] };
    LISTS
        .iter()
        .filter(is_wanted)
        .flat_map(|list| places(list).iter().map(move |place| (list, *place)))
        .collect()
}

/// A list that is made longer.
struct Growing {
    list: &'static List,
    in_block: bool,
}

impl Growing {
    fn program(&self, length: usize) -> String {
        let text = (self.list.program)(length);
        if !self.in_block {
            return text;
        }
        let lines = text.lines().map(|line| format!("  {line}\n"));
        format!("block outermost:\n{}do outermost\n", lines.collect::<String>())
    }

    /// How many times longer the work takes for twice the list.
    fn figure(&self, kind: &Kind) -> String {
        if kind.runs && !self.list.runs {
            return String::new();
        }
        let is_allowed = |length: usize| length <= MAX_LENGTH && self.program(length).len() <= MAX_BYTES;
        let mut length = 64;
        let mut taken = self.time(kind, length, 1);
        while taken < LONG && is_allowed(8 * length) {
            length *= 2;
            taken = self.time(kind, length, 1);
        }
        if taken > TOO_LONG {
            return format!("**{} s for {length}**", taken.as_secs());
        }
        // The shortest of several is what other work on the machine has disturbed least.
        let taken = self.time(kind, length, 2).min(taken);
        let of_longer = self.time(kind, 4 * length, 2);
        // Two doublings are less subject to chance than one.
        let times = (of_longer.as_secs_f64() / taken.as_secs_f64()).sqrt();
        match times {
            _ if of_longer < LONG / 2 => "-".to_owned(),
            times if times > SUSPECT => format!("**{times:.1}** ({}: {of_longer:.0?})", 4 * length),
            times => format!("{times:.1}"),
        }
    }

    /// The shortest time of so many rounds.
    fn time(&self, kind: &Kind, length: usize, rounds: usize) -> Duration {
        let text = self.program(length);
        let round = || {
            let work = (kind.prepare)(&text);
            let since = processor_time();
            let result = work();
            let taken = processor_time() - since;
            drop(result);
            taken
        };
        (0..rounds).map(|_| round()).min().unwrap_or_default()
    }
}

/// What this thread has had of the processor, which other work on the machine has little influence on.
#[cfg(unix)]
fn processor_time() -> Duration {
    use rustix::time::{ClockId, clock_gettime};
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

#[cfg(not(unix))]
fn processor_time() -> Duration {
    static START: std::sync::LazyLock<std::time::Instant> = std::sync::LazyLock::new(std::time::Instant::now);
    START.elapsed()
}

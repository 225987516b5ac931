//! What sessions with agents and providers cost, with real agents and servers on this machine in the place of their providers.
//!
//!     cargo bench -p prose-tests --bench agents
//!     cargo bench -p prose-tests --bench agents -- judges overhead
//!
//! * `judges`: what a decision sends to its model, and its time over a bare call of the same server;
//! * `overhead`: the time of a session over that of a bare call of the same server;
//! * `parallel`: processes and memory of 64 sessions at the same time;
//! * `faults`: a thousand sessions through a provider with faults;
//! * `rejected`: the time from the first rejected key to the end of the run;
//! * `killed`: the time from `kill -9` of `prose` to the end of the last process.
//!
//! Prints tables in Markdown. With `TMPDIR=/dev/shm`, the times are without those of the disk, which runs wait for.

#![allow(clippy::print_stdout, reason = "the figures go to standard output")]
#![allow(clippy::unwrap_used, reason = "a benchmark may fail")]

#[cfg(target_os = "linux")]
mod bare;
#[cfg(target_os = "linux")]
mod ends;
#[cfg(target_os = "linux")]
mod faults;
#[cfg(target_os = "linux")]
mod judges;
#[cfg(target_os = "linux")]
mod mock;
#[cfg(target_os = "linux")]
mod overhead;
#[cfg(target_os = "linux")]
mod parallel;
#[cfg(target_os = "linux")]
#[allow(dead_code, reason = "tests of the harness use the rest")]
#[path = "../../../crates/prose-harness/tests/it/provider/server.rs"]
mod server;

fn main() {
    // `cargo test` runs benchmarks too, to see that they start.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    #[cfg(target_os = "linux")]
    measure();
}

#[cfg(target_os = "linux")]
fn measure() {
    let parts: [(&str, fn()); 6] = [
        ("judges", judges::measure),
        ("overhead", overhead::measure),
        ("parallel", parallel::measure),
        ("faults", faults::measure),
        ("rejected", ends::rejected),
        ("killed", ends::killed),
    ];
    let wanted: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    for (name, measure) in parts {
        if wanted.is_empty() || wanted.iter().any(|wanted| wanted == name) {
            measure();
            println!();
        }
    }
}

/// The middle one of times.
#[cfg(target_os = "linux")]
fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

//! What imports from a registry cost in the editor: an edit while a registry is slow or silent, and opening a program with many imports.
//!
//!     cargo bench -p prose-tests --bench lsp_imports
//!
//! Prints tables in Markdown, times in milliseconds.

#![allow(clippy::print_stdout, reason = "the figures go to standard output")]

use std::time::{Duration, Instant};

use prose_tests::registry::TestRegistry;
use prose_tests::workspace::Workspace;
use serde_json::json;

const EDITS: usize = 200;

fn main() {
    // `cargo test` runs benchmarks too, to see that they start.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    println!("| 50 imports from a registry | edit to diagnostics | times |");
    println!("|---|--:|--:|");
    let known = edits(Duration::ZERO);
    println!("| that has answered | {known:.3} | 1.00 |");
    for (what, delay) in [("that answers after 5 s", 5), ("that never answers", 1_000)] {
        let slow = edits(Duration::from_secs(delay));
        println!("| {what} | {slow:.3} | {:.2} |", slow / known);
    }
    let round_trip = Duration::from_millis(50);
    let registry = registry(100, round_trip);
    // The mistakes tell when an import is known.
    let mut workspace = workspace(&registry, 100, |_| "other".to_owned());
    let cold = open(&mut workspace);
    let asked = registry.take_asked().len();
    workspace.restart();
    let warm = open(&mut workspace);
    println!();
    println!(
        "| 100 imports, 50 ms for each answer | open to all diagnostics | round trips' time | requests |"
    );
    println!("|---|--:|--:|--:|");
    println!("| cold | {cold:.0} | {:.1} | {asked} |", cold / round_trip.as_secs_f64() / 1000.0);
    println!("| warm | {warm:.1} | {:.1} | {} |", warm / 50.0, registry.take_asked().len());
}

fn registry(imports: usize, delay: Duration) -> TestRegistry {
    let registry = TestRegistry::start(&[]);
    for number in 0..imports {
        let text = format!(
            "input topic: \"What to look for\"\noutput result{number} = session \"Look up {{topic}}\"\n"
        );
        registry.put(&format!("alice/program{number}"), &text);
    }
    registry.answer_after(delay);
    registry
}

/// A program with so many imports, of each of which it asks for an output.
fn workspace(registry: &TestRegistry, imports: usize, output: impl Fn(usize) -> String) -> Workspace {
    let mut program = String::new();
    for number in 0..imports {
        program += &format!("use \"alice/program{number}\"\n");
    }
    for number in 0..imports {
        program += &format!(
            "let found{number} = program{number}(topic: \"tides\")\nsession \"Tell of {{found{number}.{}}}\"\n",
            output(number)
        );
    }
    let settings = format!("[registry]\nurl = \"{}\"\n", registry.url());
    Workspace::new(&[("main.prose", &program), ("prose.toml", &settings)])
}

/// The time, in milliseconds, from opening the program until every mistake in the use of its imports is told.
fn open(workspace: &mut Workspace) -> f64 {
    let since = Instant::now();
    workspace.open_saved("main.prose");
    loop {
        let told = workspace.pushed("main.prose");
        if told.iter().filter(|code| *code == "E028").count() == 100 {
            return since.elapsed().as_secs_f64() * 1000.0;
        }
    }
}

/// The median of the times, in milliseconds, from an edit to its diagnostics.
fn edits(delay: Duration) -> f64 {
    let registry = registry(50, delay);
    let mut workspace = workspace(&registry, 50, |number| format!("result{number}"));
    workspace.open_saved("main.prose");
    // By then the look-ups are under way, or over.
    std::thread::sleep(Duration::from_millis(1_500));
    workspace.client.take_all();
    let uri = workspace.uri("main.prose");
    let mut times: Vec<f64> = (0..EDITS)
        .map(|edit| {
            let end = json!({ "line": 50, "character": 0 });
            let range = json!({ "start": end, "end": end });
            let since = Instant::now();
            workspace.client.change(&uri, edit as i64 + 2, json!([{ "range": range, "text": "#\n" }]));
            workspace.client.diagnostics(&uri, edit as i64 + 2);
            since.elapsed().as_secs_f64() * 1000.0
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

//! Folds the events of a run, as `prose run --json` writes them, into one delta for each event.
//!
//!     cargo run -p prose-view --example deltas < review.jsonl > review.deltas.jsonl

use std::error::Error;
use std::io::{BufWriter, Write, stdin, stdout};

use prose_view::View;

fn main() -> Result<(), Box<dyn Error>> {
    let mut view = View::default();
    let mut out = BufWriter::new(stdout().lock());
    for line in stdin().lines() {
        let before = view.revision();
        view.apply(&serde_json::from_str(&line?)?);
        writeln!(out, "{}", serde_json::to_string(&view.since(before))?)?;
    }
    Ok(())
}

//! `prose lsp --replay`: a recorded session of an editor once more.

use std::io::Write;
use std::path::Path;

use anyhow::Context;
use prose_files::{Limit, read_named_text};

use crate::status::Status;
use crate::terminal::{Terminal, counted};

/// Replays the recording, and shows the first difference or writes all of them down.
pub(super) fn run(file: &Path, writes: bool, terminal: &Terminal) -> anyhow::Result<Status> {
    let path = file.display();
    let recording =
        read_named_text(file, Limit::NARRATION).map_err(|error| anyhow::anyhow!("`{path}` {error}"))?;
    let replayed = prose_lsp::replay(&recording).with_context(|| format!("`{path}`"))?;
    // A test of nothing would pass for ever.
    anyhow::ensure!(
        replayed.compared > 0,
        "`{path}` contains no server messages to compare; record a session with at least one request"
    );
    let compared = counted(replayed.compared, "message");
    let mut stderr = terminal.stderr();
    if writes {
        let is_whole = replayed.now.lines().count() >= recording.lines().count();
        anyhow::ensure!(is_whole, "`{path}` is not changed, since the server did not reply to all requests");
        if replayed.now != recording {
            std::fs::write(file, &replayed.now).with_context(|| format!("cannot write `{path}`"))?;
        }
        writeln!(
            stderr,
            "{compared} compared, {} written.",
            counted(replayed.differences.len(), "difference")
        )?;
        return Ok(Status::Clean);
    }
    let Some(first) = replayed.differences.first() else {
        writeln!(stderr, "{compared} compared, no difference.")?;
        return Ok(Status::Clean);
    };
    writeln!(terminal.stdout(), "{path}: {first}")?;
    writeln!(stderr, "{compared} compared, {}.", counted(replayed.differences.len(), "difference"))?;
    Ok(Status::ErrorsFound)
}

//! Does something again when files change, for `prose test --watch` and `prose check --watch`.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, SystemTime};

use tokio::sync::watch as channel;

use crate::run::interrupt::Interrupts;
use crate::terminal::{HELP, Terminal};

/// The time between two looks at the files.
const INTERVAL: Duration = Duration::from_millis(200);

/// What shows that files have changed.
pub(crate) type Stamps = BTreeMap<PathBuf, Stamp>;

/// What shows that a file has changed.
type Stamp = Option<(SystemTime, u64)>;

/// Runs `pass` now, and whenever one of the files changes whose stamps it returned, until the user stops it.
pub(crate) fn repeat(
    pass: &mut dyn FnMut() -> io::Result<Stamps>,
    stopped: &channel::Receiver<bool>,
    terminal: &Terminal,
) -> io::Result<()> {
    while !*stopped.borrow() {
        let before = pass()?;
        writeln!(terminal.stderr(), "{HELP}Watching for changes; Ctrl-C ends.{HELP:#}")?;
        while !*stopped.borrow() {
            let now: Stamps = before.keys().map(|path| (path.clone(), stamp(path))).collect();
            if now != before {
                break;
            }
            thread::sleep(INTERVAL);
        }
    }
    Ok(())
}

/// Becomes true with the first signal; a second one ends the process.
pub(crate) fn stopped_by_user() -> channel::Receiver<bool> {
    let (sender, stopped) = channel::channel(false);
    // The sender is kept: the receivers see an error without it.
    Interrupts::listen().tell_first(move || _ = sender.send(true));
    stopped
}

/// The stamps of files, and of the folders that contain them, in which others may be added.
pub(crate) fn stamps(files: Vec<PathBuf>) -> Stamps {
    let mut stamps = BTreeMap::new();
    for file in files {
        if let Some(folder) = file.parent() {
            let folder = if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder.to_owned() };
            let stamp = stamp(&folder);
            stamps.insert(folder, stamp);
        }
        let stamp = stamp(&file);
        stamps.insert(file, stamp);
    }
    stamps
}

fn stamp(path: &std::path::Path) -> Stamp {
    let metadata = path.metadata().ok()?;
    Some((metadata.modified().ok()?, if metadata.is_dir() { 0 } else { metadata.len() }))
}

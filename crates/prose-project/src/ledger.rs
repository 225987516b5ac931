//! What all runs of a user have used today, in a file outside of all projects.

use std::fs;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use prose_vm::budget::Spent;
use serde::{Deserialize, Serialize};

use crate::UserFiles;

/// The total of the day of all runs of a user.
///
/// Each change is a line that is appended to the file of the day while the file is locked, so that no change of another process is lost and a process that is
/// killed leaves what it has counted. Only lines that are new are read.
#[derive(Debug)]
pub struct Ledger {
    files: UserFiles,
    known: Mutex<Known>,
}

/// The part of the file that was read.
#[derive(Debug, Default)]
struct Known {
    day: u64,
    length: u64,
    total: Change,
}

/// A change of the total.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
struct Change {
    cost: f64,
    tokens: i64,
    sessions: i64,
    unpriced_tokens: i64,
    unpriced_requests: i64,
}

impl Ledger {
    /// The total in the files of a user.
    pub fn new(files: UserFiles) -> Self {
        Self { files, known: Mutex::default() }
    }

    /// Counts what a request has used up to now in place of what it was counted with before, and returns the total. A change that cannot be written counts
    /// for this process alone: a run is not lost for it.
    pub fn spend(&self, before: Spent, now: Spent, at: SystemTime) -> Spent {
        let mut known = self.known(at);
        let change = Change::of(now) - Change::of(before);
        if self.update(&mut known, Some(change)).is_err() {
            known.total = known.total + change;
        }
        known.total.spent()
    }

    /// The total.
    pub fn today(&self, at: SystemTime) -> Spent {
        let mut known = self.known(at);
        let path = self.files.path(&file_of(known.day));
        let length = path.and_then(|path| fs::metadata(path).ok()).map_or(0, |metadata| metadata.len());
        if length != known.length {
            // What cannot be read counts as nothing new.
            let _ = self.update(&mut known, None);
        }
        known.total.spent()
    }

    fn known(&self, at: SystemTime) -> MutexGuard<'_, Known> {
        const DAY: Duration = Duration::from_secs(24 * 60 * 60);
        let day = at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs() / DAY.as_secs();
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.day != day {
            *known = Known { day, ..Known::default() };
        }
        known
    }

    /// Reads what is new, after a change is appended.
    fn update(&self, known: &mut Known, change: Option<Change>) -> io::Result<()> {
        let mut file = self.files.open_log(&file_of(known.day)).map_err(io::Error::other)?;
        file.lock()?;
        let length = file.metadata()?.len();
        if length == 0 {
            self.remove_earlier(known.day);
        }
        if length < known.length {
            *known = Known { day: known.day, ..Known::default() };
        }
        file.seek(SeekFrom::Start(known.length))?;
        let mut new = Vec::new();
        file.read_to_end(&mut new)?;
        // A line without its end belongs to a process that was killed while it wrote.
        let is_torn = new.last().is_some_and(|last| *last != b'\n');
        known.total = lines(&new).fold(known.total, |total, change| total + change);
        known.length += new.len() as u64;
        let Some(change) = change else { return Ok(()) };
        let mut line = if is_torn { vec![b'\n'] } else { Vec::new() };
        serde_json::to_writer(&mut line, &change)?;
        line.push(b'\n');
        file.write_all(&line)?;
        known.total = known.total + change;
        known.length += line.len() as u64;
        Ok(())
    }

    /// Removes the files of earlier days. That of yesterday is left: runs may still write to it.
    fn remove_earlier(&self, day: u64) {
        for earlier in day.saturating_sub(30)..day.saturating_sub(1) {
            if let Some(path) = self.files.path(&file_of(earlier)) {
                // It may not exist.
                let _ = fs::remove_file(path);
            }
        }
    }
}

/// The name of the file of a day, by its number since 1970 in UTC.
fn file_of(day: u64) -> String {
    format!("spent-{day}.jsonl")
}

fn lines(bytes: &[u8]) -> impl Iterator<Item = Change> {
    bytes.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok())
}

impl Change {
    fn of(spent: Spent) -> Self {
        let Spent { cost, tokens, sessions, unpriced_tokens, unpriced_requests } = spent;
        Self {
            cost,
            tokens: tokens.try_into().unwrap_or(i64::MAX),
            sessions: sessions.into(),
            unpriced_tokens: unpriced_tokens.try_into().unwrap_or(i64::MAX),
            unpriced_requests: unpriced_requests.into(),
        }
    }

    fn spent(self) -> Spent {
        let count = |number: i64| u32::try_from(number.max(0)).unwrap_or(u32::MAX);
        Spent {
            cost: self.cost.max(0.0),
            tokens: self.tokens.max(0).cast_unsigned(),
            sessions: count(self.sessions),
            unpriced_tokens: self.unpriced_tokens.max(0).cast_unsigned(),
            unpriced_requests: count(self.unpriced_requests),
        }
    }
}

impl std::ops::Add for Change {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            cost: self.cost + other.cost,
            tokens: self.tokens.saturating_add(other.tokens),
            sessions: self.sessions.saturating_add(other.sessions),
            unpriced_tokens: self.unpriced_tokens.saturating_add(other.unpriced_tokens),
            unpriced_requests: self.unpriced_requests.saturating_add(other.unpriced_requests),
        }
    }
}

impl std::ops::Sub for Change {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        let less = Self {
            cost: -other.cost,
            tokens: -other.tokens,
            sessions: -other.sessions,
            unpriced_tokens: -other.unpriced_tokens,
            unpriced_requests: -other.unpriced_requests,
        };
        self + less
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    const TODAY: SystemTime = SystemTime::UNIX_EPOCH;
    const NOTHING: Spent = Spent { sessions: 0, ..Spent::SESSION };
    const SPENT: Spent = Spent { cost: 0.25, tokens: 10, ..NOTHING };

    fn ledger(folder: &Path) -> Ledger {
        Ledger::new(UserFiles::at(folder.join("prose")))
    }

    #[test]
    fn no_change_of_another_process_is_lost() {
        let folder = tempfile::tempdir().unwrap();
        let other = ledger(folder.path());
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    // Each has a view of the file of its own, as another process has.
                    let own = ledger(folder.path());
                    for _ in 0..50 {
                        own.spend(NOTHING, SPENT, TODAY);
                    }
                });
            }
        });
        let total = other.today(TODAY);
        assert_eq!((total.cost, total.tokens), (100.0, 4_000));
        assert_eq!(other.spend(NOTHING, Spent::SESSION, TODAY).sessions, 1);
        let tomorrow = TODAY + Duration::from_secs(86_400);
        assert_eq!(other.spend(NOTHING, SPENT, tomorrow), SPENT);
    }

    #[test]
    fn what_a_request_has_used_up_to_now_replaces_what_it_was_counted_with() {
        let folder = tempfile::tempdir().unwrap();
        let (one, other) = (ledger(folder.path()), ledger(folder.path()));
        let estimated = Spent { cost: 0.5, tokens: 30, unpriced_tokens: 20, ..NOTHING };
        assert_eq!(one.spend(NOTHING, estimated, TODAY), estimated);
        assert_eq!(other.today(TODAY), estimated);
        assert_eq!(one.spend(estimated, SPENT, TODAY), SPENT);
        assert_eq!(other.today(TODAY), SPENT);
    }

    #[test]
    fn a_line_of_a_killed_process_costs_no_other_line() {
        let folder = tempfile::tempdir().unwrap();
        let one = ledger(folder.path());
        one.spend(NOTHING, SPENT, TODAY);
        let path = folder.path().join("prose").join(file_of(0));
        let mut file = fs::OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(b"{\"cost\":0.5,\"tok").unwrap();
        let total = one.spend(NOTHING, SPENT, TODAY);
        assert_eq!(total, Spent { cost: 0.5, tokens: 20, ..NOTHING });
        assert_eq!(ledger(folder.path()).today(TODAY), total);
    }

    #[test]
    fn a_total_that_cannot_be_written_counts_for_the_process() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("prose"), "no folder").unwrap();
        let ledger = ledger(folder.path());
        ledger.spend(NOTHING, SPENT, TODAY);
        assert_eq!(ledger.spend(NOTHING, SPENT, TODAY).tokens, 20);
    }

    #[test]
    fn files_of_earlier_days_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let ledger = ledger(folder.path());
        for day in 10..14 {
            ledger.spend(NOTHING, SPENT, TODAY + Duration::from_secs(86_400 * day));
        }
        let names = fs::read_dir(folder.path().join("prose")).unwrap();
        let mut names: Vec<_> = names.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["spent-12.jsonl", "spent-13.jsonl"]);
    }
}

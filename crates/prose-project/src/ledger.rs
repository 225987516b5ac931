//! What all runs of a user have used today, in a file outside of all projects.

use std::time::{Duration, SystemTime};

use prose_vm::budget::Spent;
use serde::{Deserialize, Serialize};

use crate::UserFiles;

/// The file with what all runs of the user have used on the last day on which one ran.
pub struct Ledger<'a>(&'a UserFiles);

const LEDGER: &str = "spent.json";

/// The content of the file.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct Entry {
    /// The number of the day since 1970, in UTC.
    day: u64,
    spent: Spent,
}

impl<'a> Ledger<'a> {
    /// The total in the files of a user.
    pub fn new(files: &'a UserFiles) -> Self {
        Self(files)
    }

    /// Adds to what was used today, and returns the total. A total that cannot be written counts for this run alone: a run is not lost for it.
    pub fn spend(&self, spent: Spent, now: SystemTime) -> Spent {
        const DAY: Duration = Duration::from_secs(24 * 60 * 60);
        let day = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs() / DAY.as_secs();
        if spent == Spent::default() {
            return self.read(day).spent;
        }
        let locked = self.0.lock();
        let entry = Entry { spent: self.read(day).spent.and(spent), day };
        if let (Ok(locked), Ok(text)) = (locked, serde_json::to_vec(&entry)) {
            let _ = locked.write(LEDGER, &text);
        }
        entry.spent
    }

    fn read(&self, day: u64) -> Entry {
        let read = self.0.read(LEDGER).ok().flatten();
        let entry = read.and_then(|bytes| serde_json::from_slice::<Entry>(&bytes).ok());
        entry.filter(|entry| entry.day == day).unwrap_or(Entry { day, ..Entry::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_a_day_share_a_total() {
        let folder = tempfile::tempdir().unwrap();
        let files = UserFiles::at(folder.path().join("prose"));
        let (today, tomorrow) =
            (SystemTime::UNIX_EPOCH, SystemTime::UNIX_EPOCH + Duration::from_secs(86_400));
        let spent = Spent { cost: 0.25, tokens: 10, ..Spent::default() };
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| Ledger::new(&files).spend(spent, today));
            }
        });
        let total = Ledger::new(&files).spend(Spent::default(), today);
        assert_eq!((total.cost, total.tokens), (2.0, 80));
        assert_eq!(Ledger::new(&files).spend(spent, tomorrow), spent);
    }
}

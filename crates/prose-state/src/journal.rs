//! The journal of a run: one line per event, written before the program continues (decision 10).
//!
//! A line is an object of JSON whose first field is a checksum of the bytes after that field, so that a line that is torn or has been changed is
//! found out and the file can still be read with any tool for JSON. The checksums of all lines but the first one start from the id of the run, so that
//! a line of another run does not fit.

use std::fmt;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use prose_vm::event::{Event, EventKind};
use prose_vm::value::Value;

use crate::disk::OwnFile;
use crate::error::StateError;
use crate::line::{BEHIND_CHECKSUM, LINE_START, SEAL_START, checksum_of, seed_of_run};
use crate::recall::ReadablePart;
use crate::row_writer::{DatabaseKind, RowWriter, SharedRowWriter, database_of};
pub use crate::source::{JOURNAL_FILE, journal_of};

/// How long the journal gathers lines at least between two syncs. A loss of power costs at most what was written since the last one; the end of a process
/// costs nothing.
const SYNC_PAUSE: Duration = Duration::from_millis(20);

/// How many times the duration of a sync passes before the next one: where many files are made, each sync has to bring all of them to the disk, and
/// everything else that makes files waits for it.
const PAUSE_PER_SYNC: u32 = 5;

/// How long it gathers lines at most.
const MAX_PAUSE: Duration = Duration::from_secs(1);

/// Seals the first line of a journal: gives a text that only this machine's user could have made of the bytes of the line.
#[derive(Clone)]
pub struct Sealer(Arc<Seal>);

/// Makes the seal of a text.
type Seal = dyn Fn(&[u8]) -> String + Send + Sync;

impl Sealer {
    /// What it makes has to be free of quotes and control characters, such as hexadecimal digits.
    pub fn new(seal: impl Fn(&[u8]) -> String + Send + Sync + 'static) -> Self {
        Self(Arc::new(seal))
    }
}

impl fmt::Debug for Sealer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sealer")
    }
}

/// A journal that is written to.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    target: Target,
    /// What has to be synced: the file, or the log of the database.
    file: Arc<File>,
    /// Which file had the path when it was opened, if any.
    identity: Option<Identity>,
    /// The bytes of all lines that are written.
    length: u64,
    last_seq: u64,
    /// Why nothing more can be written. Events after a lost one would make a journal that mentions something that never happened.
    broken: Option<String>,
    /// The lines that wait to be written together.
    lines: Vec<u8>,
    /// What the checksums of the lines after the head start from.
    seed: u32,
    /// Brings lines to the disk, unless the database does so itself.
    syncer: Option<Syncer>,
    sealer: Option<Sealer>,
}

/// Where lines are written to.
#[derive(Debug)]
enum Target {
    File,
    Database(SharedRowWriter),
}

/// How many bytes of lines wait at most to be written together.
const MAX_WAITING: usize = 1 << 16;

impl Journal {
    /// Starts a journal.
    pub fn create(path: &Path) -> Result<Self, StateError> {
        let sound = ReadablePart::default();
        match database_of(path) {
            Some(kind) => Self::in_database(RowWriter::create(kind, path)?, path, &sound),
            None => Self::in_file(OwnFile(path).create_new()?, path, &sound),
        }
    }

    /// Continues with a journal after its last sound line.
    pub fn resume(path: &Path, sound: &ReadablePart) -> Result<Self, StateError> {
        match database_of(path) {
            Some(kind) => Self::in_database(RowWriter::open(kind, path)?, path, sound),
            None => Self::in_file(OwnFile(path).appender()?, path, sound),
        }
    }

    fn in_database(mut database: RowWriter, path: &Path, sound: &ReadablePart) -> Result<Self, StateError> {
        let log = Arc::new(database.log()?);
        let syncer = match database.kind() {
            DatabaseKind::Sqlite => Some(Syncer::start(&log, path)?),
            DatabaseKind::Postgres => None,
        };
        Ok(Self::on(Target::Database(SharedRowWriter::new(database)), log, syncer, path, sound))
    }

    fn in_file(file: File, path: &Path, sound: &ReadablePart) -> Result<Self, StateError> {
        let file = Arc::new(file);
        let syncer = Syncer::start(&file, path)?;
        Ok(Self::on(Target::File, file, Some(syncer), path, sound))
    }

    fn on(
        target: Target,
        file: Arc<File>,
        syncer: Option<Syncer>,
        path: &Path,
        sound: &ReadablePart,
    ) -> Self {
        let ReadablePart { length, last_seq, seed, .. } = *sound;
        let path = path.to_owned();
        let lines = Vec::new();
        let identity = Identity::of(&path);
        Self {
            path,
            target,
            file,
            identity,
            length,
            last_seq,
            broken: None,
            lines,
            seed,
            syncer,
            sealer: None,
        }
    }

    /// From now on, the start of a run is sealed.
    pub(crate) fn seal_with(&mut self, sealer: Sealer) {
        self.sealer = Some(sealer);
    }

    /// The database that it is a table of, if it is.
    pub(crate) fn database(&self) -> Option<SharedRowWriter> {
        match &self.target {
            Target::File => None,
            Target::Database(database) => Some(database.clone()),
        }
    }

    /// The number of the last event.
    pub fn last_seq(&self) -> u64 {
        self.last_seq
    }

    /// Takes up an event. It is written together with those after it, by the next [`Journal::flush`] at the latest.
    pub fn append(&mut self, event: &Event) -> io::Result<()> {
        if let Some(why) = &self.broken {
            return Err(io::Error::other(why.clone()));
        }
        self.check_synced()?;
        if event.seq <= self.last_seq {
            let message = format!(
                "event {} cannot be written after event {} of {}",
                event.seq,
                self.last_seq,
                self.path.display()
            );
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        let mut seed = self.seed;
        if let EventKind::RunStarted(head) = &event.kind {
            // How the other lines are checked is known only from the head.
            seed = 0;
            self.seed = seed_of_run(head.version, &head.run);
        }
        let before = self.lines.len();
        if let Err(error) = write_line(&mut self.lines, event, seed, self.sealer.as_ref()) {
            self.lines.truncate(before);
            return Err(error);
        }
        self.last_seq = event.seq;
        if self.lines.len() > MAX_WAITING { self.flush() } else { Ok(()) }
    }

    /// Writes the events that wait. They survive the end of the process from now on, and are synced soon.
    pub fn flush(&mut self) -> io::Result<()> {
        if self.lines.is_empty() {
            // Rows of other tables may wait.
            let committed = match &self.target {
                Target::File => Ok(()),
                Target::Database(database) => database.lock().commit(),
            };
            return committed.map_err(|error| self.fail("write", error));
        }
        let result = match &self.target {
            // One call, so that the end of the process tears no line.
            Target::File => (&*self.file).write_all(&self.lines).inspect_err(|_| {
                // Where a part has reached the disk, it is taken off again, so that the journal ends with a whole line.
                let _ = self.file.set_len(self.length);
            }),
            Target::Database(database) => database.lock().write_lines(self.length, &self.lines),
        };
        let length = self.lines.len() as u64;
        self.lines.clear();
        // A large reply must not keep its room until the run ends.
        self.lines.shrink_to(2 * MAX_WAITING);
        if let Err(error) = result {
            return Err(self.fail("write", error));
        }
        self.length += length;
        if let Some(syncer) = &self.syncer {
            syncer.wake();
        }
        Ok(())
    }

    /// Writes the events that wait, and returns when they are on the disk, unless results come faster than the disk takes them: then they are gathered and
    /// synced soon.
    pub fn commit(&mut self) -> io::Result<()> {
        self.flush()?;
        self.check_place()?;
        if let Some(syncer) = &self.syncer {
            syncer.wait();
        }
        self.check_synced()
    }

    /// Returns when everything is on the disk.
    pub fn sync(&mut self) -> io::Result<()> {
        self.flush()?;
        self.check_place()?;
        self.check_synced()?;
        match self.file.sync_data() {
            Ok(()) => Ok(()),
            Err(error) => Err(self.fail("sync", error)),
        }
    }

    /// Fails where lines that were written could not be brought to the disk.
    fn check_synced(&mut self) -> io::Result<()> {
        match self.syncer.as_ref().and_then(Syncer::take_error) {
            Some(error) => Err(self.fail("sync", error)),
            None => Ok(()),
        }
    }

    /// Refuses to go on where the file is not at its path any more. The system lets a deleted file be written to, and all of it is lost in the end.
    fn check_place(&mut self) -> io::Result<()> {
        if self.identity.is_none() || Identity::of(&self.path) == self.identity {
            return Ok(());
        }
        let error =
            io::Error::new(io::ErrorKind::NotFound, "it was deleted or replaced while the run was executed");
        Err(self.fail("write", error))
    }

    fn fail(&mut self, doing: &'static str, error: io::Error) -> io::Error {
        let error = match &self.target {
            // What a server says is complete, and names the server.
            Target::Database(database) if database.lock().kind() == DatabaseKind::Postgres => error,
            _ => io::Error::from(StateError::io(doing, &self.path)(error)),
        };
        self.broken = Some(error.to_string());
        error
    }
}

/// By what a file is known to be the same one.
#[derive(Debug, PartialEq, Eq)]
struct Identity {
    #[cfg(unix)]
    number: (u64, u64),
}

impl Identity {
    /// The file at a path; `None` if there is none. Nothing is opened: closing it would release the locks of SQLite.
    fn of(path: &Path) -> Option<Self> {
        let metadata = path.symlink_metadata().ok()?;
        #[cfg(unix)]
        let identity = {
            use std::os::unix::fs::MetadataExt;
            Self { number: (metadata.dev(), metadata.ino()) }
        };
        // Where a file that is open cannot be deleted, that it is there is enough.
        #[cfg(not(unix))]
        let identity = {
            let _ = metadata;
            Self {}
        };
        Some(identity)
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        // No caller is left for the error. What happens again when the run continues is not lost either way.
        if self.broken.is_none() {
            let _ = self.flush();
        }
    }
}

/// Writes the line of an event after others, with its checksum and its end.
pub(crate) fn write_line(
    lines: &mut Vec<u8>,
    event: &Event,
    seed: u32,
    sealer: Option<&Sealer>,
) -> io::Result<()> {
    let start = lines.len();
    lines.extend_from_slice(LINE_START);
    lines.extend_from_slice(b"00000000");
    lines.extend_from_slice(BEHIND_CHECKSUM);
    let body = lines.len();
    // The reply stands in the line of its effect already; readers fill it in again.
    if let EventKind::Bound { reply: Some(_), .. } = &event.kind {
        let mut event = event.clone();
        if let EventKind::Bound { value, .. } = &mut event.kind {
            *value = Value::Null;
        }
        serde_json::to_writer(&mut *lines, &event)?;
    } else {
        serde_json::to_writer(&mut *lines, event)?;
    }
    // The brace of the event is that of the line, which stands before the checksum.
    lines.remove(body);
    if let (Some(Sealer(seal)), EventKind::RunStarted(_)) = (sealer, &event.kind) {
        let seal = seal(&lines[body..]);
        let field = [SEAL_START, seal.as_bytes(), BEHIND_CHECKSUM].concat();
        lines.splice(body..body, field);
    }
    let checksum = format!("{:08x}", checksum_of(&lines[body..], seed));
    let digits = start + LINE_START.len();
    lines[digits..digits + checksum.len()].copy_from_slice(checksum.as_bytes());
    lines.push(b'\n');
    Ok(())
}

/// A thread that brings to the disk what has been written, many lines at once.
#[derive(Debug)]
struct Syncer {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<SyncState>,
    changed: Condvar,
    synced: Condvar,
}

#[derive(Debug, Default)]
struct SyncState {
    /// Whether something has been written since the last sync began.
    dirty: bool,
    /// Whether what was written before is being synced.
    syncing: bool,
    /// Whether lines are gathered, since the last sync was a moment ago.
    gathering: bool,
    closing: bool,
    error: Option<io::Error>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, SyncState> {
        // Nothing panics while it holds the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Syncer {
    fn start(file: &Arc<File>, path: &Path) -> Result<Self, StateError> {
        let shared = Arc::new(Shared::default());
        let thread = std::thread::Builder::new().name("prose-journal".to_owned()).spawn({
            let (file, shared) = (Arc::clone(file), Arc::clone(&shared));
            move || sync_in_groups(&file, &shared)
        });
        let thread = thread.map_err(StateError::io("sync", path))?;
        Ok(Self { shared, thread: Some(thread) })
    }

    fn wake(&self) {
        let mut state = self.shared.lock();
        if !state.dirty {
            state.dirty = true;
            self.shared.changed.notify_one();
        }
    }

    /// Waits for a sync that begins at once. One that has to wait itself is not waited for.
    fn wait(&self) {
        let state = self.shared.lock();
        let _state = self
            .shared
            .synced
            .wait_while(state, |state| (state.dirty && !state.gathering) || state.syncing)
            .unwrap_or_else(PoisonError::into_inner);
    }

    fn take_error(&self) -> Option<io::Error> {
        self.shared.lock().error.take()
    }
}

impl Drop for Syncer {
    fn drop(&mut self) {
        self.shared.lock().closing = true;
        self.shared.changed.notify_one();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn sync_in_groups(file: &File, shared: &Shared) {
    let mut state = shared.lock();
    let mut pause = SYNC_PAUSE;
    loop {
        state = shared
            .changed
            .wait_while(state, |state| !state.dirty && !state.closing)
            .unwrap_or_else(PoisonError::into_inner);
        if state.dirty {
            state.dirty = false;
            state.syncing = true;
            drop(state);
            let start = Instant::now();
            let result = file.sync_data();
            pause = (start.elapsed() * PAUSE_PER_SYNC).clamp(SYNC_PAUSE, MAX_PAUSE);
            state = shared.lock();
            if let Err(error) = result {
                state.error = Some(error);
            }
            state.syncing = false;
            state.gathering = true;
            shared.synced.notify_all();
        }
        if state.closing {
            return;
        }
        state = shared
            .changed
            .wait_timeout_while(state, pause, |state| !state.closing)
            .unwrap_or_else(PoisonError::into_inner)
            .0;
        state.gathering = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::OpenOptions;

    use prose_vm::place::Place;

    fn warning(seq: u64) -> Event {
        let kind = EventKind::Warning { message: "x".repeat(10_000) };
        Event { seq, at: 0, paused: 0, place: Place::root(), site: None, frame: 0, nesting: 0, kind }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_full_disk_is_told_with_the_file_and_stays_an_error() {
        let full = OpenOptions::new().append(true).open("/dev/full").unwrap();
        let path = Path::new("/p/.prose/runs/20260115-143052-a7b3c9/journal.jsonl");
        let mut journal = Journal::in_file(full, path, &ReadablePart::default()).unwrap();
        let expected = "cannot write /p/.prose/runs/20260115-143052-a7b3c9/journal.jsonl: No space left on device (os error 28); \
                        free disk space and resume the run, recorded results are not lost";
        journal.append(&warning(1)).unwrap();
        let error = journal.flush().unwrap_err();
        assert_eq!(error.to_string(), expected);
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        let again = journal.append(&warning(2)).unwrap_err();
        assert_eq!(again.to_string(), expected);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_result_that_comes_alone_is_synced_before_the_program_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let mut journal = Journal::create(&folder.path().join(JOURNAL_FILE)).unwrap();
        for seq in 1..4 {
            journal.append(&warning(seq)).unwrap();
            journal.commit().unwrap();
            let state = journal.syncer.as_ref().unwrap().shared.lock();
            assert!(!state.dirty && !state.syncing, "{state:?}");
            drop(state);
            let end = std::time::Instant::now() + Duration::from_secs(60);
            while journal.syncer.as_ref().unwrap().shared.lock().gathering {
                assert!(std::time::Instant::now() < end, "it gathers for ever");
                std::thread::sleep(Duration::from_millis(1));
            }
        }

        let (_reader, writer) = std::io::pipe().unwrap();
        let writer = File::from(std::os::fd::OwnedFd::from(writer));
        let mut journal =
            Journal::in_file(writer, Path::new("journal.jsonl"), &ReadablePart::default()).unwrap();
        journal.append(&warning(1)).unwrap();
        let error = journal.commit().unwrap_err();
        assert!(error.to_string().starts_with("cannot sync journal.jsonl: "), "{error}");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn errors_of_the_syncing_thread_come_up_at_a_later_call() {
        // A pipe takes what is written and cannot be synced.
        let (mut reader, writer) = std::io::pipe().unwrap();
        let writer = File::from(std::os::fd::OwnedFd::from(writer));
        let drain = std::thread::spawn(move || io::copy(&mut reader, &mut io::sink()));
        let mut journal =
            Journal::in_file(writer, Path::new("journal.jsonl"), &ReadablePart::default()).unwrap();
        let mut seq = 0;
        let error = loop {
            seq += 1;
            match journal.append(&warning(seq)).and_then(|()| journal.flush()) {
                Ok(()) if seq < 10_000 => std::thread::sleep(Duration::from_millis(1)),
                Ok(()) => panic!("the error never comes up"),
                Err(error) => break error,
            }
        };
        assert!(error.to_string().starts_with("cannot sync journal.jsonl: "), "{error}");
        drop(journal);
        drain.join().unwrap().unwrap();
    }
}

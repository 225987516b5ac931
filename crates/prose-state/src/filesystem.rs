//! The state of a run in its folder: its journal, and what is made from the same events, files (R96 to R104) or the tables of a database (R111 to R117).

use std::borrow::Cow;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use prose_files::Limit;
use prose_vm::earlier::ChangedVariable;
use prose_vm::effect::{
    Binding, Effect, Failure, FileUse, Memory, MemoryPlace, MemoryScope, MemoryUse, Outcome, Request,
    RequestId,
};
use prose_vm::error::ErrorKind;
use prose_vm::event::{Event, EventKind, Expense, RunHead, StateMode};
use prose_vm::place::Place;
use prose_vm::store::{Store, Turn};
use prose_vm::value::Value;
use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;

use crate::at_work::{AtWorkFile, Unsettled};
use crate::binding_file;
use crate::context_file;
use crate::disk::{Identity, Tree};
use crate::error::StateError;
use crate::executions::Executions;
use crate::files::Writer;
use crate::folder::{NewRun, PROGRAM_FILE, Project};
use crate::foreign::ForeignRecording;
use crate::journal::{JOURNAL_FILE, Journal, Sealer, journal_of};
use crate::lock::RunLock;
use crate::memory::Memories;
use crate::postgres::Notice;
use crate::prompt_file;
use crate::reader::read_length;
use crate::recall::{JournalRecording, LookedUp, Matching, ReadablePart};
pub use crate::remembered::Remembered;
use crate::remembered::{Journals, SessionMemories};
use crate::repair::{self, JournalCopies, repair, truncate};
use crate::row_writer::{DatabaseKind, is_database};
use crate::source::JournalSource;
use crate::state_file::STATE_FILE;
use crate::tables::Tables;
use crate::turns::Turns;

/// Keeps the state of a run in files, or in a database in its folder.
#[derive(Debug)]
pub struct FilesystemStore {
    run: SmolStr,
    folder: PathBuf,
    journal: Journal,
    at_work: AtWorkFile,
    writer: Writer,
    /// The tables, if the state is in a database.
    tables: Option<Tables>,
    /// Whether bindings have files. With a database, they have where the prompts of the run name them: it was started with files.
    has_binding_files: bool,
    memories: Memories,
    project: Project,
    /// Whether events that happened before are written too: the journal is a new one.
    writes_all: bool,
    /// Requests whose agent wrote the binding file itself.
    written_by_agent: FxHashSet<RequestId>,
    /// The files of bindings as they were before the sessions started that may write to them.
    prepared: FxHashMap<String, Identity>,
    turns: Turns,
    /// What sessions have left of memories in earlier executions.
    left_memories: SessionMemories,
    /// The number of the last event that happened before this execution.
    replayed_to: u64,
    /// Places of sessions with a memory whose results another machine has left, with that memory.
    recalled: FxHashSet<Place>,
    is_foreign: bool,
    /// Whether this process leads the run, which is one of a cluster.
    is_led: bool,
    /// Whether it is of a run with the answers of an earlier run, and in which way.
    replays: Option<ReplayMode>,
    /// What the files of bindings should hold as far as the run has been executed again.
    replayed: FxHashMap<String, (Binding, Value)>,
    /// Given back last, when nothing is written any more.
    _lock: RunLock,
}

/// How a run takes the answers of an earlier run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplayMode {
    /// It asks nothing. Memories that outlive runs stay as they are.
    Offline,
    /// It asks what is not recorded. Memories that outlive runs are not written again by sessions whose results are recorded.
    Live,
}

/// How a run is resumed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resume {
    /// With the same program.
    Exact,
    /// With a program that has changed: what still matches is kept, and a new journal is written.
    AcceptChanges,
}

/// A resumed run.
#[derive(Debug)]
pub struct Resumed {
    /// Its state.
    pub store: FilesystemStore,
    /// What is known of its earlier execution.
    pub recall: Remembered,
    /// What the person should know, such as that a line of the journal is damaged.
    pub notes: Vec<String>,
    /// The variables that a person has set in the run, in the order in which they did.
    pub variables: Vec<ChangedVariable>,
    /// The inputs that the program was started with, where the head of the journal is lost, which has them too.
    pub inputs: Option<Vec<(SmolStr, Value)>>,
}

impl FilesystemStore {
    /// Makes the folder of a new run of a program.
    pub fn create(project: &Project, text: &str, at: SystemTime) -> Result<Self, StateError> {
        Self::create_as(None, project, text, at, StateMode::Filesystem)
    }

    /// The same with an id, unless another run has it, and with the state in files or in a database.
    pub fn create_as(
        id: Option<&str>,
        project: &Project,
        text: &str,
        at: SystemTime,
        state: StateMode,
    ) -> Result<Self, StateError> {
        let made = project.make_run(id, at).map_err(|error| error.before_start(&project.runs()))?;
        let filled = || -> Result<_, StateError> {
            let lock = RunLock::acquire(&made.tree, &made.id)?;
            let database = DatabaseKind::of_state(state);
            let name = database.map_or(JOURNAL_FILE, DatabaseKind::file);
            let journal = Journal::create(&made.tree.folder().path().join(name))?;
            made.tree.write(PROGRAM_FILE, text.as_bytes())?;
            if database.is_none() {
                made.tree.make_folder("bindings")?;
            }
            made.sync()?;
            Ok((lock, journal))
        };
        match filled() {
            Ok((lock, journal)) => {
                let NewRun { id, folder, tree, .. } = made;
                Ok(Self::new(project, id, folder, text, lock, journal, tree, true))
            }
            Err(error) => {
                // A run that never started is of no use. What cannot be removed matters less than the reason.
                let _ = fs::remove_dir_all(made.tree.folder().path());
                Err(error.before_start(&project.runs()))
            }
        }
    }

    /// Continues with a run. The text is that of the program as it is executed now.
    ///
    /// If the run was interrupted, the event that says so is taken off its journal, since the run has no end yet; if it failed by what came of
    /// a request, that outcome is, so that it is asked again. A damaged journal is kept as it is
    /// and repaired. A run without a journal was made by another machine; what its files tell is recalled (R104).
    pub fn resume(project: &Project, id: &str, text: &str, how: Resume) -> Result<Resumed, StateError> {
        let folder = project.existing_run(id)?;
        let tree = project.run_tree(&folder)?;
        let lock = RunLock::acquire(&tree, id)?;
        // With the lock, no other process writes here.
        tree.remove_temporary_files(Duration::ZERO);
        // From here on no link stands on the way to it.
        let folder = tree.folder().path().to_owned();
        let path = journal_of(&folder);
        if !is_database(&path) {
            tree.make_folder("bindings")?;
        }
        let mut notes = Vec::new();
        let journals = Journals { folder: &folder, run: id };
        let mut inputs = None;
        let mut turns = Turns::default();
        let mut variables = Vec::new();
        let memories = Memories::new(project, &folder);
        let has_journal = JournalSource::is_there(&path)?;
        let is_empty = has_journal && read_length(&path)? == 0;
        // That of a database is there also after it was put away, and a process may have been killed before its first line.
        let is_next = is_empty && journals.count() > 0;
        let has_journal = has_journal && !is_next;
        // A run that was killed before its first line has no state either.
        if is_empty && tree.folder().identity(STATE_FILE)?.is_some() {
            notes.push(format!(
                "{} is empty, so all sessions run again; to resume from {STATE_FILE} and the bindings instead, remove it first",
                path.display()
            ));
        }
        let (recall, journal) = match (has_journal, how) {
            (true, Resume::Exact) => {
                let mut recall = JournalRecording::open(&path, Matching::Exact)?;
                if recall.sound().damage.is_some() {
                    notes.extend(repair(&path, id, None)?);
                    recall = JournalRecording::open(&path, Matching::Exact)?;
                }
                recall.take_off_end(id)?;
                notes.extend(take_open_turns(&mut recall, &path, id, &memories, &mut turns)?);
                variables = recall.changed_variables()?;
                let copies = JournalCopies(&folder).all();
                let last_seq = recall.sound().last_seq;
                let unsettled = Unsettled { run: id, journal: &path, copies: &copies }.of_latest(last_seq)?;
                recall.add_expenses(unsettled);
                let journal = Journal::resume(&path, recall.sound())?;
                if journal.last_seq() == 0 {
                    inputs = repair::inputs(&folder, id)?;
                }
                let mut recalls = vec![recall];
                recalls.extend(journals.recall(Some(&path))?);
                (Remembered { journals: recalls, foreign: None }, journal)
            }
            (false, _) if journals.count() == 0 => {
                let recall = ForeignRecording::read(&folder, text)?;
                notes.extend(recall.notes().iter().cloned());
                let foreign = Some(Box::new(recall));
                (Remembered { foreign, ..Remembered::default() }, Journal::create(&path)?)
            }
            // Without a journal, the process was killed after it had put away that of the program before it changed.
            (has_journal, _) => {
                if has_journal {
                    journals.put_away(&path)?;
                }
                journals.put_away_at_work()?;
                let mut recalls = journals.recall(None)?;
                if let Some(latest) = recalls.first_mut() {
                    latest.carry_expenses(id)?;
                }
                for damage in recalls.iter().filter_map(|recall| recall.sound().damage.as_ref()) {
                    notes.push(format!("{damage}; the other lines are used"));
                }
                let journal = match is_database(&path) || is_next {
                    true => Journal::resume(&path, &ReadablePart::default())?,
                    false => Journal::create(&path)?,
                };
                (Remembered { journals: recalls, foreign: None }, journal)
            }
        };
        // The copy of the program shows what is executed. It stays as it is where nothing has changed, so that its time is the time when it was made.
        if tree.read(PROGRAM_FILE, Limit::STATE)?.as_deref() != Some(text.as_bytes()) {
            tree.write(PROGRAM_FILE, text.as_bytes())?;
        }
        let writes_all = journal.last_seq() == 0;
        let left_memories = journals.left_memories()?;
        let is_foreign = recall.foreign.is_some();
        let replayed_to = journal.last_seq();
        let store = Self::new(project, id.into(), folder.clone(), text, lock, journal, tree, writes_all);
        let mut store = Self { turns, left_memories, replayed_to, is_foreign, ..store };
        if let Some(tables) = store.tables.as_mut().filter(|_| writes_all) {
            tables.clear()?;
        }
        Ok(Resumed { store, recall, notes, variables, inputs })
    }

    #[allow(clippy::too_many_arguments, reason = "the parts of a store, put together in one place")]
    fn new(
        project: &Project,
        run: SmolStr,
        folder: PathBuf,
        text: &str,
        lock: RunLock,
        journal: Journal,
        tree: Tree,
        writes_all: bool,
    ) -> Self {
        let memories = Memories::new(project, &folder);
        let is_led = journal.database().is_some_and(|database| database.lock().is_led());
        let tables = journal.database().map(|database| Tables::new(database, text));
        let executions = if tables.is_some() { Executions::without_files() } else { Executions::new(text) };
        Self {
            run,
            at_work: AtWorkFile::new(&folder),
            folder,
            journal,
            writer: Writer::new(tree, executions),
            has_binding_files: tables.is_none(),
            tables,
            memories,
            project: project.clone(),
            writes_all,
            written_by_agent: FxHashSet::default(),
            prepared: FxHashMap::default(),
            replayed: FxHashMap::default(),
            turns: Turns::default(),
            left_memories: SessionMemories::default(),
            replayed_to: 0,
            recalled: FxHashSet::default(),
            is_foreign: false,
            is_led,
            replays: None,
            _lock: lock,
        }
    }

    /// From now on, the journal says in its first line who has started the run, if that line is still to be written.
    pub fn seal_with(&mut self, sealer: Sealer) {
        self.journal.seal_with(sealer);
    }

    /// From now on, the run takes the answers of an earlier run.
    pub fn replays(&mut self, mode: ReplayMode) {
        self.replays = Some(mode);
    }

    /// From now on, somebody is told where the run waits for its database.
    pub fn tell(&self, notice: Notice) {
        if let Some(database) = self.journal.database() {
            database.lock().tell(notice);
        }
    }

    /// The id of the run.
    pub fn run(&self) -> &str {
        &self.run
    }

    /// Where its state is.
    pub fn state(&self) -> StateMode {
        self.tables.as_ref().map_or(StateMode::Filesystem, Tables::state)
    }

    /// The folder of the run.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The project as a file of a context is read: the one in a working tree for a session that works there.
    fn project_of(&self, file: &FileUse) -> Cow<'_, Project> {
        match &file.folder {
            None => Cow::Borrowed(&self.project),
            Some(folder) => {
                let root = folder.split('/').fold(self.folder.clone(), |path, part| path.join(part));
                Cow::Owned(Project { root, ..self.project.clone() })
            }
        }
    }

    /// Why a file cannot be read. That a worker of a cluster does not have it must not be taken for that it does not exist.
    fn of_cluster(&self, file: &FileUse, failure: Failure) -> Failure {
        if failure.kind != ErrorKind::Other || !self.is_led {
            return failure;
        }
        let message = format!(
            "`{}` is not among the files that were submitted to the cluster, which are those that the program names without `{{…}}`; pass its text as an input instead",
            file.path
        );
        Failure { kind: ErrorKind::UnsafePath, message }
    }

    /// An outcome is about to be recorded. Returns whether its line may wait for the next commit: of a run of a cluster, that of an agent is on the server until then.
    fn settle(&self, event: &EventKind) -> bool {
        let Some(database) = self.journal.database().filter(|_| self.is_led) else { return false };
        let mut database = database.lock();
        let follows = follows_from_agents(event);
        if !follows {
            database.has_news();
        }
        let EventKind::Effect { request, .. } = event else { return false };
        database.settle(*request);
        follows
    }

    fn take_up(&mut self, event: &Event, is_new: bool) -> Result<(), StateError> {
        if let Some(tables) = &mut self.tables {
            if let EventKind::RunStarted(head) = &event.kind {
                self.has_binding_files = names_files(head);
            }
            tables.take_up(event, is_new, &self.writer.files().tree)?;
        }
        match &event.kind {
            EventKind::Effect { request, outcome: Outcome::Reply(reply), .. } if reply.wrote_binding => {
                self.written_by_agent.insert(*request);
            }
            EventKind::Bound { .. } if !self.has_binding_files => {}
            EventKind::Bound { binding, value, reply, was, .. } => {
                self.prepared.remove(binding.path.as_ref());
                let by_agent = reply.is_some_and(|request| self.written_by_agent.remove(&request));
                if !is_new {
                    self.replayed.insert(binding.path.to_string(), (binding.clone(), value.clone()));
                } else if by_agent {
                    self.write_where_different(binding, value)?;
                } else {
                    let text = binding_file::write(binding, &value.to_string());
                    let files = self.writer.files();
                    match was {
                        None => files.tree.write_new(&binding.path, text.as_bytes())?,
                        Some(_) => files.tree.write(&binding.path, text.as_bytes())?,
                    }
                }
            }
            EventKind::MemoryWritten { place, .. } => self.take_up_memory(event, place, is_new)?,
            EventKind::ImportCalled { folder, text, .. } if self.tables.is_none() => {
                let path = format!("{}/{PROGRAM_FILE}", folder.trim_end_matches('/'));
                self.writer.files().tree.write(&path, text.as_bytes())?;
            }
            _ => {}
        }
        let mut files = self.writer.files();
        let files = &mut *files;
        if is_new {
            prompt_file::write_failed(event, files.executions.view(), &mut files.tree)?;
        }
        files.executions.apply(event);
        match &event.kind {
            EventKind::ImportEnded { program, .. } => {
                if let Some((path, text)) = files.executions.finish(*program) {
                    files.tree.write(&path, text.as_bytes())?;
                }
            }
            EventKind::RunEnded(_) => files.write()?,
            _ => {}
        }
        Ok(())
    }

    /// Takes up that a session has written a memory, unless an earlier execution has done so.
    fn take_up_memory(&self, event: &Event, place: &MemoryPlace, is_new: bool) -> Result<(), StateError> {
        let is_recorded = match self.replays {
            None => false,
            Some(ReplayMode::Offline) => true,
            Some(ReplayMode::Live) => self.recalled.contains(&event.place),
        };
        // The earlier run has written it, and others may have done so since.
        if is_recorded && place.scope != MemoryScope::Execution {
            return Ok(());
        }
        let folder = self.memories.make(place)?;
        // The files follow the journal at once, so that only those of its last line may be missing; all are where another machine has led the run before.
        if !is_new && event.seq < self.replayed_to && !self.is_led {
            return Ok(());
        }
        let _lock = self.turns.for_writing(&folder)?;
        // An earlier execution may have written it already.
        let left = if is_new { self.left_memories.find(event) } else { Some((event.at, false)) };
        match left {
            Some((_, true)) => {}
            Some((at, false)) => self.memories.take_up_once(&Event { at, ..event.clone() })?,
            // An agent of another machine writes its memory itself.
            None if self.recalled.contains(&event.place) && self.memories.read(place)?.text.is_some() => {}
            None => self.memories.take_up(event)?,
        }
        if self.tables.is_some() { self.memories.copy_to_database(place, event.at) } else { Ok(()) }
    }

    /// Says in `state.md` that a session waits for a memory, or that it does not wait any more.
    fn show_waiting(&self, request: RequestId, awaited: Option<(u32, String)>) {
        self.writer.files().executions.wait_for(request, awaited);
    }

    /// Brings the files of bindings to where the run has stopped. One may be missing or hold an earlier value if the process was killed between writing
    /// the journal and the file.
    fn bring_up(&mut self) -> Result<(), StateError> {
        for (_, (binding, value)) in std::mem::take(&mut self.replayed) {
            self.write_where_different(&binding, &value)?;
        }
        Ok(())
    }

    /// Writes a binding whose file may be as it has to be already. One that an agent wrote holds the value alone or a head of the agent's own; the
    /// head is that of R101 from now on (decision 21).
    fn write_where_different(&self, binding: &Binding, value: &Value) -> Result<(), StateError> {
        let text = binding_file::write(binding, &value.to_string());
        let files = self.writer.files();
        let found = files.tree.read(&binding.path, Limit::STATE)?;
        if found.is_none_or(|found| found != text.as_bytes()) {
            files.tree.write(&binding.path, text.as_bytes())?;
        }
        Ok(())
    }
}

/// Whether an event of a run of a cluster follows from the outcomes of its agents, which are on the server.
fn follows_from_agents(event: &EventKind) -> bool {
    match event {
        EventKind::Effect { effect, .. } => !Effect::KINDS_WITHOUT_AGENT.contains(&effect.as_str()),
        EventKind::RunStarted(_)
        | EventKind::MemoryWritten { .. }
        | EventKind::Expense(_)
        | EventKind::Commanded { .. }
        | EventKind::VariableSet { .. }
        | EventKind::QuestionsOpen { .. }
        | EventKind::Answered(_)
        | EventKind::RunEnded(_) => false,
        _ => true,
    }
}

impl Store for FilesystemStore {
    fn record(&mut self, event: &Event, is_new: bool) -> io::Result<()> {
        let is_end = matches!(event.kind, EventKind::RunEnded(_));
        // The journal records the end when everything else of the run has its last form: a run whose end cannot be kept can still be resumed.
        if (is_new || self.writes_all) && !is_end {
            let waits = self.settle(&event.kind);
            self.journal.append(event)?;
            // The program continues with an outcome only when that is written. What it does then follows from it, so that the lines of that may wait until it
            // waits itself; but the memory of an agent, which other runs may write too, must not change before this run has said so, and others know a
            // run by its first line.
            if !waits
                && matches!(
                    event.kind,
                    EventKind::RunStarted(_)
                        | EventKind::Effect { .. }
                        | EventKind::MemoryWritten { .. }
                        | EventKind::QuestionsOpen { .. }
                )
            {
                self.journal.flush()?;
            }
        }
        let is_new = is_new || self.writes_all;
        if is_new || is_end {
            self.bring_up()?;
        }
        self.take_up(event, is_new)?;
        if is_end {
            if is_new {
                self.settle(&event.kind);
                self.journal.append(event)?;
            }
            self.journal.sync()?;
            self.at_work.remove();
        }
        self.at_work.happened(&event.kind);
        Ok(())
    }

    fn gathers_outcomes(&self) -> bool {
        self.is_led
    }

    fn commit(&mut self) -> io::Result<()> {
        self.journal.commit()?;
        // After the events that settle what is counted again.
        self.at_work.flush()?;
        Ok(self.writer.commit()?)
    }

    fn at_work(&mut self, after: u64, expense: &Expense) -> io::Result<()> {
        self.at_work.add(after, expense)
    }

    fn prepare(&mut self, binding: &Binding) -> io::Result<()> {
        // The tools of many agents write only to folders that exist.
        if let Some((folder, _)) = binding.path.rsplit_once('/') {
            self.writer.files().tree.make_folder(folder)?;
        }
        // The file stays where it is: the session may be shown the earlier value as part of its context.
        match self.writer.files().tree.identity(&binding.path)? {
            Some(identity) => self.prepared.insert(binding.path.to_string(), identity),
            None => self.prepared.remove(binding.path.as_ref()),
        };
        Ok(())
    }

    fn read_binding(&mut self, binding: &Binding) -> io::Result<Option<String>> {
        if let Some(before) = self.prepared.get(binding.path.as_ref())
            && self.writer.files().tree.identity(&binding.path)?.as_ref() == Some(before)
        {
            return Ok(None);
        }
        let bytes = self.writer.files().tree.read(&binding.path, Limit::STATE)?;
        Ok(bytes.map(|bytes| binding_file::read_of_agent(&binding.name, &bytes)))
    }

    fn take_turn(&mut self, request: &Request, place: &MemoryPlace) -> io::Result<Turn> {
        if self.replays == Some(ReplayMode::Offline) && place.scope != MemoryScope::Execution {
            // It is only read.
            return Ok(Turn::Taken);
        }
        let folder = self.memories.make(place)?;
        if place.scope == MemoryScope::Execution {
            // No other process has it.
            self.memories.finish(place)?;
            return Ok(Turn::Taken);
        }
        let turn = self.turns.take(request.id, &folder)?;
        let awaited = matches!(turn, Turn::Waits(_)).then(|| {
            let text =
                format!("the memory of {} for {}, which another run is using", place.agent, request.line());
            (request.site.program, text)
        });
        self.show_waiting(request.id, awaited);
        if matches!(turn, Turn::Taken) {
            // What a run has not finished that was killed is finished before the memory is read.
            self.memories.finish(place)?;
        }
        Ok(turn)
    }

    fn end_turn(&mut self, request: RequestId) {
        self.turns.end(request);
        self.show_waiting(request, None);
    }

    fn recalled(&mut self, request: &Request) {
        if (self.is_foreign || self.replays.is_some())
            && let Effect::Session(task) = &request.effect
            && task.memory.is_some()
        {
            self.recalled.insert(request.place.clone());
        }
    }

    fn read_memory(&mut self, place: &MemoryPlace) -> io::Result<Memory> {
        Ok(self.memories.read(place)?)
    }

    fn read_file(&mut self, file: &FileUse) -> Result<Arc<str>, Failure> {
        context_file::read(&self.project_of(file), file).map_err(|failure| self.of_cluster(file, failure))
    }

    fn check_file(&mut self, file: &FileUse) -> Result<(), Failure> {
        context_file::check(&self.project_of(file), file).map_err(|failure| self.of_cluster(file, failure))
    }

    fn has_written_memory(&mut self, memory: &MemoryUse) -> io::Result<bool> {
        Ok(self.memories.has_written(memory)?)
    }
}

/// Whether the prompts of a run name the files of bindings, for agents to read or to write.
fn names_files(head: &RunHead) -> bool {
    let routes = || head.routes.iter().any(|route| route.context_by_reference || route.agents_write);
    head.context_by_reference || head.agents_write || routes()
}

/// Takes the turns of the sessions that were at work when the run stopped, as far as their agents remember what they did then. Where another run has
/// written since, or is at work with the memory, it is looked up again, and the run continues from there.
fn take_open_turns(
    recall: &mut JournalRecording,
    path: &Path,
    run: &str,
    memories: &Memories,
    turns: &mut Turns,
) -> Result<Option<String>, StateError> {
    let mut changed: Vec<SmolStr> = Vec::new();
    'again: loop {
        for LookedUp { seq, offset, request, place, memory } in recall.open_memories()? {
            let is_same = match &place {
                None => false,
                Some(place) => {
                    let folder = memories.make(place)?;
                    let is_ours =
                        place.scope == MemoryScope::Execution || turns.take_at_once(request, &folder)?;
                    if is_ours {
                        memories.finish(place)?;
                    }
                    is_ours && memories.read(place)? == memory
                }
            };
            if is_same {
                continue;
            }
            changed.extend(place.map(|place| place.agent).filter(|agent| !changed.contains(agent)));
            *turns = Turns::default();
            if recall.has_outcome_after(offset) {
                repair(path, run, Some(seq))?;
            } else {
                // What follows from it happens again.
                truncate(path, offset)?;
            }
            *recall = JournalRecording::open(path, Matching::Exact)?;
            continue 'again;
        }
        break;
    }
    Ok((!changed.is_empty()).then(|| {
        let agents: Vec<String> = changed.iter().map(|agent| format!("`{agent}`")).collect();
        format!(
            "the memory of {} has changed since the interrupted session started; the session runs again with the current memory",
            agents.join(", ")
        )
    }))
}

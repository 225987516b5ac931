//! The runs of a server as those of a project of this machine.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use prose_run::control::{Bridge, Remote};
use prose_run::{Caps, Project};
use prose_state::lock::RunLock;
use prose_state::{Server, Stored, protocol};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Error, Row};

use crate::bundle::Bundle;
use crate::connection::Connection;
use crate::error::ClusterError;
use crate::submit::text_of;

/// How long a leader may take to answer.
const ANSWER_TIME: Duration = Duration::from_secs(9);

/// How often it is looked whether it has.
const LOOK: Duration = Duration::from_millis(20);

/// The runs of a server.
pub struct Mirror {
    /// The project that has them.
    pub project: Project,
    line: Arc<Line>,
    server: Server,
    bridge: Bridge,
    /// While workers execute runs, no other process does.
    locks: Vec<RunLock>,
    _stored: Stored,
    _folder: TempDir,
}

const RUNS: &str =
    "SELECT run.id, coalesce(job.state = 'active', false) FROM run LEFT JOIN job ON job.run_id = run.id
    WHERE $1::text IS NULL OR run.id = $1::text";

const STANDING: &str =
    "SELECT state, holder, until > clock_timestamp(), problem FROM job WHERE run_id = $1::text";

const BUNDLE: &str = "SELECT bundle, epoch FROM job WHERE run_id = $1::text";

const ASK: &str = "INSERT INTO message (run_id, request) VALUES ($1::text, $2::text) RETURNING id";

const ANSWER: &str = "SELECT reply FROM message WHERE id = $1::bigint";

const ANSWERED: &str = "DELETE FROM message WHERE id = $1::bigint";

/// How a submitted run stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// No worker leads it yet, or now.
    Queued,
    /// A worker leads it.
    Led(String),
    /// It has ended; if it was not executed, why.
    Ended(Option<String>),
}

impl Mirror {
    /// The runs of a server that has its tables, or one of them.
    pub fn open(server: Server, only: Option<&str>) -> Result<Self, ClusterError> {
        let folder = tempfile::tempdir()?;
        let root = folder.path().canonicalize()?;
        let stored = server.stores(&root, None);
        let line = Arc::new(Line::open(&server)?);
        let bridge = Bridge::start(Arc::clone(&line) as Arc<dyn Remote>)?;
        let project = Project::new(&root);
        let mut mirror =
            Self { project, line, server, bridge, locks: Vec::new(), _stored: stored, _folder: folder };
        mirror.show(only)?;
        Ok(mirror)
    }

    /// Makes the folders of runs.
    fn show(&mut self, only: Option<&str>) -> Result<(), ClusterError> {
        let rows = self.line.query(RUNS, &[&only]).map_err(ClusterError::of(&self.server))?;
        for row in rows {
            let (run, is_active): (&str, bool) = (row.get(0), row.get(1));
            let folder = self.server.make_folder(&self.project, run)?;
            if is_active {
                self.locks.push(RunLock::of_folder(&self.project, run)?);
            }
            // A run that is followed may have ended since it was submitted.
            if is_active || only.is_some() {
                self.bridge.open(run, &folder)?;
            }
        }
        Ok(())
    }

    /// How a run stands; `None` if it was not submitted to the server.
    pub fn standing(&self, run: &str) -> Result<Option<Standing>, ClusterError> {
        self.line.standing(run).map_err(ClusterError::of(&self.server))
    }

    /// What a run was submitted with; `None` if it was not submitted.
    pub fn bundle(&self, run: &str) -> Result<Option<Bundle>, ClusterError> {
        let rows = self.line.query(BUNDLE, &[&run]).map_err(ClusterError::of(&self.server))?;
        let bundle = rows.first().map(|row| Bundle::read(row.get(0)));
        Ok(bundle.transpose()?)
    }

    /// The server.
    pub fn server(&self) -> &Server {
        &self.server
    }

    /// Lets a run that has ended continue from where it stopped, with these limits.
    pub fn resume(&self, run: &str, caps: Caps) -> Result<(), ClusterError> {
        let failed = ClusterError::of(&self.server);
        let mut bundle: Option<(String, i32)> = None;
        if caps != Caps::default() {
            let rows = self.line.query(BUNDLE, &[&run]).map_err(&failed)?;
            if let Some(row) = rows.first() {
                let resumed = Bundle::read(row.get(0))?.resumed(row.get::<_, i64>(1) + 1, caps);
                bundle = Some((text_of(&resumed)?, resumed.version));
            }
        }
        let (text, format) = bundle.unzip();
        self.line.query(protocol::AGAIN, &[&run, &text, &format]).map_err(&failed)?;
        self.line.notify("job").map_err(&failed)
    }
}

/// A connection that several threads use.
struct Line(Mutex<(Runtime, Connection)>);

impl Line {
    fn open(server: &Server) -> Result<Self, ClusterError> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let (connection, _) = runtime.block_on(Connection::open(server))?;
        Ok(Self(Mutex::new((runtime, connection))))
    }

    fn lock(&self) -> MutexGuard<'_, (Runtime, Connection)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn query(&self, sql: &'static str, parameters: &[&(dyn ToSql + Sync)]) -> Result<Vec<Row>, Error> {
        let (runtime, connection) = &mut *self.lock();
        runtime.block_on(connection.query(sql, parameters))
    }

    fn notify(&self, what: &str) -> Result<(), Error> {
        let (runtime, connection) = &mut *self.lock();
        runtime.block_on(connection.notify(what))
    }

    fn standing(&self, run: &str) -> Result<Option<Standing>, Error> {
        let rows = self.query(STANDING, &[&run])?;
        Ok(rows.first().map(|row| {
            let (state, holder, is_led): (&str, Option<String>, bool) = (row.get(0), row.get(1), row.get(2));
            match holder.filter(|_| is_led) {
                _ if state == "ended" => Standing::Ended(row.get(3)),
                Some(holder) => Standing::Led(holder),
                None => Standing::Queued,
            }
        }))
    }

    fn asked(&self, run: &str, request: &str) -> Result<Result<String, String>, Error> {
        match self.standing(run)? {
            None => {
                return Ok(Err("no worker executes the run: it was not submitted to the server".to_owned()));
            }
            Some(Standing::Ended(_)) => return Ok(Err("the run has ended".to_owned())),
            Some(Standing::Queued | Standing::Led(_)) => {}
        }
        let rows = self.query(ASK, &[&run, &request])?;
        let id: i64 = rows.first().map_or(0, |row| row.get(0));
        self.notify("message")?;
        let begin = Instant::now();
        loop {
            let rows = self.query(ANSWER, &[&id])?;
            let reply: Option<String> = rows.first().and_then(|row| row.get(0));
            if reply.is_some() || begin.elapsed() > ANSWER_TIME {
                self.query(ANSWERED, &[&id])?;
                return Ok(reply.ok_or_else(|| {
                    "no worker leads the run at the moment; it continues when one is free: `prose worker`"
                        .to_owned()
                }));
            }
            thread::sleep(LOOK);
        }
    }
}

impl Remote for Line {
    fn ask(&self, run: &str, request: &str) -> Result<String, String> {
        self.asked(run, request).unwrap_or_else(|error| Err(format!("the server says: {error}")))
    }

    fn is_over(&self, run: &str) -> bool {
        matches!(self.standing(run), Ok(None | Some(Standing::Ended(_))))
    }
}

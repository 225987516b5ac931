//! A connection to a server, and the thread that it lives in.
//!
//! Stores are called from threads that execute asynchronous work and must not wait for it, so that a connection has a thread of its own.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use futures_util::future::join_all;
use futures_util::stream::poll_fn;
use tokio::runtime::Runtime;
use tokio::sync::mpsc::UnboundedSender;
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::types::ToSql;
use tokio_postgres::{AsyncMessage, Client, NoTls, Notification, Row, Socket, Statement};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::address::Address;
use super::link_error::LinkError;

/// After which time a connection that is only read from is closed, such as that of an editor.
const IDLE: Duration = Duration::from_secs(60);

/// For how long a server counts as out of reach for those who only read, so that a list of runs connects to it once and not for each run.
const UNREACHABLE: Duration = Duration::from_secs(5);

/// How long a run waits for a server that cannot be reached any more. It is stopped then, and can be resumed.
const MAX_LOST: Duration = Duration::from_secs(600);

/// How long a server that was there before is waited for where a run is read.
const MAX_LOST_READING: Duration = Duration::from_secs(10);

/// How long a connection may take with its set-up and the lock, and a statement with its answer.
const MAX_CONNECT: Duration = Duration::from_secs(30);

/// The same where nothing but a list or an editor waits for it, without a lock.
const MAX_CONNECT_READING: Duration = Duration::from_secs(10);

const MAX_SILENCE: Duration = Duration::from_secs(60);

/// After which time without use it is looked at whether a connection is still there.
const RESTED: Duration = Duration::from_millis(100);

/// How long the server has for what it is doing where the process is asked to end.
const GRACE: Duration = Duration::from_secs(2);

/// How long a transaction of a leader may wait for its process.
const MAX_IDLE: Duration = Duration::from_secs(10);

/// How many connections a process has for all runs that it leads.
const LINKS_OF_LEADER: usize = 8;

/// How long it is waited between two tries, at first and at most.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const MAX_PAUSE: Duration = Duration::from_secs(5);

/// The oldest version of servers that is supported, as they count it.
const OLDEST: i32 = 150_000;

/// A value of a statement.
pub(crate) type Parameter = Box<dyn ToSql + Send + Sync>;

/// A statement with its values.
#[derive(Debug)]
pub(crate) struct Command {
    pub(crate) sql: &'static str,
    pub(crate) parameters: Vec<Parameter>,
    /// How many rows it must change, where that matters, and what it means that it does not.
    pub(crate) rows: Option<(u64, &'static str)>,
}

impl Command {
    pub(crate) fn new(sql: &'static str, parameters: Vec<Parameter>) -> Self {
        Self { sql, parameters, rows: None }
    }
}

/// What a connection is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To look at runs. It is closed after a while without use.
    Reading,
    /// To execute a run. It has the lock of the run for as long as it lasts, so that no other process executes it.
    Run(String),
    /// To execute a run of a cluster, whose leader is decided by leases. A leader that has lost its lease may still hold a connection.
    Led,
}

/// A connection that is made when it is needed. All that have it take turns.
#[derive(Debug, Clone)]
pub(crate) struct Link(Sender<Job>);

/// What the thread of a connection is asked to do.
enum Job {
    Query(Command, SyncSender<Result<Vec<Row>, LinkError>>),
    /// Several statements, in a transaction of their own.
    Script(String, SyncSender<Result<(), LinkError>>),
    /// Everything, or nothing.
    Transaction(Vec<Command>, SyncSender<Result<(), LinkError>>),
    /// The same for a run, whatever becomes of the connection. Where lines of its journal are not among the commands, they may be executed twice.
    Run(Vec<Command>, Option<Lines>, Commit, SyncSender<Result<(), LinkError>>),
    /// Who is told that the run waits.
    Tell(Notice),
}

/// Told in a sentence that a run waits for its server, and that it continues.
#[derive(Clone)]
pub struct Notice(Arc<dyn Fn(&str) + Send + Sync>);

impl Notice {
    /// One that a function is called with, from another thread than that of the run.
    pub fn new(tell: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self(Arc::new(tell))
    }
}

impl fmt::Debug for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Notice")
    }
}

/// What the end of a transaction waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Commit {
    /// For the disk of the server.
    Sure,
    /// For nothing: a server that crashes may lose it, with everything that was committed after it.
    Quick,
}

impl Commit {
    /// How such a transaction begins.
    fn begin(self) -> &'static str {
        match self {
            Self::Sure => "BEGIN",
            Self::Quick => "BEGIN; SET LOCAL synchronous_commit TO off",
        }
    }
}

/// Which part of a journal a transaction writes.
#[derive(Debug, Clone)]
pub(crate) struct Lines {
    pub(crate) run: String,
    /// Where they end.
    pub(crate) end: u64,
}

impl Link {
    /// A connection of its own. A run has its own, which has the lock of the run for as long as it lasts.
    pub(crate) fn new(address: Address, purpose: Purpose) -> Self {
        let (sender, receiver) = mpsc::channel();
        let thread = std::thread::Builder::new().name("prose-postgres".to_owned());
        // Without a thread, the channel is closed, which is told by the first use.
        let session =
            Session { address, client: None, purpose, earlier: None, notice: None, unreachable: None };
        let _ = thread.spawn(move || work(session, &receiver));
        Self(sender)
    }

    /// The connection that everyone in this process shares who only reads.
    pub(crate) fn shared(address: Address) -> Self {
        static LINKS: LazyLock<Mutex<HashMap<String, Link>>> = LazyLock::new(Mutex::default);
        let key = format!("{:?} {}", address.config, address.schema);
        let mut links = LINKS.lock().unwrap_or_else(PoisonError::into_inner);
        links.entry(key).or_insert_with(|| Self::new(address, Purpose::Reading)).clone()
    }

    /// A connection that a process has for some of the runs that it leads: to open one takes longer than a short run, and servers accept few.
    pub(crate) fn of_leader(address: Address) -> Self {
        static LINKS: LazyLock<Mutex<HashMap<String, Vec<Link>>>> = LazyLock::new(Mutex::default);
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let key = format!("{:?} {}", address.config, address.schema);
        let mut links = LINKS.lock().unwrap_or_else(PoisonError::into_inner);
        let links = links.entry(key).or_default();
        if links.len() < LINKS_OF_LEADER {
            links.push(Self::new(address, Purpose::Led));
        }
        links[NEXT.fetch_add(1, Ordering::Relaxed) % links.len()].clone()
    }

    pub(crate) fn query(&self, sql: &'static str, parameters: Vec<Parameter>) -> Result<Vec<Row>, LinkError> {
        self.ask(|reply| Job::Query(Command::new(sql, parameters), reply))
    }

    pub(crate) fn script(&self, sql: String) -> Result<(), LinkError> {
        self.ask(|reply| Job::Script(sql, reply))
    }

    pub(crate) fn transaction(&self, commands: Vec<Command>) -> Result<(), LinkError> {
        self.ask(|reply| Job::Transaction(commands, reply))
    }

    pub(crate) fn write(
        &self,
        commands: Vec<Command>,
        lines: Option<Lines>,
        commit: Commit,
    ) -> Result<(), LinkError> {
        self.ask(|reply| Job::Run(commands, lines, commit, reply))
    }

    pub(crate) fn tell(&self, notice: Notice) {
        // A connection that has ended waits for nothing.
        let _ = self.0.send(Job::Tell(notice));
    }

    fn ask<T>(&self, job: impl FnOnce(SyncSender<Result<T, LinkError>>) -> Job) -> Result<T, LinkError> {
        let (reply, answer) = mpsc::sync_channel(1);
        let ended = |_| LinkError::Refused("the thread of the connection could not be started".to_owned());
        self.0.send(job(reply)).map_err(|_| ended(()))?;
        answer.recv().map_err(|_| ended(()))?
    }
}

fn work(mut session: Session, jobs: &Receiver<Job>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let Ok(runtime) = runtime else { return };
    loop {
        let job = match session.purpose == Purpose::Reading && session.client.is_some() {
            false => jobs.recv().map_err(|_| RecvTimeoutError::Disconnected),
            true => jobs.recv_timeout(IDLE),
        };
        // Who does not wait any more gets no answer.
        match job {
            Ok(Job::Query(command, reply)) => drop(reply.send(session.query(&runtime, &command))),
            Ok(Job::Script(sql, reply)) => drop(reply.send(session.script(&runtime, &sql))),
            Ok(Job::Transaction(commands, reply)) => {
                drop(reply.send(session.transaction(&runtime, &commands)));
            }
            Ok(Job::Run(commands, lines, commit, reply)) => {
                drop(reply.send(session.write(&runtime, &commands, lines.as_ref(), commit)));
            }
            Ok(Job::Tell(notice)) => session.notice = Some(notice),
            Err(RecvTimeoutError::Timeout) => {
                session.client = None;
                // What ends the connection is executed only while something is waited for.
                runtime.block_on(tokio::time::sleep(FIRST_PAUSE));
            }
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
}

/// A connection with what was prepared for it.
struct Connected {
    client: Client,
    statements: HashMap<&'static str, Statement>,
    backend: Backend,
    /// When it was used last.
    used: Instant,
}

/// The process of the server that serves a connection: its number, and when it was started, since numbers are used again.
#[derive(Debug, Clone)]
struct Backend {
    number: i32,
    started: String,
}

struct Session {
    address: Address,
    client: Option<Connected>,
    purpose: Purpose,
    /// What has served the connection before. The server may not have found out yet that it is lost.
    earlier: Option<Backend>,
    notice: Option<Notice>,
    /// Since when it cannot be used, and why.
    unreachable: Option<(Instant, Arc<LinkError>)>,
}

impl Session {
    /// Does something with a connection, and with another one where the present one turns out to be lost: a server that is started again is soon back.
    /// Nothing may be changed.
    fn reading<T>(
        &mut self,
        runtime: &Runtime,
        mut read: impl AsyncFnMut(&mut Connected) -> Result<T, LinkError>,
    ) -> Result<T, LinkError> {
        let was_connected = self.client.is_some();
        let begin = Instant::now();
        loop {
            match self.once(runtime, &mut read) {
                Err(error) if was_connected && error.is_lost() && begin.elapsed() < MAX_LOST_READING => {
                    self.unreachable = None;
                    runtime.block_on(tokio::time::sleep(BETWEEN_TRIES));
                }
                result => return result,
            }
        }
    }

    fn once<T>(
        &mut self,
        runtime: &Runtime,
        doing: &mut impl AsyncFnMut(&mut Connected) -> Result<T, LinkError>,
    ) -> Result<T, LinkError> {
        // A run takes the signals itself where it waits here; others end by them.
        let is_run = self.purpose != Purpose::Reading;
        runtime.block_on(async {
            let mut done = std::pin::pin!(self.connected(doing));
            tokio::select! {
                // A signal counts from before anything is sent.
                biased;
                // What is about to end still ends, so that the run is interrupted as it always is.
                () = interrupted(), if is_run => match tokio::time::timeout(GRACE, done).await {
                    Ok(result) => result,
                    Err(_) => Err(LinkError::Interrupted),
                },
                result = &mut done => result,
            }
        })
    }

    async fn connected<T>(
        &mut self,
        doing: &mut impl AsyncFnMut(&mut Connected) -> Result<T, LinkError>,
    ) -> Result<T, LinkError> {
        // What the server has ended meanwhile is noticed only now, and no fault of it.
        if let Some(connected) = &self.client
            && connected.used.elapsed() > RESTED
            && !matches!(
                tokio::time::timeout(MAX_CONNECT, connected.client.check_connection()).await,
                Ok(Ok(()))
            )
        {
            self.client = None;
        }
        if self.client.as_ref().is_none_or(|connected| connected.client.is_closed()) {
            self.client = None;
            if let Some((since, why)) = &self.unreachable
                && self.purpose == Purpose::Reading
                && since.elapsed() < UNREACHABLE
            {
                return Err(LinkError::Unreachable(Arc::clone(why)));
            }
            let made = connect(&self.address, &self.purpose, self.earlier.as_ref());
            let time = match self.purpose {
                Purpose::Reading => MAX_CONNECT_READING,
                Purpose::Run(_) | Purpose::Led => MAX_CONNECT,
            };
            let made = match tokio::time::timeout(time, made).await {
                Ok(made) => made,
                Err(_) => Err(LinkError::Silent(time)),
            };
            self.unreachable = None;
            let made = made.map_err(|error| {
                let error = Arc::new(error);
                self.unreachable = Some((Instant::now(), Arc::clone(&error)));
                LinkError::Unreachable(error)
            })?;
            self.earlier = Some(made.backend.clone());
            self.client = Some(made);
        }
        let Some(connected) = &mut self.client else { unreachable!("it was made above") };
        let result = match tokio::time::timeout(MAX_SILENCE, doing(connected)).await {
            Ok(result) => result,
            Err(_) => Err(LinkError::Silent(MAX_SILENCE)),
        };
        connected.used = Instant::now();
        if result.as_ref().is_err_and(LinkError::is_lost) {
            self.client = None;
        }
        result
    }

    fn query(&mut self, runtime: &Runtime, command: &Command) -> Result<Vec<Row>, LinkError> {
        self.reading(runtime, async |connected| {
            let statement = connected.prepare(command.sql).await?;
            Ok(connected.client.query(&statement, &references(&command.parameters)).await?)
        })
    }

    fn script(&mut self, runtime: &Runtime, sql: &str) -> Result<(), LinkError> {
        self.once(runtime, &mut async |connected: &mut Connected| {
            Ok(connected.client.batch_execute(sql).await?)
        })
    }

    fn transaction(&mut self, runtime: &Runtime, commands: &[Command]) -> Result<(), LinkError> {
        self.once(runtime, &mut async |connected: &mut Connected| {
            connected.transact(commands, Commit::Sure).await
        })
    }

    /// Writes lines and what follows from them, and waits for the server where it cannot be reached. Where it was lost in the moment of the commit, another
    /// connection finds out whether they are there.
    fn write(
        &mut self,
        runtime: &Runtime,
        commands: &[Command],
        lines: Option<&Lines>,
        commit: Commit,
    ) -> Result<(), LinkError> {
        let mut lost: Option<Instant> = None;
        let mut pause = FIRST_PAUSE;
        loop {
            let result = self.once(runtime, &mut async |connected: &mut Connected| {
                if let Some(lines) = lines.filter(|_| lost.is_some())
                    && connected.end_of(&lines.run).await? == lines.end
                {
                    return Ok(());
                }
                connected.transact(commands, commit).await
            });
            let error = match (result, lost) {
                (Err(error), _) if error.is_lost() => error,
                (Ok(()), Some(since)) => {
                    let seconds = since.elapsed().as_secs();
                    self.tell(&format!("was reached again after {seconds} s; the run continues"));
                    return Ok(());
                }
                (result, _) => return result,
            };
            if lost.is_none() {
                self.tell(&format!("cannot be reached: {error}; the run waits for it"));
            }
            let since = lost.get_or_insert_with(Instant::now).elapsed();
            if since > MAX_LOST {
                return Err(LinkError::Lost(since, error.to_string()));
            }
            // The thread of the run waits for this one and takes no signals.
            let is_interrupted = runtime.block_on(async {
                tokio::select! {
                    () = tokio::time::sleep(pause) => false,
                    () = interrupted() => true,
                }
            });
            if is_interrupted {
                return Err(LinkError::Interrupted);
            }
            pause = (pause * 2).min(MAX_PAUSE);
        }
    }

    fn tell(&self, what: &str) {
        if let Some(Notice(tell)) = &self.notice {
            tell(&format!("the PostgreSQL server `{}` {what}", self.address));
        }
    }
}

/// Whether the process handles signals, so that waiting may end by them.
static HANDLES_SIGNALS: AtomicBool = AtomicBool::new(false);

/// Lets Ctrl-C and SIGTERM end the waits for a server from now on. Only a process that handles both itself may ask for it: without this, they end it, and with it
/// they no longer do.
pub fn end_waits_by_signals() {
    HANDLES_SIGNALS.store(true, Ordering::Relaxed);
}

/// Completes when the process is asked to end.
async fn interrupted() {
    if !HANDLES_SIGNALS.load(Ordering::Relaxed) {
        return std::future::pending().await;
    }
    #[cfg(unix)]
    let terminated = async {
        use tokio::signal::unix::{SignalKind, signal};
        match signal(SignalKind::terminate()) {
            Ok(mut signal) => drop(signal.recv().await),
            Err(_) => std::future::pending().await,
        }
    };
    #[cfg(not(unix))]
    let terminated = std::future::pending::<()>();
    tokio::select! {
        signal = tokio::signal::ctrl_c() => {
            if signal.is_err() {
                std::future::pending().await
            }
        }
        () = terminated => {}
    }
}

impl Connected {
    async fn prepare(&mut self, sql: &'static str) -> Result<Statement, tokio_postgres::Error> {
        if let Some(statement) = self.statements.get(sql) {
            return Ok(statement.clone());
        }
        let statement = self.client.prepare(sql).await?;
        self.statements.insert(sql, statement.clone());
        Ok(statement)
    }

    /// Executes commands in one transaction, all sent at once.
    async fn transact(&mut self, commands: &[Command], commit: Commit) -> Result<(), LinkError> {
        let mut statements = Vec::with_capacity(commands.len());
        for command in commands {
            statements.push(self.prepare(command.sql).await?);
        }
        let client = &self.client;
        let parameters: Vec<_> = commands.iter().map(|command| references(&command.parameters)).collect();
        // They are sent in this order. Where one fails, the server does nothing of what comes after it.
        let begin = client.batch_execute(commit.begin());
        let executed = statements
            .iter()
            .zip(&parameters)
            .map(|(statement, parameters)| client.execute(statement, parameters));
        let (begun, executed) = tokio::join!(begin, join_all(executed));
        let checked = begun.map_err(LinkError::Server).and_then(|()| {
            executed.into_iter().zip(commands).try_for_each(|(changed, command)| {
                let changed = changed?;
                match command.rows {
                    Some((rows, meaning)) if rows != changed => Err(LinkError::Refused(meaning.to_owned())),
                    _ => Ok(()),
                }
            })
        });
        if let Err(error) = checked {
            // Where that fails too, there is no connection, and no transaction.
            let _ = client.batch_execute("ROLLBACK").await;
            return Err(error);
        }
        Ok(client.batch_execute("COMMIT").await?)
    }

    /// Where the journal of a run ends.
    async fn end_of(&mut self, run: &str) -> Result<u64, LinkError> {
        let statement = self.prepare(super::END).await?;
        let row = self.client.query_one(&statement, &[&run]).await?;
        Ok(row.get::<_, i64>(0).max(0) as u64)
    }
}

fn references(parameters: &[Parameter]) -> Vec<&(dyn ToSql + Sync)> {
    parameters.iter().map(|parameter| &**parameter as &(dyn ToSql + Sync)).collect()
}

async fn connect(
    address: &Address,
    purpose: &Purpose,
    earlier: Option<&Backend>,
) -> Result<Connected, LinkError> {
    let client = set_up(address, None).await?;
    let server = LinkError::Server;
    let sql = "SELECT pid, backend_start::text FROM pg_stat_activity WHERE pid = pg_backend_pid()";
    let row = client.query_one(sql, &[]).await.map_err(server)?;
    let backend = Backend { number: row.get(0), started: row.get(1) };
    if *purpose == Purpose::Led {
        // A process that was stopped in the middle of a transaction must not hold up who takes its runs over.
        let set = format!("SET idle_in_transaction_session_timeout TO '{}s'", MAX_IDLE.as_secs());
        client.batch_execute(&set).await.map_err(server)?;
    }
    if let Purpose::Run(run) = purpose {
        if let Some(Backend { number, started }) = earlier {
            let sql = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                WHERE pid = $1::int AND backend_start::text = $2::text";
            client.query(sql, &[number, started]).await.map_err(server)?;
        }
        take_lock(&client, &address.schema, run).await?;
    }
    Ok(Connected { client, statements: HashMap::new(), backend, used: Instant::now() })
}

/// Opens a connection and prepares it: the schema, how values are written, and that the server can be used.
pub(super) async fn set_up(address: &Address, listener: Option<Listener>) -> Result<Client, LinkError> {
    let client = match &address.tls {
        None => open(address, NoTls, listener).await,
        Some(tls) => open(address, MakeRustlsConnect::new(tls.as_ref().clone()), listener).await,
    };
    let client = client.map_err(LinkError::Server)?;
    let server = LinkError::Server;
    // The server finds out by itself, and soon, that a machine is gone, whose lock others wait for.
    let set = format!(
        "SET search_path TO \"{}\"; SET TIME ZONE 'UTC'; SET standard_conforming_strings TO on; SET datestyle TO 'ISO';
         SET tcp_keepalives_idle TO 10; SET tcp_keepalives_interval TO 5; SET tcp_keepalives_count TO 3",
        address.schema
    );
    client.batch_execute(&set).await.map_err(server)?;
    let sql = "SELECT current_setting('server_version_num')::int, current_setting('server_version'),
        current_setting('server_encoding')";
    let row = client.query_one(sql, &[]).await.map_err(server)?;
    let (number, version, encoding): (i32, String, String) = (row.get(0), row.get(1), row.get(2));
    if number < OLDEST {
        return Err(LinkError::Refused(format!(
            "the server has version {version}; `prose` needs PostgreSQL 15 or later"
        )));
    }
    if encoding != "UTF8" {
        return Err(LinkError::Refused(format!(
            "the database has the encoding {encoding}; create one with `createdb --encoding=UTF8 --template=template0`"
        )));
    }
    Ok(client)
}

/// Why a run cannot write.
pub(super) const CHANGED: &str = "the end of its journal there is not what this run has written last: rows were lost or changed, or another process has written some; \
    resume the run to continue with what is there";

/// How often the lock of a run is tried: that of a connection that was lost is held until the server finds that out.
const LOCK_TRIES: u32 = 40;
const BETWEEN_TRIES: Duration = Duration::from_millis(250);

async fn take_lock(client: &Client, schema: &str, run: &str) -> Result<(), LinkError> {
    let key = format!("{schema}/{run}");
    for _ in 0..LOCK_TRIES {
        let sql = "SELECT pg_try_advisory_lock(hashtextextended($1::text, 0))";
        let row = client.query_one(sql, &[&key]).await.map_err(LinkError::Server)?;
        if row.get(0) {
            return Ok(());
        }
        tokio::time::sleep(BETWEEN_TRIES).await;
    }
    Err(LinkError::Refused(
        "another process executes the run, perhaps on another machine; wait until it has ended, or stop it"
            .to_owned(),
    ))
}

/// Receives the notifications of a connection. It is closed when the connection is lost.
pub(super) type Listener = UnboundedSender<Notification>;

async fn open<T>(
    address: &Address,
    tls: T,
    listener: Option<Listener>,
) -> Result<Client, tokio_postgres::Error>
where
    T: MakeTlsConnect<Socket>,
    T::Stream: Send + Unpin + 'static,
    T::TlsConnect: Send,
{
    let (client, mut connection) = address.config.connect(tls).await?;
    // That it has ended is found out by the next one who uses the client.
    tokio::spawn(async move {
        let mut messages = poll_fn(|context| connection.poll_message(context));
        while let Some(Ok(message)) = messages.next().await {
            if let (AsyncMessage::Notification(notification), Some(listener)) = (message, &listener) {
                // Who does not listen any more misses nothing.
                let _ = listener.send(notification);
            }
        }
    });
    Ok(client)
}

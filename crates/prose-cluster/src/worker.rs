//! The process of a worker: one connection to the server, on which everything that it leads and performs takes turns.

mod turn;
mod waiting;

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use prose_state::Server;
use prose_vm::activity::PermissionAnswer;
use prose_vm::effect::{Outcome, Usage};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;
use tokio::task::AbortHandle;
use tokio_postgres::Notification;

use self::waiting::Waiting;
use crate::connection::Connections;
use crate::done::{DONE, named};
use crate::effects::{Ask, Asked, Key};
use crate::error::ClusterError;
use crate::lead::{GIVEN_BACK, Led};
use crate::metrics::{Metrics, serve};
use crate::news::News;
use crate::perform::{Backends, Used};

/// How long it is waited between two tries to reach the server.
const BETWEEN_TRIES: Duration = Duration::from_millis(500);

/// How often it is looked what others have left, whatever wakes this process meanwhile: effects and runs whose lease is over, and outcomes whose notification
/// was lost.
const LOOK: Duration = Duration::from_millis(500);

/// How many heartbeats a lease has.
const HEARTBEATS: u32 = 4;

/// How long a process that is asked to end waits for its runs to stop.
const FAREWELL: Duration = Duration::from_secs(10);

/// How a worker works.
#[derive(Debug)]
pub struct WorkerSettings {
    /// The server.
    pub server: Server,
    /// The name of the process, which no other one has.
    pub name: String,
    /// The harnesses that it performs requests with.
    pub classes: Vec<String>,
    /// How many requests it performs at the same time.
    pub slots: usize,
    /// How many runs it leads at the same time.
    pub leads: usize,
    /// How long others wait for it when it does not answer.
    pub lease: Duration,
    /// The folder that it executes runs in.
    pub folder: PathBuf,
    /// The folder that agents work in, which other machines share; `None` for one that is made for each run.
    pub workspace: Option<PathBuf>,
    /// Where Prometheus asks for metrics.
    pub metrics: Option<std::net::TcpListener>,
}

/// Works on a server that has its tables until it is asked to end, with a reason. What others should know is told in sentences.
pub fn work(
    mut settings: WorkerSettings,
    stop: impl Future<Output = String>,
    tell: &mut dyn FnMut(&str),
) -> Result<(), ClusterError> {
    let listener = settings.metrics.take();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let worked = runtime.block_on(async {
        // What is wrong with the server from the start is an error; what happens later is waited for.
        let opened = Connections::open(&settings.server).await?;
        let mut worker = Worker::new(settings, tell);
        if let Some(listener) = listener {
            let metrics = Arc::new(Metrics::new(worker.settings.slots));
            worker.metrics = Some(Arc::clone(&metrics));
            tokio::spawn(serve(listener, metrics));
        }
        worker.run(opened, stop).await;
        Ok(())
    });
    runtime.shutdown_background();
    worked
}

/// A run that is led here.
struct Leading {
    epoch: i64,
    /// The folder of the run.
    folder: PathBuf,
    /// Ends its execution, with a reason.
    stop: Option<oneshot::Sender<String>>,
    /// Whether the run goes on elsewhere, so that its effects stay as they are.
    is_leaving: bool,
}

/// An effect that is performed here.
struct Claimed {
    key: Key,
    class: String,
    abort: AbortHandle,
    used: Used,
}

/// An effect that was performed here.
struct Performed {
    claim: i64,
    key: Key,
    outcome: String,
    usage: Option<String>,
}

/// What a claim has used so far.
fn used_so_far(used: &Used) -> Option<Usage> {
    *used.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// A usage as it stands in the table.
fn usage_text(usage: Usage) -> Option<String> {
    serde_json::to_string(&usage).ok()
}

/// What there may be to do on the server.
#[derive(Default)]
struct Wakes {
    claims: bool,
    /// Outcomes, which may be those of any request.
    outcomes: bool,
    /// Outcomes of these requests.
    done: Vec<Key>,
    jobs: bool,
    messages: bool,
    questions: bool,
    answers: bool,
    quotas: bool,
}

impl Wakes {
    /// Whatever others may have left. News of quotas are kept until a claim heeds them.
    fn look(&mut self) {
        *self = Self {
            claims: true,
            outcomes: true,
            done: Vec::new(),
            jobs: true,
            messages: true,
            questions: true,
            answers: true,
            quotas: self.quotas,
        };
    }

    fn hear(&mut self, what: &str) {
        match what {
            "effect" => self.claims = true,
            "job" => self.jobs = true,
            "message" => self.messages = true,
            "question" => self.questions = true,
            "answer" => self.answers = true,
            "quota" => (self.quotas, self.claims) = (true, true),
            DONE => self.outcomes = true,
            // What names no outcomes either is of a newer version.
            _ => self.done.extend(named(what).into_iter().flatten()),
        }
    }
}

struct Worker<'a> {
    settings: WorkerSettings,
    tell: &'a mut dyn FnMut(&str),
    leads: HashMap<Arc<str>, Leading>,
    /// The effects of the runs that are led here.
    waiting: Waiting,
    /// Those that the server does not have yet, in their order.
    requested: Vec<Key>,
    cancelled: Vec<Key>,
    /// Runs that are paused or continue, with their epochs.
    held: Vec<(Arc<str>, i64, bool)>,
    claims: HashMap<i64, Claimed>,
    /// Outcomes that the server does not have yet.
    performed: Vec<Performed>,
    /// Those of the classes that have quotas, if that is known.
    limited: Option<Vec<String>>,
    /// Whether classes with quotas come first the next time, so that the others do not take every slot.
    limited_first: bool,
    /// Claims that others may have.
    released: Vec<i64>,
    /// Runs that are not executed here any more.
    led: Vec<(Arc<str>, i64, Led)>,
    replies: Vec<(i64, String)>,
    /// The messages that are being answered.
    relaying: HashSet<i64>,
    /// Questions of agents that the server does not have yet, and those that wait for their answers.
    asked_by_agents: Vec<(i64, i64, String)>,
    unanswered: HashMap<(i64, i64), oneshot::Sender<PermissionAnswer>>,
    answers: Vec<(i64, i64, String)>,
    questions: i64,
    backends: Arc<Backends>,
    wakes: Wakes,
    asks: UnboundedSender<Ask>,
    asked: UnboundedReceiver<Ask>,
    news: UnboundedSender<News>,
    heard: UnboundedReceiver<News>,
    /// When the leases were extended last.
    renewed: Instant,
    next_heartbeat: Instant,
    next_look: Instant,
    is_stopping: bool,
    metrics: Option<Arc<Metrics>>,
    /// No claim is taken before, since the machine had no resources for one.
    rests_until: Option<Instant>,
}

impl<'a> Worker<'a> {
    fn new(settings: WorkerSettings, tell: &'a mut dyn FnMut(&str)) -> Self {
        let backends = Arc::new(Backends::new(settings.workspace.clone()));
        let ((asks, asked), (news, heard)) = (unbounded_channel(), unbounded_channel());
        Self {
            settings,
            tell,
            leads: HashMap::new(),
            waiting: Waiting::default(),
            requested: Vec::new(),
            cancelled: Vec::new(),
            held: Vec::new(),
            claims: HashMap::new(),
            performed: Vec::new(),
            limited: None,
            limited_first: false,
            released: Vec::new(),
            led: Vec::new(),
            replies: Vec::new(),
            relaying: HashSet::new(),
            asked_by_agents: Vec::new(),
            unanswered: HashMap::new(),
            answers: Vec::new(),
            questions: 0,
            backends,
            wakes: Wakes::default(),
            asks,
            asked,
            news,
            heard,
            renewed: Instant::now(),
            next_heartbeat: Instant::now(),
            next_look: Instant::now(),
            is_stopping: false,
            metrics: None,
            rests_until: None,
        }
    }

    async fn run(
        mut self,
        opened: (Connections, UnboundedReceiver<Notification>),
        stop: impl Future<Output = String>,
    ) {
        let mut stop = std::pin::pin!(stop);
        let mut server = Some(opened);
        let mut farewell = None;
        let mut is_new = true;
        loop {
            if let Some((connection, _)) = &mut server {
                let done = match is_new {
                    true => connection.begin().await,
                    false => Ok(()),
                };
                is_new = false;
                if !connection.can_lead() && self.settings.leads > 0 {
                    (self.tell)("the user may only perform requests: no runs are led");
                    self.settings.leads = 0;
                }
                if Instant::now() >= self.next_look {
                    self.next_look = Instant::now() + LOOK;
                    self.wakes.look();
                }
                let done = match done {
                    Ok(()) => self.turn(connection).await,
                    Err(error) => Err(error),
                };
                if let Err(error) = done {
                    let error = ClusterError::of(&self.settings.server)(error);
                    (self.tell)(&format!(
                        "{error}; what is at work continues, and the server is tried again"
                    ));
                    server = None;
                }
            }
            if let Some(metrics) = &self.metrics {
                metrics.is_connected(server.is_some());
                metrics.present(self.claims.values().map(|claimed| claimed.class.as_str()), self.leads.len());
            }
            if self.is_stopping && self.leads.is_empty() && self.claims.is_empty() && self.is_told() {
                return;
            }
            if farewell.is_some_and(|until| Instant::now() > until) {
                return;
            }
            if self.renewed.elapsed() > self.settings.lease {
                self.lose_all("the server could not be reached for longer than the lease");
            }
            let is_connected = server.is_some();
            let pause = match is_connected {
                true => self.next_heartbeat.min(self.next_look).saturating_duration_since(Instant::now()),
                false => BETWEEN_TRIES,
            };
            tokio::select! {
                biased;
                reason = &mut stop, if !self.is_stopping => {
                    farewell = Some(Instant::now() + FAREWELL);
                    self.leave(&reason);
                }
                Some(ask) = self.asked.recv() => self.take_ask(ask),
                Some(news) = self.heard.recv() => self.take_news(news),
                heard = notification(&mut server) => match heard {
                    Some(notification) => self.wakes.hear(notification.payload()),
                    None => {
                        (self.tell)(&format!("lost the connection to `{}`; trying again", self.settings.server));
                        server = None;
                    }
                },
                () = tokio::time::sleep(pause) => {
                    if !is_connected
                        && let Ok(opened) = Connections::open(&self.settings.server).await {
                        (self.tell)(&format!("reached `{}` again", self.settings.server));
                        // What was being sent when the connection was lost may not be there.
                        self.requested = self.waiting.keys().cloned().collect();
                        self.wakes.look();
                        (server, is_new) = (Some(opened), true);
                    }
                }
            }
            // What arrives together is sent together.
            while let Ok(ask) = self.asked.try_recv() {
                self.take_ask(ask);
            }
            while let Ok(news) = self.heard.try_recv() {
                self.take_news(news);
            }
            if let Some((_, notifications)) = &mut server {
                while let Ok(notification) = notifications.try_recv() {
                    self.wakes.hear(notification.payload());
                }
            }
        }
    }

    /// Whether the server has everything.
    fn is_told(&self) -> bool {
        self.performed.is_empty() && self.released.is_empty() && self.led.is_empty()
    }

    fn take_ask(&mut self, ask: Ask) {
        match ask {
            Ask::Perform(wanted) => {
                // Who leads the run any more is not decided here; that it is not led here is.
                if !self.is_led_in(&wanted.key.0, wanted.epoch) {
                    return;
                }
                self.requested.push(wanted.key.clone());
                self.waiting.insert(*wanted);
            }
            Ask::Hold { run, epoch, is_paused } => self.held.push((run, epoch, is_paused)),
            Ask::Cancel(key, epoch) => {
                if self.is_led_in(&key.0, epoch) {
                    self.waiting.remove(&key);
                    self.requested.retain(|requested| *requested != key);
                    self.cancelled.push(key);
                }
            }
        }
    }

    /// Whether the program of an epoch is executed here and is to go on.
    fn is_led_in(&self, run: &str, epoch: i64) -> bool {
        self.leads.get(run).is_some_and(|leading| leading.epoch == epoch && !leading.is_leaving)
    }

    fn take_news(&mut self, news: News) {
        match news {
            News::Performed(claim, done) => {
                let Some(Claimed { key, class, used, .. }) = self.claims.remove(&claim) else { return };
                let used = used_so_far(&used);
                if let (Some(metrics), Some(done)) = (&self.metrics, &done) {
                    metrics.performed(&class, matches!(done.outcome, Outcome::Failed(_)), used);
                }
                // There may be room for another one in a quota. Without quotas, all that there is was claimed already, or the slots were full.
                self.wakes.claims |= self.limited.as_ref().is_none_or(|limited| !limited.is_empty());
                self.unanswered.retain(|(of, _), _| *of != claim);
                match done.map(|done| serde_json::to_string(&done)) {
                    Some(Ok(outcome)) => {
                        let usage = used.and_then(usage_text);
                        self.performed.push(Performed { claim, key, outcome, usage });
                    }
                    // An outcome without odd numbers can always be written.
                    Some(Err(_)) | None => {
                        self.released.push(claim);
                        self.rests_until = Some(Instant::now() + Duration::from_secs(1));
                    }
                }
            }
            News::Asked(claim, Asked { question, answer }) => {
                let Ok(text) = serde_json::to_string(&question) else { return };
                self.questions += 1;
                self.unanswered.insert((claim, self.questions), answer);
                self.asked_by_agents.push((claim, self.questions, text));
            }
            News::Answered(claim, id, answer) => {
                self.answers.extend(serde_json::to_string(&answer).ok().map(|text| (claim, id, text)));
            }
            News::Led(run, epoch, led) => self.led.push((run, epoch, led)),
            News::Replied(message, reply) => self.replies.push((message, reply)),
        }
    }

    /// Stops everything. Returns the claims, which others may have.
    fn lose_all(&mut self, why: &str) -> Vec<i64> {
        let runs: Vec<Arc<str>> = self.leads.keys().cloned().collect();
        for run in runs {
            self.lose(&run, why);
        }
        let aborted = self.claims.drain().map(|(claim, claimed)| {
            claimed.abort.abort();
            claim
        });
        aborted.collect()
    }

    /// Stops to execute a run that goes on elsewhere.
    fn lose(&mut self, run: &str, why: &str) {
        let Some(leading) = self.leads.get_mut(run) else { return };
        leading.is_leaving = true;
        if let Some(stop) = leading.stop.take() {
            (self.tell)(&format!("stopped to lead {run}: {why}"));
            // A run that has just ended needs no reason.
            let _ = stop.send(format!("{GIVEN_BACK}{why}"));
        }
        self.forget(run);
    }

    /// Forgets what a run waits for, since this process does not lead it any more, or in another epoch.
    fn forget(&mut self, run: &str) {
        self.waiting.forget(run);
        self.requested.retain(|(of, _)| **of != *run);
    }

    /// Gives everything back, since the process is asked to end.
    fn leave(&mut self, reason: &str) {
        self.is_stopping = true;
        let claims = self.lose_all(reason);
        self.released.extend(claims);
    }

    fn heartbeat_interval(&self) -> Duration {
        self.settings.lease / HEARTBEATS
    }
}

/// The next notification; `None` if the connection is lost. Never without a connection.
async fn notification(
    server: &mut Option<(Connections, UnboundedReceiver<Notification>)>,
) -> Option<Notification> {
    match server {
        Some((_, notifications)) => notifications.recv().await,
        None => std::future::pending().await,
    }
}

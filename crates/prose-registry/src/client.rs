//! Look-ups: the vendored copies, the cache, the network, in this order.

mod locked;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use dashmap::DashMap;
use dashmap::mapref::entry::Entry;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use prose_reference::{GitProgram, Reference};
use tokio::sync::{OnceCell, Semaphore};
use url::Url;

use crate::cache::Cache;
use crate::lock::{LockMismatch, Pin};
use crate::outcome::{Found, Outcome, Problem, Provenance, Refusal, Unreachable};
use crate::program::{self, Program, Source, Timestamp};
use crate::settings::Settings;
use crate::web::{Answer, Content, Failure, Question, Web};

/// How many programs may import each other on the way from the workspace to one of them.
pub const MAX_DEPTH: usize = 16;

/// The number of suggestions for a program that was not found.
const MAX_NEAR: usize = 3;

/// Who imports a program.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Importer {
    /// A program of the workspace, or the user.
    Workspace,
    /// A program that came from the network.
    Remote {
        /// The address that answered with it.
        url: Url,
        /// How many programs lie between it and the workspace, with itself.
        depth: usize,
    },
}

impl Importer {
    /// A program that this one imports, as an importer itself.
    pub fn of(&self, imported: &Program) -> Self {
        Importer::Remote { url: imported.source.final_url.clone(), depth: self.depth() + 1 }
    }

    fn depth(&self) -> usize {
        match self {
            Importer::Workspace => 0,
            Importer::Remote { depth, .. } => *depth,
        }
    }
}

/// How current a program must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Freshness {
    /// Any known text, without a request.
    Known,
    /// A request is made if the text was last confirmed longer than [`Settings::fresh_for`] ago.
    Recent,
    /// A request is always made.
    Now,
}

/// Looks up programs. Clones share everything.
#[derive(Clone)]
pub struct Client {
    inner: Arc<Inner>,
}

struct Inner {
    settings: Settings,
    cache: Arc<Cache>,
    /// Made when it is first needed, since reading certificates takes time that a warm start has not.
    web: OnceCell<Result<Web, String>>,
    /// The requests under way.
    flights: DashMap<FlightKey, Flight>,
    /// The look-ups that failed, and when.
    failures: DashMap<FlightKey, (Instant, Outcome)>,
    all: Semaphore,
    hosts: DashMap<String, Arc<Semaphore>>,
}

type Flight = Shared<BoxFuture<'static, Outcome>>;

/// Look-ups of one key may share a request.
#[derive(Clone, PartialEq, Eq, Hash)]
struct FlightKey {
    url: Url,
    freshness: Freshness,
    /// A program from the network must not get what it may not request through another's request either.
    is_remote: bool,
    is_trusted: bool,
}

impl Client {
    /// Creates a client. It makes no request and reads nothing until needed.
    pub fn new(settings: Settings, cache: impl Into<Arc<Cache>>) -> Self {
        let inner = Inner {
            all: Semaphore::new(settings.limits.requests),
            settings,
            cache: cache.into(),
            web: OnceCell::new(),
            flights: DashMap::new(),
            failures: DashMap::new(),
            hosts: DashMap::new(),
        };
        Self { inner: Arc::new(inner) }
    }

    /// The cache.
    pub fn cache(&self) -> &Cache {
        &self.inner.cache
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.inner.settings
    }

    /// A file that shows the text of a program, for reading: the copy itself if it is one, otherwise a file of the cache. None if the
    /// cache has no folder, or none that can be written to.
    pub fn show(&self, program: &Program, by: Option<Provenance>) -> Option<PathBuf> {
        let vendor = self.inner.settings.vendor.as_ref().filter(|_| by == Some(Provenance::Vendored));
        vendor.and_then(|vendor| vendor.path(program)).or_else(|| self.inner.cache.show(program))
    }

    /// The known text of a program, without a request. Reads the disk, and never waits for anything else.
    pub fn known(&self, reference: &Reference) -> Option<Found> {
        match self.pin(reference) {
            Ok(None) => self.known_unlocked(reference),
            Ok(Some(pin)) => self.kept(pin),
            Err(_) => None,
        }
    }

    /// Why the known text of a program is not used: the lock file names another text, or cannot be read.
    pub fn mismatch(&self, reference: &Reference) -> Option<Box<LockMismatch>> {
        let pin = match self.pin(reference) {
            Ok(pin) => pin?,
            Err(mismatch) => return Some(mismatch),
        };
        if self.kept(pin).is_some() {
            return None;
        }
        let found = self.known_unlocked(reference)?.program.source.sha256;
        (found != pin.sha256).then(|| Box::new(LockMismatch::Changed { pin: pin.clone(), found }))
    }

    /// The pin of a program in the lock file that applies.
    fn pin(&self, reference: &Reference) -> Result<Option<&Pin>, Box<LockMismatch>> {
        let settings = &self.inner.settings;
        settings.lock.as_ref().map_or(Ok(None), |locked| locked.pin(reference, &settings.registry))
    }

    fn known_unlocked(&self, reference: &Reference) -> Option<Found> {
        let url = reference.urls(&self.inner.settings.registry).into_iter().next()?;
        self.inner.known(reference, &url)
    }

    /// Looks up a program. Needs a runtime of tokio with time and network.
    ///
    /// Concurrent look-ups of one program share a request. Cancelling one does not cancel the others.
    pub async fn get(&self, reference: &Reference, importer: &Importer, freshness: Freshness) -> Outcome {
        let found = match self.pin(reference) {
            Ok(Some(pin)) => self.pinned_as(pin, importer, freshness).await,
            Ok(None) => Ok(self.get_unlocked(reference, importer, freshness).await),
            Err(mismatch) => Err(mismatch),
        };
        found.unwrap_or_else(|mismatch| Outcome::new(reference.to_string(), Err(Problem::Locked(mismatch))))
    }

    /// The same, ignoring the lock file.
    pub(crate) async fn get_unlocked(
        &self,
        reference: &Reference,
        importer: &Importer,
        freshness: Freshness,
    ) -> Outcome {
        let name = reference.to_string();
        let refused = |refusal| Outcome::new(name.clone(), Err(Problem::Refused(refusal)));
        if reference.is_local() {
            return refused(Refusal::Local);
        }
        if importer.depth() >= MAX_DEPTH {
            return refused(Refusal::TooDeep(MAX_DEPTH));
        }
        let urls = reference.urls(&self.inner.settings.registry);
        let Some(url) = urls.first().cloned() else {
            return refused(Refusal::Registry(self.inner.settings.registry.clone()));
        };
        if self.inner.settings.offline || freshness == Freshness::Known {
            return self.inner.clone().without_asking(reference.clone(), url).await;
        }
        let key = FlightKey {
            is_remote: *importer != Importer::Workspace,
            is_trusted: self.inner.is_trusted(reference, &url, importer),
            freshness,
            url,
        };
        if let Some(failure) = self.inner.recent_failure(&key) {
            return failure;
        }
        self.flight(key, reference, urls).await
    }

    /// The commit that the revision of a program currently refers to, if its git host reports it.
    pub async fn commit(&self, program: &GitProgram) -> Result<String, Problem> {
        if let Some(commit) = program.commit() {
            return Ok(commit.to_owned());
        }
        let url = program.commit_url();
        self.inner.commit(&url).await.map_err(|failure| problem(failure, &url, None))
    }

    /// The request under way for a key, or a new one.
    fn flight(&self, key: FlightKey, reference: &Reference, urls: Vec<Url>) -> Flight {
        match self.inner.flights.entry(key) {
            Entry::Occupied(flight) => flight.get().clone(),
            Entry::Vacant(place) => {
                let (inner, key, reference) = (self.inner.clone(), place.key().clone(), reference.clone());
                let (name, url) = (reference.to_string(), key.url.clone());
                let task = tokio::spawn(async move {
                    let _landing = Landing { inner: inner.clone(), key: key.clone() };
                    let outcome = inner.clone().look_up(reference, urls, key.clone()).await;
                    inner.remember_failure(key, &outcome);
                    outcome
                });
                let flight = async move {
                    task.await.unwrap_or_else(|error| {
                        let why = Unreachable::Client(error.to_string());
                        Outcome::new(name, Err(Problem::Unreachable { url, why, last: None }))
                    })
                };
                place.insert(flight.boxed().shared()).clone()
            }
        }
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("settings", &self.inner.settings)
            .field("cache", &self.inner.cache.dir())
            .finish_non_exhaustive()
    }
}

/// Removes a request when it ends.
struct Landing {
    inner: Arc<Inner>,
    key: FlightKey,
}

impl Drop for Landing {
    fn drop(&mut self) {
        self.inner.flights.remove(&self.key);
    }
}

impl Inner {
    /// A registry may be asked for its programs by programs that came from it, and for programs by name by all, since the user chose
    /// it. So a registry within a company serves programs that import each other, while none can make it answer to anything else.
    fn is_trusted(&self, reference: &Reference, url: &Url, importer: &Importer) -> bool {
        let registry = self.settings.registry.origin();
        let is_asked_by_name = matches!(reference, Reference::Registry(_));
        let comes_from_there = matches!(importer, Importer::Remote { url, .. } if url.origin() == registry);
        url.origin() == registry && (is_asked_by_name || comes_from_there)
    }

    fn known(&self, reference: &Reference, url: &Url) -> Option<Found> {
        if let Some(program) = self.settings.vendor.as_ref().and_then(|vendor| vendor.get(reference)) {
            return Some(Found { program, by: Provenance::Vendored });
        }
        let program = self.cache.get(url)?;
        let age = program.source.age(SystemTime::now());
        let by = if self.settings.offline { Provenance::Offline(age) } else { Provenance::Cache(age) };
        Some(Found { program, by })
    }

    async fn without_asking(self: Arc<Self>, reference: Reference, url: Url) -> Outcome {
        let why = if self.settings.offline { Unreachable::Offline } else { Unreachable::NotFetched };
        let name = reference.to_string();
        let asked = url.clone();
        let found = on_disk(move || self.known(&reference, &asked)).await.flatten();
        Outcome::new(name, found.ok_or(Problem::Unreachable { url, why, last: None }))
    }

    async fn look_up(self: Arc<Self>, reference: Reference, urls: Vec<Url>, key: FlightKey) -> Outcome {
        let name = reference.to_string();
        let (inner, url) = (self.clone(), key.url.clone());
        let known = on_disk(move || inner.known(&reference, &url)).await.flatten();
        let last = match known {
            Some(found) if found.by == Provenance::Vendored || self.is_enough(&found, &key) => {
                return Outcome::new(name, Ok(found));
            }
            known => known.map(|found| found.program),
        };
        let (answer, moment) = self.ask_all(&urls, last.as_ref(), &key).await;
        let result = match answer {
            Ok(Some(answer)) => self.clone().keep(name.clone(), key.url, answer, last, moment).await,
            Ok(None) => {
                let (inner, wanted) = (self.clone(), name.clone());
                let near = on_disk(move || inner.cache.near(&wanted, MAX_NEAR)).await.unwrap_or_default();
                Err(Problem::NotFound { asked: urls, near })
            }
            Err((failure, url)) => Err(problem(failure, &url, last)),
        };
        Outcome::new(name, result)
    }

    /// What failed a moment ago need not be tried again at each edit.
    fn recent_failure(&self, key: &FlightKey) -> Option<Outcome> {
        let (time, outcome) = &*self.failures.get(key)?;
        (time.elapsed() < self.settings.failed_for).then(|| outcome.clone())
    }

    fn remember_failure(&self, key: FlightKey, outcome: &Outcome) {
        const MAX_FAILURES: usize = 1_000;
        // A request for the current text is always made, and its result is remembered for all.
        let key = FlightKey { freshness: Freshness::Recent, ..key };
        if outcome.result.is_ok() {
            self.failures.remove(&key);
            return;
        }
        if self.failures.len() >= MAX_FAILURES {
            self.failures.retain(|_, (time, _)| time.elapsed() < self.settings.failed_for);
        }
        if self.failures.len() < MAX_FAILURES {
            self.failures.insert(key, (Instant::now(), outcome.clone()));
        }
    }

    fn is_enough(&self, found: &Found, key: &FlightKey) -> bool {
        let Provenance::Cache(Some(age)) = found.by else { return false };
        key.freshness == Freshness::Recent && age < self.settings.fresh_for
    }

    /// Requests one address after the other until one has the program. Returns the time of the start as well.
    async fn ask_all(
        &self,
        urls: &[Url],
        known: Option<&Program>,
        key: &FlightKey,
    ) -> (Result<Option<Answer>, (Failure, Url)>, Timestamp) {
        let host = self.host(&key.url);
        // Neither is ever closed. The host comes first, so that waiting for a slow host does not block requests to others.
        let _of_host = host.acquire().await;
        let _of_all = self.all.acquire().await;
        let moment = Timestamp::now();
        let total = self.settings.limits.total;
        let deadline = Instant::now() + total;
        for url in urls {
            let question = Question {
                url,
                known: known.map(|known| &known.source),
                accept: "text/plain, text/*;q=0.9, */*;q=0.5",
                is_remote: key.is_remote,
                trusted: key.is_trusted.then(|| url.origin()),
                deadline,
            };
            let asking = async {
                let web = self.web().await.map_err(|failure| (failure, url.clone()))?;
                web.ask(&question).await
            };
            match tokio::time::timeout_at(deadline.into(), asking).await {
                Ok(Ok(Answer { content: Content::Missing, .. })) => {}
                Ok(Ok(answer)) => return (Ok(Some(answer)), moment),
                Ok(Err(failed)) => return (Err(failed), moment),
                Err(_) => return (Err((Unreachable::TimedOut(total).into(), url.clone())), moment),
            }
        }
        (Ok(None), moment)
    }

    /// Puts an answer into the cache.
    async fn keep(
        self: Arc<Self>,
        reference: String,
        url: Url,
        answer: Answer,
        last: Option<Program>,
        moment: Timestamp,
    ) -> Result<Found, Problem> {
        let Answer { url: final_url, moved_to, content } = answer;
        let (program, by) = match (content, last) {
            (Content::Text { text, etag, last_modified }, _) => {
                let sha256 = program::Hash::of(&text);
                let source = Source {
                    reference,
                    url,
                    final_url,
                    moved_to,
                    etag,
                    last_modified,
                    fetched: moment,
                    sha256,
                };
                (Program { text: text.into(), source }, Provenance::Host)
            }
            (Content::Unchanged, Some(last)) => {
                let source = Source { reference, url, final_url, moved_to, fetched: moment, ..last.source };
                (Program { text: last.text, source }, Provenance::HostUnchanged)
            }
            // A host cannot confirm a condition that was not sent; `Web` treats this as a status like any other.
            (Content::Unchanged | Content::Missing, _) => {
                let why = Unreachable::Status(304);
                return Err(Problem::Unreachable { url: final_url, why, last: None });
            }
        };
        let kept = program.clone();
        on_disk(move || self.cache.put(&kept)).await;
        Ok(Found { program, by })
    }

    async fn commit(&self, url: &Url) -> Result<String, Failure> {
        if self.settings.offline {
            return Err(Unreachable::Offline.into());
        }
        let host = self.host(url);
        let _of_host = host.acquire().await;
        let _of_all = self.all.acquire().await;
        let total = self.settings.limits.total;
        let question = Question {
            url,
            known: None,
            // GitHub would send the whole commit otherwise.
            accept: "application/vnd.github.sha, application/json;q=0.9",
            is_remote: false,
            trusted: None,
            deadline: Instant::now() + total,
        };
        let asking = async { self.web().await?.ask(&question).await.map_err(|(failure, _)| failure) };
        let answer =
            tokio::time::timeout(total, asking).await.map_err(|_| Unreachable::TimedOut(total))??;
        match answer.content {
            Content::Text { text, .. } => {
                commit_in(&text).ok_or_else(|| Unreachable::Broken("it contains no commit".to_owned()).into())
            }
            Content::Missing => Err(Unreachable::Status(404).into()),
            Content::Unchanged => Err(Unreachable::Status(304).into()),
        }
    }

    async fn web(&self) -> Result<&Web, Failure> {
        let settings = &self.settings;
        let make = || async move {
            let settings = settings.clone();
            on_disk(move || Web::new(&settings)).await.unwrap_or_else(|| Err("it was cancelled".to_owned()))
        };
        self.web.get_or_init(make).await.as_ref().map_err(|why| Unreachable::Client(why.clone()).into())
    }

    fn host(&self, url: &Url) -> Arc<Semaphore> {
        let host = url.origin().ascii_serialization();
        let new = || Arc::new(Semaphore::new(self.settings.limits.requests_per_host));
        self.hosts.entry(host).or_insert_with(new).clone()
    }
}

fn problem(failure: Failure, url: &Url, last: Option<Program>) -> Problem {
    let url = url.clone();
    match failure {
        Failure::NotAProgram(what) => Problem::NotAProgram { url, what },
        Failure::Unreachable(why) => Problem::Unreachable { url, why, last: last.map(Box::new) },
        Failure::Refused(refusal) => Problem::Refused(refusal),
    }
}

/// The commit in the response of a git host: GitHub sends it as the whole text, the others in JSON.
fn commit_in(text: &str) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Commit {
        #[serde(alias = "id")]
        sha: String,
    }
    let is_commit =
        |text: &str| matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let text = text.trim();
    if is_commit(text) {
        return Some(text.to_owned());
    }
    let commit: Commit = serde_json::from_str(text).ok()?;
    is_commit(&commit.sha).then_some(commit.sha)
}

/// Runs blocking file access on another thread. `None` when the runtime ends.
pub(crate) async fn on_disk<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    tokio::task::spawn_blocking(work).await.ok()
}

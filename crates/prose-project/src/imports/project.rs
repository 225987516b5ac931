//! Fetches the remote imports of all programs at once, with the settings of their projects.
//!
//! Everything here is created when the first remote import is found: most programs have none, and `prose check` must start fast.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::join_all;
use prose_analysis::location::{Fetched, Origin, Registry, Remote};
use prose_config::FetchMode;
use prose_registry::{
    Cache, Client, Freshness, LOCK_FILE, Lock, Locked, Outcome, Problem, Reference, Unreachable, Vendor,
    Visited,
};

use super::{Registries, copies, fetched, import_paths, not_requested, shown_at};
use crate::files::{Failure, identity, leads_into};
use crate::settings::Rules;

/// The warning that fetching is disabled.
pub(crate) const NOTHING_IS_FETCHED: &str =
    "fetching is disabled; imported programs come from the cache and may be outdated";

/// The time limit for all imports of a check. Each request has its own limits, but many requests to a slow host would add up.
const MAX_CHECK_TIME: Duration = Duration::from_secs(60);

/// How imports are fetched.
#[derive(Debug, Clone, Default)]
pub struct ImportOptions {
    /// No host is contacted.
    pub offline: bool,
    /// Vendored copies are ignored: the texts of the hosts are needed.
    pub past_vendor: bool,
    /// The folder with vendored copies, instead of that of the settings.
    pub vendor: Option<PathBuf>,
    /// How the lock file is used.
    pub lock: LockUse,
    /// The folder that local programs must lie in; `None` if they may lie anywhere.
    pub within: Option<PathBuf>,
}

/// How the lock file is used. It cannot be ignored (decision 28).
#[derive(Debug, Clone)]
pub enum LockUse {
    /// Only pinned texts are accepted.
    Complete,
    /// Pinned texts are accepted, except for those to be updated; others are fetched.
    Kept(Update),
}

impl LockUse {
    /// The use for `--locked`, or without it.
    pub fn new(is_locked: bool) -> Self {
        if is_locked { Self::Complete } else { Self::default() }
    }
}

impl Default for LockUse {
    fn default() -> Self {
        Self::Kept(Update::Nothing)
    }
}

/// The pins to update.
#[derive(Debug, Clone)]
pub enum Update {
    /// None.
    Nothing,
    /// All.
    All,
    /// Those of these references.
    These(BTreeSet<String>),
}

impl Update {
    /// Whether the pin of a reference is updated.
    pub fn includes(&self, reference: &str) -> bool {
        match self {
            Update::Nothing => false,
            Update::All => true,
            Update::These(references) => references.contains(reference),
        }
    }
}

/// The remote imports of a program, direct or through local programs.
#[derive(Debug, Default)]
pub struct Needs {
    /// The imports.
    pub roots: Vec<Remote>,
    /// Whether an import must be fetched before the program can be checked.
    pub are_unknown: bool,
}

/// The imports of all projects.
pub struct Imports {
    options: ImportOptions,
    cache: Arc<Cache>,
    /// By settings file.
    projects: Mutex<BTreeMap<Option<PathBuf>, Arc<ProjectImports>>>,
    failures: Mutex<Vec<Failure>>,
    remarks: Mutex<Vec<String>>,
}

/// The imports of a project.
pub struct ProjectImports {
    registries: Mutex<Registries>,
    /// The registry of its programs.
    pub registry: Registry,
    fetch: FetchMode,
    /// The path of the lock file, which may not exist.
    pub lock_path: PathBuf,
    /// The lock file.
    pub lock: Option<Lock>,
    /// The imports of local programs.
    roots: Mutex<BTreeSet<Remote>>,
    outcomes: Mutex<HashMap<Remote, Outcome>>,
    is_waiting: AtomicBool,
    is_looked_up: AtomicBool,
}

impl Imports {
    /// Imports that have not been fetched yet.
    pub fn new(options: ImportOptions) -> Self {
        Self {
            options,
            cache: Arc::new(Cache::of_user()),
            projects: Mutex::default(),
            failures: Mutex::default(),
            remarks: Mutex::default(),
        }
    }

    /// Whether a local program may be imported from a file.
    pub(crate) fn may_read(&self, path: &Path) -> bool {
        self.options.within.as_ref().is_none_or(|folder| leads_into(path, folder))
    }

    /// The imports of the project with these settings.
    pub fn of(&self, rules: &Rules) -> Arc<ProjectImports> {
        let project = rules.project();
        let mut projects = lock(&self.projects);
        let imports = projects.entry(project.path.clone()).or_insert_with(|| Arc::new(self.project(rules)));
        Arc::clone(imports)
    }

    /// The origin of a program, if its file is a fetched one, and its registry if that can be determined.
    pub fn shown_at(&self, path: &Path) -> Option<(Origin, Option<Registry>)> {
        shown_at(&self.cache, path)
    }

    /// All projects, sorted by path.
    pub fn projects(&self) -> Vec<Arc<ProjectImports>> {
        lock(&self.projects).values().cloned().collect()
    }

    fn project(&self, rules: &Rules) -> ProjectImports {
        let project = rules.project();
        let folder = project.path.as_deref().and_then(Path::parent);
        let folder = folder.map_or_else(|| identity(Path::new(".")), Path::to_owned);
        let lock_path = folder.join(LOCK_FILE);
        let loaded = Lock::load(&lock_path);
        // Nothing is fetched if a lock file exists but cannot be read.
        let locked = match &loaded {
            Ok(lock) => self.locked(lock.clone().unwrap_or_default()),
            Err(error) => Locked::Unreadable(error.reason().into()),
        };
        let lock = loaded.unwrap_or_else(|error| {
            self.fail(&lock_path, error);
            None
        });
        let config = &project.config.registry;
        let registries = Registries::new(Arc::clone(&self.cache))
            .with_offline(self.options.offline)
            .with_vendor(
                self.options.vendor.clone().or_else(|| rules.vendor()).and_then(|dir| self.vendor(&dir)),
            )
            .with_lock(Some(locked));
        ProjectImports {
            registries: Mutex::new(registries),
            registry: config.url.as_str().into(),
            fetch: config.fetch,
            lock_path,
            lock,
            roots: Mutex::default(),
            outcomes: Mutex::default(),
            is_waiting: AtomicBool::new(false),
            is_looked_up: AtomicBool::new(false),
        }
    }

    fn locked(&self, mut lock: Lock) -> Locked {
        let is_complete = match &self.options.lock {
            LockUse::Complete => true,
            LockUse::Kept(update) => {
                lock.retain(|reference| !update.includes(reference));
                false
            }
        };
        Locked::Pins { lock: Arc::new(lock), is_complete }
    }

    fn vendor(&self, dir: &Path) -> Option<Vendor> {
        if self.options.past_vendor {
            return None;
        }
        match copies::load(dir) {
            Ok((vendor, remarks)) => {
                lock(&self.remarks).extend(remarks);
                vendor
            }
            Err(failure) => {
                lock(&self.failures).push(failure);
                None
            }
        }
    }

    fn fail(&self, path: &Path, why: impl ToString) {
        lock(&self.failures).push(Failure::new(path, why));
    }

    /// The files that could not be read.
    pub fn take_failures(&self) -> Vec<Failure> {
        std::mem::take(&mut lock(&self.failures))
    }

    /// Warnings about credentials, the cache and disabled fetching.
    pub fn take_remarks(&self) -> Vec<String> {
        let projects = self.projects();
        let mut remarks = std::mem::take(&mut *lock(&self.remarks));
        for project in &projects {
            remarks.extend(lock(&project.registries).take_problems().iter().map(ToString::to_string));
        }
        remarks.extend(self.cache.take_problem().map(|problem| problem.to_string()));
        if projects.iter().any(|project| project.is_offline()) {
            remarks.push(NOTHING_IS_FETCHED.to_owned());
        }
        // Each project reads the credentials again.
        remarks.sort();
        remarks.dedup();
        remarks
    }

    /// Fetches all recorded imports and their imports, in parallel.
    pub fn look_up(&self) {
        let projects = self.projects();
        let waiting = projects.iter().filter(|project| project.is_waiting.load(Ordering::Relaxed));
        let looking = waiting.map(|project| async move {
            let freshness = match project.fetch {
                FetchMode::Automatic => Freshness::Recent,
                FetchMode::Manual | FetchMode::Off => Freshness::Known,
            };
            let is_over = tokio::time::timeout(MAX_CHECK_TIME, project.walk(freshness)).await.is_err();
            if is_over {
                project.give_up();
            }
        });
        let looking: Vec<_> = looking.collect();
        if looking.is_empty() {
            return;
        }
        if let Err(error) = block_on(join_all(looking)) {
            self.fail(Path::new("."), format!("has imports that cannot be resolved: {error}"));
        }
        for project in projects {
            project.is_looked_up.store(true, Ordering::Relaxed);
        }
    }
}

impl ProjectImports {
    /// When programs are fetched.
    pub fn fetch(&self) -> FetchMode {
        self.fetch
    }

    /// The client for a registry.
    pub fn client(&self, registry: &Registry) -> Option<Client> {
        lock(&self.registries).client(registry)
    }

    /// The known state of a program. `None` while it must be fetched.
    pub fn remote(&self, remote: &Remote, asker: &Origin) -> Option<Fetched> {
        if remote.is_of_unknown_registry() {
            return None;
        }
        let mut registries = lock(&self.registries);
        if let Some(outcome) = lock(&self.outcomes).get(remote) {
            let is_unknown =
                matches!(outcome.result, Err(Problem::Unreachable { why: Unreachable::NotFetched, .. }));
            if is_unknown && self.fetch == FetchMode::Off {
                return Some(not_requested(remote, "`registry.fetch` is \"off\""));
            }
            return Some(fetched(remote, asker, outcome, &registries.client(&remote.registry)?));
        }
        let (known, pending) = registries.look(remote, asker);
        let is_enough = pending.is_none() || self.is_looked_up.load(Ordering::Relaxed);
        known.filter(|_| is_enough)
    }

    /// Records the imports of a local program, and whether one of them must be fetched.
    pub fn add(&self, needs: Needs) {
        lock(&self.roots).extend(needs.roots);
        self.is_waiting.fetch_or(needs.are_unknown, Ordering::Relaxed);
    }

    /// Whether its programs have remote imports.
    pub fn has_remote_imports(&self) -> bool {
        !lock(&self.roots).is_empty()
    }

    fn is_offline(&self) -> bool {
        let roots = lock(&self.roots).clone();
        roots.iter().any(|root| self.client(&root.registry).is_some_and(|client| client.settings().offline))
    }

    /// Fetches the imports of local programs, and their imports.
    pub async fn walk(&self, freshness: Freshness) -> Vec<(Client, Visited)> {
        let mut by_registry: BTreeMap<Registry, Vec<Reference>> = BTreeMap::new();
        let roots = lock(&self.roots).clone();
        for Remote { registry, reference } in roots.into_iter().filter(|root| !root.is_of_unknown_registry())
        {
            by_registry.entry(registry).or_default().push(reference);
        }
        let walks = by_registry.into_iter().filter_map(|(registry, roots)| {
            let client = self.client(&registry)?;
            Some(async move {
                let visited = client.walk(roots, freshness, import_paths).await;
                let remote = |visited: &Visited| Remote {
                    registry: registry.clone(),
                    reference: visited.reference.clone(),
                };
                let outcomes = visited.iter().map(|visited| (remote(visited), visited.outcome.clone()));
                lock(&self.outcomes).extend(outcomes);
                visited.into_iter().map(|visited| (client.clone(), visited)).collect::<Vec<_>>()
            })
        });
        join_all(walks.collect::<Vec<_>>()).await.concat()
    }

    /// Reports all imports that were not fetched in time. Those that were are in the cache.
    fn give_up(&self) {
        for remote in lock(&self.roots).iter() {
            let Some(client) = self.client(&remote.registry) else { continue };
            let Some(url) = remote.reference.urls(&client.settings().registry).into_iter().next() else {
                continue;
            };
            let why = Unreachable::TimedOut(MAX_CHECK_TIME);
            let result = client.known(&remote.reference).ok_or(Problem::Unreachable { url, why, last: None });
            let outcome = Outcome { reference: remote.reference.to_string(), result };
            lock(&self.outcomes).entry(remote.clone()).or_insert(outcome);
        }
    }
}

/// Runs a future on a runtime with network access. Remaining tasks are dropped at its end.
pub fn block_on<T>(work: impl Future<Output = T>) -> io::Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let result = runtime.block_on(work);
    runtime.shutdown_background();
    Ok(result)
}

/// A panic leaves no inconsistent state behind these locks.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

//! The registries of a session.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use prose_analysis::location::{Fetched, Origin, Registry, Remote};
use prose_reference::Reference;
use prose_registry::{
    Cache, Client, CredentialsProblem, Freshness, Locked, Problem, Provenance, Settings, Vendor,
};
use url::Url;

use super::fetched;

/// A URL that no path can be appended to.
const NO_REGISTRY: &str = "unknown:";

/// Fetches remote programs: one client per registry, and one shared cache.
#[derive(Debug)]
pub struct Registries {
    cache: Arc<Cache>,
    vendor: Option<Vendor>,
    lock: Option<Locked>,
    offline: bool,
    clients: HashMap<Registry, Option<Client>>,
    problems: Vec<CredentialsProblem>,
}

/// A fetch that takes longer than a response may take.
#[derive(Debug, Clone)]
pub struct PendingFetch {
    /// The program to fetch.
    pub remote: Remote,
    /// The client.
    pub client: Client,
    /// The required freshness.
    pub freshness: Freshness,
}

/// The result of a fetch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchResult {
    /// The program and its diagnostics.
    pub fetched: Fetched,
    /// After a temporary failure: the minimum delay before the next attempt.
    pub again_after: Option<Duration>,
}

impl Registries {
    /// The registries of the user, with a cache.
    pub fn new(cache: impl Into<Arc<Cache>>) -> Self {
        Self {
            cache: cache.into(),
            vendor: None,
            lock: None,
            offline: false,
            clients: HashMap::new(),
            problems: Vec::new(),
        }
    }

    /// Adds vendored copies, which take precedence, for registries without a folder of their own.
    pub fn with_vendor(mut self, vendor: Option<Vendor>) -> Self {
        self.vendor = vendor;
        self
    }

    /// Adds a lock file.
    pub fn with_lock(mut self, lock: Option<Locked>) -> Self {
        self.lock = lock;
        self
    }

    /// Disables requests if `offline` is set.
    pub fn with_offline(mut self, offline: bool) -> Self {
        self.offline = offline;
        self
    }

    /// The cache.
    pub fn cache(&self) -> &Arc<Cache> {
        &self.cache
    }

    /// Problems with the user's credentials, each reported once.
    pub fn take_problems(&mut self) -> Vec<CredentialsProblem> {
        std::mem::take(&mut self.problems)
    }

    /// The client for a registry. `None` if its URL is invalid.
    pub fn client(&mut self, registry: &Registry) -> Option<Client> {
        if let Some(client) = self.clients.get(registry) {
            return client.clone();
        }
        // URLs and repositories need no registry.
        let url = if registry.url.is_empty() { NO_REGISTRY } else { &*registry.url };
        let client = Url::parse(url).ok().map(|url| {
            let (mut settings, problems) = Settings::of_user(url);
            // Each registry reads the user's credentials again, with the same problems.
            if self.clients.is_empty() {
                self.problems = problems;
            }
            settings.offline |= self.offline;
            settings.vendor = registry.vendor.as_deref().and_then(copies).or_else(|| self.vendor.clone());
            let lock = registry.lock.as_ref().and_then(|lock| Locked::load(&lock.path));
            settings.lock = lock.or_else(|| self.lock.clone());
            Client::new(settings, Arc::clone(&self.cache))
        });
        self.clients.insert(registry.clone(), client.clone());
        client
    }

    /// The origin of a program whose file is in the cache or a vendored copy, and the registry if it was fetched by name.
    pub fn shown_at(&self, path: &Path) -> Option<(Origin, Option<Registry>)> {
        shown_at(&self.cache, path)
    }

    /// The diagnostic for a program that must not be fetched, if the lock file rejects the cached text.
    pub fn refusal(&mut self, remote: &Remote) -> Option<Fetched> {
        let mismatch = self.client(&remote.registry)?.mismatch(&remote.reference)?;
        Some(fetched::refused(remote, mismatch))
    }

    /// The known state of a program without a request, and the fetch to complete it.
    pub fn look(&mut self, remote: &Remote, asker: &Origin) -> (Option<Fetched>, Option<PendingFetch>) {
        if remote.is_of_unknown_registry() {
            return (None, None);
        }
        let Some(client) = self.client(&remote.registry) else { return (None, None) };
        let known = client.known(&remote.reference);
        let is_enough = known.as_ref().is_some_and(|found| match found.by {
            Provenance::Cache(age) | Provenance::Offline(age) => {
                age.is_some_and(|age| age < client.settings().fresh_for)
            }
            Provenance::Vendored | Provenance::Lock | Provenance::Host | Provenance::HostUnchanged => true,
        });
        let fetched = known.map(|found| fetched::known(remote, asker, found, &client));
        let pending = PendingFetch { remote: remote.clone(), client, freshness: Freshness::Recent };
        (fetched, Some(pending).filter(|_| !is_enough))
    }
}

/// The origin of a program whose file is in the cache or a vendored copy, with the registry if it was fetched by name.
pub fn shown_at(cache: &Cache, path: &Path) -> Option<(Origin, Option<Registry>)> {
    let cached = cache.shown_at(path).map(|program| (program, None));
    let (program, by) =
        cached.or_else(|| Some((Vendor::source_of_copy(path)?, Some(Provenance::Vendored))))?;
    let reference = Reference::parse(&program.source.reference).ok()?;
    let registry = match (&reference, by) {
        // A copy belongs to its project, whose settings contain the registry.
        (Reference::Registry(_), None) => {
            program.source.url.as_str().strip_suffix(&program.source.reference).map(Registry::from)
        }
        _ => None,
    };
    Some((Origin::Remote(Arc::new(fetched::origin(reference, 1, &program, by))), registry))
}

/// The copies in a configured folder.
fn copies(dir: &Path) -> Option<Vendor> {
    Vendor::load(dir).unwrap_or_else(|error| {
        tracing::warn!("{error}");
        None
    })
}

impl PendingFetch {
    /// Fetches it. Requires a tokio runtime with time and network.
    pub async fn fetch(&self, asker: &Origin) -> FetchResult {
        let importer = fetched::importer(asker);
        let outcome = self.client.get(&self.remote.reference, &importer, self.freshness).await;
        let again_after = match &outcome.result {
            Err(Problem::Unreachable { why, .. }) => why.retry_after(),
            _ => None,
        };
        FetchResult { fetched: fetched::fetched(&self.remote, asker, &outcome, &self.client), again_after }
    }
}

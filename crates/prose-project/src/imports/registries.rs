//! The registries that the programs of a session import from.

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

/// An address that no path can be appended to.
const NO_REGISTRY: &str = "unknown:";

/// Looks up what is not on this machine: one client for each registry, and one cache for all.
#[derive(Debug)]
pub struct Registries {
    cache: Arc<Cache>,
    vendor: Option<Vendor>,
    lock: Option<Locked>,
    offline: bool,
    clients: HashMap<Registry, Option<Client>>,
    problems: Vec<CredentialsProblem>,
}

/// A look-up that would take longer than an answer may.
#[derive(Debug, Clone)]
pub struct PendingFetch {
    /// What to look up.
    pub remote: Remote,
    /// Who is to be asked for it.
    pub client: Client,
    /// How fresh it has to be.
    pub freshness: Freshness,
}

/// What a look-up gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchResult {
    /// The program, and what there is to say about it.
    pub fetched: Fetched,
    /// Where it failed for a reason that may pass by itself: how long the host wants to be left alone, at least.
    pub again_after: Option<Duration>,
}

impl Registries {
    /// Those of the user, with a cache.
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

    /// The same with vendored copies, which come before everything else, for registries that name no folder with others.
    pub fn with_vendor(mut self, vendor: Option<Vendor>) -> Self {
        self.vendor = vendor;
        self
    }

    /// The same with a lock file that counts.
    pub fn with_lock(mut self, lock: Option<Locked>) -> Self {
        self.lock = lock;
        self
    }

    /// The same, and nobody is asked if `offline`.
    pub fn with_offline(mut self, offline: bool) -> Self {
        self.offline = offline;
        self
    }

    /// The cache.
    pub fn cache(&self) -> &Arc<Cache> {
        &self.cache
    }

    /// What was wrong with the tokens of the user, each told once.
    pub fn take_problems(&mut self) -> Vec<CredentialsProblem> {
        std::mem::take(&mut self.problems)
    }

    /// The client that asks a registry. None if the registry has no address that could be asked.
    pub fn client(&mut self, registry: &Registry) -> Option<Client> {
        if let Some(client) = self.clients.get(registry) {
            return client.clone();
        }
        // Addresses and repositories can be asked without a registry, of which no address can be made then.
        let url = if registry.url.is_empty() { NO_REGISTRY } else { &*registry.url };
        let client = Url::parse(url).ok().map(|url| {
            let (mut settings, problems) = Settings::of_user(url);
            // Each registry has the tokens of the user read again, with the same problems.
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

    /// Where the program came from that a file shows, one of the cache or a vendored copy, and the registry if it was asked by name.
    pub fn shown_at(&self, path: &Path) -> Option<(Origin, Option<Registry>)> {
        shown_at(&self.cache, path)
    }

    /// What there is to say about a program that nobody may be asked for, where the lock file refuses the text that is known.
    pub fn refusal(&mut self, remote: &Remote) -> Option<Fetched> {
        let mismatch = self.client(&remote.registry)?.mismatch(&remote.reference)?;
        Some(fetched::refused(remote, mismatch))
    }

    /// What is known of a program without asking anybody, and what to look up to know better.
    pub fn look(&mut self, remote: &Remote, asker: &Origin) -> (Option<Fetched>, Option<PendingFetch>) {
        if remote.is_of_unknown_registry() {
            return (None, None);
        }
        let Some(client) = self.client(&remote.registry) else { return (None, None) };
        let known = client.known(&remote.reference);
        let is_enough = known.as_ref().is_some_and(|found| match found.by {
            Provenance::Vendored | Provenance::Lock => true,
            Provenance::Cache(age) | Provenance::Offline(age) => {
                age.is_some_and(|age| age < client.settings().fresh_for)
            }
            Provenance::Host | Provenance::HostUnchanged => true,
        });
        let fetched = known.map(|found| fetched::known(remote, asker, found, &client));
        let pending = (!is_enough).then(|| PendingFetch {
            remote: remote.clone(),
            client,
            freshness: Freshness::Recent,
        });
        (fetched, pending)
    }
}

/// Where the program came from that a file shows: one of the cache, or a vendored copy. With the registry, if it was asked by name.
pub fn shown_at(cache: &Cache, path: &Path) -> Option<(Origin, Option<Registry>)> {
    let cached = cache.shown_at(path).map(|program| (program, None));
    let (program, by) = cached.or_else(|| Some((Vendor::copied_at(path)?, Some(Provenance::Vendored))))?;
    let reference = Reference::parse(&program.source.reference).ok()?;
    let registry = match (&reference, by) {
        // A copy lies in its project, whose settings name the registry.
        (Reference::Registry(_), None) => {
            program.source.url.as_str().strip_suffix(&program.source.reference).map(Registry::from)
        }
        _ => None,
    };
    Some((Origin::Remote(Arc::new(fetched::origin(reference, 1, &program, by))), registry))
}

/// The copies in a folder that settings name.
fn copies(dir: &Path) -> Option<Vendor> {
    Vendor::load(dir).unwrap_or_else(|error| {
        tracing::warn!("{error}");
        None
    })
}

impl PendingFetch {
    /// Looks it up. Needs a runtime of tokio with time and network.
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

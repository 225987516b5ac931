//! The registries that the programs of a session import from.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use prose_analysis::location::{Fetched, Origin, Remote};
use prose_reference::Reference;
use prose_registry::{
    By, Cache, Client, CredentialsProblem, Freshness, Locked, Settings, Vendor, VendorError,
};
use url::Url;

use crate::fetched;

/// Looks up what is not on this machine: one client for each registry, and one cache for all.
#[derive(Debug)]
pub struct Registries {
    cache: Arc<Cache>,
    vendor: Option<Vendor>,
    /// Those of single registries.
    vendors: HashMap<Arc<str>, Vendor>,
    lock: Option<Locked>,
    offline: bool,
    clients: HashMap<Arc<str>, Option<Client>>,
    problems: Vec<CredentialsProblem>,
}

/// A look-up that would take longer than an answer may.
#[derive(Debug, Clone)]
pub struct Wish {
    /// What to look up.
    pub remote: Remote,
    /// Who is to be asked for it.
    pub client: Client,
    /// How fresh it has to be.
    pub freshness: Freshness,
}

impl Registries {
    /// Those of the user, with a cache.
    pub fn new(cache: impl Into<Arc<Cache>>) -> Self {
        Self {
            cache: cache.into(),
            vendor: None,
            vendors: HashMap::new(),
            lock: None,
            offline: false,
            clients: HashMap::new(),
            problems: Vec::new(),
        }
    }

    /// The same with vendored copies, which come before everything else.
    pub fn with_vendor(mut self, vendor: Option<Vendor>) -> Self {
        self.vendor = vendor;
        self
    }

    /// Has programs of a registry looked for among the copies in a folder first. Another folder for the same registry takes the place of the
    /// first one.
    pub fn set_vendor(&mut self, registry: &Arc<str>, dir: &Path) -> Result<(), VendorError> {
        if self.vendors.get(registry).is_some_and(|vendor| vendor.dir() == dir) {
            return Ok(());
        }
        if let Some(vendor) = Vendor::load(dir)? {
            self.vendors.insert(Arc::clone(registry), vendor);
            self.clients.remove(registry);
        }
        Ok(())
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
    pub fn client(&mut self, registry: &Arc<str>) -> Option<Client> {
        if let Some(client) = self.clients.get(registry) {
            return client.clone();
        }
        let client = Url::parse(registry).ok().map(|url| {
            let (mut settings, problems) = Settings::of_user(url);
            // Each registry has the tokens of the user read again, with the same problems.
            if self.clients.is_empty() {
                self.problems = problems;
            }
            settings.offline |= self.offline;
            settings.vendor = self.vendors.get(registry).or(self.vendor.as_ref()).cloned();
            settings.lock = self.lock.clone();
            Client::new(settings, Arc::clone(&self.cache))
        });
        self.clients.insert(Arc::clone(registry), client.clone());
        client
    }

    /// Where the program came from that a file of the cache shows.
    pub fn shown_at(&self, path: &Path) -> Option<Origin> {
        let program = self.cache.shown_at(path)?;
        let reference = Reference::parse(&program.source.reference).ok()?;
        Some(Origin::Remote(Arc::new(fetched::origin(reference, 1, &program, None))))
    }

    /// What is known of a program without asking anybody, and what to look up to know better.
    pub fn look(&mut self, remote: &Remote, asker: &Origin) -> (Option<Fetched>, Option<Wish>) {
        let Some(client) = self.client(&remote.registry) else { return (None, None) };
        let known = client.known(&remote.reference);
        let is_enough = known.as_ref().is_some_and(|found| match found.by {
            By::Vendored | By::Lock => true,
            By::Cache(age) | By::Offline(age) => age.is_some_and(|age| age < client.settings().fresh_for),
            By::Host | By::HostUnchanged => true,
        });
        let fetched = known.map(|found| fetched::known(remote, asker, found, &self.cache));
        let wish =
            (!is_enough).then(|| Wish { remote: remote.clone(), client, freshness: Freshness::Recent });
        (fetched, wish)
    }
}

impl Wish {
    /// Looks it up. Needs a runtime of tokio with time and network.
    pub async fn fulfil(&self, asker: &Origin) -> Fetched {
        let importer = fetched::importer(asker);
        let outcome = self.client.get(&self.remote.reference, &importer, self.freshness).await;
        fetched::fetched(&self.remote, asker, &outcome, self.client.cache())
    }
}

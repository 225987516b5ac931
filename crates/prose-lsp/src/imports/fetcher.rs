//! Look-ups of imported programs that are not on this machine, in the background.
//!
//! Everything here happens on the owner's thread but the look-ups themselves, whose results come back as messages. So typing never waits
//! for a registry.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use prose_analysis::host::{LoadError, Loader, Project};
use prose_analysis::location::{Fetched, Origin, Registry, Remote};
use prose_analysis::skills::{MissingSkills, NamedSkill};
use prose_config::FetchMode;
use prose_project::files::read_import;
use prose_project::imports::{
    PendingFetch, Registries, commit, not_fetched, not_requested, pin, too_many_programs,
};
use prose_registry::{Cache, Freshness, LOCK_FILE, Lock, MAX_PROGRAMS};

use crate::background::Background;
use crate::imports::commands::ImportMessage;
use crate::imports::retries::Retries;
use crate::mailbox::Mailbox;
use crate::protocol::progress::Progress;
use crate::workspace::settings::Settings;

/// How long a path must stay unchanged before it is fetched, so that half-typed paths are not.
const DEBOUNCE: Duration = Duration::from_millis(300);

/// The reason why nothing is fetched, even by command.
pub(crate) const FETCH_IS_OFF: &str = "`registry.fetch` is \"off\", or the editor does not trust the folder";

/// Fetches imported programs in the background.
pub(crate) struct Fetcher {
    registries: Registries,
    owner: Mailbox<ImportMessage>,
    background: Background,
    pub(crate) progress: Progress,
    /// The fetches that wait for typing to stop.
    waiting: HashMap<Remote, PendingFetch>,
    under_way: HashSet<Remote>,
    retries: Retries,
    /// The programs that fetched programs import, to limit their number.
    of_remotes: HashSet<Remote>,
}

impl Fetcher {
    pub(crate) fn new(owner: Mailbox<ImportMessage>) -> Self {
        Self {
            registries: Registries::new(Cache::of_user()),
            owner,
            background: Background::default(),
            progress: Progress::new("Fetching imported programs", "fetching"),
            waiting: HashMap::new(),
            under_way: HashSet::new(),
            retries: Retries::default(),
            of_remotes: HashSet::new(),
        }
    }

    /// The cache of fetched programs.
    pub(crate) fn cache(&self) -> Arc<Cache> {
        Arc::clone(self.registries.cache())
    }

    /// Where a program came from, if its file is one that shows what was fetched, and its registry as far as it is known.
    pub(crate) fn origin_of(&self, path: &Path) -> Option<(Origin, Option<Registry>)> {
        self.registries.shown_at(path)
    }

    /// The number of running fetches, and the reference of one of them.
    pub(crate) fn under_way(&self) -> (usize, Option<String>) {
        // The same one each time, so that the progress report is stable.
        let first = self.under_way.iter().min();
        (self.under_way.len(), first.map(|remote| remote.reference.to_string()))
    }

    /// The known text of a program, without a request. If it is not enough, and the mode allows it, the program is looked up.
    fn look(&mut self, remote: &Remote, asker: &Origin, mode: FetchMode, when: When) -> Option<Fetched> {
        if when == When::Opened {
            return None;
        }
        // This is asked after each edit, and the disk was looked at before.
        if self.under_way.contains(remote) || self.waiting.contains_key(remote) {
            return None;
        }
        if asker.depth() > 0 && !self.of_remotes.contains(remote) {
            if self.of_remotes.len() >= MAX_PROGRAMS {
                return Some(too_many_programs(remote, MAX_PROGRAMS));
            }
            self.of_remotes.insert(remote.clone());
        }
        let (fetched, pending) = self.registries.look(remote, asker);
        for problem in self.registries.take_problems() {
            tracing::warn!("{problem}");
        }
        let Some(pending) = pending else { return fetched };
        let refused = match mode {
            FetchMode::Automatic => None,
            FetchMode::Manual => Some(not_fetched(remote)),
            FetchMode::Off => Some(not_requested(remote, FETCH_IS_OFF)),
        };
        if refused.is_some() {
            return fetched.or_else(|| self.registries.refusal(remote)).or(refused);
        }
        // What is known is shown at once, and asked about without hurry.
        match when {
            When::Now => self.start(pending, asker.clone()),
            When::TypingStops | When::Opened => self.wait(pending),
        }
        fetched
    }

    fn wait(&mut self, pending: PendingFetch) {
        let remote = pending.remote.clone();
        self.waiting.insert(remote.clone(), pending);
        self.background.send_after(DEBOUNCE, &self.owner, ImportMessage::Due(remote));
    }

    /// The wait for a program is over, which `asker` still imports; none if no program does.
    pub(crate) fn due(&mut self, remote: &Remote, asker: Option<Origin>) {
        if let (Some(pending), Some(asker)) = (self.waiting.remove(remote), asker) {
            self.start(pending, asker);
        }
    }

    /// The wait after a failure is over. Whether nothing has come of the program meanwhile.
    pub(crate) fn is_due_again(&mut self, remote: &Remote) -> bool {
        self.retries.is_due(remote)
    }

    /// Looks up a program, however fresh what is known of it: a person asks for it, or it failed before.
    pub(crate) fn fetch(&mut self, remote: &Remote, asker: Origin) {
        if let Some(client) = self.registries.client(&remote.registry) {
            self.start(PendingFetch { remote: remote.clone(), client, freshness: Freshness::Now }, asker);
        }
    }

    fn start(&mut self, pending: PendingFetch, asker: Origin) {
        if !self.under_way.insert(pending.remote.clone()) {
            return;
        }
        let owner = self.owner.clone();
        self.background.spawn(async move {
            let result = pending.fetch(&asker).await;
            owner.send(ImportMessage::Fetched(pending.remote, result));
        });
    }

    /// The look-up of a program is over. One that may give more later is done again then, if it is still wanted.
    pub(crate) fn fetched(&mut self, remote: &Remote, again_after: Option<Duration>) {
        self.under_way.remove(remote);
        match again_after {
            Some(at_least) => {
                if let Some(pause) = self.retries.failed(remote, at_least) {
                    self.background.send_after(pause, &self.owner, ImportMessage::RetryDue(remote.clone()));
                }
            }
            None => self.retries.ended(remote),
        }
        if let Some(problem) = self.registries.cache().take_problem() {
            tracing::warn!("{problem}");
        }
    }

    /// Writes into the lock file of a folder what a program is now, and reports the result.
    pub(crate) fn pin(&mut self, remote: &Remote, folder: PathBuf) {
        let Some(client) = self.registries.client(&remote.registry) else { return };
        let (reference, owner) = (remote.reference.clone(), self.owner.clone());
        self.background.spawn(async move {
            let path = folder.join(LOCK_FILE);
            let pinned = async {
                let found = client
                    .known(&reference)
                    .ok_or_else(|| format!("`{reference}` is not known yet; fetch it first"))?;
                let commit = commit(&client, &reference, &found.program).await;
                let mut lock = Lock::load(&path).map_err(|error| error.to_string())?.unwrap_or_default();
                pin(&mut lock, &reference, &found.program, commit);
                lock.save(&path).map_err(|error| error.to_string())
            };
            let pinned =
                pinned.await.map(|()| (format!("`{reference}` is pinned in {}", path.display()), path));
            owner.send(ImportMessage::Pinned(pinned));
        });
    }
}

/// When something is looked up that is not known yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum When {
    /// At once: a document was opened, or a program was fetched that imports it.
    Now,
    /// When typing has paused for a moment.
    TypingStops,
    /// When the program, or one that imports it, is opened. Most files of a folder are never opened.
    Opened,
}

/// The requested imports of one program.
pub(crate) struct Imports<'a> {
    pub(crate) fetcher: &'a mut Fetcher,
    pub(crate) settings: &'a mut Settings,
    pub(crate) mode: FetchMode,
    pub(crate) when: When,
}

impl Loader for Imports<'_> {
    fn file(&mut self, path: &Path) -> Result<String, LoadError> {
        read_import(path)
    }

    fn project(&mut self, path: &Path) -> Option<Project> {
        Some(self.settings.of(path).meaning())
    }

    fn origin(&mut self, path: &Path) -> Option<Origin> {
        self.fetcher.origin_of(path).map(|(origin, _)| origin)
    }

    fn missing_skills(&mut self, path: &Path, named: &BTreeSet<NamedSkill>) -> MissingSkills {
        self.settings.of(path).missing_skills(named)
    }

    fn remote(&mut self, remote: &Remote, asker: &Origin) -> Option<Fetched> {
        self.fetcher.look(remote, asker, self.mode, self.when)
    }
}

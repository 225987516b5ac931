//! Looking up the texts that the lock file pins.

use prose_reference::{GitProgram, Reference};

use super::{Client, Freshness, Importer, on_disk};
use crate::lock::{LockMismatch, Pin};
use crate::outcome::{Found, Outcome, Problem, Provenance};
use crate::program::{Hash, Program, Source};

impl Client {
    /// Looks up the text that a reference is pinned to. It may come from anywhere, since its hash identifies it; the host
    /// is asked only for texts that are neither vendored nor in the cache.
    pub async fn pinned(&self, pin: &Pin, importer: &Importer) -> Result<Outcome, Box<LockMismatch>> {
        self.pinned_as(pin, importer, Freshness::Recent).await
    }

    pub(crate) async fn pinned_as(
        &self,
        pin: &Pin,
        importer: &Importer,
        freshness: Freshness,
    ) -> Result<Outcome, Box<LockMismatch>> {
        let Some(reference) = pin.reference() else {
            return Err(Box::new(LockMismatch::NotLocked { reference: pin.reference.clone() }));
        };
        let (client, wanted) = (self.clone(), pin.clone());
        if let Some(found) = on_disk(move || client.kept(&wanted)).await.flatten() {
            return Ok(Outcome::new(&pin.reference, Ok(found)));
        }
        let mut outcome = self.get_unlocked(&reference, importer, freshness).await;
        outcome.reference.clone_from(&pin.reference);
        if let Err(Problem::Unreachable { last, .. }) = &mut outcome.result {
            // A text that is known from some other time is not the one that is pinned, or it had been found by its hash.
            *last = None;
        }
        if let Ok(found) = &mut outcome.result {
            let sha256 = found.program.source.sha256;
            if sha256 != pin.sha256 {
                return Err(Box::new(LockMismatch::Changed { pin: pin.clone(), found: sha256 }));
            }
            // Local paths in it lead to references as the lock file has them, with the revision and not the commit.
            found.program.source.reference.clone_from(&pin.reference);
        }
        Ok(outcome)
    }

    /// The commit that a git host reports for a program, if the text there has this hash: the revision may have moved since the text
    /// was fetched, and a pin must not name a commit with another text.
    pub async fn commit_of(&self, program: &GitProgram, sha256: Hash) -> Option<String> {
        let commit = self.commit(program).await.ok()?;
        let there = Reference::Git(program.at(&commit));
        let outcome = self.get_unlocked(&there, &Importer::Workspace, Freshness::Recent).await;
        let found = outcome.result.ok()?;
        (found.program.source.sha256 == sha256).then_some(commit)
    }

    pub(crate) fn kept(&self, pin: &Pin) -> Option<Found> {
        let reference = Reference::parse(&pin.reference).ok()?;
        let vendored = self.settings().vendor.as_ref().and_then(|vendor| vendor.get(&reference));
        if let Some(program) = vendored.filter(|program| program.source.sha256 == pin.sha256) {
            return Some(Found { program, by: Provenance::Vendored });
        }
        let text = self.cache().text(pin.sha256)?.into();
        let source = Source::new(&pin.reference, pin.url.clone(), pin.sha256, pin.time);
        Some(Found { program: Program { text, source }, by: Provenance::Lock })
    }
}

//! Pins imported programs in a lock file.

use prose_registry::{Client, Lock, Pin, Program, Reference, Timestamp};

/// The commit of a program, if it is in a repository and its host reports it.
pub async fn commit(client: &Client, reference: &Reference, program: &Program) -> Option<String> {
    let Reference::Git(asked) = reference else { return None };
    client.commit_of(asked, program.source.sha256).await
}

/// Pins a program by its reference. Returns the previous pin if the text was different.
pub fn pin(lock: &mut Lock, reference: &Reference, program: &Program, commit: Option<String>) -> Option<Pin> {
    let mut program = program.clone();
    // A Git host returns it by the name of the commit, the alternative URL by the requested name.
    program.source.reference = reference.to_string();
    lock.pin(&program, commit, Timestamp::now())
}

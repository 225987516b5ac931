//! Pinning imported programs in a lock file.

use prose_registry::{Client, Lock, Pin, Program, Reference, Timestamp};

/// The commit that has the text of a program, if it lies in a repository and its host reports it.
pub async fn commit(client: &Client, reference: &Reference, program: &Program) -> Option<String> {
    let Reference::Git(asked) = reference else { return None };
    client.commit_of(asked, program.source.sha256).await
}

/// Pins a program under the reference that imports name it by. Gives what that was pinned to, if it was another text.
pub fn pin(lock: &mut Lock, reference: &Reference, program: &Program, commit: Option<String>) -> Option<Pin> {
    let mut program = program.clone();
    // A Git host gives it under the name of the commit, the other spelling under the one that was asked for.
    program.source.reference = reference.to_string();
    lock.pin(&program, commit, Timestamp::now())
}

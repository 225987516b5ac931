//! The command for notifications: what it receives, and how it ends.

use std::fs;
use std::path::Path;
use std::time::Duration;

use prose_harness::notification::NotifyCommand;

const LONG: Duration = Duration::from_secs(60);

async fn deliver(folder: &Path, script: &str, text: &str, limit: Duration) -> Result<(), String> {
    let words = ["sh", "-c", script];
    let command = NotifyCommand::new(words.into_iter(), folder, &[]).unwrap();
    command.deliver(text.to_owned(), limit).await
}

#[tokio::test]
async fn the_command_receives_the_text_in_its_folder() {
    let folder = prose_fixture::tempdir().unwrap();
    deliver(folder.path(), "cat > received", "{}\n", LONG).await.unwrap();
    assert_eq!(fs::read_to_string(folder.path().join("received")).unwrap(), "{}\n");
}

#[tokio::test]
async fn a_command_that_ignores_its_input_and_writes_much_ends_all_the_same() {
    let folder = prose_fixture::tempdir().unwrap();
    let much = "x".repeat(1 << 20);
    deliver(folder.path(), "head -c 1000000 /dev/zero; head -c 1000000 /dev/zero >&2", &much, LONG)
        .await
        .unwrap();
}

#[tokio::test]
async fn a_command_that_fails_says_why() {
    let folder = prose_fixture::tempdir().unwrap();
    let failed = deliver(folder.path(), "echo 'no network' >&2; exit 3", "", LONG).await;
    assert_eq!(failed.unwrap_err(), "`sh` failed with exit status: 3: no network");
    let command = NotifyCommand::new(["./no-such-command"].into_iter(), folder.path(), &[]).unwrap();
    let failed = command.deliver(String::new(), LONG).await.unwrap_err();
    assert!(failed.starts_with("`./no-such-command` cannot be started: "), "{failed}");
    assert!(NotifyCommand::new([].into_iter(), folder.path(), &[]).is_none());
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_command_that_takes_too_long_is_stopped_with_its_descendants() {
    let folder = prose_fixture::tempdir().unwrap();
    let script = "sleep 600 & echo $! > child; wait";
    let stopped = deliver(folder.path(), script, "", Duration::from_secs(3)).await;
    assert_eq!(stopped.unwrap_err(), "`sh` was stopped, since it took longer than 3 seconds");
    let child = fs::read_to_string(folder.path().join("child")).unwrap();
    // What has ended has no folder there, or waits to be reaped.
    let state = fs::read_to_string(format!("/proc/{}/stat", child.trim())).unwrap_or_default();
    assert!(state.is_empty() || state.contains(") Z "), "{state}");
}

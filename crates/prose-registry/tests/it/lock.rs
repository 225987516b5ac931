//! `prose.lock`

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use expect_test::expect;
use prose_registry::{
    Cache, Client, Hash, Importer, Lock, LockError, LockMismatch, Locked, Outcome, Pin, Problem, Program,
    Provenance, Reference, Settings, Source, Timestamp,
};
use url::Url;

use crate::support::{PROGRAM, Reply, Server, client, get, reference, settings, text};

const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

fn program(path: &str, text: &str) -> Program {
    let registry = Url::parse("https://p.prose.md/").unwrap();
    let reference = reference(path);
    let url = reference.urls(&registry).remove(0);
    let source = Source::new(reference.to_string(), url, Hash::of(text), Timestamp::now());
    Program { text: text.into(), source }
}

fn time(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn lock() -> Lock {
    let mut lock = Lock::default();
    let moment = time("2026-01-31T12:00:00Z");
    lock.pin(&program("github.com/o/r/a.prose@v1", "session \"A\"\n"), Some(COMMIT.to_owned()), moment);
    lock.pin(&program("@alice/research", "session \"R\"\n"), None, moment);
    lock
}

#[test]
fn the_file_is_sorted_and_the_same_each_time() {
    expect![[r##"
        # Written by `prose lock`; belongs into version control.
        version = 1

        [[program]]
        reference = "@alice/research"
        url = "https://p.prose.md/@alice/research"
        sha256 = "737e509aae927b524fa45e26a899fbbfd3b857d95b916106171f1d2f4c013457"
        time = "2026-01-31T12:00:00Z"

        [[program]]
        reference = "github.com/o/r/a.prose@v1"
        url = "https://raw.githubusercontent.com/o/r/v1/a.prose"
        commit = "0123456789abcdef0123456789abcdef01234567"
        sha256 = "21033fcc7f43cb9d6a0412d040bfa07c34a1a8562615802f43d89ee5ad1abdd4"
        time = "2026-01-31T12:00:00Z"
    "##]]
    .assert_eq(&lock().to_string());

    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("prose.lock");
    assert_eq!(Lock::load(&path).unwrap(), None);
    lock().save(&path).unwrap();
    let read = Lock::load(&path).unwrap().unwrap();
    assert_eq!(read, lock());
    assert_eq!(read.to_string(), lock().to_string());
}

#[test]
fn an_unchanged_file_is_not_written() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("prose.lock");
    lock().save(&path).unwrap();
    let before = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    fs::File::options().write(true).open(&path).unwrap().set_modified(before).unwrap();
    lock().save(&path).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), before);
}

#[test]
fn what_differs_is_refused() {
    let lock = lock();
    assert_eq!(lock.check(&reference("@alice/research"), Hash::of("session \"R\"\n")), Ok(()));
    let message =
        |path: &str, text: &str| lock.check(&reference(path), Hash::of(text)).unwrap_err().to_string();
    expect!["`@alice/research` differs from the text in prose.lock, locked 2026-01-31T12:00:00Z (SHA-256 737e509aae92…, here 9c5b6d28c7b7…); review the change, then run `prose lock --update=@alice/research` to accept it"].assert_eq(&message("@alice/research", "session \"Steal\"\n"));
    expect!["`alice/other` is not in prose.lock; run `prose lock` to add it"]
        .assert_eq(&message("alice/other", ""));
}

#[test]
fn a_pin_keeps_its_time_while_the_text_stays() {
    let mut lock = lock();
    let later = time("2026-03-01T00:00:00Z");
    assert_eq!(lock.pin(&program("@alice/research", "session \"R\"\n"), None, later), None);
    assert_eq!(lock.get(&reference("@alice/research")).unwrap().time, time("2026-01-31T12:00:00Z"));

    let changed = program("@alice/research", "session \"New\"\n");
    assert!(lock.get(&reference("@alice/research")).unwrap().is_outdated(&changed));
    let before = lock.pin(&changed, None, later).unwrap();
    assert_eq!(before.sha256, Hash::of("session \"R\"\n"));
    let now = lock.get(&reference("@alice/research")).unwrap();
    assert_eq!((now.time, now.sha256), (later, Hash::of("session \"New\"\n")));
}

#[test]
fn what_is_not_used_any_more_is_forgotten() {
    let mut lock = lock();
    let gone = lock.retain(|reference| reference.starts_with('@'));
    assert_eq!(
        gone.iter().map(|pin| pin.reference.as_str()).collect::<Vec<_>>(),
        ["github.com/o/r/a.prose@v1"]
    );
    assert_eq!(lock.pins().count(), 1);
}

#[test]
fn a_pin_of_a_git_host_leads_to_its_commit() {
    let lock = lock();
    let pinned = lock.get(&reference("github.com/o/r/a.prose@v1")).unwrap().reference().unwrap();
    assert_eq!(pinned.to_string(), format!("github.com/o/r/a.prose@{COMMIT}"));
    let pinned = lock.get(&reference("@alice/research")).unwrap().reference().unwrap();
    assert_eq!(pinned, Reference::parse("@alice/research").unwrap());
}

#[test]
fn a_file_of_another_version_is_reported() {
    let path = Path::new("prose.lock");
    let good = lock().to_string();
    let merged = good.replace("[[program]]", "<<<<<<< HEAD\n[[program]]");
    let odd_hash = good.replace(&Hash::of("session \"R\"\n").to_string(), "abc");
    for (text, expected) in [
        (
            merged.as_str(),
            "prose.lock is not a valid lock file; after a merge, keep one side and run `prose lock`",
        ),
        ("", "missing field `version`"),
        (&odd_hash, "a SHA-256 has 64 hexadecimal digits"),
    ] {
        let error = Lock::parse(text, path).unwrap_err();
        assert!(matches!(error, LockError::Malformed(..)));
        assert!(error.to_string().contains(expected), "{error}");
    }
    let newer = Lock::parse("version = 2\nprograms = \"elsewhere\"\n", path).unwrap_err();
    assert_eq!(newer.to_string(), "prose.lock has version 2, written by a newer `prose`");
}

/// What someone gets who has pinned `a/b` to a text, from a host that has another one by now or not.
async fn pinned(client: &Client, text: &str, server: &Server) -> Result<Outcome, Box<LockMismatch>> {
    let pin = Pin {
        reference: "a/b".to_owned(),
        url: server.url().join("a/b").unwrap(),
        commit: None,
        sha256: Hash::of(text),
        time: time("2026-01-31T12:00:00Z"),
    };
    client.pinned(&pin, &Importer::Workspace).await
}

#[tokio::test]
async fn a_text_that_is_pinned_is_fetched_and_compared() {
    let server = Server::with("/a/b", PROGRAM).await;
    assert_eq!(text(&pinned(&client(server.url()), PROGRAM, &server).await.unwrap()), PROGRAM);
    let error = pinned(&client(server.url()), "session \"Old\"\n", &server).await.unwrap_err();
    assert!(matches!(*error, LockMismatch::Changed { found, .. } if found == Hash::of(PROGRAM)));
}

#[tokio::test]
async fn a_text_that_is_pinned_and_known_needs_no_host() {
    let count = AtomicUsize::new(0);
    let server = Server::start(move |_| match count.fetch_add(1, Ordering::SeqCst) {
        0 => Reply::text(PROGRAM),
        _ => Reply::text("session \"New\"\n"),
    })
    .await;
    let dir = tempfile::tempdir().unwrap();
    let client = Client::new(settings(server.url()), Cache::at(dir.path()));
    get(&client, "a/b").await;
    get(&client, "a/b").await;
    let outcome = pinned(&client, PROGRAM, &server).await.unwrap();
    assert_eq!(text(&outcome), PROGRAM);
    assert_eq!(outcome.result.unwrap().by, Provenance::Lock);
    assert_eq!(server.seen().len(), 2);
}

/// A client that obeys a lock file with `a/b` in it.
fn locked(server: &Server, dir: &Path, text: &str, is_complete: bool) -> Client {
    let mut lock = Lock::default();
    lock.pin(&program("a/b", text), None, Timestamp::now());
    let lock = Some(Locked::Pins { lock: Arc::new(lock), is_complete });
    Client::new(Settings { lock, ..settings(server.url()) }, Cache::at(dir))
}

#[tokio::test]
async fn a_client_with_a_lock_file_gives_what_is_pinned() {
    let server = Server::start(|_| Reply::text("session \"New\"\n")).await;
    let dir = tempfile::tempdir().unwrap();
    let client = locked(&server, dir.path(), PROGRAM, true);
    let message = get(&client, "a/b").await.to_string();
    assert!(message.starts_with("`a/b` differs from the text in prose.lock"), "{message}");
    let message = get(&client, "a/c").await.to_string();
    assert_eq!(message, "`a/c` is not in prose.lock; run `prose lock` to add it");
    assert_eq!(client.known(&reference("a/b")), None);

    // Whoever has the text needs no host, and what the host has now changes nothing.
    Cache::at(dir.path()).put(&program("x/y", PROGRAM));
    assert_eq!(text(&get(&client, "a/b").await), PROGRAM);
    assert_eq!(client.known(&reference("a/b")).unwrap().by, Provenance::Lock);
    assert_eq!(server.paths(), ["/a/b"]);
}

/// A program is the same one however it is spelled, and so are the rights that it has been granted.
#[tokio::test]
async fn another_spelling_of_a_pinned_program_is_pinned_as_well() {
    let server = Server::start(|_| Reply::text("session \"New\"\n")).await;
    let mut pinned = program("a/b", PROGRAM);
    pinned.source.final_url = server.url().join("a/b").unwrap();
    let mut lock = Lock::default();
    lock.pin(&pinned, None, Timestamp::now());
    let lock = Some(Locked::Pins { lock: Arc::new(lock), is_complete: false });
    let client = Client::new(Settings { lock, ..settings(server.url()) }, Cache::in_memory());
    let address = format!("{}a/b", server.url());
    for spelling in ["a/b", "@a/b", &address, &format!("{address}.prose")] {
        let message = get(&client, spelling).await.to_string();
        assert!(message.contains("differs from the text in prose.lock"), "{spelling}: {message}");
    }
    assert_eq!(text(&get(&client, "a/bc").await), "session \"New\"\n");
}

#[tokio::test]
async fn what_a_lock_file_does_not_name_may_be_fetched_all_the_same() {
    let server = Server::start(|_| Reply::text(PROGRAM)).await;
    let dir = tempfile::tempdir().unwrap();
    let client = locked(&server, dir.path(), PROGRAM, false);
    assert_eq!(text(&get(&client, "a/c").await), PROGRAM);
    assert_eq!(text(&get(&client, "a/b").await), PROGRAM);
}

#[tokio::test]
async fn an_earlier_text_is_no_substitute_for_the_one_that_is_pinned() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(|_| Reply::status(500)).await;
    let mut earlier = program("a/b", "session \"Earlier\"\n");
    earlier.source.url = server.url().join("a/b").unwrap();
    earlier.source.fetched = time("2020-01-01T00:00:00Z");
    Cache::at(dir.path()).put(&earlier);
    let outcome = get(&locked(&server, dir.path(), PROGRAM, true), "a/b").await;
    assert!(matches!(outcome.result, Err(Problem::Unreachable { last: None, .. })), "{outcome:?}");
}

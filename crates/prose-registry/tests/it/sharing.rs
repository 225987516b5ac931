//! Many who ask at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use prose_registry::{Cache, Client, Freshness, Importer, Limits, Problem, Settings};

use crate::support::{PROGRAM, Reply, Server, client, get, get_as, reference, settings, text};

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn fifty_who_ask_for_one_program_make_one_request() {
    for freshness in [Freshness::Recent, Freshness::Now] {
        let server = Server::start(|_| Reply::text(PROGRAM).after(Duration::from_millis(100))).await;
        let client = client(server.url());
        let look_ups = (0..50).map(|_| {
            let client = client.clone();
            tokio::spawn(async move { client.get(&reference("a/b"), &Importer::Workspace, freshness).await })
        });
        for outcome in join_all(look_ups).await {
            assert_eq!(text(&outcome.unwrap()), PROGRAM);
        }
        assert_eq!(server.seen().len(), 1, "{freshness:?}");
    }
}

#[tokio::test]
async fn a_cancelled_look_up_does_not_cancel_others() {
    let server = Server::start(|_| Reply::text(PROGRAM).after(Duration::from_millis(100))).await;
    let client = client(server.url());
    let hasty = tokio::time::timeout(Duration::from_millis(20), get(&client, "a/b"));
    let (hasty, patient) = tokio::join!(hasty, get(&client, "a/b"));
    assert!(hasty.is_err());
    assert_eq!(text(&patient), PROGRAM);
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn a_program_can_be_asked_for_again_after_a_failure() {
    let count = AtomicUsize::new(0);
    let server = Server::start(move |_| match count.fetch_add(1, Ordering::SeqCst) {
        0 => Reply::status(400),
        _ => Reply::text(PROGRAM),
    })
    .await;
    let client = client(server.url());
    assert!(get(&client, "a/b").await.result.is_err());
    assert_eq!(text(&get(&client, "a/b").await), PROGRAM);
}

#[tokio::test]
async fn a_failure_is_not_repeated_at_each_edit() {
    let count = AtomicUsize::new(0);
    let server = Server::start(move |_| match count.fetch_add(1, Ordering::SeqCst) {
        0..2 => Reply::status(404),
        _ => Reply::text(PROGRAM),
    })
    .await;
    let client = client(server.url());
    let first = get_as(&client, "a/b", Freshness::Recent).await;
    assert!(matches!(first.result, Err(Problem::NotFound { .. })));
    assert_eq!(get_as(&client, "a/b", Freshness::Recent).await, first);
    // Both spellings were asked for, and nothing more.
    assert_eq!(server.seen().len(), 2);
    assert_eq!(text(&get(&client, "a/b").await), PROGRAM);
    assert_eq!(text(&get_as(&client, "a/b", Freshness::Recent).await), PROGRAM);
    assert_eq!(server.seen().len(), 3);

    let server = Server::start(|_| Reply::status(400)).await;
    let impatient = Settings { failed_for: Duration::ZERO, ..settings(server.url()) };
    let client = Client::new(impatient, Cache::in_memory());
    get_as(&client, "a/b", Freshness::Recent).await;
    get_as(&client, "a/b", Freshness::Recent).await;
    assert_eq!(server.seen().len(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_hundred_programs_come_within_ten_round_trips() {
    let trip = Duration::from_millis(50);
    let server = Server::start(move |_| Reply::text(PROGRAM).after(trip)).await;
    let client = client(server.url());
    // The certificates are read before the clock starts; a network has them read while it waits for the first name.
    get(&client, "warm/up").await;
    let start = Instant::now();
    let look_ups = (0..100).map(|number| {
        let client = client.clone();
        async move { get(&client, format!("a/b{number}")).await }
    });
    for outcome in join_all(look_ups).await {
        assert_eq!(text(&outcome), PROGRAM);
    }
    // One after the other, they would take a hundred times as long.
    assert!(start.elapsed() < 50 * trip, "{:?}", start.elapsed());
}

#[tokio::test]
async fn no_host_is_asked_for_more_at_once_than_it_should() {
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (counted, seen) = (now.clone(), most.clone());
    let server = Server::start(move |_| {
        seen.fetch_max(counted.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        let counted = counted.clone();
        // The connection is over for the client when the answer is; the count falls a little before that.
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(15)).await;
            counted.fetch_sub(1, Ordering::SeqCst);
        });
        Reply::text(PROGRAM).after(Duration::from_millis(20))
    })
    .await;
    let limits = Limits { requests_per_host: 3, ..settings(server.url()).limits };
    let client = Client::new(Settings { limits, ..settings(server.url()) }, Cache::in_memory());
    let paths: Vec<String> = (0..20).map(|number| format!("a/b{number}")).collect();
    let outcomes = join_all(paths.iter().map(|path| get(&client, path))).await;
    assert!(outcomes.iter().all(|outcome| outcome.result.is_ok()));
    assert_eq!(most.load(Ordering::SeqCst), 3);
}

#[tokio::test]
async fn a_host_that_never_answers_keeps_no_other_waiting() {
    let dead = Server::start(|_| Reply::text(PROGRAM).after(Duration::from_secs(60))).await;
    let alive = Server::with("/a/b", PROGRAM).await;
    let client = client(alive.url());
    let waiting: Vec<_> = (0..40)
        .map(|number| {
            let (client, url) = (client.clone(), dead.url().join(&number.to_string()).unwrap());
            tokio::spawn(async move { get(&client, url).await })
        })
        .collect();
    // As many as a host is asked at once have come to it, and the others wait for them.
    let since = Instant::now();
    while dead.seen().len() < Limits::default().requests_per_host {
        assert!(since.elapsed() < Duration::from_secs(30), "{:?}", dead.seen());
        tokio::task::yield_now().await;
    }
    assert_eq!(text(&get(&client, "a/b").await), PROGRAM);
    assert!(waiting.iter().any(|task| !task.is_finished()));
    waiting.into_iter().for_each(|task| task.abort());
}

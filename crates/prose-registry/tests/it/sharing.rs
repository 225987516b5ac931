//! Many who ask at once.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use futures_util::poll;
use prose_registry::{Cache, Client, Freshness, Importer, Limits, Problem, Settings};
use tokio::sync::Semaphore;

use crate::support::{PROGRAM, Reply, Server, client, get, get_as, reference, settings, text, until};

/// A server that holds its answers back until the gate has permits for them.
async fn held() -> (Server, Arc<Semaphore>) {
    let gate = Arc::new(Semaphore::new(0));
    let held = Arc::clone(&gate);
    (Server::start(move |_| Reply::text(PROGRAM).held(&held)).await, gate)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn fifty_who_ask_for_one_program_make_one_request() {
    for freshness in [Freshness::Recent, Freshness::Now] {
        let (server, gate) = held().await;
        let client = client(server.url());
        let waiting = Arc::new(AtomicUsize::new(0));
        let look_ups: Vec<_> = (0..50)
            .map(|_| {
                let (client, waiting) = (client.clone(), Arc::clone(&waiting));
                tokio::spawn(async move {
                    let reference = reference("a/b");
                    let mut look_up = pin!(client.get(&reference, &Importer::Workspace, freshness));
                    let early = poll!(look_up.as_mut());
                    assert!(early.is_pending());
                    waiting.fetch_add(1, Ordering::SeqCst);
                    look_up.await
                })
            })
            .collect();
        // All of them have asked before the first one has its answer.
        until(|| waiting.load(Ordering::SeqCst) == 50).await;
        gate.add_permits(50);
        for outcome in join_all(look_ups).await {
            assert_eq!(text(&outcome.unwrap()), PROGRAM);
        }
        assert_eq!(server.seen().len(), 1, "{freshness:?}");
    }
}

#[tokio::test]
async fn a_cancelled_look_up_does_not_cancel_others() {
    let (server, gate) = held().await;
    let client = client(server.url());
    let mut patient = pin!(get(&client, "a/b"));
    {
        let mut hasty = pin!(get(&client, "a/b"));
        assert!(poll!(hasty.as_mut()).is_pending());
        assert!(poll!(patient.as_mut()).is_pending());
        tokio::select! {
            _ = hasty => panic!("the answer is held back"),
            () = until(|| server.seen().len() == 1) => {}
        }
    }
    gate.add_permits(2);
    assert_eq!(text(&patient.await), PROGRAM);
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
async fn a_hundred_programs_are_fetched_many_at_a_time() {
    let (server, gate) = held().await;
    let client = client(server.url());
    let look_ups: Vec<_> = (0..100)
        .map(|number| {
            let client = client.clone();
            tokio::spawn(async move { get(&client, format!("a/b{number}")).await })
        })
        .collect();
    // None of them has an answer before so many have come.
    until(|| server.seen().len() == Limits::default().requests_per_host).await;
    gate.add_permits(100);
    for outcome in join_all(look_ups).await {
        assert_eq!(text(&outcome.unwrap()), PROGRAM);
    }
}

#[tokio::test]
async fn no_host_is_asked_for_more_at_once_than_it_should() {
    let gate = Arc::new(Semaphore::new(0));
    let (asked, answered, most) = <(Arc<AtomicUsize>, Arc<AtomicUsize>, Arc<AtomicUsize>)>::default();
    let server = {
        let (gate, asked, answered, most) = (gate.clone(), asked.clone(), answered.clone(), most.clone());
        Server::start(move |_| {
            let at_once = asked.fetch_add(1, Ordering::SeqCst) + 1 - answered.load(Ordering::SeqCst);
            most.fetch_max(at_once, Ordering::SeqCst);
            Reply::text(PROGRAM).held(&gate)
        })
        .await
    };
    let limits = Limits { requests_per_host: 3, ..settings(server.url()).limits };
    let client = Client::new(Settings { limits, ..settings(server.url()) }, Cache::in_memory());
    let paths: Vec<String> = (0..20).map(|number| format!("a/b{number}")).collect();
    let look_ups = join_all(paths.iter().map(|path| get(&client, path)));
    let answering = async {
        for count in 0..20 {
            until(|| asked.load(Ordering::SeqCst) == (count + 3).min(20)).await;
            answered.fetch_add(1, Ordering::SeqCst);
            gate.add_permits(1);
        }
    };
    let (outcomes, ()) = tokio::join!(look_ups, answering);
    assert!(outcomes.iter().all(|outcome| outcome.result.is_ok()));
    assert_eq!(most.load(Ordering::SeqCst), 3);
}

#[tokio::test]
async fn a_host_that_never_answers_keeps_no_other_waiting() {
    let (dead, _gate) = held().await;
    let alive = Server::with("/a/b", PROGRAM).await;
    let client = client(alive.url());
    let waiting: Vec<_> = (0..40)
        .map(|number| {
            let (client, url) = (client.clone(), dead.url().join(&number.to_string()).unwrap());
            tokio::spawn(async move { get(&client, url).await })
        })
        .collect();
    // As many as a host is asked at once have come to it, and the others wait for them.
    until(|| dead.seen().len() == Limits::default().requests_per_host).await;
    assert_eq!(text(&get(&client, "a/b").await), PROGRAM);
    assert!(waiting.iter().any(|task| !task.is_finished()));
    waiting.into_iter().for_each(|task| task.abort());
}

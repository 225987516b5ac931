//! Servers and networks that do not work.

use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use prose_registry::{
    Cache, Client, Freshness, Limits, MAX_BYTES, NotAProgram, Problem, Settings, Unreachable,
};
use url::Url;

use crate::support::{
    Act, Hosts, PROGRAM, Reply, Server, client, closed_port, connects, get, get_as, reference, settings,
    text, unreachable,
};

/// A server whose first answers are these, and all further ones the last.
async fn one_after_the_other(replies: Vec<Reply>) -> Server {
    let count = AtomicUsize::new(0);
    Server::start(move |_| {
        let next = count.fetch_add(1, Ordering::SeqCst).min(replies.len() - 1);
        replies[next].clone()
    })
    .await
}

/// What the outcome for `a/b` says, with the address of the server left out.
async fn message(server: &Server) -> String {
    message_within(server, |_| {}).await
}

/// The same with other limits.
async fn message_within(server: &Server, limit: impl FnOnce(&mut Limits)) -> String {
    let mut settings = settings(server.url());
    limit(&mut settings.limits);
    let outcome = get(&Client::new(settings, Cache::in_memory()), "a/b").await;
    // Whatever a server did, it has not shut the client down.
    assert!(connects(server.address).await);
    outcome.to_string().replace(server.url().as_str(), "URL/")
}

fn not_a_program(outcome: &prose_registry::Outcome) -> &NotAProgram {
    match &outcome.result {
        Err(Problem::NotAProgram { what, .. }) => what,
        result => panic!("{result:?}"),
    }
}

#[tokio::test]
async fn an_error_of_the_server_may_pass() {
    for status in [500, 502, 503, 504] {
        let server = one_after_the_other(vec![Reply::status(status), Reply::text(PROGRAM)]).await;
        assert_eq!(text(&get(&client(server.url()), "a/b").await), PROGRAM);
        assert_eq!(server.seen().len(), 2);
    }
}

#[tokio::test]
async fn a_persistent_error_is_reported_after_three_attempts() {
    let server = one_after_the_other(vec![Reply::status(500)]).await;
    assert_eq!(message(&server).await, "`a/b` could not be fetched: 127.0.0.1 answered with status 500");
    assert_eq!(server.seen().len(), 3);
}

#[tokio::test]
async fn a_host_that_is_busy_is_asked_again_when_it_says() {
    let busy = Reply::status(429).header("Retry-After", 1);
    let server = one_after_the_other(vec![busy, Reply::text(PROGRAM)]).await;
    let start = Instant::now();
    assert_eq!(text(&get(&client(server.url()), "a/b").await), PROGRAM);
    assert!(start.elapsed() >= Duration::from_secs(1));

    let server = one_after_the_other(vec![Reply::status(429), Reply::text(PROGRAM)]).await;
    assert_eq!(text(&get(&client(server.url()), "a/b").await), PROGRAM);
}

#[tokio::test]
async fn a_host_that_is_busy_for_too_long_is_not_waited_for() {
    let server = one_after_the_other(vec![Reply::status(429).header("Retry-After", 3600)]).await;
    assert_eq!(
        message(&server).await,
        "`a/b` could not be fetched: 127.0.0.1 is limiting requests; retry in 3600 s"
    );
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn other_statuses_are_reported_and_not_retried() {
    for status in [204, 206, 304, 400, 418] {
        let server = one_after_the_other(vec![Reply::status(status)]).await;
        assert_eq!(
            message(&server).await,
            format!("`a/b` could not be fetched: 127.0.0.1 answered with status {status}")
        );
        assert_eq!(server.seen().len(), 1);
    }
}

#[tokio::test]
async fn redirects_that_lead_nowhere_are_reported() {
    let circle = one_after_the_other(vec![Reply::redirect(302, "/a/b")]).await;
    assert_eq!(
        message(&circle).await,
        "`a/b` could not be fetched: 127.0.0.1 redirects in a loop, or more than 5 times"
    );
    assert_eq!(circle.seen().len(), 6);

    let nowhere = one_after_the_other(vec![Reply::status(302)]).await;
    assert_eq!(
        message(&nowhere).await,
        "`a/b` could not be fetched: 127.0.0.1 redirects to ``, which is not a valid address"
    );
    let bad = one_after_the_other(vec![Reply::redirect(302, "https://[")]).await;
    assert_eq!(
        message(&bad).await,
        "`a/b` could not be fetched: 127.0.0.1 redirects to `https://[`, which is not a valid address"
    );
}

#[tokio::test]
async fn a_failure_after_a_redirect_names_the_host_that_failed() {
    let server = one_after_the_other(vec![Reply::redirect(302, "http://localhost/c")]).await;
    let unknown = message(&server).await;
    assert!(unknown.starts_with("`a/b` could not be fetched: localhost cannot be resolved"), "{unknown}");
    let server = Server::start(|seen| match seen.path.as_str() {
        "/a/b" => Reply::redirect(302, "/c"),
        _ => Reply::text("<!doctype html><html></html>"),
    })
    .await;
    let page = message(&server).await;
    assert!(page.starts_with("`a/b` is not a program: URL/c is a web page"), "{page}");
}

#[tokio::test]
async fn a_host_that_does_not_answer_is_given_up() {
    let server = one_after_the_other(vec![Reply::text(PROGRAM).after(Duration::from_secs(600))]).await;
    let message = message_within(&server, |limits| limits.idle = Duration::from_millis(300)).await;
    assert_eq!(message, "`a/b` could not be fetched: 127.0.0.1 did not answer within 300ms");
}

#[tokio::test]
async fn a_host_that_sends_one_byte_after_the_other_is_given_up() {
    let mut acts = vec![Act::Send(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n".to_vec())];
    for _ in 0..100_000 {
        acts.extend([Act::Wait(Duration::from_millis(100)), Act::Send(b"#".to_vec())]);
    }
    let server = one_after_the_other(vec![Reply::raw(acts)]).await;
    let message = message_within(&server, |limits| limits.total = Duration::from_millis(1500)).await;
    assert_eq!(message, "`a/b` could not be fetched: 127.0.0.1 did not answer within 1s 500ms");
}

#[tokio::test]
async fn a_head_that_comes_slowly_is_given_up() {
    let byte = |byte: &u8| [Act::Send(vec![*byte]), Act::Wait(Duration::from_millis(100))];
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX: {}", "y".repeat(10_000));
    let acts = head.as_bytes().iter().flat_map(byte).collect();
    let server = one_after_the_other(vec![Reply::raw(acts)]).await;
    let mut settings = settings(server.url());
    settings.limits.idle = Duration::from_millis(300);
    let outcome = get(&Client::new(settings, Cache::in_memory()), "a/b").await;
    assert!(matches!(unreachable(&outcome), Unreachable::TimedOut(_)));
}

#[tokio::test]
async fn a_truncated_response_is_rejected() {
    let cut = Act::Send(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nsession".to_vec());
    let broken = Reply::raw(vec![cut]);
    let server = one_after_the_other(vec![broken.clone()]).await;
    let message = message(&server).await;
    assert!(
        message.starts_with("`a/b` could not be fetched: 127.0.0.1 sent an incomplete response ("),
        "{message}"
    );
    assert_eq!(server.seen().len(), 3);

    let server = one_after_the_other(vec![broken, Reply::text(PROGRAM)]).await;
    assert_eq!(text(&get(&client(server.url()), "a/b").await), PROGRAM);
}

#[tokio::test]
async fn a_reset_in_the_middle_may_pass() {
    let reset = Reply::raw(vec![
        Act::Send(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nsession".to_vec()),
        Act::Wait(Duration::from_millis(20)),
        Act::Reset,
    ]);
    let server = one_after_the_other(vec![reset.clone()]).await;
    let message = message(&server).await;
    assert!(message.contains("sent an incomplete response"), "{message}");

    let server = one_after_the_other(vec![reset, Reply::text(PROGRAM)]).await;
    assert_eq!(text(&get(&client(server.url()), "a/b").await), PROGRAM);
}

#[tokio::test]
async fn what_is_not_http_is_reported() {
    for bytes in [&b"SSH-2.0-OpenSSH_9.9\r\n"[..], b"", b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n"] {
        let server = one_after_the_other(vec![Reply::raw(vec![Act::Send(bytes.to_vec())])]).await;
        let message = message(&server).await;
        assert!(message.contains("sent an incomplete response"), "{message}");
    }
}

#[tokio::test]
async fn a_host_that_takes_no_connection_is_reported_and_the_last_text_is_kept() {
    let address = closed_port().await;
    let registry = Url::parse(&format!("http://{address}/")).unwrap();
    let client = client(registry);
    let outcome = get(&client, "a/b").await;
    assert!(matches!(unreachable(&outcome), Unreachable::Connect(_)));
    assert_eq!(outcome.program(), None);
    let message = outcome.to_string();
    assert!(
        message.starts_with("`a/b` could not be fetched: 127.0.0.1 cannot be connected to ("),
        "{message}"
    );
}

#[tokio::test]
async fn the_last_text_is_at_hand_when_the_host_is_not() {
    let server = one_after_the_other(vec![Reply::text(PROGRAM), Reply::status(503)]).await;
    let client = client(server.url());
    get(&client, "a/b").await;
    let outcome = get(&client, "a/b").await;
    assert!(matches!(unreachable(&outcome), Unreachable::Status(503)));
    assert_eq!(outcome.program().map(|program| &*program.text), Some(PROGRAM));
    assert_eq!(
        outcome.to_string(),
        "`a/b` could not be fetched: 127.0.0.1 answered with status 503; the cached text is used"
    );
}

#[tokio::test]
async fn a_name_without_an_address_is_reported() {
    let settings = settings(Url::parse("https://registry.invalid/").unwrap());
    let outcome = get(&Client::new(settings.clone(), Cache::in_memory()), "a/b").await;
    assert_eq!(
        outcome.to_string(),
        "`a/b` could not be fetched: registry.invalid cannot be resolved (no such host); check the name and the network"
    );
    // As the system says it.
    let mut settings = Settings { names: std::sync::Arc::new(prose_registry::SystemResolver), ..settings };
    settings.limits.connect = Duration::from_millis(500);
    let outcome = get(&Client::new(settings, Cache::in_memory()), "a/b").await;
    assert!(matches!(unreachable(&outcome), Unreachable::Name(_) | Unreachable::TimedOut(_)));
}

#[tokio::test]
async fn a_host_without_any_address_is_reported() {
    let hosts = Hosts([("empty.example".to_owned(), Vec::new())].into());
    let settings = Settings {
        names: std::sync::Arc::new(hosts),
        ..settings(Url::parse("https://empty.example/").unwrap())
    };
    let outcome = get(&Client::new(settings, Cache::in_memory()), "a/b").await;
    assert!(outcome.to_string().starts_with("`a/b` could not be fetched: empty.example "), "{outcome}");
}

#[tokio::test]
async fn a_page_is_no_program() {
    let server = one_after_the_other(vec![
        Reply::text("<!DOCTYPE html>\n<html><body>Sign in</body></html>").header("Content-Type", "text/html"),
    ])
    .await;
    assert_eq!(
        message(&server).await,
        "`a/b` is not a program: URL/a/b is a web page; use the address of the raw text"
    );
}

#[tokio::test]
async fn a_program_may_be_served_as_html() {
    let server =
        one_after_the_other(vec![Reply::text(PROGRAM).header("Content-Type", "text/html; charset=utf-8")])
            .await;
    assert_eq!(text(&get(&client(server.url()), "a/b").await), PROGRAM);
}

#[tokio::test]
async fn bytes_that_are_no_text_are_no_program() {
    let server = one_after_the_other(vec![Reply::text(b"\x7fELF\x02\x01\x01\0\0")]).await;
    assert_eq!(message(&server).await, "`a/b` is not a program: URL/a/b is not text");
    let server = one_after_the_other(vec![Reply::text(b"session \"\xe9t\xe9\"\n")]).await;
    assert_eq!(
        message(&server).await,
        "`a/b` is not a program: URL/a/b is not valid UTF-8 at byte 9; save the program as UTF-8"
    );
}

#[tokio::test]
async fn what_is_no_program_takes_the_place_of_none() {
    let server = one_after_the_other(vec![Reply::text(PROGRAM), Reply::text("<html>")]).await;
    let client = client(server.url());
    get(&client, "a/b").await;
    assert_eq!(not_a_program(&get(&client, "a/b").await), &NotAProgram::Page);
    assert_eq!(&*client.known(&reference("a/b")).unwrap().program.text, PROGRAM);
}

#[tokio::test]
async fn a_body_of_100_megabytes_is_not_read() {
    let head =
        |length: &str| Act::Send(format!("HTTP/1.1 200 OK\r\nConnection: close\r\n{length}\r\n").into());
    let declared = Reply::raw(vec![head("Content-Length: 100000000\r\n"), Act::Flood(100_000_000)]);
    let server = one_after_the_other(vec![declared]).await;
    let outcome = get(&client(server.url()), "a/b").await;
    assert_eq!(not_a_program(&outcome), &NotAProgram::TooLarge(MAX_BYTES));
    assert!(server.sent() < 10_000_000, "{}", server.sent());

    // Without a length, the limit is met on the way.
    let endless = Reply::raw(vec![head(""), Act::Flood(100_000_000)]);
    let server = one_after_the_other(vec![endless]).await;
    let message = message(&server).await;
    assert!(message.ends_with("is larger than 1048576 bytes"), "{message}");
    assert!((MAX_BYTES..20_000_000).contains(&server.sent()), "{}", server.sent());
}

#[tokio::test]
async fn a_program_of_just_the_largest_size_is_fetched() {
    let most = Server::start(|_| Reply::text(vec![b'#'; MAX_BYTES])).await;
    assert_eq!(text(&get(&client(most.url()), "a/b").await).len(), MAX_BYTES);
    let more = Server::start(|_| Reply::text(vec![b'#'; MAX_BYTES + 1])).await;
    assert_eq!(not_a_program(&get(&client(more.url()), "a/b").await), &NotAProgram::TooLarge(MAX_BYTES));
}

#[tokio::test]
async fn a_bomb_of_gzip_is_cut_off() {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    for _ in 0..100 {
        gzip.write_all(&[b'#'; 1_000_000]).unwrap();
    }
    let bomb = gzip.finish().unwrap();
    assert!(bomb.len() < MAX_BYTES);
    let server = Server::start(move |_| Reply::text(&bomb).header("Content-Encoding", "gzip")).await;
    let outcome = get(&client(server.url()), "a/b").await;
    assert_eq!(not_a_program(&outcome), &NotAProgram::TooLarge(MAX_BYTES));
}

#[tokio::test]
async fn compressed_rubbish_is_reported() {
    for coding in ["gzip", "br"] {
        let server =
            Server::start(move |_| Reply::text(b"\xff\xff\xff\xff").header("Content-Encoding", coding)).await;
        let outcome = get(&client(server.url()), "a/b").await;
        assert!(matches!(unreachable(&outcome), Unreachable::Broken(_)), "{outcome}");
    }
}

#[tokio::test]
async fn a_cache_that_cannot_be_written_to_stops_nothing() {
    let server = Server::with("/a/b", PROGRAM).await;
    let file = tempfile::NamedTempFile::new().unwrap();
    let client = Client::new(settings(server.url()), Cache::at(file.path()));
    assert_eq!(text(&get(&client, "a/b").await), PROGRAM);
    assert!(client.cache().take_problem().is_some());
    let outcome = get_as(&client, "a/b", Freshness::Recent).await;
    assert_eq!(text(&outcome), PROGRAM);
    assert_eq!(server.seen().len(), 1);
}

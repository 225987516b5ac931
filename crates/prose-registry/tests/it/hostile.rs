//! Registries that answer anything at all: every fetch ends, and what it gives is a whole text that a server sent.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use fastrand::Rng;
use futures_util::future::join_all;
use prose_fixture::number;
use prose_registry::{Cache, Client, Freshness, Limits, Settings};

use crate::support::{Act, PROGRAM, Reply, Server, get, get_as, settings};

/// How many programs one server is asked for at the same time.
const AT_ONCE: usize = 40;

/// Every text that the server has sent as the whole body of an answer that can be understood.
type Sent = Arc<Mutex<Vec<Vec<u8>>>>;

#[tokio::test]
async fn whatever_a_registry_answers_every_fetch_ends() {
    check(1).await;
    check(2).await;
}

#[tokio::test]
#[ignore = "takes a minute"]
async fn whatever_many_registries_answer_every_fetch_ends() {
    let first = number("PROSE_REGISTRY_SEED").unwrap_or(1000);
    for seed in first..first + number("PROSE_REGISTRIES").unwrap_or(40) {
        check(seed).await;
    }
}

async fn check(seed: u64) {
    let sent = Sent::default();
    let random = Mutex::new(Rng::with_seed(seed));
    let server = {
        let sent = Arc::clone(&sent);
        Server::start(move |_| reply(&mut random.lock().unwrap(), &sent)).await
    };
    let folder = tempfile::tempdir().unwrap();
    let limits = Limits {
        connect: Duration::from_millis(300),
        idle: Duration::from_millis(150),
        total: Duration::from_millis(600),
        retry_delay: Duration::from_millis(2),
        ..Limits::default()
    };
    let settings = || Settings { limits: limits.clone(), ..settings(server.url()) };
    let client = Client::new(settings(), Cache::at(folder.path()));
    let mut found_any = false;
    for _ in 0..3 {
        let paths: Vec<String> = (0..AT_ONCE).map(|number| format!("a/p{number}")).collect();
        // Far more than the time that a fetch may take: a busy machine is not a fault of the client.
        let fetches = join_all(paths.iter().map(|path| get(&client, path)));
        let outcomes = tokio::time::timeout(Duration::from_secs(60), fetches);
        for outcome in outcomes.await.unwrap_or_else(|_| panic!("seed {seed}: a fetch does not end")) {
            if let Ok(found) = &outcome.result {
                let text = found.program.text.as_bytes();
                found_any = true;
                let is_whole = sent.lock().unwrap().iter().any(|body| body == text);
                assert!(is_whole, "seed {seed}: nobody sent {:?} for {outcome}", found.program.text);
            }
        }
    }
    assert!(found_any, "seed {seed}: no program was fetched");
    let most = 3 * AT_ONCE * 2 * (limits.retries as usize + 1) * (limits.redirects + 1);
    assert!(server.seen().len() <= most, "seed {seed}: {} requests", server.seen().len());
    // What the cache keeps is whole as well, also for another process.
    let later = Client::new(settings(), Cache::at(folder.path()));
    for number in 0..AT_ONCE {
        let known = get_as(&later, format!("a/p{number}"), Freshness::Known).await;
        if let Ok(found) = known.result {
            let text = found.program.text.as_bytes();
            assert!(sent.lock().unwrap().iter().any(|body| body == text), "seed {seed}: {text:?}");
        }
    }
}

fn reply(random: &mut Rng, sent: &Sent) -> Reply {
    let body = body(random);
    let status =
        pick(random, &[200, 200, 200, 200, 206, 204, 301, 302, 307, 308, 304, 404, 410, 429, 500, 503]);
    let mut reply = Reply::text(&body).with_status(*status);
    for _ in 0..random.usize(..4) {
        let (name, value) = header(random);
        reply = reply.header(name, value);
    }
    sent.lock().unwrap().push(body.clone());
    if random.u8(..3) > 0 {
        return reply;
    }
    // The bytes of an answer, with some of them changed, left out or cut off.
    let mut bytes = format!("HTTP/1.1 {status} OK\r\nContent-Length: {}\r\n\r\n", body.len()).into_bytes();
    let head = bytes.len();
    bytes.extend(&body);
    for _ in 0..random.usize(1..4) {
        if bytes.is_empty() {
            break;
        }
        let at = random.usize(..bytes.len());
        match random.u8(..4) {
            0 => bytes[at] ^= 1 << random.u8(..8),
            1 => drop(bytes.remove(at)),
            2 => bytes.insert(at, random.u8(..)),
            _ => bytes.truncate(at),
        }
    }
    // What a changed head says of the body is the word of the server; of an unchanged one, only the whole body will do.
    let mut sent = sent.lock().unwrap();
    for start in head.saturating_sub(4)..=(head + 4).min(bytes.len()) {
        for end in start..=bytes.len() {
            sent.push(bytes[start..end].to_vec());
        }
    }
    drop(sent);
    let mut acts = vec![Act::Send(bytes)];
    match random.u8(..4) {
        0 => acts.push(Act::Wait(Duration::from_millis(400))),
        1 => acts.push(Act::Reset),
        _ => {}
    }
    Reply::raw(acts)
}

fn body(random: &mut Rng) -> Vec<u8> {
    match random.u8(..10) {
        0 => Vec::new(),
        1 => (0..random.usize(..300)).map(|_| random.u8(..)).collect(),
        2 => b"<!doctype html><title>Sign in</title>".to_vec(),
        3 => vec![b'x'; random.usize(..2000)],
        4 => [b"\xef\xbb\xbf", PROGRAM.as_bytes()].concat(),
        5 => format!("session \"\0\u{202e}{}\"\n", random.u64(..)).into_bytes(),
        6 => format!("{PROGRAM}# {}\n\u{fffd}", random.u64(..)).into_bytes(),
        7 => b"session \"cut \xe2\x82".to_vec(),
        _ => format!("{PROGRAM}# {}\n", random.u64(..)).into_bytes(),
    }
}

fn header(random: &mut Rng) -> (&'static str, String) {
    let name = *pick(
        random,
        &[
            "Location",
            "Location",
            "ETag",
            "Content-Type",
            "Content-Encoding",
            "Retry-After",
            "Last-Modified",
            "Content-Length",
            "Transfer-Encoding",
            "Cache-Control",
            "X-\u{e9}",
        ],
    );
    let value = *pick(
        random,
        &[
            "",
            "/a/p1",
            "a/p2",
            "//",
            "../../..",
            "file:///etc/passwd",
            "http://10.0.0.1/x",
            "http://[::1]:1/",
            "https://user:word@host.example/",
            "javascript:alert(1)",
            "data:,session",
            "\"\"",
            "W/\"x\"",
            "\"a\\",
            "text/html",
            "text/plain; charset=utf-16",
            "gzip",
            "br",
            "identity, gzip",
            "chunked",
            "0",
            "-1",
            "1",
            "99999999999999999999",
            "Tue, 99 Foo 2026 99:99:99 GMT",
            "no-store",
        ],
    );
    (name, value.to_owned())
}

fn pick<'a, T>(random: &mut Rng, from: &'a [T]) -> &'a T {
    &from[random.usize(..from.len())]
}

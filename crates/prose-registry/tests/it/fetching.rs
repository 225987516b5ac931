//! What is fetched, from where, and when it is not asked for.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use prose_registry::{Cache, Client, Freshness, Problem, Provenance, Settings, Timestamp};
use url::Url;

use crate::support::{
    PROGRAM, Reply, Server, client, get, get_as, reference, refusal, settings, text, unreachable,
};

#[tokio::test]
async fn a_program_of_the_registry_is_fetched() {
    let server = Server::with("/alice/research", PROGRAM).await;
    let outcome = get(&client(server.url()), "alice/research").await;
    assert_eq!(text(&outcome), PROGRAM);
    assert_eq!(outcome.to_string(), "`alice/research` was fetched");

    let seen = &server.seen()[0];
    assert!(seen.headers["user-agent"].starts_with("prose/"));
    assert!(seen.headers["accept-encoding"].contains("gzip"));
    assert!(seen.headers["accept-encoding"].contains("br"));
    assert!(!seen.headers.contains_key("authorization"));
    assert!(!seen.headers.contains_key("referer"));
}

#[tokio::test]
async fn the_other_spelling_is_asked_once_after_a_404() {
    let server = Server::with("/@alice/research", PROGRAM).await;
    let outcome = get(&client(server.url()), "alice/research").await;
    assert_eq!(text(&outcome), PROGRAM);
    assert_eq!(server.paths(), ["/alice/research", "/@alice/research"]);

    let source = &outcome.program().unwrap().source;
    assert_eq!(source.final_url.path(), "/@alice/research");
    assert_eq!(source.reference, "alice/research");
    assert_eq!(outcome.moved_to(), None);
}

#[tokio::test]
async fn a_program_that_is_nowhere_has_near_names() {
    let server = Server::with("/alice/research", PROGRAM).await;
    let client = client(server.url());
    get(&client, "alice/research").await;
    let outcome = get(&client, "@alice/reserch").await;
    let url = server.url();
    assert_eq!(
        outcome.to_string(),
        format!(
            "`@alice/reserch` was not found at {url}@alice/reserch or {url}alice/reserch; did you mean `alice/research`?"
        )
    );
    assert!(matches!(outcome.result, Err(Problem::NotFound { .. })));
}

#[tokio::test]
async fn an_unchanged_program_is_not_sent_again() {
    for (mark, condition) in [("ETag", "if-none-match"), ("Last-Modified", "if-modified-since")] {
        let value = if mark == "ETag" { "\"v1\"" } else { "Sat, 31 Jan 2026 12:00:00 GMT" };
        let server = Server::start(move |seen| match seen.headers.get(condition) {
            Some(known) if known == value => Reply::status(304),
            _ => Reply::text(PROGRAM).header(mark, value),
        })
        .await;
        let client = client(server.url());
        let first = get(&client, "alice/research").await;
        let second = get(&client, "alice/research").await;
        assert_eq!(first.result.as_ref().unwrap().by, Provenance::Host);
        assert_eq!(second.result.as_ref().unwrap().by, Provenance::HostUnchanged);
        assert_eq!(text(&second), PROGRAM);
        assert_eq!(server.seen().len(), 2);
    }
}

#[tokio::test]
async fn a_changed_program_takes_the_place_of_the_old_one() {
    let count = AtomicUsize::new(0);
    let server = Server::start(move |_| {
        let count = count.fetch_add(1, Ordering::SeqCst);
        Reply::text(format!("session \"{count}\"\n")).header("ETag", format!("\"{count}\""))
    })
    .await;
    let client = client(server.url());
    assert_eq!(text(&get(&client, "a/b").await), "session \"0\"\n");
    assert_eq!(text(&get(&client, "a/b").await), "session \"1\"\n");
    assert_eq!(&*client.known(&reference("a/b")).unwrap().program.text, "session \"1\"\n");
}

#[tokio::test]
async fn a_recent_program_is_not_asked_for() {
    let server = Server::with("/a/b", PROGRAM).await;
    let dir = tempfile::tempdir().unwrap();
    let client = Client::new(settings(server.url()), Cache::at(dir.path()));
    get_as(&client, "a/b", Freshness::Recent).await;
    // As after a restart.
    let client = Client::new(settings(server.url()), Cache::at(dir.path()));
    let outcome = get_as(&client, "a/b", Freshness::Recent).await;
    assert!(
        matches!(outcome.result.as_ref().unwrap().by, Provenance::Cache(Some(age)) if age < Duration::from_secs(60))
    );
    assert_eq!(server.seen().len(), 1);

    let impatient = Settings { fresh_for: Duration::ZERO, ..settings(server.url()) };
    get_as(&Client::new(impatient, Cache::at(dir.path())), "a/b", Freshness::Recent).await;
    assert_eq!(server.seen().len(), 2);
}

#[tokio::test]
async fn a_program_from_the_future_is_asked_for_again() {
    let server = Server::with("/a/b", PROGRAM).await;
    let client = client(server.url());
    let mut program = get(&client, "a/b").await.program().unwrap().clone();
    program.source.fetched = "2999-01-01T00:00:00Z".parse().unwrap();
    client.cache().put(&program);

    let outcome = get_as(&client, "a/b", Freshness::Recent).await;
    assert_eq!(server.seen().len(), 2);
    assert!(outcome.program().unwrap().source.fetched <= Timestamp::now());
}

#[tokio::test]
async fn a_damaged_text_is_fetched_again() {
    let server = Server::start(|seen| match seen.headers.contains_key("if-none-match") {
        true => Reply::status(304),
        false => Reply::text(PROGRAM).header("ETag", "\"v1\""),
    })
    .await;
    let dir = tempfile::tempdir().unwrap();
    let client = Client::new(settings(server.url()), Cache::at(dir.path()));
    get(&client, "a/b").await;
    let file = std::fs::read_dir(dir.path().join("texts")).unwrap().next().unwrap().unwrap().path();
    std::fs::write(&file, "session \"Steal\"\n").unwrap();

    let outcome = get_as(&client, "a/b", Freshness::Recent).await;
    assert_eq!(text(&outcome), PROGRAM);
    assert_eq!(outcome.result.unwrap().by, Provenance::Host);
    assert_eq!(std::fs::read_to_string(file).unwrap(), PROGRAM);
}

#[tokio::test]
async fn nothing_is_asked_where_only_the_known_is_wanted() {
    let server = Server::with("/a/b", PROGRAM).await;
    let client = client(server.url());
    assert_eq!(
        get_as(&client, "a/b", Freshness::Known).await.to_string(),
        "`a/b` is not fetched yet; run `prose fetch`"
    );
    assert!(client.known(&reference("a/b")).is_none());
    assert!(server.seen().is_empty());
    get(&client, "a/b").await;
    assert_eq!(text(&get_as(&client, "a/b", Freshness::Known).await), PROGRAM);
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn offline_the_cache_serves_and_this_is_reported() {
    let server = Server::with("/a/b", PROGRAM).await;
    let dir = tempfile::tempdir().unwrap();
    get(&Client::new(settings(server.url()), Cache::at(dir.path())), "a/b").await;

    let offline = Settings { offline: true, ..settings(server.url()) };
    let client = Client::new(offline, Cache::at(dir.path()));
    let outcome = get(&client, "a/b").await;
    assert_eq!(text(&outcome), PROGRAM);
    assert_eq!(
        outcome.to_string(),
        "`a/b` comes from the cache, fetched just now, since fetching is disabled"
    );
    let outcome = get(&client, "a/c").await;
    unreachable(&outcome);
    assert_eq!(
        outcome.to_string(),
        "`a/c` is not in the cache, and fetching is disabled; run `prose fetch` with a network"
    );
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn each_registry_has_programs_of_its_own() {
    let one = Server::with("/a/b", "session \"One\"\n").await;
    let two = Server::with("/a/b", "session \"Two\"\n").await;
    let dir = tempfile::tempdir().unwrap();
    for (server, expected) in
        [(&one, "session \"One\"\n"), (&two, "session \"Two\"\n"), (&one, "session \"One\"\n")]
    {
        let client = Client::new(settings(server.url()), Cache::at(dir.path()));
        let outcome = get_as(&client, "a/b", Freshness::Recent).await;
        assert_eq!(text(&outcome), expected);
    }
}

#[tokio::test]
async fn redirects_are_followed_and_permanent_ones_are_reported() {
    let server = Server::start(|seen| match seen.path.as_str() {
        "/a/b" => Reply::redirect(301, "/c/d"),
        "/c/d" => Reply::redirect(308, "../e/f"),
        "/e/f" => Reply::redirect(302, "/g/h"),
        "/g/h" => Reply::text(PROGRAM),
        _ => Reply::status(404),
    })
    .await;
    let outcome = get(&client(server.url()), "a/b").await;
    assert_eq!(text(&outcome), PROGRAM);
    assert_eq!(outcome.program().unwrap().source.final_url.path(), "/g/h");
    assert_eq!(outcome.moved_to().map(Url::path), Some("/e/f"));
    assert_eq!(
        outcome.to_string(),
        format!("`a/b` was fetched; it has moved permanently to {}e/f", server.url())
    );

    let outcome = get(&client(server.url()), "e/f").await;
    assert_eq!(outcome.moved_to(), None);
}

#[tokio::test]
async fn texts_may_be_compressed() {
    use std::io::Write;
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(PROGRAM.as_bytes()).unwrap();
    let gzip = gzip.finish().unwrap();
    // The shortest form of Brotli: a block that is not compressed, and the end.
    let length = PROGRAM.len() as u32 - 1;
    let header = 1 << 20 | length << 4;
    let mut brotli = header.to_le_bytes()[..3].to_vec();
    brotli.extend(PROGRAM.as_bytes());
    brotli.push(0b11);
    for (coding, body) in [("gzip", gzip), ("br", brotli)] {
        let server = Server::start(move |_| Reply::text(&body).header("Content-Encoding", coding)).await;
        assert_eq!(text(&get(&client(server.url()), "a/b").await), PROGRAM, "{coding}");
    }
}

#[tokio::test]
async fn the_base_of_a_program_is_where_it_was_found() {
    let server = Server::start(|seen| match seen.path.as_str() {
        "/a/b" => Reply::redirect(302, "/store/b.prose"),
        _ => Reply::text(PROGRAM),
    })
    .await;
    let outcome = get(&client(server.url()), "a/b").await;
    let base = outcome.program().unwrap().base();
    let inner = prose_registry::Reference::parse_in("./c.prose", &base).unwrap();
    assert_eq!(inner.to_string(), format!("{}store/c.prose", server.url()));
}

#[tokio::test]
async fn files_of_this_machine_are_not_for_the_client() {
    let server = Server::with("/a/b", PROGRAM).await;
    let outcome = get(&client(server.url()), "./a.prose").await;
    refusal(&outcome);
    assert_eq!(outcome.to_string(), "`./a.prose` is a local file and is not fetched");
}

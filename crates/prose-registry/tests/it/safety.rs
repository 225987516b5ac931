//! What programs from the network must not make this machine do.

use std::net::SocketAddr;
use std::sync::Arc;

use prose_registry::{Cache, Client, Freshness, Importer, MAX_DEPTH, Proxies, Refusal, Secret, Settings};
use url::Url;

use crate::support::{
    Hosts, PROGRAM, Reply, Server, get, get_for_remote, reference, refusal, settings, text, unreachable,
};

/// A registry on an address of the documentation, which is never asked.
fn far() -> Url {
    Url::parse("https://registry.example/").unwrap()
}

fn with_hosts(hosts: Hosts) -> Client {
    let settings = Settings { names: Arc::new(hosts), allow_http: true, ..settings(far()) };
    Client::new(settings, Cache::in_memory())
}

#[tokio::test]
async fn addresses_that_are_not_public_are_refused_in_every_spelling() {
    let server = Server::with("/a", PROGRAM).await;
    let port = server.address.port();
    let client = with_hosts(Hosts::default());
    for host in [
        "127.0.0.1",
        "127.1",
        "0x7f.0.0.1",
        "0177.0.0.1",
        "2130706433",
        "0.0.0.0",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[64:ff9b::127.0.0.1]",
        "10.0.0.1",
        "172.16.0.1",
        "192.168.0.1",
        "169.254.169.254",
        "100.64.0.1",
        "224.0.0.1",
        "[fd00::1]",
        "[fe80::1]",
        "[ff02::1]",
    ] {
        let outcome = get_for_remote(&client, format!("http://{host}:{port}/a")).await;
        assert!(
            matches!(refusal(&outcome), Refusal::NotPublic { by_redirect: false, .. }),
            "{host}: {outcome}"
        );
    }
    assert!(server.seen().is_empty());
    // The user may.
    assert_eq!(text(&get(&client, format!("http://127.0.0.1:{port}/a")).await), PROGRAM);
}

#[tokio::test]
async fn names_of_addresses_that_are_not_public_are_refused() {
    let server = Server::with("/a", PROGRAM).await;
    let port = server.address.port();
    let mapped = SocketAddr::new("::ffff:127.0.0.1".parse().unwrap(), port);
    let hosts = Hosts::default()
        .with("inner.example", server.address)
        .with("mapped.example", mapped)
        .with("localhost", server.address);
    let client = with_hosts(hosts);
    for host in ["inner.example", "mapped.example", "localhost"] {
        let outcome = get_for_remote(&client, format!("http://{host}:{port}/a")).await;
        let message = outcome.to_string();
        assert!(matches!(refusal(&outcome), Refusal::NotPublic { .. }), "{message}");
        assert!(
            message.contains("which is a loopback address, and a program from the network may request only"),
            "{message}"
        );
    }
    assert!(server.seen().is_empty());
    assert_eq!(text(&get(&client, format!("http://inner.example:{port}/a")).await), PROGRAM);
}

#[tokio::test]
async fn a_redirect_to_an_address_that_is_not_public_is_refused() {
    let inner = Server::with("/admin", PROGRAM).await;
    let to = inner.url().join("admin").unwrap();
    let outer = Server::start(move |_| Reply::redirect(302, &to)).await;
    // The registry is what the user trusts, so it answers; where it leads to is another matter.
    let client = Client::new(settings(outer.url()), Cache::in_memory());
    let outcome = get_for_remote(&client, "a/b").await;
    assert!(matches!(refusal(&outcome), Refusal::NotPublic { by_redirect: true, .. }), "{outcome}");
    assert!(inner.seen().is_empty());
    assert_eq!(outer.seen().len(), 1);
    // From one machine of the user to another is what the user asked for.
    assert_eq!(text(&get(&client, "a/b").await), PROGRAM);
}

#[tokio::test]
async fn a_redirect_leaves_the_web_nowhere() {
    for to in ["file:///etc/passwd", "ftp://example.com/a", "data:text/plain,session", "gopher://127.0.0.1/"]
    {
        let server = Server::start(move |_| Reply::redirect(302, to)).await;
        let client = Client::new(settings(server.url()), Cache::in_memory());
        let outcome = get(&client, "a/b").await;
        assert!(matches!(refusal(&outcome), Refusal::Scheme(_)), "{outcome}");
    }
    let server = Server::start(|_| Reply::redirect(302, "https://me:secret@example.com/")).await;
    let outcome = get(&Client::new(settings(server.url()), Cache::in_memory()), "a/b").await;
    assert_eq!(refusal(&outcome), &Refusal::Credentials);
    assert!(!format!("{outcome} {outcome:?}").contains("secret"));
}

#[tokio::test]
async fn without_encryption_only_this_machine_is_asked() {
    let client = Client::new(settings(far()), Cache::in_memory());
    let outcome = get(&client, "http://example.com/a.prose").await;
    assert_eq!(
        outcome.to_string(),
        "`http://example.com/a.prose` is not fetched: http://example.com/a.prose is not encrypted; use `https://`, or \
         allow `http://` by setting PROSE_ALLOW_HTTP=1"
    );
    for registry in ["http://10.0.0.1/", "http://localhost.example.com/"] {
        let client = Client::new(settings(Url::parse(registry).unwrap()), Cache::in_memory());
        assert!(matches!(refusal(&get(&client, "a/b").await), Refusal::NotEncrypted(_)));
    }
    let server = Server::start(|_| Reply::redirect(302, "http://example.com/a.prose")).await;
    let outcome = get(&Client::new(settings(server.url()), Cache::in_memory()), "a/b").await;
    assert!(matches!(refusal(&outcome), Refusal::NotEncrypted(_)));
}

#[tokio::test]
async fn programs_of_a_registry_within_a_company_import_each_other() {
    let server = Server::start(|_| Reply::text(PROGRAM)).await;
    let client = Client::new(settings(server.url()), Cache::in_memory());
    let importer = Importer::Workspace.of(get(&client, "a/b").await.program().unwrap());
    for path in ["c/d".to_owned(), server.url().join("a/e.prose").unwrap().to_string()] {
        let outcome = client.get(&reference(&path), &importer, Freshness::Now).await;
        assert_eq!(text(&outcome), PROGRAM, "{path}");
    }
    // By name, all may; by address, those from elsewhere may not.
    assert_eq!(text(&get_for_remote(&client, "f/g").await), PROGRAM);
    let outcome = get_for_remote(&client, server.url().join("h/i").unwrap()).await;
    assert!(matches!(refusal(&outcome), Refusal::NotPublic { .. }));
    // Another server of this machine is none of theirs.
    let other = Server::with("/admin", PROGRAM).await;
    let outcome = client.get(&reference(other.url().join("admin").unwrap()), &importer, Freshness::Now).await;
    assert!(matches!(refusal(&outcome), Refusal::NotPublic { .. }));
    assert!(other.seen().is_empty());
}

#[tokio::test]
async fn what_a_user_may_ask_is_not_shared_with_programs_from_the_network() {
    let server = Server::with("/a", PROGRAM).await;
    let client = with_hosts(Hosts::default());
    let url = server.url().join("a").unwrap();
    let (of_user, of_remote) = tokio::join!(get(&client, &url), get_for_remote(&client, &url));
    assert_eq!(text(&of_user), PROGRAM);
    assert!(matches!(refusal(&of_remote), Refusal::NotPublic { .. }));
}

#[tokio::test]
async fn hosts_are_looked_up_even_with_a_proxy() {
    let proxy = Server::start(|_| Reply::text(PROGRAM)).await;
    let hosts = Hosts::default()
        .with("inner.example", "10.0.0.1:0".parse().unwrap())
        .with("outer.example", "1.1.1.1:0".parse().unwrap());
    let proxies = Proxies { http: Some(Secret::new(proxy.url().as_str())), ..Proxies::default() };
    let settings = Settings { names: Arc::new(hosts), allow_http: true, proxies, ..settings(far()) };
    let client = Client::new(settings, Cache::in_memory());

    let outcome = get_for_remote(&client, "http://inner.example/a").await;
    assert!(matches!(refusal(&outcome), Refusal::NotPublic { .. }));
    unreachable(&get_for_remote(&client, "http://unknown.example/a").await);
    assert!(proxy.seen().is_empty());

    assert_eq!(text(&get_for_remote(&client, "http://outer.example/a").await), PROGRAM);
    assert_eq!(text(&get(&client, "http://inner.example/a").await), PROGRAM);
    assert_eq!(proxy.paths(), ["http://outer.example/a", "http://inner.example/a"]);
}

#[tokio::test]
async fn a_host_of_the_web_cannot_redirect_to_this_machine() {
    let inner = Server::with("/admin", PROGRAM).await;
    let to = inner.url().join("admin").unwrap();
    // What answers through a proxy is taken for a host of the web, as is every public address.
    let proxy = Server::start(move |_| Reply::redirect(302, &to)).await;
    let proxies = Proxies { http: Some(Secret::new(proxy.url().as_str())), ..Proxies::default() };
    let settings = Settings { allow_http: true, proxies, ..settings(far()) };
    let outcome = get(&Client::new(settings, Cache::in_memory()), "http://outer.example/a").await;
    assert!(matches!(refusal(&outcome), Refusal::NotPublic { by_redirect: true, .. }), "{outcome}");
    assert!(inner.seen().is_empty());
}

#[tokio::test]
async fn some_hosts_are_asked_without_the_proxy() {
    let proxy = Server::start(|_| Reply::status(500)).await;
    let server = Server::with("/a", PROGRAM).await;
    let hosts = Hosts::default().with("direct.example", server.address);
    let proxies = Proxies {
        http: Some(Secret::new(proxy.url().as_str())),
        https: None,
        except: "direct.example".to_owned(),
    };
    let settings = Settings { names: Arc::new(hosts), allow_http: true, proxies, ..settings(far()) };
    let client = Client::new(settings, Cache::in_memory());
    let port = server.address.port();
    for host in ["direct.example", "127.0.0.1"] {
        assert_eq!(text(&get(&client, format!("http://{host}:{port}/a")).await), PROGRAM);
    }
    assert!(proxy.seen().is_empty());
}

#[tokio::test]
async fn programs_that_import_each_other_without_end_are_stopped() {
    let server = Server::start(|_| Reply::text("use \"a/b\"\n")).await;
    let client = Client::new(settings(server.url()), Cache::in_memory());
    let mut importer = Importer::Workspace;
    for depth in 0.. {
        let outcome = client.get(&reference("a/b"), &importer, Freshness::Recent).await;
        if depth == MAX_DEPTH {
            assert_eq!(refusal(&outcome), &Refusal::TooDeep(MAX_DEPTH));
            break;
        }
        importer = importer.of(outcome.program().unwrap());
    }
}

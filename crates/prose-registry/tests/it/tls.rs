//! Servers with certificates.

use std::fs;
use std::sync::Arc;

use prose_registry::{
    Cache, Client, Credentials, GitProgram, Hash, Proxies, Reference, Secret, Settings, Unreachable,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use url::Url;

use crate::support::{Hosts, PROGRAM, Reply, Seen, Server, get, reference, settings, text, unreachable};

/// An authority that nobody knows, and who believes it.
struct Authority(prose_fixture::Authority);

impl Authority {
    fn new() -> Self {
        Self(prose_fixture::Authority::new())
    }

    async fn server(
        &self,
        hosts: &[&str],
        answer: impl Fn(&Seen) -> Reply + Send + Sync + 'static,
    ) -> Server {
        Server::start_tls(self.0.acceptor(hosts, &["http/1.1"]), answer).await
    }

    /// Settings of someone who believes the authority.
    fn settings(&self, registry: Url) -> Settings {
        Settings { extra_ca: Some(self.0.certificate()), ..settings(registry) }
    }

    fn client(&self, registry: Url) -> Client {
        Client::new(self.settings(registry), Cache::in_memory())
    }
}

#[tokio::test]
async fn an_authority_of_the_user_is_believed() {
    let authority = Authority::new();
    let server = authority.server(&["127.0.0.1"], |_| Reply::text(PROGRAM)).await;
    assert_eq!(text(&get(&authority.client(server.url()), "a/b").await), PROGRAM);
}

#[tokio::test]
async fn an_unknown_authority_is_not_trusted() {
    let authority = Authority::new();
    let server = authority.server(&["127.0.0.1"], |_| Reply::text(PROGRAM)).await;
    let outcome = get(&Client::new(settings(server.url()), Cache::in_memory()), "a/b").await;
    assert_eq!(
        outcome.to_string(),
        "`a/b` could not be fetched: 127.0.0.1 has a certificate that is not trusted (its issuer is unknown); add \
         your own authority to the file that PROSE_EXTRA_CA_CERTS names"
    );
    assert!(server.seen().is_empty());
}

#[tokio::test]
async fn a_certificate_that_has_expired_is_not_believed() {
    let authority = Authority::new();
    let acceptor = authority.0.acceptor_until(2021, &["127.0.0.1"], &[]);
    let server = Server::start_tls(acceptor, |_| Reply::text(PROGRAM)).await;
    let outcome = get(&authority.client(server.url()), "a/b").await;
    let Unreachable::Certificate(why) = unreachable(&outcome) else { panic!("{outcome}") };
    assert_eq!(why, "it has expired, or the clock of this machine is wrong");
    assert!(server.seen().is_empty());
}

#[tokio::test]
async fn a_certificate_of_another_host_is_not_believed() {
    let authority = Authority::new();
    let server = authority.server(&["other.example"], |_| Reply::text(PROGRAM)).await;
    let outcome = get(&authority.client(server.url()), "a/b").await;
    let Unreachable::Certificate(why) = unreachable(&outcome) else { panic!("{outcome}") };
    assert_eq!(why, "it is for another host");
}

#[tokio::test]
async fn a_file_without_certificates_is_reported() {
    let authority = Authority::new();
    let server = authority.server(&["127.0.0.1"], |_| Reply::text(PROGRAM)).await;
    let empty = authority.0.folder().join("empty.pem");
    fs::write(&empty, "no certificate").unwrap();
    for path in [empty, authority.0.folder().join("none.pem")] {
        let settings = Settings { extra_ca: Some(path), ..settings(server.url()) };
        let outcome = get(&Client::new(settings, Cache::in_memory()), "a/b").await;
        let Unreachable::Client(why) = unreachable(&outcome) else { panic!("{outcome}") };
        assert!(why.starts_with("the certificates of PROSE_EXTRA_CA_CERTS in "), "{why}");
    }
}

#[tokio::test]
async fn a_server_without_encryption_at_an_https_address_is_reported() {
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let url = Url::parse(&format!("https://{}/", listener.local_addr().unwrap())).unwrap();
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            // What begins a connection with encryption is no request.
            let _ = stream.read_u8().await;
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
        }
    });
    unreachable(&get(&Client::new(settings(url), Cache::in_memory()), "a/b").await);
}

#[tokio::test]
async fn encryption_is_not_given_up_by_a_redirect() {
    let authority = Authority::new();
    let server =
        authority.server(&["127.0.0.1"], |_| Reply::redirect(302, "http://registry.example/a/b")).await;
    let outcome = get(&authority.client(server.url()), "a/b").await;
    assert!(outcome.to_string().contains("use `https://`"), "{outcome}");
}

#[tokio::test]
async fn http_2_is_spoken_where_the_server_does() {
    use hyper::service::service_fn;
    use hyper_util::rt::{TokioExecutor, TokioIo};

    let authority = Authority::new();
    let acceptor = authority.0.acceptor(&["127.0.0.1"], &["h2"]);
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        // All requests come by this one connection.
        let (stream, _) = listener.accept().await.unwrap();
        let stream = acceptor.accept(stream).await.unwrap();
        let answer = service_fn(|request: hyper::Request<hyper::body::Incoming>| async move {
            assert_eq!(request.version(), hyper::Version::HTTP_2);
            Ok::<_, std::convert::Infallible>(hyper::Response::new(PROGRAM.to_owned()))
        });
        let server = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
        let _ = server.serve_connection(TokioIo::new(stream), answer).await;
    });
    let client = authority.client(Url::parse(&format!("https://{address}/")).unwrap());
    assert_eq!(text(&get(&client, "a/b").await), PROGRAM);
    let (one, two) = tokio::join!(get(&client, "a/c"), get(&client, "a/d"));
    assert_eq!((text(&one), text(&two)), (PROGRAM, PROGRAM));
}

/// The real names of git hosts, at a server of the test.
async fn git_hosts(answer: impl Fn(&Seen) -> Reply + Send + Sync + 'static) -> (Client, Server) {
    let authority = Authority::new();
    let names = ["raw.githubusercontent.com", "api.github.com", "gitlab.com", "codeberg.org"];
    let server = authority.server(&names, answer).await;
    let hosts = names.into_iter().fold(Hosts::default(), |hosts, name| hosts.with(name, server.address));
    let registry = Url::parse("https://registry.example/").unwrap();
    let settings = Settings { names: Arc::new(hosts), ..authority.settings(registry) };
    // The certificates are read while their file is there.
    let client = Client::new(settings, Cache::in_memory());
    get(&client, "github.com/warm/up/a.prose").await;
    (client, server)
}

#[tokio::test]
async fn programs_of_git_hosts_are_read_through_their_raw_files() {
    let (client, server) = git_hosts(|_| Reply::text(PROGRAM)).await;
    for path in ["github.com/o/r/a.prose", "gitlab.com/o/r/a.prose@v1", "codeberg.org/o/r/a.prose@v1"] {
        assert_eq!(text(&get(&client, path).await), PROGRAM);
    }
    assert_eq!(
        server.paths()[1..],
        ["/o/r/HEAD/a.prose", "/o/r/-/raw/v1/a.prose", "/api/v1/repos/o/r/raw/a.prose?ref=v1"]
    );
    let outcome = get(&client, "github.com/o/r/flows/a.prose@v1").await;
    let inner = Reference::parse_in("../b.prose", &outcome.program().unwrap().base()).unwrap();
    assert_eq!(inner, reference("github.com/o/r/b.prose@v1"));
}

fn git(path: &str) -> GitProgram {
    match reference(path) {
        Reference::Git(program) => program,
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn a_pin_names_the_commit_that_has_its_text_and_no_other() {
    const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";
    let (client, _server) = git_hosts(|seen| match seen.path.as_str() {
        "/repos/o/r/commits/HEAD" => Reply::text(COMMIT),
        path if path == format!("/o/r/{COMMIT}/a.prose") => Reply::text(PROGRAM),
        _ => Reply::status(404),
    })
    .await;
    let program = git("github.com/o/r/a.prose");
    assert_eq!(client.commit_of(&program, Hash::of(PROGRAM)).await.as_deref(), Some(COMMIT));
    // The branch has moved on since the text was fetched.
    assert_eq!(client.commit_of(&program, Hash::of("session \"Earlier\"\n")).await, None);
    assert_eq!(client.commit_of(&git("github.com/o/other/a.prose"), Hash::of(PROGRAM)).await, None);
}

#[tokio::test]
async fn git_hosts_report_commits() {
    const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";
    let (client, server) = git_hosts(|seen| match seen.path.as_str() {
        "/repos/o/r/commits/HEAD" => Reply::text(COMMIT),
        "/api/v4/projects/o%2Fr/repository/commits/v1" => {
            Reply::text(format!(r#"{{"id":"{COMMIT}","title":"x"}}"#))
        }
        "/api/v1/repos/o/r/git/commits/v1" => Reply::text(format!(r#"{{"url":"x","sha":"{COMMIT}"}}"#)),
        "/repos/o/r/commits/odd" => Reply::text("no commit"),
        _ => Reply::status(404),
    })
    .await;
    for path in ["github.com/o/r/a.prose", "gitlab.com/o/r/a.prose@v1", "codeberg.org/o/r/a.prose@v1"] {
        assert_eq!(client.commit(&git(path)).await.as_deref(), Ok(COMMIT));
    }
    assert!(client.commit(&git("github.com/o/r/a.prose@odd")).await.is_err());
    assert!(client.commit(&git("github.com/o/r/a.prose@gone")).await.is_err());

    let asked = server.seen().len();
    let pinned = git(&format!("github.com/o/r/a.prose@{COMMIT}"));
    assert_eq!(client.commit(&pinned).await.as_deref(), Ok(COMMIT));
    assert_eq!(server.seen().len(), asked);
}

#[tokio::test]
async fn a_proxy_sees_where_to_and_nothing_else() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};

    let authority = Authority::new();
    let server = authority.server(&["registry.example"], |_| Reply::text(PROGRAM)).await;
    let (listener, target) = (tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.unwrap(), server.address);
    let proxy = listener.local_addr().unwrap();
    let asked = tokio::spawn(async move {
        let (mut client, _) = listener.accept().await.unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(client.read_u8().await.unwrap());
        }
        client.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
        let mut server = tokio::net::TcpStream::connect(target).await.unwrap();
        let _ = copy_bidirectional(&mut client, &mut server).await;
        String::from_utf8(head).unwrap()
    });
    let registry = Url::parse("https://registry.example/").unwrap();
    let mut credentials = Credentials::default();
    credentials.read_tokens("https://registry.example=token-of-the-registry");
    let proxies =
        Proxies { https: Some(Secret::new(format!("http://me:pass@{proxy}"))), ..Proxies::default() };
    let settings = Settings { credentials, proxies, ..authority.settings(registry) };
    let outcome = get(&Client::new(settings, Cache::in_memory()), "a/b").await;
    assert_eq!(text(&outcome), PROGRAM);
    assert_eq!(server.seen()[0].headers["authorization"], "Bearer token-of-the-registry");
    let asked = asked.await.unwrap();
    assert!(asked.starts_with("CONNECT registry.example:443 "), "{asked}");
    assert!(!asked.contains("token-of-the-registry"));
    // `me:pass`, for the proxy alone.
    assert!(asked.to_lowercase().contains("proxy-authorization: basic bwu6cgfzcw=="), "{asked}");
    assert!(!server.seen()[0].headers.contains_key("proxy-authorization"));
}

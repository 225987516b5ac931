//! The registry for development.

use std::fs;
use std::net::SocketAddr;

use prose_registry::{Provenance, RegistryServer};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use url::Url;

use crate::support::{PROGRAM, client, get, text};

async fn registry() -> (TempDir, SocketAddr) {
    let outer = tempfile::tempdir().unwrap();
    let dir = outer.path().join("programs");
    fs::create_dir_all(dir.join("alice/poem")).unwrap();
    fs::create_dir_all(dir.join("@bob")).unwrap();
    fs::create_dir_all(dir.join(".git")).unwrap();
    fs::write(dir.join("alice/research.prose"), PROGRAM).unwrap();
    fs::write(dir.join("alice/poem/index.prose"), "session \"Poem\"\n").unwrap();
    fs::write(dir.join("@bob/tidy"), "session \"Tidy\"\n").unwrap();
    fs::write(dir.join("alice/été.prose"), "session \"Été\"\n").unwrap();
    fs::write(dir.join(".git/config.prose"), "secret").unwrap();
    fs::write(outer.path().join("secret.prose"), "secret").unwrap();
    fs::write(dir.join("alice/large.prose"), vec![b'#'; prose_registry::MAX_BYTES + 1]).unwrap();
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(outer.path().join("secret.prose"), dir.join("alice/link.prose")).unwrap();
        std::os::unix::fs::symlink(dir.join("alice/research.prose"), dir.join("alice/inner.prose")).unwrap();
    }
    let server = RegistryServer::bind(&dir, "127.0.0.1:0".parse().unwrap()).await.unwrap();
    let address = server.address().unwrap();
    tokio::spawn(server.run());
    (outer, address)
}

fn url(address: SocketAddr) -> Url {
    Url::parse(&format!("http://{address}/")).unwrap()
}

/// The status and all that is sent, for a request as it is.
async fn ask(address: SocketAddr, request: &str) -> (String, String) {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    (answer.split(' ').nth(1).unwrap_or_default().to_owned(), answer)
}

async fn ask_for(address: SocketAddr, path: &str) -> (String, String) {
    ask(address, &format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")).await
}

#[tokio::test]
async fn programs_of_a_folder_are_served() {
    let (_dir, address) = registry().await;
    let client = client(url(address));
    for (path, expected) in [
        ("alice/research", PROGRAM),
        ("@alice/research", PROGRAM),
        ("alice/poem", "session \"Poem\"\n"),
        ("@bob/tidy", "session \"Tidy\"\n"),
        ("bob/tidy", "session \"Tidy\"\n"),
        ("alice/été", "session \"Été\"\n"),
        ("alice/inner", PROGRAM),
    ] {
        assert_eq!(text(&get(&client, path).await), expected, "{path}");
    }
    assert!(get(&client, "alice/other").await.to_string().contains("was not found"));
    // A relative import of one of them.
    assert_eq!(text(&get(&client, format!("{}alice/research.prose", url(address))).await), PROGRAM);
}

#[tokio::test]
async fn a_program_that_is_known_is_not_sent_again_until_it_changes() {
    let (dir, address) = registry().await;
    let client = client(url(address));
    get(&client, "alice/research").await;
    assert_eq!(get(&client, "alice/research").await.result.unwrap().by, Provenance::HostUnchanged);
    fs::write(dir.path().join("programs/alice/research.prose"), "session \"New\"\n").unwrap();
    let outcome = get(&client, "alice/research").await;
    assert_eq!(text(&outcome), "session \"New\"\n");
    assert_eq!(outcome.result.unwrap().by, Provenance::Host);
}

#[tokio::test]
async fn nothing_outside_of_the_folder_is_served() {
    let (_dir, address) = registry().await;
    for path in [
        "/../secret",
        "/..%2fsecret",
        "/%2e%2e/secret",
        "/alice/../../secret.prose",
        "/alice/..%2f..%2fsecret",
        "/..\\secret",
        "/..%5csecret",
        "//secret",
        "/alice/link",
        "/.git/config",
        "/%2egit/config",
        "/alice/%00",
        "/",
        "/alice",
        "/alice/large",
        "/%ff/x",
        "http://other.example/secret",
    ] {
        let (status, answer) = ask_for(address, path).await;
        assert_eq!(status, "404", "{path}: {answer}");
        assert!(!answer.contains("\r\n\r\nsecret"), "{path}");
    }
    assert_eq!(ask_for(address, "/alice/research").await.0, "200");
}

#[tokio::test]
async fn other_hosts_are_not_answered() {
    let (_dir, address) = registry().await;
    let request = "GET /alice/research HTTP/1.1\r\nHost: rebinding.example\r\nConnection: close\r\n\r\n";
    assert_eq!(ask(address, request).await.0, "403");
    let request = format!(
        "POST /alice/research HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
    );
    assert_eq!(ask(address, &request).await.0, "405");

    let dir = tempfile::tempdir().unwrap();
    let error = RegistryServer::bind(dir.path(), "0.0.0.0:0".parse().unwrap()).await.unwrap_err();
    assert!(error.to_string().contains("is reachable from other machines"), "{error}");
    let error =
        RegistryServer::bind(dir.path().join("none"), "127.0.0.1:0".parse().unwrap()).await.unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
}

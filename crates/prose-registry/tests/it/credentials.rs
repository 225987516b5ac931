//! Tokens reach the host they are for, and nobody else.

use std::fs;
use std::path::Path;

use prose_registry::{
    Cache, Client, Credentials, CredentialsProblem, Proxies, Secret, Settings, Unreachable,
};

use crate::support::{PROGRAM, Reply, Server, get, settings, text, unreachable};

const TOKEN: &str = "very-secret-token";

fn with_token(server: &Server, whose: &Server) -> Client {
    let mut credentials = Credentials::default();
    let problems =
        credentials.read_tokens(&format!("{}={TOKEN}", whose.url().origin().ascii_serialization()));
    assert!(problems.is_empty());
    Client::new(Settings { credentials, ..settings(server.url()) }, Cache::in_memory())
}

fn needs_token() -> impl Fn(&crate::support::Seen) -> Reply {
    |seen| match seen.headers.get("authorization").map(String::as_str) {
        Some("Bearer very-secret-token") => Reply::text(PROGRAM),
        Some(_) => Reply::status(403),
        None => Reply::status(401),
    }
}

#[tokio::test]
async fn a_token_opens_the_registry_it_is_for() {
    let server = Server::start(needs_token()).await;
    assert_eq!(text(&get(&with_token(&server, &server), "a/b").await), PROGRAM);
}

#[tokio::test]
async fn a_token_is_sent_to_no_other_host() {
    let (server, other) = (Server::start(needs_token()).await, Server::start(needs_token()).await);
    let outcome = get(&with_token(&server, &other), "a/b").await;
    assert_eq!(unreachable(&outcome), &Unreachable::Unauthorized { status: 401, with_token: false });
    assert!(outcome.to_string().contains("PROSE_REGISTRY_TOKENS"));
    assert!(!server.seen()[0].headers.contains_key("authorization"));
}

#[tokio::test]
async fn a_redirect_to_another_host_loses_the_token() {
    let store = Server::with("/store", PROGRAM).await;
    let to = store.url().join("store").unwrap();
    let server = Server::start(move |seen| match seen.path.as_str() {
        "/a/b" => Reply::redirect(302, "/inner"),
        _ => Reply::redirect(302, &to),
    })
    .await;
    assert_eq!(text(&get(&with_token(&server, &server), "a/b").await), PROGRAM);
    assert!(server.seen().iter().all(|seen| seen.headers.contains_key("authorization")));
    assert!(!store.seen()[0].headers.contains_key("authorization"));
}

#[tokio::test]
async fn a_redirect_gets_no_token_of_the_host_it_leads_to() {
    let registry = Server::start(needs_token()).await;
    let to = registry.url().join("a/b").unwrap();
    let server = Server::start(move |_| Reply::redirect(302, &to)).await;
    let outcome = get(&with_token(&server, &registry), "a/b").await;
    assert_eq!(unreachable(&outcome), &Unreachable::Unauthorized { status: 401, with_token: false });
    assert!(!registry.seen()[0].headers.contains_key("authorization"));
}

#[tokio::test]
async fn a_token_that_is_not_accepted_is_reported() {
    let server = Server::start(|_| Reply::status(403)).await;
    let outcome = get(&with_token(&server, &server), "a/b").await;
    assert_eq!(
        outcome.to_string(),
        "`a/b` could not be fetched: 127.0.0.1 rejects the token (status 403); it may have expired"
    );
}

#[tokio::test]
async fn a_token_is_never_shown() {
    let server = Server::start(|_| Reply::status(500)).await;
    let client = with_token(&server, &server);
    let outcome = get(&client, "a/b").await;
    let proxies =
        Proxies { https: Some(Secret::new(format!("http://me:{TOKEN}@proxy"))), ..Proxies::default() };
    let settings = Settings { proxies, ..client.settings().clone() };
    let shown = format!("{client:?} {:#?} {outcome} {outcome:?} {settings:?}", client.settings().credentials);
    assert!(!shown.contains(TOKEN), "{shown}");
    let bad_proxy = Settings {
        proxies: Proxies { http: Some(Secret::new(format!("http://{TOKEN} :x"))), ..Proxies::default() },
        ..settings
    };
    let outcome = get(&Client::new(bad_proxy, Cache::in_memory()), "a/b").await;
    assert!(!format!("{outcome} {outcome:?}").contains(TOKEN), "{outcome}");
}

fn write(path: &Path, text: &str, mode: u32) {
    fs::write(path, text).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }
    let _ = mode;
}

#[tokio::test]
async fn a_file_has_tokens() {
    let server = Server::start(needs_token()).await;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("credentials.toml");
    write(&path, &format!("[tokens]\n\"{}\" = \"{TOKEN}\"\n", server.url()), 0o600);
    let (credentials, problems) = Credentials::load(&path);
    assert!(problems.is_empty(), "{problems:?}");
    let client = Client::new(Settings { credentials, ..settings(server.url()) }, Cache::in_memory());
    assert_eq!(text(&get(&client, "a/b").await), PROGRAM);

    let (credentials, problems) = Credentials::load(&dir.path().join("none.toml"));
    assert_eq!((credentials, problems), (Credentials::default(), Vec::new()));
}

#[test]
#[cfg(unix)]
fn a_file_that_others_can_read_is_not_used() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("credentials.toml");
    for mode in [0o644, 0o640, 0o604, 0o660] {
        write(&path, &format!("[tokens]\n\"https://registry.example\" = \"{TOKEN}\"\n"), mode);
        let (credentials, problems) = Credentials::load(&path);
        assert_eq!(credentials, Credentials::default());
        assert_eq!(problems, [CredentialsProblem::Permissions { path: path.clone(), mode }]);
        assert!(problems[0].to_string().contains("`chmod 600 "));
    }
}

#[test]
fn errors_in_tokens_are_reported_without_the_tokens() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("credentials.toml");
    let check = |text: &str, expected: &str| {
        write(&path, text, 0o600);
        let (credentials, problems) = Credentials::load(&path);
        assert_eq!(credentials, Credentials::default());
        let message = problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
        assert!(message.contains(expected), "{message}");
        assert!(!format!("{message} {problems:?}").contains(TOKEN), "{message}");
    };
    check(&format!("[tokens]\n\"https://a.example\" = \"{TOKEN}\n"), "line 2");
    check(&format!("token = \"{TOKEN}\"\n"), "line 1");
    check(
        &format!("[tokens]\n\"http://a.example\" = \"{TOKEN}\"\n"),
        "`http://a.example` is not an address that starts with `https://`",
    );
    check(&format!("[tokens]\n\"https://me:{TOKEN}@a.example\" = \"{TOKEN}\"\n"), "it has no address");
    check("[tokens]\n\"https://a.example\" = \"\"\n", "has no token for https://a.example");
    check(
        &format!("[tokens]\n\"https://a.example\" = \"{TOKEN} x\"\n"),
        "has no token for https://a.example",
    );

    let problems = Credentials::default().read_tokens(TOKEN);
    assert!(problems[0].to_string().contains("https://registry.example.com=TOKEN"));
    assert!(!format!("{problems:?} {}", problems[0]).contains(TOKEN));
}

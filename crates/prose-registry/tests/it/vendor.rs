//! Copies for machines without network.

use std::fs;

use prose_registry::{Cache, Client, Lock, Provenance, Settings, Vendor, VendorError};

use crate::support::{PROGRAM, Reply, Server, get, reference, settings, text, unreachable};

#[tokio::test]
async fn vendored_copies_serve_without_a_network() {
    let server = Server::start(|seen| Reply::text(format!("session \"{}\"\n", seen.path))).await;
    let fetching = Client::new(settings(server.url()), Cache::in_memory());
    let url = server.url().join("x/y.prose?z=1").unwrap();
    let mut programs = Vec::new();
    for path in ["alice/research", "@alice/research", "alice/Research", url.as_str()] {
        programs.push(get(&fetching, path).await.program().unwrap().clone());
    }
    let dir = tempfile::tempdir().unwrap();
    Vendor::write(dir.path(), &programs).unwrap();

    let vendor = Vendor::load(dir.path()).unwrap().unwrap();
    assert_eq!(vendor.references().count(), 4);
    let settings = Settings { vendor: Some(vendor), offline: true, ..settings(server.url()) };
    let client = Client::new(settings, Cache::in_memory());
    let before = server.seen().len();
    for (path, expected) in [
        ("alice/research", "session \"/alice/research\"\n"),
        ("@alice/research", "session \"/@alice/research\"\n"),
        ("alice/Research", "session \"/alice/Research\"\n"),
        (url.as_str(), "session \"/x/y.prose?z=1\"\n"),
    ] {
        let outcome = get(&client, path).await;
        assert_eq!(text(&outcome), expected);
        assert_eq!(outcome.result.unwrap().by, Provenance::Vendored);
    }
    unreachable(&get(&client, "alice/other").await);
    assert_eq!(server.seen().len(), before);
}

#[tokio::test]
async fn vendored_copies_come_before_the_network() {
    let server = Server::with("/a/b", PROGRAM).await;
    let fetching = Client::new(settings(server.url()), Cache::in_memory());
    let program = get(&fetching, "a/b").await.program().unwrap().clone();
    let dir = tempfile::tempdir().unwrap();
    let vendor = Vendor::write(dir.path(), &[program]).unwrap();
    let client = Client::new(Settings { vendor: Some(vendor), ..settings(server.url()) }, Cache::in_memory());
    assert_eq!(get(&client, "a/b").await.result.unwrap().by, Provenance::Vendored);
    assert_eq!(client.known(&reference("a/b")).unwrap().by, Provenance::Vendored);
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn a_folder_is_written_anew_and_nothing_else_in_it_is_touched() {
    let server = Server::start(|_| Reply::text(PROGRAM)).await;
    let client = Client::new(settings(server.url()), Cache::in_memory());
    let one = get(&client, "a/one").await.program().unwrap().clone();
    let two = get(&client, "a/two").await.program().unwrap().clone();
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("mine.prose"), "session \"Mine\"\n").unwrap();
    Vendor::write(dir.path(), &[one, two.clone()]).unwrap();
    Vendor::write(dir.path(), &[two]).unwrap();

    let mut files: Vec<_> = fs::read_dir(dir.path())
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    assert_eq!(files, [".ignore", "a--two.prose", "index.toml", "mine.prose"]);
}

#[tokio::test]
async fn copies_that_were_changed_are_not_used() {
    let server = Server::start(|_| Reply::text(PROGRAM)).await;
    let client = Client::new(settings(server.url()), Cache::in_memory());
    let program = get(&client, "a/b").await.program().unwrap().clone();
    let dir = tempfile::tempdir().unwrap();
    let vendor = Vendor::write(dir.path(), &[program]).unwrap();
    fs::write(dir.path().join("a--b.prose"), "session \"Steal\"\n").unwrap();
    assert!(vendor.get(&reference("a/b")).is_none());
}

#[tokio::test]
async fn an_index_leads_to_no_file_outside_of_its_folder() {
    let server = Server::start(|_| Reply::text(PROGRAM)).await;
    let client = Client::new(settings(server.url()), Cache::in_memory());
    let program = get(&client, "a/b").await.program().unwrap().clone();
    let dir = tempfile::tempdir().unwrap();
    let inner = dir.path().join("vendor");
    Vendor::write(&inner, std::slice::from_ref(&program)).unwrap();
    fs::write(dir.path().join("outside.prose"), PROGRAM).unwrap();
    let index = fs::read_to_string(inner.join("index.toml")).unwrap();
    let absolute = dir.path().join("outside.prose").display().to_string();
    for file in ["../outside.prose", &absolute] {
        fs::write(inner.join("index.toml"), index.replace("a--b.prose", file)).unwrap();
        assert!(Vendor::load(&inner).unwrap().unwrap().get(&reference("a/b")).is_none(), "{file}");
        // Nor is one removed there when the folder is written anew.
        Vendor::write(&inner, &[]).unwrap();
        assert!(dir.path().join("outside.prose").exists());
    }
}

#[test]
fn a_folder_without_an_index_has_no_copies() {
    let dir = tempfile::tempdir().unwrap();
    assert!(Vendor::load(dir.path()).unwrap().is_none());
    fs::write(dir.path().join("index.toml"), "[[program]]\n").unwrap();
    let error = Vendor::load(dir.path()).unwrap_err();
    assert!(matches!(error, VendorError::Malformed(..)));
    assert!(error.to_string().contains("recreate it with `prose vendor`"), "{error}");
}

#[cfg(unix)]
#[tokio::test]
async fn others_may_read_what_belongs_to_the_project() {
    use std::os::unix::fs::PermissionsExt;

    let server = Server::with("/a/b", PROGRAM).await;
    let program = get(&Client::new(settings(server.url()), Cache::in_memory()), "a/b").await;
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("usual"), "").unwrap();
    Vendor::write(dir.path(), &[program.program().unwrap().clone()]).unwrap();
    Lock::default().save(&dir.path().join("prose.lock")).unwrap();
    let mode = |name: &str| fs::metadata(dir.path().join(name)).unwrap().permissions().mode();
    for name in ["a--b.prose", "index.toml", ".ignore", "prose.lock"] {
        assert_eq!(mode(name), mode("usual"), "{name}");
    }
}

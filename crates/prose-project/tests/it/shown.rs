//! The files that show the texts of fetched programs.

use std::collections::HashSet;
use std::fs;
use std::path::PathBuf;

use prose_registry::{Cache, Hash, Program, Source, Timestamp};
use url::Url;

fn url_of(url: &str) -> Url {
    Url::parse(url).unwrap()
}

/// The file that shows the program at an address, within the folder of the cache.
fn shown(cache: &Cache, url: &str, text: &str) -> PathBuf {
    let url = url_of(url);
    let source = Source::new(url.to_string(), url, Hash::of(text), Timestamp::now());
    let path = cache.show(&Program { text: text.into(), source }).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
    path.strip_prefix(cache.dir().unwrap()).unwrap().to_owned()
}

#[test]
fn a_program_is_shown_below_its_host() {
    let dir = tempfile::tempdir().unwrap();
    let cache = Cache::at(dir.path());
    for (url, expected) in [
        ("https://p.example.com/alice/research", "programs/p.example.com/alice/research.prose"),
        ("https://p.example.com/@alice/research", "programs/p.example.com/@alice/research.prose"),
        ("http://127.0.0.1:8000/a/b.prose", "programs/127.0.0.1_8000~files/a/b.prose"),
        ("https://p.example.com/alice", "programs/p.example.com/alice.prose"),
        ("https://p.example.com/", "programs/p.example.com/~HASH/index.prose"),
        (
            "https://p.example.com/été/%2e%2e%2fx",
            "programs/p.example.com/_C3_A9t_C3_A9/~HASH/_2e_2e_2fx.prose",
        ),
    ] {
        let hash = format!("~{:.16}", Hash::of(url_of(url).as_str()).to_string());
        assert_eq!(shown(&cache, url, url), PathBuf::from(expected.replace("~HASH", &hash)), "{url}");
    }
}

#[test]
fn no_program_is_shown_outside_of_its_folder() {
    let dir = tempfile::tempdir().unwrap();
    let cache = Cache::at(dir.path());
    for url in [
        "https://p.example.com/",
        "https://p.example.com/..",
        "https://p.example.com/../../x",
        "https://p.example.com/%2e%2e/%2e%2e/x",
        "https://p.example.com/a/%2e%2e%2f%2e%2e%2fx",
        "https://p.example.com/...",
        "https://p.example.com/.hidden",
        "https://p.example.com/a\\..\\..\\x",
        "https://p.example.com/C:/x",
        "https://p.example.com/a//b",
        "https://p.example.com/%00/%ff",
        "https://p.example.com/?x=../../y",
        "https://[::1]/x",
    ] {
        let path = shown(&cache, url, "session \"Look\"\n");
        let parts: Vec<String> = path.iter().map(|part| part.to_string_lossy().into_owned()).collect();
        assert_eq!(parts[0], "programs", "{url}: {path:?}");
        assert!(
            parts.iter().all(|part| !part.starts_with('.') && !part.contains([':', '\\'])),
            "{url}: {path:?}"
        );
        assert!(
            dir.path().join(&path).canonicalize().unwrap().starts_with(dir.path().canonicalize().unwrap())
        );
    }
}

#[test]
fn different_programs_have_different_files() {
    let dir = tempfile::tempdir().unwrap();
    let cache = Cache::at(dir.path());
    let urls = [
        "https://p.example.com/a/b",
        "https://p.example.com/a/b?v=1",
        "https://p.example.com/a/b?v=2",
        "https://p.example.com:8000/a/b",
        "http://q.example.com/a/b",
        "https://p.example.com/a/b/c",
        "https://p.example.com/a/%62c",
        "https://p.example.com/a/b.prose",
        "https://p.example.com/a/b/",
        "https://p.example.com/a//b",
        "https://p.example.com/a/.b",
        "https://p.example.com/a/x+y",
        "https://p.example.com/a/x~y",
        "http://p.example.com/a/b",
        "https://p.example.com/a/.prose",
        "https://p.example.com/a/prose",
        "https://p.example.com/a/Prose",
        "https://p.example.com/A/prose",
        &format!("https://p.example.com/{}1", "long".repeat(30)),
        &format!("https://p.example.com/{}2", "long".repeat(30)),
    ];
    let paths: HashSet<PathBuf> = urls.iter().map(|url| shown(&cache, url, url)).collect();
    assert_eq!(paths.len(), urls.len(), "{paths:?}");
    // Also where capitals and small letters are the same.
    let small: HashSet<String> = paths.iter().map(|path| path.to_string_lossy().to_lowercase()).collect();
    assert_eq!(small.len(), urls.len(), "{paths:?}");
    // A later text takes the place of the earlier one, though the file is for reading alone.
    assert_eq!(shown(&cache, urls[0], "session \"New\"\n"), shown(&cache, urls[0], "session \"Newer\"\n"));
}

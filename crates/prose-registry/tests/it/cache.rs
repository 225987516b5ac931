//! The cache keeps what it was given, or drops it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use expect_test::expect;
use prose_registry::{Cache, Cleaned, Hash, Program, Source, Timestamp};
use tempfile::TempDir;
use url::Url;

fn program(reference: &str, text: &str) -> Program {
    let url = Url::parse(&format!("https://p.prose.md/{reference}")).unwrap();
    let fetched = "2026-01-31T12:00:00Z".parse().unwrap();
    let source =
        Source { etag: Some("\"v1\"".to_owned()), ..Source::new(reference, url, Hash::of(text), fetched) };
    Program { text: text.into(), source }
}

fn cache() -> (TempDir, Cache) {
    let dir = tempfile::tempdir().unwrap();
    let cache = Cache::at(dir.path().join("cache"));
    (dir, cache)
}

/// The only file in a folder of the cache.
fn only_file(cache: &Cache, folder: &str) -> PathBuf {
    let files: Vec<_> = fs::read_dir(cache.dir().unwrap().join(folder)).unwrap().collect();
    assert_eq!(files.len(), 1);
    files[0].as_ref().unwrap().path()
}

#[test]
fn what_was_put_is_found_by_any_process() {
    let (_dir, cache) = cache();
    let research = program("alice/research", "session \"Look\"\n");
    cache.put(&research);

    let other = Cache::at(cache.dir().unwrap());
    assert_eq!(other.get(&research.source.url), Some(research.clone()));
    assert_eq!(other.text(research.source.sha256).as_deref(), Some("session \"Look\"\n"));
    assert_eq!(other.get(&Url::parse("https://p.prose.md/alice/other").unwrap()), None);
    assert_eq!(cache.take_problem(), None);
}

#[test]
fn an_entry_can_be_read_by_people() {
    let (_dir, cache) = cache();
    cache.put(&program("alice/research", "session \"Look\"\n"));
    expect![[r#"
        {
          "version": 1,
          "reference": "alice/research",
          "url": "https://p.prose.md/alice/research",
          "final-url": "https://p.prose.md/alice/research",
          "etag": "\"v1\"",
          "fetched": "2026-01-31T12:00:00Z",
          "sha256": "e0613c87dea62a52982cfc6864aacea39bf98f30c64f087497690e3a4144a8df"
        }"#]]
    .assert_eq(&fs::read_to_string(only_file(&cache, "entries")).unwrap());
}

#[test]
fn a_text_that_was_changed_is_dropped() {
    let (_dir, cache) = cache();
    let research = program("alice/research", "session \"Look\"\n");
    for poison in ["session \"Steal\"\n", "session \"Lo", "", "\u{0}"] {
        cache.put(&research);
        let text = only_file(&cache, "texts");
        fs::write(&text, poison).unwrap();
        assert_eq!(cache.get(&research.source.url), None, "{poison:?}");
        assert!(!text.exists());
        assert!(cache.list().is_empty());
    }
    cache.put(&research);
    assert_eq!(cache.get(&research.source.url), Some(research));
}

#[test]
fn a_text_that_is_no_text_or_too_large_is_dropped() {
    let (_dir, cache) = cache();
    let research = program("alice/research", "session \"Look\"\n");
    for poison in [vec![0xff, 0xfe], vec![b' '; prose_registry::MAX_BYTES + 1]] {
        cache.put(&research);
        fs::write(only_file(&cache, "texts"), poison).unwrap();
        assert_eq!(cache.get(&research.source.url), None);
    }
}

#[test]
fn an_entry_that_was_changed_is_dropped() {
    let (_dir, cache) = cache();
    let research = program("alice/research", "session \"Look\"\n");
    let good = {
        cache.put(&research);
        fs::read_to_string(only_file(&cache, "entries")).unwrap()
    };
    let poisons = [
        String::new(),
        good[..good.len() / 2].to_owned(),
        "{}".to_owned(),
        "[".repeat(10_000),
        good.replace("\"version\": 1", "\"version\": 99"),
        good.replace("p.prose.md/alice", "p.prose.md/mallory"),
        // A program must not get local paths to start from a file of this machine.
        good.replace("\"final-url\": \"https://p.prose.md", "\"final-url\": \"file:///home"),
        good.replace("2026", "99999"),
    ];
    for poison in poisons {
        cache.put(&research);
        fs::write(only_file(&cache, "entries"), &poison).unwrap();
        assert_eq!(cache.get(&research.source.url), None, "{poison:.80}");
        assert!(cache.list().is_empty(), "{poison:.80}");
    }
}

#[test]
fn files_left_by_a_crash_are_ignored() {
    let (_dir, cache) = cache();
    let research = program("alice/research", "session \"Look\"\n");
    cache.put(&research);
    let dir = cache.dir().unwrap();
    fs::write(dir.join("entries/.prose-half"), "{\"version\"").unwrap();
    fs::write(dir.join("texts/.prose-half"), "session").unwrap();

    assert_eq!(cache.get(&research.source.url), Some(research));
    assert_eq!(cache.list().len(), 1);
    cache.clean().unwrap();
    assert_eq!(fs::read_dir(dir.join("entries")).unwrap().count(), 0);
    assert_eq!(fs::read_dir(dir.join("texts")).unwrap().count(), 0);
}

#[test]
fn cleaning_touches_only_what_the_cache_wrote() {
    let (_dir, cache) = cache();
    assert_eq!(cache.clean().unwrap(), Cleaned::default());
    cache.put(&program("alice/a", "session \"A\"\n"));
    cache.put(&program("alice/b", "session \"B\"\n"));
    let photo = cache.dir().unwrap().join("photo.jpg");
    fs::write(&photo, "precious").unwrap();

    assert_eq!(cache.clean().unwrap().programs, 2);
    assert!(cache.list().is_empty());
    assert!(photo.exists());
}

/// Programs of private registries are nobody else's business.
#[test]
#[cfg(unix)]
fn what_is_kept_belongs_to_the_user_alone() {
    use std::os::unix::fs::PermissionsExt;
    let (dir, cache) = cache();
    let research = program("alice/research", "session \"Look\"\n");
    cache.put(&research);
    cache.show(&research).unwrap();
    let mut waiting = vec![dir.path().join("cache")];
    let mut count = 0;
    while let Some(path) = waiting.pop() {
        let metadata = path.metadata().unwrap();
        assert_eq!(metadata.permissions().mode() & 0o077, 0, "{}", path.display());
        count += 1;
        if metadata.is_dir() {
            waiting.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
    }
    assert!(count >= 6, "{count}");
}

#[test]
fn a_folder_that_cannot_be_written_to_is_reported_once_and_memory_serves() {
    let dir = tempfile::tempdir().unwrap();
    // A file where the folder should be stops also those whom no permissions stop.
    let path = dir.path().join("cache");
    fs::write(&path, "").unwrap();
    let cache = Cache::at(&path);
    let research = program("alice/research", "session \"Look\"\n");
    cache.put(&research);
    cache.put(&program("alice/other", "session \"Other\"\n"));

    let problem = cache.take_problem().unwrap().to_string();
    assert!(problem.contains("are not cached") && problem.contains("PROSE_CACHE_DIR"), "{problem}");
    assert_eq!(cache.take_problem(), None);
    assert_eq!(cache.get(&research.source.url), Some(research.clone()));
    assert_eq!(cache.text(research.source.sha256).as_deref(), Some(&*research.text));
    assert_eq!(cache.list().len(), 2);
}

/// A limit on the size of files stops a write halfway, as a full disk does, and needs no rights.
#[test]
#[cfg(unix)]
fn a_full_disk_is_reported_once_and_memory_serves() {
    let dir = tempfile::tempdir().unwrap();
    let output = Command::new("sh")
        .args([
            "-c",
            "trap '' XFSZ; ulimit -f 64; exec \"$0\" --exact cache::on_a_disk_that_may_be_full --nocapture",
        ])
        .arg(std::env::current_exe().unwrap())
        .env("PROSE_TEST_FULL_DISK", dir.path())
        .output()
        .unwrap();
    let message = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && message.contains("free space"), "{message}");
    assert_eq!(Cache::at(dir.path()).list().len(), 1);
    // What was written of the other one is gone.
    assert_eq!(fs::read_dir(dir.path().join("texts")).unwrap().count(), 1);
}

/// Run by the test above in a process of its own; by itself, the disk is not full.
#[test]
fn on_a_disk_that_may_be_full() {
    let full = std::env::var_os("PROSE_TEST_FULL_DISK");
    let own = tempfile::tempdir().unwrap();
    let cache = Cache::at(full.as_deref().map_or(own.path(), Path::new));
    let small = program("alice/small", "session \"Look\"\n");
    let large = program("alice/large", &"# a long line\n".repeat(20_000));
    cache.put(&small);
    cache.put(&large);
    assert_eq!(cache.get(&small.source.url), Some(small));
    assert_eq!(cache.get(&large.source.url), Some(large));
    match cache.take_problem() {
        Some(problem) if full.is_some() => println!("{problem}"),
        problem => assert_eq!(problem, None),
    }
}

#[test]
#[cfg(unix)]
fn a_read_only_folder_is_still_read() {
    use std::os::unix::fs::PermissionsExt;

    let (_dir, cache) = cache();
    let research = program("alice/research", "session \"Look\"\n");
    cache.put(&research);
    let folders = ["entries", "texts"].map(|folder| cache.dir().unwrap().join(folder));
    let set = |mode| {
        for folder in &folders {
            fs::set_permissions(folder, fs::Permissions::from_mode(mode)).unwrap();
        }
    };
    set(0o555);
    prose_fixture::permissions::obey_permissions();
    let other = Cache::at(cache.dir().unwrap());
    let found = other.get(&research.source.url);
    other.put(&program("alice/other", "session \"Other\"\n"));
    let listed = other.list().len();
    set(0o755);
    assert_eq!(found, Some(research));
    assert_eq!(listed, 2);
}

#[test]
fn a_time_in_the_future_makes_no_text_fresh() {
    let now = SystemTime::now();
    let mut research = program("alice/research", "session \"Look\"\n");
    let mut age = |fetched: SystemTime| {
        research.source.fetched = Timestamp::from(fetched);
        research.source.age(now)
    };
    assert_eq!(age(now + Duration::from_secs(3600)), None);
    assert_eq!(age(now + Duration::from_secs(30)), Some(Duration::ZERO));
    assert!(age(now - Duration::from_secs(90)).is_some_and(|age| age.as_secs().abs_diff(90) <= 1));
}

#[test]
fn near_names_are_those_that_were_probably_meant() {
    let (_dir, cache) = cache();
    for reference in ["alice/research", "@bob/summarise", "carol/research", "dave/poem"] {
        cache.put(&program(reference, "session \"Look\"\n"));
    }
    assert_eq!(cache.near("alice/reserch", 3), ["alice/research"]);
    assert_eq!(cache.near("bob/summarize", 3), ["@bob/summarise"]);
    assert_eq!(cache.near("eve/research", 3), ["alice/research", "carol/research"]);
    assert_eq!(cache.near("eve/research", 1), ["alice/research"]);
    assert!(cache.near("eve/translate", 3).is_empty());
    for reference in ["alice/plan", "@alice/plan", "@alice/plans"] {
        cache.put(&program(reference, "session \"Look\"\n"));
    }
    assert_eq!(cache.near("alice/plam", 3), ["alice/plan", "@alice/plans"]);
    assert_eq!(cache.near("@alice/plam", 3), ["@alice/plan", "@alice/plans"]);
}

#[test]
fn several_threads_write_and_read_one_entry() {
    let (_dir, cache) = cache();
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let dir = cache.dir().unwrap();
            scope.spawn(move || write_and_read(dir, writer));
        }
    });
    assert!(cache.get(&program("alice/shared", "").source.url).is_some());
}

/// Run by the test below in processes of their own; by itself, there is only one.
#[test]
fn one_of_several_processes() {
    let shared = std::env::var_os("PROSE_TEST_SHARED_CACHE");
    let own = tempfile::tempdir().unwrap();
    write_and_read(shared.as_deref().map_or(own.path(), Path::new), std::process::id() as usize);
}

#[test]
fn several_processes_write_and_read_one_entry() {
    let (_dir, cache) = cache();
    let start = |_| {
        Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "cache::one_of_several_processes"])
            .env("PROSE_TEST_SHARED_CACHE", cache.dir().unwrap())
            .spawn()
            .unwrap()
    };
    let processes: Vec<_> = (0..3).map(start).collect();
    for mut process in processes {
        assert!(process.wait().unwrap().success());
    }
    assert!(cache.get(&program("alice/shared", "").source.url).is_some());
}

/// Puts texts of many lengths under one address while others do the same. What is read is always one of them, and whole.
fn write_and_read(dir: &Path, writer: usize) {
    let cache = Cache::at(dir);
    for round in 0..100 {
        let text = format!("session \"{writer}\"\n").repeat(round % 7 + 1);
        let program = program("alice/shared", &text);
        cache.put(&program);
        let found = cache.get(&program.source.url).expect("an entry is never seen half written");
        assert_eq!(Hash::of(&*found.text), found.source.sha256);
        assert!(found.text.starts_with("session \"") && found.text.ends_with("\"\n"));
    }
    assert_eq!(cache.take_problem(), None);
}

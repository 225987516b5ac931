//! What programs import from elsewhere, on the command line, with a real registry on this machine.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};

use crate::common::{Run, Server, Workspace};
use expect_test::{Expect, expect, expect_file};

/// A folder with a registry in `registry`, a project in `project`, and a server of the one for the other.
struct World {
    workspace: Workspace,
    server: Server,
}

const RESEARCH: &str =
    "input topic: \"What to look into\"\noutput findings = session \"Look into {topic}\"\n";
const MAIN: &str = "use \"alice/research\"\noutput found = research(topic: \"tides\")\n";

impl World {
    /// The names of the files start with `registry/` or `project/`.
    fn new(files: &[(&str, &str)]) -> Self {
        Self::with_settings(files, "")
    }

    fn with_settings(files: &[(&str, &str)], settings: &str) -> Self {
        let workspace = Workspace::new(files);
        for folder in ["registry", "project"] {
            std::fs::create_dir_all(workspace.path(folder)).expect("folders can be made");
        }
        let server = Server::start(&workspace);
        let toml = format!("registry.url = \"{}\"\n{settings}", server.url);
        workspace.write("project/prose.toml", toml.as_bytes());
        Self { workspace, server }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.workspace.command();
        command.current_dir(self.workspace.path("project")).args(arguments);
        command.env("PROSE_CACHE_DIR", self.workspace.path("cache"));
        command
    }

    /// A run in the project. Addresses are shown as that of no port, hashes and times as `…`.
    fn prose(&self, arguments: &[&str]) -> Run {
        self.run(&mut self.command(arguments))
    }

    fn run(&self, command: &mut Command) -> Run {
        let mut run = Run::of(command);
        for text in [&mut run.stdout, &mut run.stderr] {
            *text = steady(&text.replace(&self.server.url, "http://registry/"));
        }
        run
    }

    #[track_caller]
    fn check(&self, arguments: &[&str], expected: Expect) {
        let always = ["check", "--output-format", "concise"];
        self.prose(&[&always, arguments].concat()).check(expected);
    }

    #[track_caller]
    fn finds_nothing(&self, arguments: &[&str]) {
        self.check(arguments, expect!["status: 0\n"]);
    }
}

/// The text without what differs from run to run: hashes and times.
fn steady(text: &str) -> String {
    let mut steady = String::new();
    let mut word = String::new();
    for character in text.chars().chain(['\0']) {
        if character.is_ascii_alphanumeric() || character == '-' || character == ':' {
            word.push(character);
            continue;
        }
        let is_hash = matches!(word.len(), 12 | 64) && word.bytes().all(|byte| byte.is_ascii_hexdigit());
        let is_time = word.starts_with("20") && word.ends_with('Z');
        steady.push_str(if is_hash || is_time { "…" } else { &word });
        word.clear();
        if character != '\0' {
            steady.push(character);
        }
    }
    // Messages show the beginnings of hashes.
    steady.replace("……", "…")
}

#[test]
fn what_is_imported_is_fetched_and_known() {
    let world = World::new(&[
        (
            "registry/alice/research.prose",
            "use \"bob/deep\"\ninput topic: \"What\"\noutput findings = deep(claim: topic)\n",
        ),
        ("registry/bob/deep.prose", "input claim: \"What\"\noutput verdict = session \"Judge {claim}\"\n"),
        ("registry/bob/broken.prose", "output found = nothing\n"),
        ("project/a.prose", "use \"alice/research\"\noutput found = research(topik: \"tides\")\n"),
        ("project/b.prose", "use \"carol/nothing\" as research\noutput found = research()\n"),
        ("project/c.prose", "use \"bob/broken\"\noutput found = broken()\n"),
        ("project/lib/d.prose", "use \"alice/research\"\noutput found = research(topic: 1)\n"),
        // Reaches the registry through a program of this machine.
        ("project/e.prose", "use \"./lib/d.prose\"\noutput found = d()\n"),
    ]);
    world.check(&[], expect![[r#"
        status: 1
        ---- stdout
        a.prose:2:25: warning[E027]: `research` has no input `topik`; did you mean `topic`?
        b.prose:1:6: error[E139]: `carol/nothing` was not found at http://registry/carol/nothing or http://registry/@carol/nothing
        c.prose:1:6: error[E145]: `bob/broken` has an error, so this program cannot run
    "#]]);
    world.prose(&["cache", "list"]).check(expect![[r#"
        status: 0
        ---- stdout
        alice/research  …  …  http://registry/alice/research
        bob/broken  …  …  http://registry/bob/broken
        bob/deep  …  …  http://registry/bob/deep
    "#]]);
}

#[test]
fn programs_from_standard_input_and_fixes_have_their_imports() {
    let main = "use \"alice/research\"\nloop until **done**:\n  session \"Try\"\noutput found = research(topik: \"tides\")\n";
    let world = World::new(&[("registry/alice/research.prose", RESEARCH), ("project/main.prose", main)]);
    let mut command = world.command(&["check", "--output-format", "concise", "-"]);
    command
        .stdin(std::fs::File::open(world.workspace.path("project/main.prose")).expect("the file is there"));
    world.run(&mut command).check(expect![[r#"
        status: 0
        ---- stdout
        <stdin>:2:12: info[W104]: condition `done` is too short; write a sentence that the model can judge
        <stdin>:4:25: warning[E027]: `research` has no input `topik`; did you mean `topic`?
    "#]]);
    world.prose(&["check", "--diff", "--unsafe-fixes"]).check(expect![[r#"
        status: 1
        ---- stdout
        --- main.prose
        +++ main.prose
        @@ -1,4 +1,4 @@
         use "alice/research"
         loop until **done**:
           session "Try"
        -output found = research(topik: "tides")
        +output found = research(topic: "tides")
        ---- stderr
        Would fix 1 problem in 1 file.
    "#]]);
}

#[test]
fn nothing_is_asked_before_nor_kept_for_programs_without_imports() {
    let world = World::new(&[("project/main.prose", "session \"Look\"\n")]);
    world.finds_nothing(&[]);
    assert!(!world.workspace.path("cache").exists());
}

fn world_with_fetch(mode: &str) -> World {
    let files = [("registry/alice/research.prose", RESEARCH), ("project/main.prose", MAIN)];
    World::with_settings(&files, &format!("registry.fetch = \"{mode}\"\n"))
}

#[test]
fn by_hand_the_cache_alone_is_used_until_one_asks_for_more() {
    let world = world_with_fetch("manual");
    world.check(
        &[],
        expect![[r#"
        status: 0
        ---- stdout
        main.prose:1:6: info[W143]: `alice/research` is not fetched yet; run `prose fetch`
    "#]],
    );
    world.prose(&["fetch"]).printed(expect!["`alice/research` was fetched"]);
    world.finds_nothing(&[]);
}

#[test]
fn where_fetching_is_off_nobody_is_asked() {
    let world = world_with_fetch("off");
    world.check(
        &[],
        expect![[r#"
            status: 0
            ---- stdout
            main.prose:1:6: info[W143]: `alice/research` is not known, and nothing is fetched here: `registry.fetch` is "off"
        "#]],
    );
    world
        .prose(&["fetch"])
        .refused(expect![[r#"`prose.toml` disables fetching: `registry.fetch` is "off""#]]);
    world.prose(&["cache", "list"]).check(expect![[r#"
        status: 0
    "#]]);
}

#[test]
fn a_registry_that_is_gone_is_information_and_the_cache_is_used() {
    let mut world = World::new(&[("registry/alice/research.prose", RESEARCH), ("project/main.prose", MAIN)]);
    world.prose(&["fetch", "alice/research"]).printed(expect!["`alice/research` was fetched"]);
    world.server.stop();
    world.finds_nothing(&[]);
    world.check(
        &["--offline"],
        expect![[r#"
            status: 0
            ---- stderr
            warning: fetching is disabled; imported programs come from the cache and may be outdated
        "#]],
    );
    world.prose(&["cache", "clean"]).printed(expect!["Removed 1 program (1 KB)."]);
    world.check(&["--offline"], expect![[r#"
        status: 0
        ---- stdout
        main.prose:1:6: info[W143]: `alice/research` is not in the cache, and fetching is disabled; run `prose fetch` with a network
        ---- stderr
        warning: fetching is disabled; imported programs come from the cache and may be outdated
    "#]]);
    let mut command = world.command(&["check", "--output-format", "concise"]);
    world.run(command.env("PROSE_OFFLINE", "1")).check(expect![[r#"
        status: 0
        ---- stdout
        main.prose:1:6: info[W143]: `alice/research` is not in the cache, and fetching is disabled; run `prose fetch` with a network
        ---- stderr
        warning: fetching is disabled; imported programs come from the cache and may be outdated
    "#]]);
    let run = world.prose(&["check", "--output-format", "concise"]).ended(0);
    assert!(
        run.stdout.starts_with("main.prose:1:6: info[W143]: `alice/research` could not be fetched"),
        "{run:?}"
    );
}

#[test]
fn a_hundred_imports_are_fetched_at_once_and_a_second_time_not_at_all() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port is free");
    let url = format!("http://{}/", listener.local_addr().expect("it has an address"));
    // The first ten requests are answered when all of them have come.
    let (asked, ten) = (Arc::new(AtomicUsize::new(0)), Arc::new(Barrier::new(10)));
    let counts = (asked.clone(), ten);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (asked, ten) = counts.clone();
            std::thread::spawn(move || {
                let Ok(mut stream) = stream else { return };
                let mut head = BufReader::new(&stream).lines().map_while(Result::ok);
                // A connection that is closed without a question is none.
                if !head.any(|line| line.is_empty()) {
                    return;
                }
                if asked.fetch_add(1, Ordering::SeqCst) < 10 {
                    ten.wait();
                }
                let head = format!(
                    "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
                    RESEARCH.len()
                );
                let _ = stream.write_all(format!("{head}{RESEARCH}").as_bytes());
            });
        }
    });
    let world = World::new(&[]);
    world.workspace.write("project/prose.toml", format!("registry.url = \"{url}\"\n").as_bytes());
    for number in 0..100 {
        let text = format!("use \"alice/n{number}\" as it\noutput found = it(topic: 1)\n");
        world.workspace.write(&format!("project/p{number}.prose"), text.as_bytes());
    }
    for _ in 0..2 {
        let run = world.prose(&["check"]);
        assert_eq!(run.stderr, "All 100 files are clean.\n", "{run:?}");
        assert_eq!(asked.load(Ordering::SeqCst), 100);
    }
}

#[test]
fn a_registry_that_never_answers_is_not_waited_for_without_end() {
    let silent = TcpListener::bind(("127.0.0.1", 0)).expect("a port is free");
    let url = format!("http://{}/", silent.local_addr().expect("it has an address"));
    let world = World::new(&[("project/main.prose", MAIN)]);
    world.workspace.write("project/prose.toml", format!("registry.url = \"{url}\"\n").as_bytes());
    let start = std::time::Instant::now();
    let run = world.prose(&["check", "--output-format", "concise"]);
    assert!(start.elapsed().as_secs() < 120, "{:?}", start.elapsed());
    assert_eq!(run.status, 0);
    assert!(run.stdout.contains("info[W143]"), "{run:?}");
}

#[test]
fn only_what_is_locked_is_run() {
    let world = World::new(&[("registry/alice/research.prose", RESEARCH), ("project/main.prose", MAIN)]);
    let run = || world.prose(&["run", "--locked", "--quiet", "main.prose"]);
    run().check(expect![[r#"
        status: 2
        ---- stderr
        error[E146]: `alice/research` is not in prose.lock; run `prose lock` to add it
         --> main.prose:1:6
          |
        1 | use "alice/research"
          |      ^^^^^^^^^^^^^^

        error: `main.prose` has 1 error and is not run
    "#]]);
    world.prose(&["lock"]);
    run().check(expect![[r#"
        status: 0
        ---- stdout
        found:
        {
          "findings": "Started from Look and followed it to tides. What matters most is tides, and the rest follows from it. Most of the work lies in tides; the rest is in good shape. As far as tides goes, this can go ahead as planned. [offline]"
        }
    "#]]);
    world.workspace.write("registry/alice/research.prose", b"output findings = session \"Something else\"\n");
    world.prose(&["cache", "clean"]);
    run().check(expect![[r#"
        status: 2
        ---- stderr
        error[E146]: `alice/research` differs from the text in prose.lock, locked … (SHA-256 …, here …); review the change, then run `prose lock --update=alice/research` to accept it
         --> main.prose:1:6
          |
        1 | use "alice/research"
          |      ^^^^^^^^^^^^^^

        error: `main.prose` has 1 error and is not run
    "#]]);
}

#[test]
fn a_lock_file_counts_also_for_those_who_do_not_ask_for_it() {
    let world = World::new(&[
        ("registry/alice/research.prose", RESEARCH),
        ("registry/alice/other.prose", RESEARCH),
        ("project/main.prose", MAIN),
    ]);
    world.prose(&["lock"]);
    // What is not pinned is fetched as without a lock file.
    world.workspace.write(
        "project/other.prose",
        MAIN.replace("alice/research\"", "alice/other\" as research").as_bytes(),
    );
    world.finds_nothing(&["other.prose"]);
    world.workspace.write("registry/alice/research.prose", b"output findings = session \"Something else\"\n");
    let command = ["run", "--quiet", "main.prose", "--max-sessions", "0"];
    // The text that is pinned is run as long as it is to be had.
    world.prose(&command).ended(3);
    world.prose(&["cache", "clean"]);
    for command in [&command[..], &["resume", "--quiet"], &["run", "--quiet", "alice/research"]] {
        let run = world.prose(command).ended(2);
        assert!(
            run.stderr.contains("error[E146]: `alice/research` differs from the text in prose.lock"),
            "{run:?}"
        );
        assert!(run.stderr.contains("(SHA-256 …, here …)"), "{run:?}");
        assert!(run.stderr.contains("run `prose lock --update=alice/research` to accept it"), "{run:?}");
    }
    world.check(&["main.prose"], expect![[r#"
        status: 1
        ---- stdout
        main.prose:1:6: error[E146]: `alice/research` differs from the text in prose.lock, locked … (SHA-256 …, here …); review the change, then run `prose lock --update=alice/research` to accept it
    "#]]);
    world.prose(&["fetch"]).check(expect![[r#"
        status: 1
        ---- stdout
        `alice/other` was fetched
        `alice/research` differs from the text in prose.lock, locked … (SHA-256 …, here …); review the change, then run `prose lock --update=alice/research` to accept it
    "#]]);
    world.prose(&["lock", "--update=alice/research"]).check(expect![[r#"
        status: 0
        ---- stdout
        added `alice/other` with SHA-256 …
        updated `alice/research` from SHA-256 … to …
        prose.lock: written, 2 programs pinned.
    "#]]);
    world.check(
        &["main.prose"],
        expect![[r#"
        status: 0
        ---- stdout
        main.prose:2:25: warning[E027]: `research` has no input `topic`; it has none
    "#]],
    );
}

#[test]
fn a_vendored_copy_of_another_text_than_the_locked_one_is_refused() {
    let mut world = World::with_settings(
        &[("registry/alice/research.prose", RESEARCH), ("project/main.prose", MAIN)],
        "registry.vendor = \"vendor\"\n",
    );
    world.prose(&["vendor", "vendor"]);
    world.workspace.write("registry/alice/research.prose", b"output findings = session \"Something else\"\n");
    world.prose(&["lock", "--update"]);
    world.prose(&["cache", "clean"]);
    world.server.stop();
    world.check(&[], expect![[r#"
        status: 1
        ---- stdout
        main.prose:1:6: error[E146]: `alice/research` differs from the text in prose.lock, locked … (SHA-256 …, here …); review the change, then run `prose lock --update=alice/research` to accept it
    "#]]);
}

#[test]
fn a_lock_file_that_cannot_be_read_is_an_error_wherever_imports_are_used() {
    let world = World::new(&[("registry/alice/research.prose", RESEARCH), ("project/main.prose", MAIN)]);
    world.workspace.write("project/prose.lock", b"<<<<<<< HEAD\n");
    world.check(&[], expect![[r#"
        status: 2
        ---- stdout
        main.prose:1:6: error[E146]: `alice/research` is rejected, since prose.lock is not a valid lock file; after a merge, keep one side and run `prose lock`: line 1: key with no value, expected `=`
        ---- stderr
        error: `prose.lock` is not a valid lock file; after a merge, keep one side and run `prose lock`: line 1: key with no value, expected `=`
    "#]]);
    world.prose(&["run", "main.prose"]).check(expect![[r#"
        status: 2
        ---- stderr
        error: `prose.lock` is not a valid lock file; after a merge, keep one side and run `prose lock`: line 1: key with no value, expected `=`
        error[E146]: `alice/research` is rejected, since prose.lock is not a valid lock file; after a merge, keep one side and run `prose lock`: line 1: key with no value, expected `=`
         --> main.prose:1:6
          |
        1 | use "alice/research"
          |      ^^^^^^^^^^^^^^

        error: `main.prose` has 1 error and is not run
    "#]]);
    for command in [&["fetch"][..], &["vendor", "vendor"], &["compile", "main.prose"]] {
        let run = world.prose(command);
        assert_ne!(run.status, 0, "{run:?}");
        assert!(run.stderr.contains("`prose.lock` is not a valid lock file"), "{run:?}");
    }
    // Nobody was asked under pins that nobody knows.
    assert_eq!(world.prose(&["cache", "list"]).stdout, "");
}

#[test]
fn only_what_is_locked_is_used() {
    let world = World::new(&[
        ("registry/alice/research.prose", RESEARCH),
        ("registry/alice/other.prose", RESEARCH),
        ("project/main.prose", MAIN),
    ]);
    world.check(
        &["--locked"],
        expect![[r#"
        status: 1
        ---- stdout
        main.prose:1:6: error[E146]: `alice/research` is not in prose.lock; run `prose lock` to add it
    "#]],
    );
    world.prose(&["lock"]).check(expect![[r#"
        status: 0
        ---- stdout
        added `alice/research` with SHA-256 …
        prose.lock: written, 1 program pinned.
    "#]]);
    world.prose(&["lock"]).printed(expect!["prose.lock: nothing to change, 1 program pinned."]);
    world.finds_nothing(&["--locked"]);

    world.workspace.write("registry/alice/research.prose", b"output findings = session \"Something else\"\n");
    // The text of the lock is what is checked, as long as it is still to be had.
    world.finds_nothing(&["--locked"]);
    world.prose(&["outdated"]).check(expect![[r#"
        status: 1
        ---- stdout
        `alice/research` has changed: SHA-256 …, pinned on … with …; update it with `prose lock --update=alice/research`
    "#]]);
    world.prose(&["cache", "clean"]);
    world.check(
        &["--locked"],
        expect![[r#"
            status: 1
            ---- stdout
            main.prose:1:6: error[E146]: `alice/research` differs from the text in prose.lock, locked … (SHA-256 …, here …); review the change, then run `prose lock --update=alice/research` to accept it
        "#]],
    );
    world.prose(&["lock"]).check(expect![[r#"
        status: 1
        ---- stdout
        prose.lock: not changed.
        ---- stderr
        error: `alice/research` differs from the text in prose.lock, locked … (SHA-256 …, here …); review the change, then run `prose lock --update=alice/research` to accept it
    "#]]);
    world
        .prose(&["lock", "--update=alice/nobody"])
        .refused(expect!["`alice/nobody` is not in prose.lock; add new imports with `prose lock`"]);
    world.prose(&["lock", "--update=alice/research"]).check(expect![[r#"
        status: 0
        ---- stdout
        updated `alice/research` from SHA-256 … to …
        prose.lock: written, 1 program pinned.
    "#]]);
    world.prose(&["outdated"]).remarked(expect!["1 program as prose.lock has it."]);

    world.workspace.write("project/main.prose", b"use \"alice/other\"\noutput found = other(topic: 1)\n");
    world.prose(&["lock"]).check(expect![[r#"
        status: 0
        ---- stdout
        added `alice/other` with SHA-256 …
        removed `alice/research`, which is not imported
        prose.lock: written, 1 program pinned.
    "#]]);
    world.workspace.write("project/prose.lock", b"<<<<<<< HEAD\n");
    let run = world.prose(&["check", "--locked"]).ended(2);
    assert!(run.stderr.contains("is not a valid lock file"), "{run:?}");
    world.prose(&["lock"]).ended(2);
    assert_eq!(std::fs::read(world.workspace.path("project/prose.lock")).unwrap(), b"<<<<<<< HEAD\n");
}

#[test]
fn the_lock_of_programs_in_part_of_a_project_keeps_the_pins_of_the_rest() {
    let world = World::new(&[
        ("registry/alice/research.prose", RESEARCH),
        ("registry/alice/other.prose", RESEARCH),
        ("project/main.prose", MAIN),
        ("project/lib/main.prose", "use \"alice/other\"\noutput found = other(topic: 1)\n"),
    ]);
    world.prose(&["lock"]).check(expect![[r#"
        status: 0
        ---- stdout
        added `alice/other` with SHA-256 …
        added `alice/research` with SHA-256 …
        prose.lock: written, 2 programs pinned.
    "#]]);
    world.prose(&["lock", "lib"]).printed(expect!["prose.lock: nothing to change, 2 programs pinned."]);
}

#[test]
fn what_cannot_be_found_is_not_locked_and_not_copied() {
    let world = World::new(&[("project/main.prose", MAIN)]);
    world.prose(&["lock"]).check(expect![[r#"
        status: 1
        ---- stdout
        prose.lock: not changed.
        ---- stderr
        error: `alice/research` was not found at http://registry/alice/research or http://registry/@alice/research
    "#]]);
    world.prose(&["vendor", "vendor"]).check(expect![[r#"
        status: 1
        ---- stderr
        error: `alice/research` was not found at http://registry/alice/research or http://registry/@alice/research
        Nothing was copied, since some programs are missing.
    "#]]);
    world.prose(&["outdated"]).refused(expect!["`prose.lock` does not exist; create it with `prose lock`"]);
    assert!(!world.workspace.path("project/vendor").exists());
}

#[test]
fn copies_come_before_everything_else() {
    let mut world =
        World::new(&[("registry/alice/research.prose", RESEARCH), ("project/flows/main.prose", MAIN)]);
    let toml = format!("registry.url = \"{}\"\nregistry.vendor = \"lib/vendor\"\n", world.server.url);
    world.workspace.write("project/prose.toml", toml.as_bytes());
    world.check(&[], expect![[r#"
        status: 0
        ---- stderr
        warning: folder `lib/vendor` of `registry.vendor` has no copies of programs; create them with `prose vendor lib/vendor`
    "#]]);
    world.prose(&["vendor", "lib/vendor"]).check(expect![[r#"
        status: 0
        ---- stdout
        Copied 1 program into lib/vendor.
        To use them, add to prose.toml:

        [registry]
        vendor = "lib/vendor"
    "#]]);
    world.prose(&["cache", "clean"]);
    world.server.stop();
    // The copies are no programs of the project.
    world.prose(&["check"]).remarked(expect!["1 file is clean."]);

    let copy = "project/lib/vendor/alice--research.prose";
    world.workspace.write(copy, format!("{RESEARCH}# A word more.\n").as_bytes());
    world.prose(&["check", "--offline"]).check(expect![[r#"
        status: 0
        ---- stdout
        info[W143]: `alice/research` is not in the cache, and fetching is disabled; run `prose fetch` with a network
         --> flows/main.prose:1:6
          |
        1 | use "alice/research"
          |      ^^^^^^^^^^^^^^

        ---- stderr
        warning: `lib/vendor/alice--research.prose` is ignored, since it was changed after it was copied; copy it again with `prose vendor lib/vendor`
        warning: fetching is disabled; imported programs come from the cache and may be outdated
        Found 1 remark in 1 file.
    "#]]);
    world.workspace.write("project/lib/vendor/index.toml", b"program = 1\n\nno index\n");
    world.check(&["--offline"], expect![[r#"
        status: 2
        ---- stdout
        flows/main.prose:1:6: info[W143]: `alice/research` is not in the cache, and fetching is disabled; run `prose fetch` with a network
        ---- stderr
        error: `lib/vendor/index.toml` is not an index of vendored programs; recreate it with `prose vendor`: line 3: key with no value, expected `=`
        warning: fetching is disabled; imported programs come from the cache and may be outdated
    "#]]);
}

#[test]
fn problems_with_tokens_are_told_once() {
    let world = World::new(&[
        ("registry/alice/research.prose", RESEARCH),
        ("project/a.prose", MAIN),
        ("project/b.prose", MAIN),
    ]);
    let mut command = world.command(&["check"]);
    world.run(command.env("PROSE_REGISTRY_TOKENS", "no-address")).check(expect![[r#"
        status: 0
        ---- stderr
        warning: PROSE_REGISTRY_TOKENS has a token that is not used: it has no address; write `https://registry.example.com=TOKEN`
        All 2 files are clean.
    "#]]);
}

#[test]
fn a_cache_that_cannot_be_written_is_told() {
    let world = World::new(&[("registry/alice/research.prose", RESEARCH), ("project/main.prose", MAIN)]);
    world.workspace.write("file", b"");
    let mut command = world.command(&["check"]);
    let run = world.run(command.env("PROSE_CACHE_DIR", world.workspace.path("file"))).ended(0);
    assert!(run.stderr.contains("warning: imported programs are not cached"), "{run:?}");
}

#[test]
#[cfg_attr(windows, ignore = "needs a shell of Unix")]
fn the_example_of_the_page_shows_what_happens() {
    const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/registry.md");
    let page = std::fs::read_to_string(PAGE).expect("the page is there");
    let (before, rest) = page.split_once("```console\n").expect("the page has an example");
    let (example, behind) = rest.split_once("```\n").expect("the example ends");

    let workspace = Workspace::new(&[]);
    let mut folder = workspace.path(".");
    let mut server: Option<Server> = None;
    let mut shown = String::new();
    for line in example.lines().filter_map(|line| line.strip_prefix("$ ")) {
        shown.push_str(&format!("$ {line}\n"));
        if let Some(name) = line.strip_prefix("cd ") {
            folder = folder.join(name);
            continue;
        }
        if line.ends_with('&') {
            // The port of the page may be taken.
            server = Some(Server::start(&workspace));
            continue;
        }
        let url = server.as_ref().map_or("", |server| &server.url);
        let bin = Path::new(env!("CARGO_BIN_EXE_prose")).parent().expect("it lies in a folder");
        let path = std::env::join_paths([bin, Path::new("/usr/bin"), Path::new("/bin")]).expect("no colons");
        let mut command = Command::new("sh");
        command.args(["-c", &line.replace("http://127.0.0.1:8000/", url)]);
        command.current_dir(&folder).env("PATH", path).env("PROSE_CACHE_DIR", workspace.path("cache"));
        command.env("HOME", workspace.path("no-home")).env_remove("XDG_CONFIG_HOME");
        let run = Run::of(&mut command);
        let output = format!("{}{}", run.stdout, run.stderr);
        shown.push_str(&steady(&if url.is_empty() {
            output
        } else {
            output.replace(url, "http://127.0.0.1:8000/")
        }));
    }
    expect_file![PAGE].assert_eq(&format!("{before}```console\n{shown}```\n{behind}"));
}

#[test]
fn a_fetched_program_that_is_checked_reaches_no_file_of_this_machine() {
    const NOSY: &str = "use \"../../../../secret.prose\"\noutput a = secret()\n";
    let world = World::new(&[
        ("secret.prose", "session: nobody\n"),
        ("registry/alice/nosy.prose", NOSY),
        ("project/main.prose", "use \"alice/nosy\"\noutput found = nosy()\n"),
        ("project/a/b/c/own.prose", NOSY),
    ]);
    world.check(
        &["main.prose"],
        expect![[r#"
        status: 1
        ---- stdout
        main.prose:1:6: error[E145]: `alice/nosy` has an error, so this program cannot run
    "#]],
    );
    let host = world.server.url.trim_start_matches("http://").trim_end_matches('/').replace(':', "_");
    let shown = world.workspace.path(&format!("cache/programs/{host}/alice/nosy.prose"));
    world.check(
        &["a/b/c/own.prose"],
        expect![[r#"
        status: 1
        ---- stdout
        a/b/c/own.prose:1:6: error[E145]: `../../../../secret.prose` has an error, so this program cannot run
    "#]],
    );
    // It means a file beside it at its host.
    world.finds_nothing(&[shown.to_str().expect("the path is text")]);
}

#[test]
fn without_an_address_that_can_be_read_no_registry_is_asked() {
    let world = World::new(&[("registry/alice/research.prose", RESEARCH), ("project/main.prose", MAIN)]);
    let toml = format!("registry.url = \"{}\n", world.server.url);
    world.workspace.write("project/prose.toml", toml.as_bytes());
    world.check(
        &["main.prose"],
        expect![[r#"
            status: 1
            ---- stdout
            prose.toml:1:40: error[E141]: invalid TOML: invalid basic string, expected `"`
        "#]],
    );
    let by_address =
        format!("use \"{}alice/research\"\noutput found = research(topik: 1)\n", world.server.url);
    world.workspace.write("project/by_address.prose", by_address.as_bytes());
    world.check(
        &["by_address.prose"],
        expect![[r#"
            status: 1
            ---- stdout
            by_address.prose:2:25: warning[E027]: `research` has no input `topik`; did you mean `topic`?
            prose.toml:1:40: error[E141]: invalid TOML: invalid basic string, expected `"`
        "#]],
    );
    for command in [&["lock"][..], &["fetch"], &["fetch", "alice/research"], &["vendor", "vendor"]] {
        let run = world.prose(command);
        let expected = "error: `prose.toml` has no valid registry; run `prose check` for details\n";
        assert_eq!((run.stdout.as_str(), run.stderr.as_str()), ("", expected));
    }
    assert!(!world.workspace.path("project/prose.lock").exists());
}

//! The command line and the server accept, refuse and run the same programs, with the same diagnostics and reasons: one table for both.

use std::fs;
use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::process::Output;

use prose_tests::registry::TestRegistry;
use prose_tests::workspace::{CACHE, Workspace, codes};
use serde_json::{Value, json};

/// What becomes of a program.
enum Expected {
    Runs,
    /// Both refuse it, with this in the message.
    Refused(&'static str),
    /// The same, where a dry run is not refused.
    RefusedUnlessDry(&'static str),
}

use Expected::{Refused, RefusedUnlessDry, Runs};

type Files = &'static [(&'static str, &'static str)];

struct Case {
    name: &'static str,
    files: Files,
    /// What `prose.toml` says. `URL` is the registry.
    settings: Option<&'static str>,
    /// What is prepared when the files lie there.
    prepare: fn(&World),
    /// The path of the program.
    program: &'static str,
    /// The diagnostics of its file.
    codes: &'static [&'static str],
    expected: Expected,
}

impl Case {
    /// A program `main.prose` without settings that runs and has no diagnostics.
    fn new(name: &'static str, files: Files) -> Self {
        let program = "main.prose";
        Self { name, files, settings: None, prepare: |_| {}, program, codes: &[], expected: Runs }
    }

    fn settings(self, settings: &'static str) -> Self {
        Self { settings: Some(settings), ..self }
    }

    fn prepare(self, prepare: fn(&World)) -> Self {
        Self { prepare, ..self }
    }

    fn program(self, program: &'static str) -> Self {
        Self { program, ..self }
    }

    fn codes(self, codes: &'static [&'static str]) -> Self {
        Self { codes, ..self }
    }

    fn refused(self, message: &'static str) -> Self {
        self.expect(Refused(message))
    }

    fn expect(self, expected: Expected) -> Self {
        Self { expected, ..self }
    }
}

/// A folder with a server and a registry.
struct World {
    workspace: Workspace,
    registry: TestRegistry,
}

impl World {
    fn of(case: &Case) -> Self {
        let registry = TestRegistry::start(&[
            ("alice/research", RESEARCH),
            ("alice/through", THROUGH),
            ("alice/reader", READER),
            ("alice/plain", "session \"x\"\n"),
            ("alice/builder", BUILDER),
        ]);
        let able = json!({ "window": { "workDoneProgress": true } });
        let mut world = Self { workspace: Workspace::with(able, case.files), registry };
        if let Some(settings) = case.settings {
            world.workspace.write("prose.toml", &settings.replace("URL", &world.registry.url()));
        }
        (case.prepare)(&world);
        // A server that was there before may have seen something else.
        world.workspace.restart();
        world
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.workspace.folder.path().join(name)
    }

    #[track_caller]
    fn prose(&self, arguments: &[&str]) -> Output {
        let mut command = self.workspace.prose();
        command.env("PROSE_CACHE_DIR", self.path(CACHE)).env("NO_COLOR", "1");
        command.args(arguments).stdin(std::process::Stdio::null()).output().unwrap()
    }

    /// Has everything in the cache that `main.prose` imports, fetched long ago, and nothing to be had any more.
    fn lose_registry(&self) {
        assert!(self.prose(&["fetch", "main.prose"]).status.success());
        for entry in fs::read_dir(self.path(CACHE).join("entries")).unwrap() {
            let path = entry.unwrap().path();
            let entry = fs::read_to_string(&path).unwrap();
            let mut entry: Value = serde_json::from_str(&entry).unwrap();
            assert!(entry["fetched"].is_string(), "{entry}");
            entry["fetched"] = json!("2020-01-01T00:00:00Z");
            fs::write(&path, entry.to_string()).unwrap();
        }
        self.registry.set_down(true);
    }

    /// Has the lock file name another text than there is.
    fn pin_another_text(&self) {
        assert!(self.prose(&["lock"]).status.success());
        let lock = fs::read_to_string(self.path("prose.lock")).unwrap();
        let hash = lock.lines().find_map(|line| line.strip_prefix("sha256 = ")).unwrap();
        self.workspace.write("prose.lock", &lock.replace(hash, &format!("\"{}\"", "0".repeat(64))));
    }

    /// The codes that `prose check` finds in a file.
    #[track_caller]
    fn checked(&self, file: &str) -> Vec<String> {
        let output = self.prose(&["check", "--output-format", "json", file]);
        let found: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
        let found = found.as_array().unwrap().iter();
        let found = found.filter(|finding| finding["path"].as_str().unwrap().ends_with(file));
        found.map(|finding| finding["code"].as_str().unwrap().to_owned()).collect()
    }

    /// Runs a program in the editor that has its file open. Gives why it is refused.
    #[track_caller]
    fn run_in_editor(&mut self, command: &str, program: &str) -> Result<(), String> {
        let argument = json!({ "uri": self.workspace.uri("") + program });
        let params = json!({ "command": command, "arguments": [argument] });
        let answer = self.workspace.client.request("workspace/executeCommand", params);
        match answer["error"]["message"].as_str() {
            Some(message) => Err(message.to_owned()),
            None => {
                assert!(!answer["result"].is_null(), "{answer}");
                Ok(())
            }
        }
    }
}

const RESEARCH: &str = "input topic: \"What to look for\"\noutput findings = session \"Look up {topic}\"\n";
const THROUGH: &str = "use \"alice/research\"\noutput found = research(topic: \"tides\")\n";
const READER: &str = "output found = session \"Sum up\"\n  context:\n    file: \"docs/a.md\"\n";
const USES: &str =
    "use \"alice/research\"\nlet found = research(topic: \"tides\")\nsession \"Tell of {found.findings}\"\n";
const USES_THROUGH: &str = "use \"alice/through\"\nlet all = through()\nsession \"Tell of {all.found}\"\n";
const USES_FILE: &str = "use \"./other.prose\" as other\nother()\n";
const USES_COPIES: &str = "use \"alice/plain\"\nuse \"alice/reader\"\nplain()\nreader()\n";
const COPIES: &str = "[registry]\nurl = \"URL\"\nvendor = \"copies\"\n";
const BUILDER: &str =
    "agent builder:\n  permissions:\n    bash: [\"make *\"]\nsession: builder\n  prompt: \"Build\"\n";
const BUILDS: &str = "[registry]\nurl = \"URL\"\n[imports.\"alice/builder\"]\nallow = [\"execute:make *\"]\n";
const REGISTRY: &str = "[registry]\nurl = \"URL\"\n";
const TWO_PROGRAMS: &str = "# Guide\n\n```prose\nsession \"one\"\n```\n\n```prose\nsession: nobody\n```\n";

#[test]
fn levels_and_settings() {
    let settings = |name, settings, expected| {
        Case::new(name, &[("main.prose", "session \"x\"\n")]).settings(settings).expect(expected)
    };
    check_all(&[
        Case::new("sound", &[("main.prose", "session \"x\"\n")]),
        Case::new("with errors", &[("main.prose", "session: nobody\nsession: none\n")])
            .codes(&["E007", "E007"])
            .refused("has 2 errors and is not run"),
        Case::new("with a warning", &[("main.prose", "session \"\"\n")]).codes(&["W001"]),
        Case::new("with a warning that is an error here", &[("main.prose", "session \"\"\n")])
            .settings("[check.levels]\nW001 = \"error\"\n")
            .codes(&["W001"])
            .refused("has 1 error and is not run"),
        Case::new("with an error that is ignored in this file", &[("main.prose", "session \"\"\n")])
            .settings(
                "[check]\nlevels = { W001 = \"error\" }\nper-file-ignores = { \"main.*\" = [\"W001\"] }\n",
            ),
        settings(
            "settings with an error in how to run",
            "[run]\nmax-parallel = 0\n",
            Refused("is not run: fix FOLDER/prose.toml:2:16: `run.max-parallel` must be"),
        ),
        settings("settings with an error elsewhere", "[check]\nprofile = \"x\"\nodd = 1\n", Runs),
        settings(
            "settings of something that is no agent",
            "[agents.\"fact checker\"]\nharness = \"codex\"\n",
            Refused("is not run: fix FOLDER/prose.toml:1:9: `fact checker` is not the name of an agent"),
        ),
        settings("settings that are no TOML", "[run\n", Refused("is not run: fix FOLDER/prose.toml:1:5: ")),
        settings(
            "a harness that nobody has trusted",
            "[run]\nharness = \"command\"\ncommand = [\"true\"]\n",
            RefusedUnlessDry("is not trusted yet, and the harness `command` would start `true`"),
        ),
        Case::new("settings in UTF-16", &[("main.prose", "session \"x\"\n")])
            .prepare(|world| fs::write(world.path("prose.toml"), b"\xff\xfe[\0r\0u\0n\0]\0\n\0").unwrap())
            .refused(
                "is not run: fix FOLDER/prose.toml:1:1: the file is encoded in UTF-16; save it as UTF-8",
            ),
        Case::new("settings that are too large", &[("main.prose", "session \"x\"\n")])
            .prepare(|world| fs::write(world.path("prose.toml"), vec![b'#'; (1 << 20) + 1]).unwrap())
            .refused("prose.toml` is too large: a settings file may have at most 1 MiB"),
    ]);
}

#[test]
fn files_that_cannot_be_read() {
    let unreadable = |name, prepare, reason| {
        Case::new(name, &[("main.prose", USES_FILE)]).prepare(prepare).codes(&["E143"]).refused(reason)
    };
    check_all(&[
        Case::new("an import that is missing", &[("main.prose", USES_FILE)])
            .codes(&["E139"])
            .refused("has 1 error and is not run"),
        Case::new(
            "an import with errors",
            &[("main.prose", USES_FILE), ("other.prose", "session: nobody\n")],
        )
        .codes(&["E145"])
        .refused("has 1 error and is not run"),
        unreadable(
            "an import in UTF-16",
            |world| fs::write(world.path("other.prose"), b"\xff\xfes\0").unwrap(),
            "has 1 error and is not run",
        ),
        unreadable(
            "an import that is not UTF-8",
            |world| fs::write(world.path("other.prose"), b"session \"\xff\"").unwrap(),
            "has 1 error and is not run",
        ),
        unreadable(
            "an import that is too large",
            |world| fs::File::create(world.path("other.prose")).unwrap().set_len((16 << 20) + 1).unwrap(),
            "has 1 error and is not run",
        ),
        unreadable(
            "an import that is a folder",
            |world| fs::create_dir(world.path("other.prose")).unwrap(),
            "has 1 error and is not run",
        ),
        Case::new("a program that is too large", &[])
            .prepare(|world| fs::write(world.path("main.prose"), vec![b'#'; (16 << 20) + 1]).unwrap())
            .refused("`main.prose` is too large: a program may have at most 16 MiB"),
    ]);
}

#[test]
fn registries_and_lock_files() {
    let remote = |name, prepare, codes, expected| {
        Case::new(name, &[("main.prose", USES)])
            .settings(REGISTRY)
            .prepare(prepare)
            .codes(codes)
            .expect(expected)
    };
    check_all(&[
        remote("a program of a registry", |_| {}, &[], Runs),
        remote(
            "a program of a registry that is gone",
            |world| world.registry.set_down(true),
            &["W143"],
            Refused("has 1 error and is not run"),
        ),
        remote("an earlier text of such a program", World::lose_registry, &["W143"], Runs),
        remote(
            "a text that is not the one in the lock file",
            World::pin_another_text,
            &["E146"],
            Refused("has 1 error and is not run"),
        ),
        Case::new("a lock file above a program without settings", &[]).prepare(|world| {
                let url = format!("\"{}alice/research\" as research", world.registry.url());
                let program = USES.replace("\"alice/research\"", &url);
                world.workspace.write("main.prose", &program);
                world.pin_another_text();
                fs::create_dir(world.path("flows")).unwrap();
                fs::rename(world.path("main.prose"), world.path("flows/main.prose")).unwrap();
            }).program("flows/main.prose").codes(&["E146"]).refused("has 1 error and is not run"),
        remote(
            "an earlier text that is not the one in the lock file",
            |world| {
                world.pin_another_text();
                let lock = fs::read_to_string(world.path("prose.lock")).unwrap();
                fs::remove_file(world.path("prose.lock")).unwrap();
                world.lose_registry();
                world.workspace.write("prose.lock", &lock);
            },
            &["W143"],
            Refused("has 1 error and is not run"),
        ),
        Case::new("a text that is not the one in the lock file, where that is no error", &[("main.prose", USES)]).settings("[registry]\nurl = \"URL\"\n[check.levels]\nE146 = \"info\"\n").prepare(|world| world.workspace.write("prose.lock", "<<<<<<< HEAD\n")).codes(&["E146"]).refused("has 1 error and is not run"),
        Case::new("a program that imports one of a registry that is gone", &[("main.prose", USES_THROUGH)]).settings(REGISTRY).prepare(|world| {
                assert!(world.prose(&["fetch", "alice/through"]).status.success());
                world.registry.set_down(true);
                let entries = fs::read_dir(world.path(CACHE).join("entries")).unwrap();
                for path in entries.map(|entry| entry.unwrap().path()) {
                    if fs::read_to_string(&path).unwrap().contains("\"alice/research\"") {
                        fs::remove_file(path).unwrap();
                    }
                }
            }).refused("is not run: `alice/research` could not be fetched: 127.0.0.1 "),
        Case::new("nothing is fetched", &[("main.prose", USES)]).settings("[registry]\nurl = \"URL\"\nfetch = \"off\"\n").codes(&["W143"]).refused("has 1 error and is not run"),
        Case::new("nothing is fetched unasked", &[("main.prose", USES)]).settings("[registry]\nurl = \"URL\"\nfetch = \"manual\"\n").codes(&["W143"]).refused("has 1 error and is not run"),
        Case::new("no registry is known", &[("main.prose", USES)]).settings("[registry]\nurl = \"nowhere\"\n").refused("is not run: the import `alice/research` needs `registry.url`, which has an error in `prose.toml`"),
        Case::new("copies that cannot be read", &[("main.prose", USES), ("copies/index.toml", "<<<<<<< HEAD\n")]).settings("[registry]\nurl = \"URL\"\nvendor = \"copies\"\n").refused("copies/index.toml` "),
        Case::new("a fetched program that runs commands", &[("main.prose", "use \"alice/builder\"\nbuilder()\n")]).settings(REGISTRY).codes(&["W151"]).refused("the fetched program `alice/builder` requests `execute:make *`"),
        Case::new("a fetched program that may run commands", &[("main.prose", "use \"alice/builder\"\nbuilder()\n")]).settings(BUILDS).prepare(|world| assert!(world.prose(&["trust"]).status.success())),
        Case::new("a copy of a fetched program", &[("main.prose", USES_COPIES), ("docs/a.md", "A\n")]).settings(COPIES).prepare(|world| assert!(world.prose(&["vendor", "copies"]).status.success())).program("copies/alice--plain.prose"),
        Case::new("a copy of a fetched program that asks for rights", &[("main.prose", USES_COPIES), ("docs/a.md", "A\n")]).settings(COPIES).prepare(|world| assert!(world.prose(&["vendor", "copies"]).status.success())).program("copies/alice--reader.prose").refused("the fetched program `alice/reader` requests `files:docs/a.md`"),
        Case::new("a fetched program that asks for rights", &[("main.prose", "use \"alice/reader\"\nreader()\n"), ("docs/a.md", "A\n")]).settings(REGISTRY).codes(&["W151"]).refused("the fetched program `alice/reader` requests `files:docs/a.md`"),
    ]);
}

#[test]
fn skills_and_servers() {
    let settings =
        "[run]\nharness = \"claude\"\n[mcp.servers.tracker]\nurl = \"https://tracker.example.com/mcp\"\n";
    let case = |name, program: &'static str| {
        let files: Files = Box::leak(Box::new([
            ("main.prose", program),
            ("skills/review/SKILL.md", "---\nname: review\ndescription: How to review\n---\n"),
        ]));
        Case::new(name, files)
            .settings(settings)
            .prepare(|world| assert!(world.prose(&["trust"]).status.success()))
    };
    check_all(&[
        case("a skill that does not exist", "session \"x\"\n  skills: [\"./skills/reviw\"]\n")
            .codes(&["W152"])
            .refused("skill `./skills/reviw` (line 2): "),
        Case::new(
            "a skill of the settings that does not exist",
            &[("main.prose", "agent a:\n  prompt: \"x\"\nsession: a\n  prompt: \"y\"\n")],
        )
        .settings("[run]\nharness = \"claude\"\n[agents.a]\nskills = [\"./skills/none\"]\n")
        .prepare(|world| assert!(world.prose(&["trust"]).status.success()))
        .refused("skill `./skills/none` (`agents.a.skills` in `prose.toml`): "),
    ]);
    let mut world = World::of(&case("", "session \"x\"\n  permissions:\n    mcp: [\"traker/*\"]\n"));
    assert_eq!(world.checked("main.prose"), ["W153"]);
    world.workspace.open_saved("main.prose");
    assert_eq!(world.workspace.pulled("main.prose"), ["W153"]);
}

#[test]
fn programs_of_documents() {
    check_all(&[
        Case::new("a document with a program", &[("main.md", "```prose\nsession \"one\"\n```\n")]).program("main.md"),
        Case::new("a document with several programs", &[("main.md", TWO_PROGRAMS)]).program("main.md").codes(&["E007"]).refused("`main.md` has several programs; choose one of `main.md#1`, `main.md#2`"),
        Case::new("a sound program of a document", &[("main.md", TWO_PROGRAMS)]).program("main.md#1").codes(&["E007"]),
        Case::new("a program of a document with errors", &[("main.md", TWO_PROGRAMS)]).program("main.md#2").codes(&["E007"]).refused("`main.md#2` has 1 error and is not run"),
        Case::new("a program that a document does not have", &[("main.md", TWO_PROGRAMS)]).program("main.md#3").codes(&["E007"]).refused("`main.md#3` does not exist; the document has `main.md#1`, `main.md#2`"),
        Case::new("a document without programs", &[("main.md", "# Guide\n")]).program("main.md").refused("`main.md` has no program; programs are code blocks that start with ```prose"),
        Case::new("a level that is an error only where it is reported", &[("main.md", "```prose\nagent writer:\n  model: opus\n```\n")]).settings("[check.levels]\nW115 = \"error\"\nW116 = \"error\"\nW117 = \"error\"\nW119 = \"error\"\nW120 = \"error\"\n").program("main.md"),
    ]);
}

#[track_caller]
fn check_all(cases: &[Case]) {
    let fails = |case: &&Case| std::panic::catch_unwind(AssertUnwindSafe(|| check(case))).is_err();
    let failed: Vec<&str> = cases.iter().filter(fails).map(|case| case.name).collect();
    assert_eq!(failed, [] as [&str; 0]);
}

/// Pipes, which are not everywhere.
#[test]
#[cfg(unix)]
fn pipes() {
    check(
        &Case::new("an import that is a pipe", &[("main.prose", USES_FILE)])
            .prepare(|world| make_pipe(&world.path("other.prose")))
            .codes(&["E143"])
            .refused("has 1 error and is not run"),
    );
    check(
        &Case::new("settings in a pipe", &[("main.prose", "session \"x\"\n")])
            .prepare(|world| make_pipe(&world.path("prose.toml")))
            .refused("prose.toml` is a named pipe, not a file"),
    );
}

#[cfg(unix)]
fn make_pipe(path: &Path) {
    assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[track_caller]
fn check(case: &Case) {
    let mut world = World::of(case);
    let file = case.program.split('#').next().unwrap();
    let folder = world.workspace.folder.path().canonicalize().unwrap();
    let masked = |text: &str| text.replace(&format!("{}/", folder.display()), "FOLDER/");
    // Settings are shown as they are named from here.
    let relative = |text: &str| text.replace("FOLDER/", "");
    let is_readable = !matches!(case.expected, Refused(reason) if reason.contains("too large: a program"));
    if is_readable {
        assert_eq!(world.checked(file), case.codes, "{}: `prose check`", case.name);
    }
    let mut terminal = Vec::new();
    for arguments in [&["run"][..], &["run", "--dry-run"]] {
        let output = world.prose(&[arguments, &[case.program]].concat());
        let stderr = String::from_utf8(output.stderr).unwrap();
        terminal.push(match output.status.code() {
            Some(0) => Ok(()),
            Some(2) => Err(stderr),
            status => panic!("{}: {status:?} {stderr}", case.name),
        });
    }

    world.workspace.open_saved(file);
    // Where there are none, none need be sent.
    while is_readable
        && !case.codes.is_empty()
        && codes(&world.workspace.pushed_whole(file)["diagnostics"]) != case.codes
    {}
    let mut editor = Vec::new();
    for command in ["prose.run", "prose.dryRun"] {
        editor.push(loop {
            match world.run_in_editor(command, case.program) {
                // It is being fetched, which takes as long as it takes.
                Err(message) if message.contains("is not fetched yet") => {
                    let is_end = |message: &Value| message["params"]["value"]["kind"] == "end";
                    world.workspace.client.wait_for(is_end);
                }
                done => break done,
            }
        });
    }
    assert_eq!(world.workspace.pulled(file), if is_readable { case.codes } else { &[] }, "{}", case.name);
    if file.ends_with(".prose") {
        let uri = world.workspace.uri(file);
        let lenses = world.workspace.client.result("textDocument/codeLens", &uri);
        let titles = lenses.as_array().unwrap().iter().filter_map(|lens| lens["command"]["title"].as_str());
        let refused: Vec<&str> = titles.filter(|title| title.starts_with("Cannot run")).collect();
        let expected: &[&str] = match case.expected {
            Refused(reason) if reason.starts_with("has 1 error ") => &["Cannot run: 1 error"],
            Refused(reason) if reason.starts_with("has 2 errors ") => &["Cannot run: 2 errors"],
            Refused(reason) if reason.contains("prose.toml:") || reason.starts_with("prose.toml` ") => {
                &["Cannot run: error in prose.toml"]
            }
            _ => &[],
        };
        assert_eq!(refused, expected, "{}: the lenses", case.name);
    }
    for (index, (terminal, editor)) in terminal.iter().zip(&editor).enumerate() {
        let reason = match case.expected {
            Refused(reason) => Some(reason),
            RefusedUnlessDry(reason) => (index == 0).then_some(reason),
            Runs => None,
        };
        let Some(reason) = reason else {
            assert_eq!(terminal, &Ok(()), "{}: `prose run`", case.name);
            assert_eq!(editor, &Ok(()), "{}: the editor", case.name);
            continue;
        };
        let (terminal, editor) = (terminal.as_ref().unwrap_err(), editor.as_ref().unwrap_err());
        let terminal = relative(&masked(terminal));
        assert!(terminal.contains(&relative(reason)), "{}: `prose run` says: {terminal}", case.name);
        let editor = relative(&masked(editor));
        assert!(editor.contains(&relative(reason)), "{}: the editor says: {editor}", case.name);
    }
}

#[test]
fn warnings_are_shown_at_the_start_of_a_run() {
    let case =
        Case::new("", &[("main.prose", "session \"\"\n")]).settings("[check]\nodd = 1\n").codes(&["W001"]);
    let world = World::of(&case);
    let stderr = String::from_utf8(world.prose(&["run", "main.prose"]).stderr).unwrap();
    assert!(stderr.contains("main.prose:1:9: warning[W001]"), "{stderr}");
    assert!(stderr.contains("warning[W141]: prose.toml:2:1"), "{stderr}");
}

/// Both faces run `main.prose` with a remark.
#[track_caller]
fn check_remark(world: &mut World, remark: &str) {
    let output = world.prose(&["run", "main.prose"]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert!(stderr.contains(remark), "{stderr}");
    world.workspace.open_saved("main.prose");
    assert_eq!(world.run_in_editor("prose.run", "main.prose"), Ok(()));
    let shown = world.workspace.client.wait_for_method("window/showMessage");
    assert!(shown["params"]["message"].as_str().unwrap().contains(remark), "{shown}");
}

#[test]
fn what_a_program_is_run_with_is_remarked_at_the_start_by_both() {
    let case =
        Case::new("", &[("main.prose", USES)]).settings("[registry]\nurl = \"URL\"\nvendor = \"copies\"\n");
    let remark = "copies` of `registry.vendor` has no copies of programs";
    let mut world = World::of(&case);
    check_remark(&mut world, remark);
}

#[test]
#[cfg(unix)]
fn settings_of_another_user_are_ignored_by_both_which_is_remarked() {
    let case = Case::new("", &[("main.prose", "session \"x\"\n")]);
    let mut world = World::of(&case);
    let theirs = world.path("theirs.toml");
    fs::write(&theirs, "[run]\nmax-parallel = 0\n").unwrap();
    // Where this is not root, that of root serves.
    let is_given = std::os::unix::fs::chown(&theirs, Some(54_321), None).is_ok();
    let theirs = if is_given { theirs.as_path() } else { Path::new("/etc/passwd") };
    std::os::unix::fs::symlink(theirs, world.path("prose.toml")).unwrap();
    world.workspace.restart();
    let remark = "prose.toml` belongs to another user and is ignored";
    check_remark(&mut world, remark);
}

#[test]
fn that_an_earlier_text_is_used_is_said_at_the_start_of_a_run() {
    let case = Case::new("", &[("main.prose", USES)]).settings(REGISTRY);
    let world = World::of(&case);
    world.lose_registry();
    for program in ["main.prose", "alice/research"] {
        let output = world
            .prose(&["run", program, "-i", "topic=tides"][..if program == "main.prose" { 2 } else { 4 }]);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(0), "{stderr}");
        assert!(stderr.contains("warning[W143]"), "{stderr}");
        assert!(stderr.contains("; the cached text is used"), "{stderr}");
    }
}

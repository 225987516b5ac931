//! The rules of the language about its commands (R1 to R6), with the real binary.

use std::process::Command;

use crate::common::{Run, Server, Workspace};
use expect_test::expect;

const HELLO: &str = "output said = \"hello\"\n";

/// A registry on this machine with `alice/hello`, and a folder for programs.
struct World {
    workspace: Workspace,
    server: Server,
}

impl World {
    fn new(files: &[(&str, &str)]) -> Self {
        let workspace = Workspace::new(files);
        workspace.write("registry/alice/hello.prose", b"output said = \"from the registry\"\n");
        let server = Server::start(&workspace);
        let url = &server.url;
        workspace.write("prose.toml", format!("registry.url = \"{url}\"\n").as_bytes());
        Self { workspace, server }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.workspace.command();
        command.args(arguments).env("PROSE_CACHE_DIR", self.workspace.path("cache"));
        command
    }

    /// What a run outputs.
    #[track_caller]
    fn outputs(&self, arguments: &[&str]) -> String {
        let run = Run::of(&mut self.command(arguments));
        assert_eq!(run.status, 0, "{}", run.stderr);
        run.stdout
    }
}

#[test]
fn r001_programs_are_run_from_files_from_the_registry_and_from_addresses() {
    let world = World::new(&[("hello.prose", HELLO)]);
    assert_eq!(world.outputs(&["run", "hello.prose"]), "said: hello\n");
    assert_eq!(world.outputs(&["run", "alice/hello"]), "said: from the registry\n");
    let address = format!("{}alice/hello", world.server.url);
    assert_eq!(world.outputs(&["run", &address]), "said: from the registry\n");
}

#[test]
fn r001_there_is_help_and_there_are_examples_and_programs_are_compiled() {
    let workspace = Workspace::new(&[("hello.prose", HELLO), ("wrong.prose", "break\n")]);
    assert!(workspace.prose(&["help"]).stdout.contains("Usage: prose"));
    let examples = workspace.prose(&["examples"]).stdout;
    let first = examples.split_whitespace().next().expect("there are examples");
    let text = workspace.prose(&["examples", first]).stdout;
    workspace.write("example.prose", text.as_bytes());
    workspace.prose(&["run", "example.prose", "--quiet"]).ended(0);
    // To compile a program is to check it without running it (R126).
    workspace.prose(&["compile", "hello.prose"]).ended(0);
    let wrong = workspace.prose(&["compile", "wrong.prose"]).ended(1);
    assert!(wrong.stderr.contains("error["), "{}", wrong.stderr);
    let wrong = workspace.prose_with_input(&["compile", "-"], b"break\n");
    assert!(wrong.stderr.contains("--> <stdin>:1:1\n"), "{}", wrong.stderr);
    assert!(wrong.stderr.ends_with("error: `<stdin>` has 1 error and is not compiled\n"), "{}", wrong.stderr);
}

/// On the command line a file that exists is meant. What a program imports does not depend on which files there are: its path says
/// whether it is one (decision 16).
#[test]
fn r002_a_file_that_exists_comes_before_a_program_of_the_registry() {
    let world = World::new(&[
        ("use.prose", "use \"alice/hello\"\nlet r = hello()\noutput said = r.said\n"),
        ("use_file.prose", "use \"alice/hello.prose\"\nlet r = hello()\noutput said = r.said\n"),
    ]);
    assert_eq!(world.outputs(&["run", "alice/hello"]), "said: from the registry\n");
    assert_eq!(world.outputs(&["run", "use.prose"]), "said: from the registry\n");
    for file in ["alice/hello", "alice/hello.prose"] {
        world.workspace.write(file, b"output said = \"from a file\"\n");
        assert_eq!(world.outputs(&["run", file]), "said: from a file\n");
    }
    assert_eq!(world.outputs(&["run", "use.prose"]), "said: from the registry\n");
    assert_eq!(world.outputs(&["run", "use_file.prose"]), "said: from a file\n");
}

#[test]
fn r002_what_has_no_slash_is_a_file() {
    let workspace = Workspace::new(&[]);
    workspace.prose(&["run", "hello"]).refused(expect!["`hello` does not exist"]);
    workspace.prose(&["run", "hello.prose"]).refused(expect!["`hello.prose` does not exist"]);
}

/// The language shows its banner once in a session with its host. A command line has no such session, and what it writes may be read by a program:
/// the banner stands at the top of the help, and nowhere else.
#[test]
fn r003_the_help_starts_with_the_banner_and_runs_do_not() {
    let workspace = Workspace::new(&[("hello.prose", HELLO)]);
    let help = workspace.prose(&["help"]).stdout;
    let banner: Vec<&str> = help.lines().take(4).collect();
    expect![[r#"
        ┌──────────────────────────────┐
        │       ◇ OpenProse VM ◇       │
        │    A new kind of computer    │
        └──────────────────────────────┘"#]]
    .assert_eq(&banner.join("\n"));
    assert_eq!(help.matches("A new kind of computer").count(), 1);
    for arguments in [
        &["run", "hello.prose"][..],
        &["run", "hello.prose", "--in-context"],
        &["help", "run"],
        &["runs", "list"],
    ] {
        let run = workspace.prose(arguments);
        assert!(!format!("{}{}", run.stdout, run.stderr).contains('◇'), "{arguments:?}");
    }
}

#[test]
fn r004_the_state_is_kept_in_files_unless_it_is_said_otherwise() {
    let runs = |arguments: &[&str]| {
        let workspace = Workspace::new(&[("hello.prose", HELLO)]);
        let run = workspace.prose(&[&["run", "hello.prose"], arguments].concat());
        assert_eq!(run.status, 0, "{}", run.stderr);
        let runs = std::fs::read_dir(workspace.path(".prose/runs")).into_iter().flatten().count();
        (runs, run.stdout.contains("State mode: in-context"))
    };
    assert_eq!(runs(&[]), (1, false));
    assert_eq!(runs(&["--state=filesystem"]), (1, false));
    assert_eq!(runs(&["--state=sqlite"]), (1, false));
    assert_eq!(runs(&["--in-context"]), (0, true));
    assert_eq!(runs(&["--state=in-context"]), (0, true));
}

#[test]
fn r004_a_state_system_that_is_missing_is_told_with_what_there_is_instead() {
    let workspace = Workspace::new(&[("hello.prose", HELLO)]);
    // Nobody but this machine would see the files, so the run is not started on the quiet.
    workspace.prose(&["run", "hello.prose", "--state=postgres", "--quiet"]).refused(
        expect!["no PostgreSQL server is configured; set `OPENPROSE_POSTGRES_URL` in `.prose/.env` or in the environment, such as `postgresql://user:password@localhost:5432/database`, or keep the state in a file with `--state sqlite`"],
    );
    let unknown = workspace.prose(&["run", "hello.prose", "--state=memory"]);
    assert!(
        unknown.stderr.contains("[possible values: filesystem, in-context, sqlite, postgres]"),
        "{}",
        unknown.stderr
    );
}

#[test]
fn r006_errors_keep_a_program_from_being_run_and_warnings_do_not() {
    let workspace = Workspace::new(&[
        ("error.prose", "session \"First\"\nbreak\n"),
        ("broken.prose", "session \"First\"\nlet = =\n"),
        ("warning.prose", "let unused = 1\nsession \"\"\nsession \"First\"\n"),
    ]);
    for program in ["error.prose", "broken.prose"] {
        let run = workspace.prose(&["run", program, "--json"]);
        assert_eq!(run.status, 2, "{}", run.stderr);
        assert!(run.stderr.contains("error[") && run.stderr.contains("and is not run"), "{}", run.stderr);
        // Not a single session has been started, and there is nothing to resume.
        assert_eq!(run.stdout, "");
        assert!(!workspace.path(".prose").exists());
    }
    let checked = workspace.prose(&["check", "warning.prose"]);
    assert!(checked.stdout.contains("warning[") && !checked.stdout.contains("error["), "{}", checked.stdout);
    workspace.prose(&["run", "warning.prose"]).ended(0);
}

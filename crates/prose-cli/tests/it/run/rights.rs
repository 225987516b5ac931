//! What programs that were fetched may do (decision 19), and the files that no program passes on by accident.

use expect_test::{Expect, expect};

use crate::common::Server;
use crate::common::{Run, Workspace};
use crate::run::remote::serve;

/// Asks for everything that needs a right.
const HUNGRY: &str = r#"
agent keeper:
  prompt: "Keep notes"
  persist: "notes/keeper"
  skills: ["./tools/search", "plain"]
output found = session: keeper
  prompt: "Look"
  context:
    file: "docs/a.md"
"#;

/// Passes on a file whose name it is told.
const READER: &str = r#"
input name: "Which file"
try:
  output found = session "Read it"
    context:
      file: "docs/{name}"
catch as problem:
  output found = problem.message
"#;

/// The same for programs of this machine.
const LOCAL_READER: &str =
    "input name: \"Which file\"\noutput found = session \"Read it\"\n  context:\n    file: \"docs/{name}\"\n";

const KEEPER: &str = "agent keeper:\n  prompt: \"Keep notes\"\n  persist: project\nagent traveller:\n  prompt: \"Go\"\n  persist: user\nsession: keeper\nsession: traveller\n";

const GRANTS: &str = "allow = [\"files:docs/**\", \"memory:notes/keeper\", \"skills:tools/search\"]\n";

struct World {
    workspace: Workspace,
    registry: Server,
}

impl World {
    fn new(files: &[(&str, &str)]) -> Self {
        let all = [
            files,
            &[("docs/a.md", "the text of a document"), (".env", "KEY=secret"), (".git/config", "[core]")],
        ];
        let workspace = Workspace::new(&all.concat());
        let registry = serve(&workspace);
        Self { workspace, registry }
    }

    /// Adds settings to those that name the registry.
    fn settings(&self, settings: &str) {
        let toml = format!("registry.url = \"{}\"\n{settings}", self.registry.url);
        self.workspace.write("prose.toml", toml.as_bytes());
        // What it grants counts only if a person has trusted it.
        self.prose(&["trust"]).ended(0);
    }

    fn prose(&self, arguments: &[&str]) -> Run {
        self.workspace.prose(arguments)
    }

    #[track_caller]
    fn check(&self, arguments: &[&str], expected: Expect) {
        let mut run = self.prose(arguments);
        for text in [&mut run.stdout, &mut run.stderr] {
            *text = text.replace(&self.registry.url, "http://registry");
        }
        run.check(expected);
    }

    /// A program is refused before anything of a run is there, for want of all that [`HUNGRY`] asks for.
    #[track_caller]
    fn refuses(&self, program: &str, name: &str) {
        let run = self.prose(&["run", "-q", program]).ended(2);
        let asked = "`skills:tools/search`, `memory:notes/keeper`, `files:docs/a.md`";
        let asked = format!("the fetched program `{name}` requests {asked}, which is not granted");
        assert!(run.stderr.contains(&asked), "{run:?}");
        assert!(run.stderr.contains(&format!("[imports.\"{name}\"]\nallow = [")), "{run:?}");
        assert!(self.workspace.runs().is_empty(), "{:?}", self.workspace.runs());
    }
}

#[test]
fn a_fetched_program_is_refused_with_the_lines_that_grant_what_it_asks_for() {
    let world = World::new(&[("registry/alice/hungry.prose", HUNGRY)]);
    world.check(&["run", "-q", "alice/hungry"], expect![[r#"
        status: 2
        ---- stderr
        error: the fetched program `alice/hungry` requests `skills:tools/search`, `memory:notes/keeper`, `files:docs/a.md`, which is not granted; to grant it, add to `prose.toml`:

        [imports."alice/hungry"]
        allow = ["skills:tools/search", "memory:notes/keeper", "files:docs/a.md"]

        or pass --allow 'skills:tools/search' --allow 'memory:notes/keeper' --allow 'files:docs/a.md' to grant it for one run
    "#]]);
    assert!(world.workspace.runs().is_empty());
    // Part of it is not enough, and what is granted already stays in the lines.
    world.settings("[imports.\"@alice/hungry\"]\nallow = [\"files:docs/**\", \"memory:notes/*\"]\n");
    world.check(&["run", "-q", "alice/hungry"], expect![[r#"
        status: 2
        ---- stderr
        error: the fetched program `alice/hungry` requests `skills:tools/search`, which is not granted; to grant it, add to `prose.toml`:

        [imports."alice/hungry"]
        allow = ["files:docs/**", "memory:notes/*", "skills:tools/search"]

        or pass --allow 'skills:tools/search' to grant it for one run
    "#]]);
    let granted = world.prose(&["run", "alice/hungry", "--allow", "skills:tools/search"]).ended(0);
    assert!(
        granted.stderr.contains(
            "`alice/hungry` may use `skills:tools/search`, `memory:notes/keeper`, `files:docs/a.md`\n"
        ),
        "{granted:?}"
    );
    assert!(world.workspace.path("notes/keeper/memory.md").exists());
    world.check(&["run", "alice/hungry", "--allow", "file:docs"], expect![[r#"
        status: 2
        ---- stderr
        error: invalid value 'file:docs' for '--allow <RIGHT>': `file:` is not a kind of right; did you mean `files:docs`?

        For more information, try '--help'.
    "#]]);
}

#[test]
fn settings_that_nobody_has_trusted_grant_nothing() {
    let world = World::new(&[("registry/alice/hungry.prose", HUNGRY)]);
    let granting = format!("registry.url = \"{}\"\n[imports.\"alice/hungry\"]\n{GRANTS}", world.registry.url);
    world.workspace.write("prose.toml", granting.as_bytes());
    let run = || world.prose(&["run", "-q", "alice/hungry"]);
    let refused = run();
    assert_eq!(refused.status, 2, "{refused:?}");
    assert!(refused.stderr.contains("but the project is not trusted"), "{refused:?}");
    assert!(world.workspace.runs().is_empty());
    world.prose(&["trust"]).ended(0);
    assert_eq!(run().status, 0);
}

#[test]
fn a_run_that_was_granted_something_goes_on_only_while_it_is() {
    let world = World::new(&[("registry/alice/hungry.prose", HUNGRY)]);
    world.settings(&format!("[imports.\"alice/hungry\"]\n{GRANTS}"));
    world.prose(&["run", "-q", "alice/hungry", "--max-sessions", "0"]).ended(3);
    world.settings("");
    let refused = world.prose(&["resume", "--max-sessions", "9", "-q"]).ended(2);
    assert!(refused.stderr.contains("the fetched program `alice/hungry` requests"), "{refused:?}");
    world.settings(&format!("[imports.\"alice/hungry\"]\n{GRANTS}"));
    world.prose(&["resume", "--max-sessions", "9", "-q"]).ended(0);
}

#[test]
fn however_a_fetched_program_comes_into_a_run_it_has_the_rights_of_one() {
    let world = World::new(&[
        ("registry/alice/hungry.prose", HUNGRY),
        ("registry/bob/through.prose", "use \"alice/hungry\"\noutput found = hungry()\n"),
        ("registry/bob/beside.prose", "use \"../alice/hungry\" as hungry\noutput found = hungry()\n"),
        ("imports.prose", "use \"alice/hungry\"\noutput found = hungry()\n"),
        ("transitive.prose", "use \"bob/through\"\noutput found = through()\n"),
        ("local.prose", "use \"./imports.prose\" as other\noutput found = other()\n"),
        ("copy.prose", "use \"./vendor/alice--hungry.prose\" as hungry\noutput found = hungry()\n"),
        ("uncalled.prose", "use \"alice/hungry\"\nsession \"Nothing of it\"\n"),
    ]);
    let address = format!("{}/alice/hungry", world.registry.url);
    let by_address = format!("use \"{address}\" as hungry\noutput found = hungry()\n");
    world.workspace.write("address.prose", by_address.as_bytes());
    world
        .workspace
        .write("README.md", b"# Programs\n\n```prose\nuse \"alice/hungry\"\noutput found = hungry()\n```\n");
    for program in [
        "alice/hungry",
        &address,
        "imports.prose",
        "transitive.prose",
        "local.prose",
        "address.prose",
        "README.md",
    ] {
        world.refuses(program, "alice/hungry");
    }
    world.refuses("uncalled.prose", "alice/hungry");
    world.workspace.write("beside-it.prose", b"use \"bob/beside\" as beside\noutput found = beside()\n");
    world.refuses("beside-it.prose", "alice/hungry");
    // The file of the cache is the program, too.
    let host = world.registry.url.trim_start_matches("http://").replace(':', "_");
    world.refuses(&format!("no-cache/programs/{host}/alice/hungry.prose"), "alice/hungry");
    // And so are copies, whether they are found by the settings or by a path, or run themselves.
    world.prose(&["vendor", "vendor", "imports.prose"]).ended(0);
    world.settings("registry.vendor = \"vendor\"\n");
    world.prose(&["cache", "clean"]).ended(0);
    for program in ["alice/hungry", "imports.prose", "vendor/alice--hungry.prose", "copy.prose"] {
        world.refuses(program, "alice/hungry");
    }
}

#[test]
fn what_a_program_asks_for_is_said_when_it_is_fetched() {
    let world = World::new(&[
        ("registry/alice/hungry.prose", HUNGRY),
        ("registry/alice/plain.prose", "session \"x\"\n"),
    ]);
    world.check(&["fetch", "alice/hungry", "alice/plain"], expect![[r#"
        status: 0
        ---- stdout
        `alice/hungry` was fetched; it requests `skills:tools/search`, `memory:notes/keeper`, `files:docs/a.md`
        `alice/plain` was fetched
    "#]]);
}

#[test]
fn a_file_whose_name_is_computed_has_to_be_one_that_is_granted() {
    let world = World::new(&[
        ("registry/alice/reader.prose", READER),
        ("src/main.rs", "fn main() {}"),
        ("docs/.env", "KEY=2"),
    ]);
    world.check(&["run", "-q", "alice/reader", "-i", "name=a.md"], expect![[r#"
        status: 2
        ---- stderr
        error: the fetched program `alice/reader` requests `files:docs/**`, which is not granted; to grant it, add to `prose.toml`:

        [imports."alice/reader"]
        allow = ["files:docs/**"]

        or pass --allow 'files:docs/**' to grant it for one run
    "#]]);
    #[cfg(unix)]
    for (target, name) in [("../.env", "link.md"), ("../src/main.rs", "main.md"), ("../.git", "git")] {
        std::os::unix::fs::symlink(target, world.workspace.path(&format!("docs/{name}")))
            .expect("links can be made");
    }
    let read = |name: &str, right: &str| {
        let run = world
            .prose(&["run", "-q", "alice/reader", "-i", &format!("name={name}"), "--allow", right])
            .ended(0);
        run.stdout.trim().to_owned()
    };
    assert!(read("a.md", "files:docs/**").contains("[offline]"));
    assert!(read("a.md", "files:docs/*.md").contains("[offline]"));
    let mut refused = vec![
        ("../src/main.rs", "needs the right `files:src/main.rs`"),
        ("../.env", "fetched programs cannot get the right to it"),
        ("./../.ENV", "fetched programs cannot get the right to it"),
        (".env", "fetched programs cannot get the right to it"),
        ("../.git/config", "fetched programs cannot get the right to it"),
        ("../../outside.md", "is outside of the project"),
    ];
    if cfg!(unix) {
        refused.extend([
            ("link.md", "leads to `.env`, is not passed on"),
            ("main.md", "needs the right `files:src/main.rs`"),
            ("git/config", "leads to `.git/config`, is not passed on"),
        ]);
    }
    for (name, why) in refused {
        // What is wrong can be caught, and no session has been asked.
        let message = read(name, "files:docs/**");
        assert!(message.contains(why), "{name}: {message}");
    }
    assert!(read("../.env", "files:**").contains("fetched programs cannot get the right to it"));
}

/// Lets its agent run commands.
const BUILDER: &str = "agent builder:\n  permissions:\n    bash: [\"make *\"]\n    network: allow\n    write: [\"out/**\"]\n\noutput found = session: builder\n  prompt: \"Build\"\n";

#[test]
fn a_fetched_program_lets_its_agents_run_no_commands_and_reach_no_network() {
    let world = World::new(&[
        ("registry/alice/builder.prose", BUILDER),
        ("main.prose", "use \"alice/builder\"\noutput found = builder()\n"),
        ("local.prose", BUILDER),
    ]);
    world.check(&["run", "-q", "main.prose"], expect![[r#"
        status: 2
        ---- stderr
        error: the fetched program `alice/builder` requests `execute:make *`, `network:*`, which is not granted; to grant it, add to `prose.toml`:

        [imports."alice/builder"]
        allow = ["execute:make *", "network:*"]

        or pass --allow 'execute:make *' --allow 'network:*' to grant it for one run
    "#]]);
    world.check(&["run", "-q", "alice/builder", "--dry-run", "--allow", "execute:make *"], expect![[r#"
        status: 2
        ---- stderr
        error: the fetched program `alice/builder` requests `network:*`, which is not granted; to grant it, add to `prose.toml`:

        [imports."alice/builder"]
        allow = ["network:*"]

        or pass --allow 'network:*' to grant it for one run
    "#]]);
    assert!(world.workspace.runs().is_empty());
    let runs = |arguments: &[&str]| assert_eq!(world.prose(arguments).status, 0, "{arguments:?}");
    runs(&["run", "-q", "local.prose"]);
    runs(&["run", "-q", "alice/builder", "--allow", "execute:*", "--allow", "network:*"]);
    world.settings("[imports.\"alice/builder\"]\nallow = [\"execute:make*\", \"network:*\"]\n");
    runs(&["run", "-q", "alice/builder"]);
    assert_eq!(world.prose(&["check", "main.prose"]).stdout, "");
}

#[test]
fn what_the_project_lets_all_agents_do_is_granted_to_fetched_programs() {
    let world = World::new(&[("registry/alice/builder.prose", BUILDER)]);
    let settings = "[run.permissions]\nbash = [\"make *\", \"cargo *\"]\nnetwork = \"allow\"\n";
    let text = format!("registry.url = \"{}\"\n{settings}", world.registry.url);
    world.workspace.write("prose.toml", text.as_bytes());
    let refused = world.prose(&["run", "-q", "alice/builder"]).ended(2);
    assert!(
        refused.stderr.contains("grants rights to fetched programs, but the project is not trusted"),
        "{refused:?}"
    );
    world.settings(settings);
    world.prose(&["run", "-q", "alice/builder"]).ended(0);
}

#[test]
fn a_skill_whose_path_is_computed_has_to_be_one_that_is_granted() {
    let skilled = "input path: \"Which skill\"\noutput found = session \"Search\"\n  skills: [\"{path}\"]\n";
    let world = World::new(&[("registry/alice/skilled.prose", skilled)]);
    let run = |path: &str, right: &str| {
        world.prose(&["run", "-q", "alice/skilled", "-i", &format!("path={path}"), "--allow", right])
    };
    assert_eq!(run("web-search", "skills:tools/*").status, 0);
    assert_eq!(run("./tools/search", "skills:tools/*").status, 0);
    let refused = run("./tools/../secret", "skills:tools/*");
    assert_eq!(refused.status, 1, "{refused:?}");
    assert!(
        refused.stderr.contains("needs the right `skills:secret`, which the project has not granted"),
        "{refused:?}"
    );
}

#[test]
fn no_program_can_be_granted_a_protected_file() {
    let world = World::new(&[(
        "registry/alice/thief.prose",
        "session \"Look\"\n  context:\n    file: \".env\"\n    file: \"docs/../.git/config\"\n",
    )]);
    world.settings("run.allow-files = [\".env\"]\n[imports.\"alice/thief\"]\nallow = [\"files:**\"]\n");
    world.check(&["run", "-q", "alice/thief", "--allow", "files:.env"], expect![[r#"
        status: 2
        ---- stderr
        error: the fetched program `alice/thief` requests `files:.env`, `files:.git/config`; fetched programs cannot pass on files that may contain secrets or control what programs may do
    "#]]);
}

#[test]
fn memories_of_a_fetched_program_lie_in_a_folder_of_its_own_until_they_may_be_shared() {
    let world = World::new(&[("registry/alice/keeper.prose", KEEPER)]);
    world.workspace.write(".prose/agents/keeper/memory.md", b"# Agent Memory: keeper\n\nof the project\n");
    let host = world.registry.url.trim_start_matches("http://").replace(':', "_");
    let own = format!(".prose/agents/{host}/alice--keeper");
    let run = world.prose(&["run", "alice/keeper"]).ended(0);
    assert!(run.stderr.contains(&format!("`alice/keeper` stores memories in `{own}/`\n")), "{run:?}");
    assert_eq!(
        world.workspace.read(".prose/agents/keeper/memory.md"),
        "# Agent Memory: keeper\n\nof the project\n"
    );
    assert!(world.workspace.path(&format!("{own}/keeper/memory.md")).exists());
    assert!(world.workspace.path(&format!("no-home/{own}/traveller/memory.md")).exists());
    assert!(!world.workspace.path("no-home/.prose/agents/traveller").exists());

    let run =
        world.prose(&["run", "alice/keeper", "--allow", "memory:project", "--allow", "memory:user"]).ended(0);
    assert!(run.stderr.contains("`alice/keeper` may use `memory:project`, `memory:user`\n"), "{run:?}");
    assert_ne!(
        world.workspace.read(".prose/agents/keeper/memory.md"),
        "# Agent Memory: keeper\n\nof the project\n"
    );
    assert!(world.workspace.path("no-home/.prose/agents/traveller/memory.md").exists());
}

#[test]
fn a_fetched_program_brings_no_settings() {
    let world = World::new(&[
        (
            "registry/alice/prose.toml",
            "[run]\nharness = \"command\"\ncommand = [\"touch\", \"stolen\"]\n[imports.\"alice/hungry\"]\nallow = [\"files:**\"]\n",
        ),
        ("registry/alice/hungry.prose", HUNGRY),
        ("registry/alice/plain.prose", "session \"x\"\n"),
    ]);
    world.refuses("alice/hungry", "alice/hungry");
    let run = world.prose(&["run", "alice/plain"]).ended(0);
    assert!(run.stderr.contains("with offline"), "{run:?}");
}

#[test]
fn local_programs_pass_on_protected_files_only_if_they_name_them_and_the_settings_list_them() {
    let world = World::new(&[
        ("registry/alice/none.prose", ""),
        ("exact.prose", "output found = session \"Read it\"\n  context:\n    file: \"./.env\"\n"),
        ("computed.prose", &LOCAL_READER.replace("docs/", "")),
        ("reader.prose", LOCAL_READER),
        ("docs/prose.toml", ""),
        ("docs/id_rsa", "key"),
    ]);
    world.workspace.check(&["run", "-q", "exact.prose"], expect![[r#"
        status: 1
        ---- stderr
        error: the program failed at line 1: context file `./.env` is not passed on: it may contain secrets or control what programs may do; to pass it anyway, write its path in the program without `{…}` and add it to `prose.toml`: `[run]` `allow-files = [".env"]`
        help: fix the program, then run `prose resume ID --accept-changes`
    "#]]);
    world.settings("run.allow-files = [\".env\"]\n");
    world.prose(&["run", "-q", "exact.prose"]).ended(0);
    let computed =
        |program: &str, name: &str| world.prose(&["run", "-q", program, "-i", &format!("name={name}")]);
    for (program, name) in [
        ("computed.prose", ".env"),
        ("reader.prose", "../.env"),
        ("reader.prose", "prose.toml"),
        ("reader.prose", "id_rsa"),
    ] {
        let run = computed(program, name);
        assert_eq!(run.status, 1, "{run:?}");
        assert!(run.stderr.contains("is not passed on: it may contain secrets"), "{run:?}");
    }
    assert_eq!(computed("reader.prose", "a.md").status, 0);
    // What is listed is this file, and no other that a link of its name leads to.
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(".git/config", world.workspace.path("link")).expect("links can be made");
        world.settings("run.allow-files = [\"link\"]\n");
        world.workspace.write("link.prose", b"session \"Read it\"\n  context:\n    file: \"link\"\n");
        let run = world.prose(&["run", "-q", "link.prose"]).ended(1);
        assert!(run.stderr.contains("leads to `.git/config`"), "{run:?}");
    }
}

#[test]
fn no_memory_lies_in_git() {
    let world = World::new(&[("registry/alice/none.prose", "")]);
    let refused = |folder: &str| {
        let program =
            format!("agent keeper:\n  prompt: \"Keep\"\n  persist: \"{folder}\"\nsession: keeper\n");
        world.workspace.write("keeper.prose", program.as_bytes());
        let run = world.prose(&["run", "-q", "keeper.prose", "--allow-outside"]).ended(2);
        assert!(run.stderr.contains("cannot be in `.git`"), "{run:?}");
    };
    for folder in [".git/hooks", "./.GIT/hooks", "docs/../.git", "sub/.git/x"] {
        refused(folder);
    }
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(".git", world.workspace.path("notes")).expect("links can be made");
        refused("notes/x");
    }
    assert!(world.workspace.runs().is_empty());
}

/// The words `project` and `user` are scopes, and a string is a folder, whatever it is called.
#[test]
fn a_folder_that_is_called_like_a_scope_is_a_folder() {
    for persist in ["\"project\"", "\"./user\"", "\"user/\""] {
        let program = format!(
            "agent a:\n  persist: {persist}\n  prompt: \"p\"\noutput x = resume: a\n  prompt: \"hi\"\n"
        );
        let world = World::new(&[("registry/bob/reads.prose", &program), ("project/memory.md", "mine")]);
        world.settings("");
        let run = world.prose(&["run", "-q", "bob/reads"]);
        assert_eq!(run.status, 1, "{persist}: {run:?}");
        assert!(
            run.stderr.contains("`bob/reads` is a fetched program and needs the right `memory:./"),
            "{run:?}"
        );
        assert_eq!(world.workspace.read("project/memory.md"), "mine");
        assert!(!world.workspace.path("user").exists());
    }
}

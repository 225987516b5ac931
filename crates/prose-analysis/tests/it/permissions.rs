//! Permissions in the default profile: kinds, values, patterns, and those that cannot hold together.

use std::fmt::Write;
use std::path::Path;

use crate::support::{check, check_fixes, check_related, found};
use expect_test::{Expect, expect};
use prose_analysis::host::Project;
use prose_analysis::{AnalysisHost, Text};
use prose_syntax::{Code, Profile};

/// The findings in a program of a project with this harness.
#[track_caller]
fn check_with_harness(harness: &str, program: &str, expected: Expect) {
    check_in(Project::default().with_harness(harness), program, expected);
}

/// The findings in a program of a project.
#[track_caller]
fn check_in(project: Project, program: &str, expected: Expect) {
    let mut host = AnalysisHost::default();
    let file = host.set_text(Path::new("/main.prose"), Text::new(program));
    host.set_project(file, project);
    let mut shown = String::new();
    for (severity, found) in found(&host, file, Profile::Default) {
        let text = &program[std::ops::Range::<usize>::from(found.range)];
        writeln!(shown, "{severity:?}[{}] {text}: {}", found.code, found.message).unwrap();
    }
    expected.assert_eq(&shown);
}

#[test]
fn rules_that_the_harness_of_the_project_cannot_enforce() {
    let program = r#"agent reviewer:
  prompt: "Review"
  permissions:
    read: ["src/**"]
    write: []
    execute: allow
    bash: prompt
    network: deny

session: reviewer
  permissions:
    write: allow
    network: ask
"#;
    check_with_harness(
        "command",
        program,
        expect![[r#"
            Warning[W150] read: ["src/**"]: harness `command` cannot enforce patterns of `read`; `claude`, `codex` and `opencode` can
            Warning[W150] write: []: harness `command` cannot enforce `write: []`; `claude`, `codex` and `opencode` can
            Warning[W150] bash: prompt: harness `command` cannot enforce `bash: prompt`; `claude`, `codex` and `opencode` can
            Warning[W150] network: deny: harness `command` cannot enforce `network: deny`; `claude`, `codex` and `opencode` can
            Warning[W150] network: ask: harness `command` cannot enforce `network: ask`; `claude`, `codex` and `opencode` can
        "#]],
    );
    check_with_harness("codex", program, expect![""]);
    check_with_harness("offline", program, expect![[""]]);
    check_with_harness("not-a-harness", program, expect![[""]]);
}

#[test]
fn agents_may_have_a_harness_of_their_own() {
    let program = r#"agent reviewer:
  prompt: "Review"
  permissions:
    bash: deny

agent clerk:
  prompt: "File"
  permissions:
    network: deny

session: reviewer
  permissions:
    write: deny
session: clerk
session "Go"
  permissions:
    read: deny
"#;
    let project = Project::default().with_harness("claude").with_agent_harnesses([("reviewer", "command")]);
    check_in(
        project,
        program,
        expect![[r#"
        Warning[W150] bash: deny: harness `command` cannot enforce `bash: deny`; `claude`, `codex` and `opencode` can
        Warning[W150] write: deny: harness `command` cannot enforce `write: deny`; `claude`, `codex` and `opencode` can
    "#]],
    );
}

#[test]
fn servers_in_patterns_that_the_project_does_not_configure() {
    let program = r#"input name: "A server"
session "List the issues"
  permissions:
    mcp: ["traker/*", "tracker/list", "calendar", "*/search", "!files/*", "{name}"]
"#;
    let project = || Project::default().with_servers(["tracker"]);
    check_in(
        project().with_harness("claude"),
        program,
        expect![[r#"
        Warning[W153] traker: server `traker` is not configured; did you mean `tracker`?
        Warning[W153] calendar: server `calendar` is not configured; add `[mcp.servers.calendar]` to `prose.toml`
    "#]],
    );
    check_in(project().with_harness("offline"), program, expect![[""]]);
}

#[test]
fn the_examples_of_the_code_are_right() {
    let example = |text: &str| text.split_once("//- /main.prose\n").unwrap().1.to_owned();
    let of = |harness: &str, text: &str| {
        let mut host = AnalysisHost::default();
        let file = host.set_text(Path::new("/main.prose"), Text::new(example(text)));
        host.set_project(file, Project::default().with_harness(harness));
        found(&host, file, Profile::Default).into_iter().map(|(_, found)| found.code).collect::<Vec<_>>()
    };
    assert_eq!(of("command", Code::W150.info().wrong), [Code::W150]);
    assert_eq!(of("claude", Code::W150.info().right), []);
    assert_eq!(of("claude", Code::W153.info().wrong), [Code::W153]);
}

#[test]
fn permissions() {
    check(
        r#"
        const folder = "docs/**"
        agent writer:
          prompt: "Write"
          permissions:
            read: [folder, 3, { a: 1 }]
        #                  ^ error[E016] a pattern must be a string in quotes, such as `"docs/**"`
        #                     ^^^^^^^^ error[E016] a pattern must be a string in quotes, such as `"docs/**"`
            wriet: ["docs/**"]
        #   ^^^^^ info[W008] did you mean `write`?
            bash: false
        #         ^^^^^ warning[W009] did you mean `deny`?
            network: dney
        #            ^^^^ warning[W009] did you mean `deny`?
            execute: "*.sh"
        #            ^^^^^^ warning[W009] a pattern must be in brackets: `["docs/**"]`
            database: "deny"
        #   ^^^^^^^^ info[W008] unknown permission `database`; the host may not support it
        #             ^^^^^^ warning[W009] `deny` must not be quoted
            web: [docs]
        #   ^^^ info[W008]
        #         ^^^^ error[E119] variable `docs` is not defined
        session: writer
        "#,
    );
}

#[test]
fn fixes_of_permissions() {
    check_fixes(
        "agent a:\n  prompt: \"x\"\n  permissions: deny\nsession: a\n",
        expect![[r#"
            Write one permission per line:
            agent a:
              prompt: "x"
              permissions:
                read: deny
                write: deny
                execute: deny
                bash: deny
                network: deny
                mcp: deny
            session: a
        "#]],
    );
    check_fixes(
        "agent a:\n  prompt: \"x\"\n  permissions: { read: [\"*.md\"], \"bash\": \"deny\" }\nsession: a\n",
        expect![[r#"
            Write one permission per line:
            agent a:
              prompt: "x"
              permissions:
                read: ["*.md"]
                bash: "deny"
            session: a
        "#]],
    );
    check_fixes(
        "session \"x\"\n  permissions:\n    execute: \"*.sh\"\n",
        expect![[r#"
            Wrap it in brackets:
            session "x"
              permissions:
                execute: ["*.sh"]
        "#]],
    );
    check_fixes(
        "session \"x\"\n  permissions:\n    read: [\"**\", \"src/**\", \"~/**\"]\n",
        expect![[r#"
            Remove `src/**`:
            session "x"
              permissions:
                read: ["**", "~/**"]
        "#]],
    );
    check_fixes(
        "session \"x\"\n  permissions:\n    read: [\"src/*\", \"**\"]\n",
        expect![[r#"
            Remove `src/*`:
            session "x"
              permissions:
                read: ["**"]
        "#]],
    );
}

#[test]
fn permissions_that_contradict_each_other() {
    check(
        r#"
        session "One"
          permissions:
            read: deny
        #         ^^^^ warning[W123] `read: deny` conflicts with `write`; writing requires reading
            write: allow
        session "Two"
          permissions:
            filesystem: deny
        #   ^^^^^^^^^^ info[W008]
        #               ^^^^ warning[W123] `filesystem: deny` conflicts with `read`; it covers reading and writing
            read: ["*.md"]
            write: ["*.md"]
        session "Three"
          permissions:
            read: ["*.md", "src/**", "*.md", "!src/**"]
        #                            ^^^^^^ warning[W123] pattern `*.md` is already given
        #                                    ^^^^^^^^^ warning[W123] `!src/**` excludes everything that `src/**` allows
        session "Four"
          permissions:
            read: deny
            write: []
        session "Five"
          permissions:
            read: ["src/**", "!src/secret/**", "docs/*.md", "docs/*.txt"]
            write: deny
            network: ["*", "https://example.com/*"]
        #                  ^^^^^^^^^^^^^^^^^^^^^^^ warning[W123] pattern `https://example.com/*` is redundant; `*` already allows it
        "#,
    );
    check_related(
        "session \"x\"\n  permissions:\n    read: [\"a\"]\n    write: allow\n    filesystem: deny # prose: ignore[W008]\n",
        expect![[r#"
            line 3, `read`: `read` is allowed here
            line 4, `write`: `write` is allowed here
        "#]],
    );
}

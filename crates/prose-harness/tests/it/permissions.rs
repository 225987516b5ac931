//! What agents may do, and the tricks by which a tool call hides what it does.

use std::fmt::Write;
use std::path::Path;

use expect_test::{Expect, expect};
use prose_harness::permissions::{Decision, Folders, McpTool, ToolRequest, decide, permit};
use prose_vm::activity::{Reporter, ToolKind};
use prose_vm::effect::{Permission, PermissionRule, SessionTask};
use prose_vm::harness::RunFolders;

use crate::support::task;

/// A project with a few files, some of which lead elsewhere.
fn project() -> tempfile::TempDir {
    let folder = prose_fixture::tempdir().unwrap();
    let root = folder.path().join("project");
    for file in
        ["src/main.rs", "docs/a.md", "scripts/test.sh", ".env", "prose.toml", ".prose/runs/1/bindings/a.md"]
    {
        let path = root.join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "x").unwrap();
    }
    std::fs::write(folder.path().join("outside.txt"), "x").unwrap();
    #[cfg(unix)]
    for (target, link) in [
        ("../outside.txt", "link.txt"),
        ("..", "up"),
        (".env", "settings.txt"),
        ("../not-there-yet.txt", "dangling.txt"),
    ] {
        std::os::unix::fs::symlink(target, root.join(link)).unwrap();
    }
    folder
}

/// The rules of `read: ["a", "b"], bash: allow`.
fn rules(text: &str) -> Vec<Permission> {
    let mut rules = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (about, rule) = line.split_once(": ").unwrap();
        let rule = match rule {
            "allow" => PermissionRule::Allow,
            "deny" => PermissionRule::Deny,
            "prompt" => PermissionRule::Prompt,
            patterns => PermissionRule::Patterns(serde_json::from_str(patterns).unwrap()),
        };
        rules.push(Permission { about: about.into(), rule });
    }
    rules
}

fn told(decision: Decision) -> String {
    match decision {
        Decision::Allow => "allow".to_owned(),
        Decision::Deny { reason } => format!("deny: {reason}"),
        Decision::Ask { rule, is_written: true } => format!("ask, as written: {rule}"),
        Decision::Ask { rule, is_written: false } => format!("ask: {rule}"),
    }
}

/// Decides about tool calls, one a line: `read PATH`, `write PATH`, `search PATH`, `fetch URL` or `$ COMMAND`, where `\n` is a line break.
#[track_caller]
fn check(permissions: &str, calls: &str, expected: Expect) {
    let folder = project();
    let root = folder.path().join("project");
    let folders = Folders {
        root: root.clone(),
        passed: vec![root.join(".prose/runs/1/bindings/a.md")],
        results: vec![root.join(".prose/runs/1/bindings/b.md")],
    };
    let mut table = String::new();
    for call in calls.lines().map(str::trim).filter(|call| !call.is_empty()) {
        let call = call.replace("ROOT", &root.display().to_string());
        let (verb, rest) = call.split_once(' ').unwrap();
        let tool = match verb {
            "read" => ToolRequest::file(ToolKind::Read, rest),
            "write" => ToolRequest::file(ToolKind::Edit, rest),
            "search" => ToolRequest::file(ToolKind::Search, rest),
            "fetch" => ToolRequest::fetch(rest),
            "$" => ToolRequest::command(rest.replace("\\n", "\n")),
            "other" => ToolRequest::new(ToolKind::Other, rest),
            "mcp" => {
                let (server, tool) = rest.split_once('/').unwrap();
                ToolRequest::mcp(McpTool { server: server.to_owned(), tool: tool.to_owned() })
            }
            verb => panic!("{verb}"),
        };
        let decision = told(decide(&rules(permissions), &tool, &folders));
        let base = folder.path().canonicalize().unwrap();
        let text = format!("{call}\n    {decision}");
        let text =
            text.replace(&root.display().to_string(), "ROOT").replace(&base.display().to_string(), "BASE");
        let text = text.replace(&folder.path().display().to_string(), "BASE");
        writeln!(table, "{text}").unwrap();
    }
    expected.assert_eq(&table);
}

#[test]
fn without_rules_the_project_is_open_but_for_commands_and_protected_files() {
    check(
        "",
        "
        read src/main.rs
        write docs/new.md
        read ../outside.txt
        read /etc/passwd
        read .env
        read ./docs/../.ENV
        write prose.toml
        write .claude/settings.json
        read .claude/settings.json
        read .prose/runs/1/bindings/a.md
        read .prose/runs/1/program.prose
        write .prose/runs/1/bindings/b.md
        write .prose/runs/1/bindings/a.md
        search src
        $ ls
        fetch https://example.com/
        other mcp__server__tool
        mcp tracker/search
        ",
        expect![[r#"
            read src/main.rs
                allow
            write docs/new.md
                allow
            read ../outside.txt
                ask: `BASE/outside.txt` (`../outside.txt`) is outside of the project
            read /etc/passwd
                ask: `/etc/passwd` is outside of the project
            read .env
                ask: `.env` is a protected file
            read ./docs/../.ENV
                ask: `.ENV` (`./docs/../.ENV`) is a protected file
            write prose.toml
                ask: `prose.toml` is a protected file
            write .claude/settings.json
                ask: `.claude/settings.json` is a protected file
            read .claude/settings.json
                allow
            read .prose/runs/1/bindings/a.md
                allow
            read .prose/runs/1/program.prose
                ask: `.prose/runs/1/program.prose` is a protected file
            write .prose/runs/1/bindings/b.md
                allow
            write .prose/runs/1/bindings/a.md
                ask: `.prose/runs/1/bindings/a.md` is a protected file
            search src
                allow
            $ ls
                deny: no rule allows shell commands; write `bash: allow`, or patterns such as `execute: ["git log*"]`, below `permissions:` of the agent or in `[run.permissions]` in `prose.toml`
            fetch https://example.com/
                ask: no rule for `network`
            other mcp__server__tool
                ask: the tool `mcp__server__tool` is not known
            mcp tracker/search
                ask: no rule for `mcp`; write `mcp: ["tracker"]` below `permissions:` of the agent or in `[run.permissions]` in `prose.toml`
        "#]],
    );
}

#[test]
fn rules_about_files_hold_wherever_a_path_leads() {
    check(
        "read: [\"src/**\", \"!src/secret/**\", \"docs/*.md\"]\nwrite: [\"docs/\"]",
        "
        read src/main.rs
        read ROOT/src/main.rs
        read src/secret/x
        read SRC/../src/Secret/x
        read docs/a.md
        read docs/deep/a.md
        read docs/../Cargo.toml
        read /etc/passwd
        write docs/new/file.md
        write docs/../src/main.rs
        write docs2/a.md
        search src
        search docs
        search .
        ",
        expect![[r#"
            read src/main.rs
                allow
            read ROOT/src/main.rs
                allow
            read src/secret/x
                deny: `read: ["src/**", "!src/secret/**", "docs/*.md"]` does not cover `src/secret/x`
            read SRC/../src/Secret/x
                deny: `read: ["src/**", "!src/secret/**", "docs/*.md"]` does not cover `src/Secret/x` (`SRC/../src/Secret/x`)
            read docs/a.md
                allow
            read docs/deep/a.md
                deny: `read: ["src/**", "!src/secret/**", "docs/*.md"]` does not cover `docs/deep/a.md`
            read docs/../Cargo.toml
                deny: `read: ["src/**", "!src/secret/**", "docs/*.md"]` does not cover `Cargo.toml` (`docs/../Cargo.toml`)
            read /etc/passwd
                deny: `read: ["src/**", "!src/secret/**", "docs/*.md"]` does not cover `/etc/passwd`
            write docs/new/file.md
                allow
            write docs/../src/main.rs
                deny: `write: ["docs/"]` does not cover `src/main.rs` (`docs/../src/main.rs`)
            write docs2/a.md
                deny: `write: ["docs/"]` does not cover `docs2/a.md`
            search src
                deny: `read: ["src/**", "!src/secret/**", "docs/*.md"]` does not cover `src`
            search docs
                deny: `read: ["src/**", "!src/secret/**", "docs/*.md"]` does not cover `docs`
            search .
                deny: `read: ["src/**", "!src/secret/**", "docs/*.md"]` does not cover `.`
        "#]],
    );
}

#[cfg(unix)]
#[test]
fn links_are_followed() {
    check(
        "read: [\"**\"]\nwrite: [\"**\"]",
        "
        read link.txt
        read up/outside.txt
        read up/project/src/main.rs
        read settings.txt
        write dangling.txt
        write up/new.txt
        ",
        expect![[r#"
            read link.txt
                deny: `read: ["**"]` does not cover `BASE/outside.txt` (`link.txt`)
            read up/outside.txt
                deny: `read: ["**"]` does not cover `BASE/outside.txt` (`up/outside.txt`)
            read up/project/src/main.rs
                allow
            read settings.txt
                ask: `.env` (`settings.txt`) is a protected file
            write dangling.txt
                deny: `write: ["**"]` does not cover `BASE/not-there-yet.txt` (`dangling.txt`)
            write up/new.txt
                deny: `write: ["**"]` does not cover `BASE/new.txt` (`up/new.txt`)
        "#]],
    );
}

#[test]
fn patterns_of_other_folders_are_written_out() {
    check(
        "read: [\"../*.txt\"]\nwrite: []",
        "
        read ../outside.txt
        read src/main.rs
        write src/main.rs
        write .prose/runs/1/bindings/b.md
        read .prose/runs/1/bindings/a.md
        ",
        expect![[r#"
            read ../outside.txt
                allow
            read src/main.rs
                deny: `read: ["../*.txt"]` does not cover `src/main.rs`
            write src/main.rs
                deny: `write: []`
            write .prose/runs/1/bindings/b.md
                deny: `write: []`
            read .prose/runs/1/bindings/a.md
                allow
        "#]],
    );
}

#[test]
fn a_pattern_covers_each_command_of_a_compound_one() {
    check(
        "bash: [\"git log*\", \"cargo test *\", \"scripts/*.sh\", \"cat *\"]",
        r"
        $ git log
        $ git log --oneline -n 5
        $ git log --output=f
        $ git log --outp f
        $ git log > f
        $ git log > ../f
        $ git log > .env
        $ git log 2>&1 >/dev/null
        $ git -c core.pager=evil log
        $ git log; rm -rf x
        $ git log && rm x
        $ git log || rm x
        $ git log | sh
        $ git log & rm x
        $ git log\nrm x
        $ (git log; rm x)
        $ git log $(rm x)
        $ git log `rm x`
        $ git log <(rm x)
        $ git log $X
        $ git log *
        $ GIT_PAGER=evil git log
        $ sh -c 'git log; rm x'
        $ bash -lc 'git log'
        $ bash -c $X
        $ echo x | xargs git log
        $ find . -exec git log {} +
        $ env git log
        $ env A=1 git log
        $ nohup git log
        $ eval 'git log'
        $ cat .env
        $ cat src/main.rs
        $ cat ../outside.txt
        $ cat .e*
        $ cat <<EOF\n$(rm x)\nEOF
        $ cat <<'EOF'\n$(rm x)\nEOF
        $ cat <<EOF\nhello\nEOF\nrm x
        $ scripts/test.sh --fast
        $ ./scripts/../scripts/test.sh
        $ scripts/../evil.sh
        $ /usr/bin/git log
        $ cargo test --workspace
        $ cargo test --config x=y
        $ if true; then git log; fi
        $ gi\t log
        $ 'git' log
        $ git 'log'
        $ git log # ; rm x
        $ echo hello > docs/a.md
        $ cd src && git log
        $ cd .. && git log
        ",
        expect![[r#"
            $ git log
                allow
            $ git log --oneline -n 5
                allow
            $ git log --output=f
                ask: `--output=f` of `git log --output=f` can write files or run programs
            $ git log --outp f
                ask: `--outp` of `git log --outp f` can write files or run programs
            $ git log > f
                allow
            $ git log > ../f
                ask: `BASE/f` (`../f`) is outside of the project
            $ git log > .env
                ask: `.env` is a protected file
            $ git log 2>&1 >/dev/null
                allow
            $ git -c core.pager=evil log
                deny: `bash: ["git log*", "cargo test *", "scripts/*.sh", "cat *"]` does not cover `git -c core.pager=evil log`
            $ git log; rm -rf x
                deny: `bash: ["git log*", "cargo test *", "scripts/*.sh", "cat *"]` does not cover `rm -rf x`
            $ git log && rm x
                deny: `bash: ["git log*", "cargo test *", "scripts/*.sh", "cat *"]` does not cover `rm x`
            $ git log || rm x
                deny: `bash: ["git log*", "cargo test *", "scripts/*.sh", "cat *"]` does not cover `rm x`
            $ git log | sh
                deny: `bash: ["git log*", "cargo test *", "scripts/*.sh", "cat *"]` does not cover `sh`
            $ git log & rm x
                deny: `bash: ["git log*", "cargo test *", "scripts/*.sh", "cat *"]` does not cover `rm x`
            $ git log\nrm x
                deny: `bash: ["git log*", "cargo test *", "scripts/*.sh", "cat *"]` does not cover `rm x`
            $ (git log; rm x)
                deny: `bash: ["git log*", "cargo test *", "scripts/*.sh", "cat *"]` does not cover `rm x`
            $ git log $(rm x)
                deny: `bash: ["git log*", "cargo test *", "scripts/*.sh", "cat *"]` does not cover `rm x`
            $ git log `rm x`
                deny: `bash: ["git log*", "cargo test *", "scripts/*.sh", "cat *"]` does not cover `rm x`
            $ git log <(rm x)
                deny: `bash: ["git log*", "cargo test *", "scripts/*.sh", "cat *"]` does not cover `rm x`
            $ git log $X
                ask: a value in `git log $X` is known only when it runs
            $ git log *
                ask: `*` may expand to an option
            $ GIT_PAGER=evil git log
                ask: variables are set for `git log`
            $ sh -c 'git log; rm x'
                deny: `bash: ["git log*", "cargo test *", "scripts/*.sh", "cat *"]` does not cover `rm x`
            $ bash -lc 'git log'
                allow
            $ bash -c $X
                deny: `bash: ["git log*", "cargo test *", "scripts/*.sh", "cat *"]` does not cover `bash -c $X`
            $ echo x | xargs git log
                deny: `bash: ["git log*", "cargo test *", "scripts/*.sh", "cat *"]` does not cover `xargs git log`
            $ find . -exec git log {} +
                deny: `bash: ["git log*", "cargo test *", "scripts/*.sh", "cat *"]` does not cover `find . -exec git log {} +`
            $ env git log
                allow
            $ env A=1 git log
                deny: `bash: ["git log*", "cargo test *", "scripts/*.sh", "cat *"]` does not cover `env A=1 git log`
            $ nohup git log
                allow
            $ eval 'git log'
                deny: `bash: ["git log*", "cargo test *", "scripts/*.sh", "cat *"]` does not cover `eval 'git log'`
            $ cat .env
                ask: `.env` is a protected file
            $ cat src/main.rs
                allow
            $ cat ../outside.txt
                ask: `BASE/outside.txt` (`../outside.txt`) is outside of the project
            $ cat .e*
                ask: `.env` (`ROOT/.env`) is a protected file
            $ cat <<EOF\n$(rm x)\nEOF
                ask: a substitution in a here-document cannot be compared with patterns
            $ cat <<'EOF'\n$(rm x)\nEOF
                allow
            $ cat <<EOF\nhello\nEOF\nrm x
                deny: `bash: ["git log*", "cargo test *", "scripts/*.sh", "cat *"]` does not cover `rm x`
            $ scripts/test.sh --fast
                allow
            $ ./scripts/../scripts/test.sh
                allow
            $ scripts/../evil.sh
                deny: `bash: ["git log*", "cargo test *", "scripts/*.sh", "cat *"]` does not cover `scripts/../evil.sh`
            $ /usr/bin/git log
                deny: `bash: ["git log*", "cargo test *", "scripts/*.sh", "cat *"]` does not cover `/usr/bin/git log`
            $ cargo test --workspace
                allow
            $ cargo test --config x=y
                ask: `--config` of `cargo test --config x=y` can write files or run programs
            $ if true; then git log; fi
                ask: `if` cannot be compared with patterns
            $ gi\t log
                allow
            $ 'git' log
                allow
            $ git 'log'
                allow
            $ git log # ; rm x
                allow
            $ echo hello > docs/a.md
                allow
            $ cd src && git log
                allow
            $ cd .. && git log
                ask: `cd` to a folder that is not known to be in the project
        "#]],
    );
}

#[test]
fn an_allowed_shell_still_keeps_the_other_rules() {
    check(
        "bash: allow\nread: [\"src/**\"]\nwrite: [\"docs/**\"]\nnetwork: deny",
        r"
        $ cat src/main.rs
        $ cat src/main.rs Cargo.toml
        $ cat src/../Cargo.toml
        $ (cd src && cat main.rs)
        $ cd src && cat main.rs
        $ (cd src && cat ../Cargo.toml)
        $ grep -r x src
        $ grep -r x .
        $ head -n 5 src/main.rs
        $ cat src/*.rs
        $ cat $FILE
        $ echo hi > docs/a.md
        $ echo hi > src/main.rs
        $ echo hi &> src/main.rs
        $ echo hi | tee src/main.rs
        $ cp src/main.rs docs/main.rs
        $ cp src/main.rs src/copy.rs
        $ rm -rf src
        $ curl https://example.com
        $ python3 script.py
        $ A=1 cat src/main.rs
        ",
        expect![[r#"
            $ cat src/main.rs
                allow
            $ cat src/main.rs Cargo.toml
                deny: `read: ["src/**"]` does not cover `Cargo.toml`
            $ cat src/../Cargo.toml
                deny: `read: ["src/**"]` does not cover `Cargo.toml` (`src/../Cargo.toml`)
            $ (cd src && cat main.rs)
                allow
            $ cd src && cat main.rs
                ask: `cd` outside of parentheses; write `(cd FOLDER && …)`
            $ (cd src && cat ../Cargo.toml)
                deny: `read: ["src/**"]` does not cover `Cargo.toml` (`../Cargo.toml`)
            $ grep -r x src
                allow
            $ grep -r x .
                deny: `read: ["src/**"]` does not cover `.`
            $ head -n 5 src/main.rs
                allow
            $ cat src/*.rs
                allow
            $ cat $FILE
                ask: the file `` is known only when the command runs
            $ echo hi > docs/a.md
                allow
            $ echo hi > src/main.rs
                deny: `write: ["docs/**"]` does not cover `src/main.rs`
            $ echo hi &> src/main.rs
                deny: `write: ["docs/**"]` does not cover `src/main.rs`
            $ echo hi | tee src/main.rs
                deny: `write: ["docs/**"]` does not cover `src/main.rs`
            $ cp src/main.rs docs/main.rs
                allow
            $ cp src/main.rs src/copy.rs
                deny: `write: ["docs/**"]` does not cover `src/copy.rs`
            $ rm -rf src
                deny: `write: ["docs/**"]` does not cover `src`
            $ curl https://example.com
                deny: `network: deny`
            $ python3 script.py
                ask: `python3 script.py` might break `read: ["src/**"]`
            $ A=1 cat src/main.rs
                ask: variables are set for `cat src/main.rs`
        "#]],
    );
}

#[test]
fn a_file_may_have_a_number_as_its_name() {
    check(
        "bash: allow\nread: [\"src/**\"]\nwrite: [\"docs/**\"]",
        r"
        $ touch 1
        $ rm -f 1
        $ truncate -s 0 docs/a.md
        $ truncate -s 0 1
        $ cp src/main.rs 1
        $ uniq src/main.rs
        $ uniq -f 1 src/main.rs
        $ uniq src/main.rs docs/a.md
        $ uniq src/main.rs copy
        $ uniq -c src/main.rs 1
        $ uniq -- src/main.rs 1
        $ cat -n 1
        $ cat 1
        $ grep -A 3 5 src/main.rs
        $ grep -i 5 secret
        ",
        expect![[r#"
            $ touch 1
                deny: `write: ["docs/**"]` does not cover `1`
            $ rm -f 1
                deny: `write: ["docs/**"]` does not cover `1`
            $ truncate -s 0 docs/a.md
                allow
            $ truncate -s 0 1
                deny: `write: ["docs/**"]` does not cover `1`
            $ cp src/main.rs 1
                deny: `write: ["docs/**"]` does not cover `1`
            $ uniq src/main.rs
                allow
            $ uniq -f 1 src/main.rs
                allow
            $ uniq src/main.rs docs/a.md
                allow
            $ uniq src/main.rs copy
                deny: `write: ["docs/**"]` does not cover `copy`
            $ uniq -c src/main.rs 1
                deny: `write: ["docs/**"]` does not cover `1`
            $ uniq -- src/main.rs 1
                deny: `write: ["docs/**"]` does not cover `1`
            $ cat -n 1
                deny: `read: ["src/**"]` does not cover `1`
            $ cat 1
                deny: `read: ["src/**"]` does not cover `1`
            $ grep -A 3 5 src/main.rs
                allow
            $ grep -i 5 secret
                deny: `read: ["src/**"]` does not cover `secret`
        "#]],
    );
}

#[test]
fn an_allowed_shell_without_other_rules_asks_about_protected_files() {
    check(
        "bash: allow",
        r"
        $ cargo build --release
        $ for f in *.rs; do cat $f; done
        $ cat .env
        $ cat .e*
        $ cat < .env
        $ cat settings.txt
        $ cp .env /tmp/x
        $ cat /etc/hosts
        $ echo x >> .git/hooks/pre-commit
        $ git show HEAD:.env
        $ sed -i s/a/b/ prose.toml
        $ python3 -c 'open(\'.env\')'
        $ sh -c 'cat .env'
        $ bash <<EOF\ncat .env\nEOF
        $ echo 'cat .env' | sh
        $ cat ../.env
        $ echo x > /home/ann/.ssh/authorized_keys
        $ cargo test 2>&1 | tail -n 5
        ",
        expect![[r#"
            $ cargo build --release
                allow
            $ for f in *.rs; do cat $f; done
                allow
            $ cat .env
                ask: `.env` is a protected file
            $ cat .e*
                ask: `.env` (`ROOT/.env`) is a protected file
            $ cat < .env
                ask: `.env` is a protected file
            $ cat settings.txt
                ask: `.env` (`settings.txt`) is a protected file
            $ cp .env /tmp/x
                ask: `.env` is a protected file
            $ cat /etc/hosts
                allow
            $ echo x >> .git/hooks/pre-commit
                ask: `.git/hooks/pre-commit` is a protected file
            $ git show HEAD:.env
                ask: a command names `.env`, which is a protected file
            $ sed -i s/a/b/ prose.toml
                ask: a command names `prose.toml`, which is a protected file
            $ python3 -c 'open(\'.env\')'
                ask: a command names `.env\`, which is a protected file
            $ sh -c 'cat .env'
                ask: `.env` is a protected file
            $ bash <<EOF\ncat .env\nEOF
                ask: a command names `.env`, which is a protected file
            $ echo 'cat .env' | sh
                ask: a command names `.env`, which is a protected file
            $ cat ../.env
                ask: `BASE/.env` (`../.env`) is a protected file
            $ echo x > /home/ann/.ssh/authorized_keys
                ask: `/home/ann/.ssh/authorized_keys` is a protected file
            $ cargo test 2>&1 | tail -n 5
                allow
        "#]],
    );
}

#[test]
fn a_prompt_asks_and_a_denial_denies() {
    check(
        "bash: prompt\nread: prompt\nnetwork: prompt",
        "
        $ git log
        $ cat .env
        read src/main.rs
        read .env
        fetch https://example.com
    ",
        expect![[r#"
            $ git log
                ask, as written: bash: prompt
            $ cat .env
                ask, as written: bash: prompt
            read src/main.rs
                ask, as written: read: prompt
            read .env
                ask, as written: read: prompt
            fetch https://example.com
                ask, as written: network: prompt
        "#]],
    );
    check(
        "bash: deny\nexecute: [\"git *\"]\nread: deny\nwrite: deny\nnetwork: deny",
        "
        $ git log
        read src/main.rs
        read .prose/runs/1/bindings/a.md
        write src/main.rs
        write .prose/runs/1/bindings/b.md
        fetch https://example.com
    ",
        expect![[r#"
            $ git log
                deny: `bash: deny`
            read src/main.rs
                deny: `read: deny`
            read .prose/runs/1/bindings/a.md
                allow
            write src/main.rs
                deny: `write: deny`
            write .prose/runs/1/bindings/b.md
                deny: `write: deny`
            fetch https://example.com
                deny: `network: deny`
        "#]],
    );
    check(
        "bash: allow\nexecute: []\nnetwork: []",
        "
        $ git log
        fetch https://example.com
    ",
        expect![[r#"
            $ git log
                deny: `execute: []`
            fetch https://example.com
                deny: `network: []` does not cover `https://example.com`
        "#]],
    );
}

#[test]
fn addresses_are_compared_part_by_part() {
    check(
        "network: [\"https://example.com/docs/*\", \"*.example.org\", \"http://localhost:3000/*\", \"!*.secret.example.org\"]",
        "
        fetch https://example.com/docs/a
        fetch https://example.com/docs/../admin
        fetch https://example.com/admin
        fetch http://example.com/docs/a
        fetch https://example.com.evil.com/docs/a
        fetch https://example.com@evil.com/docs/a
        fetch https://evil.com/?https://example.com/docs/a
        fetch https://api.example.org/v1
        fetch https://evil.com/x.example.org
        fetch https://api.secret.example.org/
        fetch http://localhost:3000/x
        fetch http://localhost:4000/x
        fetch https://EXAMPLE.com:443/docs/a
        fetch file:///etc/passwd
        fetch not an address
        ",
        expect![[r#"
            fetch https://example.com/docs/a
                allow
            fetch https://example.com/docs/../admin
                deny: `network: ["https://example.com/docs/*", "*.example.org", "http://localhost:3000/*", "!*.secret.example.org"]` does not cover `https://example.com/docs/../admin`
            fetch https://example.com/admin
                deny: `network: ["https://example.com/docs/*", "*.example.org", "http://localhost:3000/*", "!*.secret.example.org"]` does not cover `https://example.com/admin`
            fetch http://example.com/docs/a
                deny: `network: ["https://example.com/docs/*", "*.example.org", "http://localhost:3000/*", "!*.secret.example.org"]` does not cover `http://example.com/docs/a`
            fetch https://example.com.evil.com/docs/a
                deny: `network: ["https://example.com/docs/*", "*.example.org", "http://localhost:3000/*", "!*.secret.example.org"]` does not cover `https://example.com.evil.com/docs/a`
            fetch https://example.com@evil.com/docs/a
                deny: `network: ["https://example.com/docs/*", "*.example.org", "http://localhost:3000/*", "!*.secret.example.org"]` does not cover `https://example.com@evil.com/docs/a`
            fetch https://evil.com/?https://example.com/docs/a
                deny: `network: ["https://example.com/docs/*", "*.example.org", "http://localhost:3000/*", "!*.secret.example.org"]` does not cover `https://evil.com/?https://example.com/docs/a`
            fetch https://api.example.org/v1
                allow
            fetch https://evil.com/x.example.org
                deny: `network: ["https://example.com/docs/*", "*.example.org", "http://localhost:3000/*", "!*.secret.example.org"]` does not cover `https://evil.com/x.example.org`
            fetch https://api.secret.example.org/
                deny: `network: ["https://example.com/docs/*", "*.example.org", "http://localhost:3000/*", "!*.secret.example.org"]` does not cover `https://api.secret.example.org/`
            fetch http://localhost:3000/x
                allow
            fetch http://localhost:4000/x
                deny: `network: ["https://example.com/docs/*", "*.example.org", "http://localhost:3000/*", "!*.secret.example.org"]` does not cover `http://localhost:4000/x`
            fetch https://EXAMPLE.com:443/docs/a
                allow
            fetch file:///etc/passwd
                deny: `file:///etc/passwd` is not an address that `network: ["https://example.com/docs/*", "*.example.org", "http://localhost:3000/*", "!*.secret.example.org"]` can cover
            fetch not an address
                deny: `not an address` is not an address that `network: ["https://example.com/docs/*", "*.example.org", "http://localhost:3000/*", "!*.secret.example.org"]` can cover
        "#]],
    );
}

#[test]
fn the_files_of_a_session_are_those_that_its_task_names() {
    let run = RunFolders { root: Path::new("/p").into(), run: Some(Path::new("/p/.prose/runs/1").into()) };
    let asked = task("Say hello");
    assert!(Folders::of(&asked, &run).results.is_empty());
    let folders = Folders::of(&SessionTask { writes_result: true, ..asked }, &run);
    assert_eq!(folders.results, [Path::new("/p/.prose/runs/1/bindings/anon_001.md")]);
}

#[tokio::test]
async fn without_a_user_a_written_prompt_stops_the_run_and_a_doubt_is_denied() {
    let folder = project();
    let folders = Folders { root: folder.path().join("project"), ..Folders::default() };
    let ask = async |rules_text: &str, tool: ToolRequest| {
        permit(&Reporter::silent(), Some("clerk"), &rules(rules_text), &tool, &folders).await
    };
    let failure = ask("bash: prompt", ToolRequest::command("git log")).await.unwrap_err();
    assert_eq!(failure.kind, prose_vm::error::ErrorKind::ApprovalNeeded);
    expect!["agent `clerk` asks for permission to use `git log` (`bash: prompt`), but no one is there to answer; resume the run at a terminal or in an editor, or replace `prompt` by `allow`, `deny` or patterns"].assert_eq(&failure.message);
    assert!(!ask("", ToolRequest::file(ToolKind::Read, ".env")).await.unwrap());
    assert!(ask("", ToolRequest::file(ToolKind::Read, "src/main.rs")).await.unwrap());
}

#[test]
fn rules_about_mcp_name_servers_and_tools() {
    check(
        "mcp: [\"tracker/search_*\", \"docs\"]\nnetwork: deny\nwrite: deny",
        "
        mcp tracker/search_open
        mcp tracker/delete
        mcp docs/anything
        other mcp__other__tool
        ",
        expect![[r#"
            mcp tracker/search_open
                allow
            mcp tracker/delete
                deny: `mcp: ["tracker/search_*", "docs"]` does not cover `tracker/delete`
            mcp docs/anything
                allow
            other mcp__other__tool
                ask: the tool `mcp__other__tool` is not known
        "#]],
    );
    check(
        "mcp: deny",
        "mcp tracker/search_open",
        expect![[r#"
        mcp tracker/search_open
            deny: `mcp: deny`
    "#]],
    );
    check(
        "mcp: prompt",
        "mcp tracker/search_open",
        expect![[r#"
        mcp tracker/search_open
            ask, as written: mcp: prompt
    "#]],
    );
    check(
        "mcp: allow",
        "mcp tracker/search_open",
        expect![[r#"
        mcp tracker/search_open
            allow
    "#]],
    );
}

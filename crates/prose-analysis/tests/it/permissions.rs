//! Permissions in the default profile: kinds, values, patterns, and those that cannot hold together.

use crate::support::{check, check_fixes, check_related};
use expect_test::expect;

#[test]
fn permissions() {
    check(
        r#"
        const folder = "docs/**"
        agent writer:
          prompt: "Write"
          permissions:
            read: [folder, 3, { a: 1 }]
        #                  ^ error[E016] a pattern is a string
        #                     ^^^^^^^^ error[E016] a pattern is a string
            wriet: ["docs/**"]
        #   ^^^^^ info[W008] did you mean `write`?
            bash: false
        #         ^^^^^ warning[W009] did you mean `deny`?
            network: dney
        #            ^^^^ warning[W009] did you mean `deny`?
            execute: "*.sh"
        #            ^^^^^^ warning[W009] a single pattern is written in brackets too
            database: "deny"
        #   ^^^^^^^^ info[W008] the reference knows no kind of permission `database`
        #             ^^^^^^ warning[W009] `deny` is written without quotes
            web: [docs]
        #   ^^^ info[W008]
        #         ^^^^ error[E119] there is no variable `docs`
        session: writer
        "#,
    );
}

#[test]
fn fixes_of_permissions() {
    check_fixes(
        "agent a:\n  prompt: \"x\"\n  permissions: deny\nsession: a\n",
        expect![[r#"
            Write a line for each kind:
            agent a:
              prompt: "x"
              permissions:
                read: deny
                write: deny
                execute: deny
                bash: deny
                network: deny
            session: a
        "#]],
    );
    check_fixes(
        "agent a:\n  prompt: \"x\"\n  permissions: { read: [\"*.md\"], \"bash\": \"deny\" }\nsession: a\n",
        expect![[r#"
            Write a line for each kind:
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
        #         ^^^^ warning[W123] `read: deny` contradicts the permission to write
            write: allow
        session "Two"
          permissions:
            filesystem: deny
        #   ^^^^^^^^^^ info[W008]
        #               ^^^^ warning[W123] `filesystem: deny` contradicts the permission to read
            read: ["*.md"]
            write: ["*.md"]
        session "Three"
          permissions:
            read: ["*.md", "src/**", "*.md", "!src/**"]
        #                            ^^^^^^ warning[W123] `*.md` is given already
        #                                    ^^^^^^^^^ warning[W123] `!src/**` takes back all that `src/**` gives
        session "Four"
          permissions:
            read: deny
            write: []
        session "Five"
          permissions:
            read: ["src/**", "!src/secret/**", "docs/*.md", "docs/*.txt"]
            write: deny
            network: ["*", "https://example.com/*"]
        #                  ^^^^^^^^^^^^^^^^^^^^^^^ warning[W123] gives nothing that `*` does not give
        "#,
    );
    check_related(
        "session \"x\"\n  permissions:\n    read: [\"a\"]\n    write: allow\n    filesystem: deny # prose: ignore[W008]\n",
        expect![[r#"
            line 3, `read`: `read` is permitted here
            line 4, `write`: `write` is permitted here
        "#]],
    );
}

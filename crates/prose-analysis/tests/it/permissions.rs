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

//! The rows of the reference's tables of rules about skills and permissions: a wrong and a right program each, in the strict profile.

use crate::support::{check_rule, check_strict};

/// Permissions that are right.
const GRANTED: &str = r#"
        use "alice/search"
        agent writer:
          prompt: "Write"
          skills: ["search"]
        session: writer
        "#;

/// Skills: must be an array. E013.
#[test]
fn skills_without_array() {
    check_rule(
        r#"
        use "alice/search"
        agent writer:
          prompt: "Write"
          skills: "search"
        #         ^^^^^^^^ error[E013] `skills` must be an array: `skills: ["web-search"]`
        session: writer
        "#,
        GRANTED,
    );
}

/// Skills: a name must be a string. E014.
#[test]
fn skill_without_quotes() {
    check_rule(
        r#"
        use "alice/search"
        agent writer:
          prompt: "Write"
          skills: ["search", search, 3]
        #                    ^^^^^^ error[E014] `"search"`
        #                            ^ error[E014] a string in quotes
        session: writer
        "#,
        GRANTED,
    );
}

/// Skills: not imported. W007.
#[test]
fn skill_that_is_not_imported() {
    check_strict(
        r#"
        agent writer:
          prompt: "Write"
          skills: ["search"]
        #           ^^^^^^ warning[W007] skill `search` is not imported; add `use "handle/search"` unless the host provides it
        session: writer
        "#,
    );
    // The reference brings skills in with `use`, by the last part of the path or by a name behind `as`.
    check_strict(
        r#"
        use "@alice/search"
        use "@alice/summing-up" as summarizer
        agent writer:
          prompt: "Write"
          skills: ["search", "summarizer"]
        session: writer
        "#,
    );
}

/// Skills: empty array. W010.
#[test]
fn empty_skills() {
    check_rule(
        r#"
        agent writer:
          prompt: "Write"
          skills: []
        #         ^^ warning[W010]
        session: writer
        "#,
        GRANTED,
    );
}

/// Permissions: must be a block. E015.
#[test]
fn permissions_without_block() {
    check_rule(
        r#"
        agent writer:
          prompt: "Write"
          permissions: deny
        #              ^^^^ error[E015] `permissions` must be a block with one permission per line, such as `bash: deny`
        session: writer
        "#,
        r#"
        agent writer:
          prompt: "Write"
          permissions:
            bash: deny
        session: writer
        "#,
    );
}

/// Permissions: a pattern must be a string. E016.
#[test]
fn permission_pattern_without_quotes() {
    check_rule(
        r#"
        const folder = "docs/**"
        agent writer:
          prompt: "Write"
          permissions:
            read: [3]
        #          ^ error[E016] a pattern must be a string in quotes, such as `"docs/**"`
            write: [folder]
        #           ^^^^^^ error[E016] the reference requires a string as a pattern; interpolate a variable: `"{name}"`
        session: writer
        "#,
        r#"
        agent writer:
          prompt: "Write"
          permissions:
            read: ["*.md", "*.txt"]
            write: ["output/"]
        session: writer
        "#,
    );
}

/// Permissions: unknown type. W008.
#[test]
fn unknown_kind_of_permission() {
    check_rule(
        r#"
        agent writer:
          prompt: "Write"
          permissions:
            filesystem: deny
        #   ^^^^^^^^^^ warning[W008] unknown permission `filesystem`; the host may not support it
        session: writer
        "#,
        r#"
        agent writer:
          prompt: "Write"
          permissions:
            read: ["*.md"]
            write: ["*.md"]
            execute: ["*.sh"]
            bash: deny
            network: allow
        session: writer
        "#,
    );
}

/// Permissions: unknown value. W009.
#[test]
fn unknown_permission_value() {
    check_rule(
        r#"
        agent writer:
          prompt: "Write"
          permissions:
            bash: maybe
        #         ^^^^^ warning[W009] unknown permission value `maybe`; use `allow`, `deny`, `prompt` or an array of patterns
        session: writer
        "#,
        r#"
        agent writer:
          prompt: "Write"
          permissions:
            bash: prompt
            network: deny
        session: writer
        "#,
    );
}

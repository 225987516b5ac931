//! Variables, blocks and their parameters.

use crate::support::check_rule;

/// Variables: Duplicate variable name. E019
#[test]
fn variables_duplicate_variable_name() {
    check_rule(
        r#"
        let draft = session "Write"
        let draft = session "Write again"
        #   ^^^^^ error[E019] variable `draft` is already declared; assign to it with `draft = …`
        output draft
        "#,
        r#"
        let draft = session "Write"
        let second = session "Write again"
        output [draft, second]
        "#,
    );
}

/// Variables: Duplicate variable name (flat namespace). E019
#[test]
fn variables_duplicate_variable_name_flat_namespace() {
    check_rule(
        r#"
        block first:
          let draft = session "Write"
          output draft

        block second:
          let draft = session "Write again"
        #     ^^^^^ error[E019] `draft` is also declared elsewhere in the program
          output draft

        do first
        do second
        "#,
        r#"
        block first:
          let draft = session "Write"
          output draft

        block second:
          let text = session "Write again"
          output text

        do first
        do second
        "#,
    );
}

/// Variables: Const reassignment. E121
#[test]
fn variables_const_reassignment() {
    check_rule(
        r#"
        const limit = 3
        limit = 4
        #<^^^^^ error[E121] cannot assign to constant `limit`; declare it with `let` to change it
        session "Write {limit} lines"
        "#,
        r#"
        let limit = 3
        limit = 4
        session "Write {limit} lines"
        "#,
    );
}

/// Variables: Undefined variable reference. E119
#[test]
fn variables_undefined_variable_reference() {
    check_rule(
        r#"
        let copy = draft
        #          ^^^^^ error[E119] variable `draft` is not defined
        output copy
        "#,
        r#"
        let draft = session "Write"
        let copy = draft
        output copy
        "#,
    );
}

/// Variables: Variable conflicts with agent. E122
#[test]
fn variables_variable_conflicts_with_agent() {
    check_rule(
        r#"
        agent writer:
          prompt: "Write"

        let writer = session: writer
        #   ^^^^^^ error[E122] `writer` is also the name of an agent
        output writer
        "#,
        r#"
        agent writer:
          prompt: "Write"

        let text = session: writer
        output text
        "#,
    );
}

/// Variables: Undefined context variable. E119
#[test]
fn variables_undefined_context_variable() {
    check_rule(
        r#"
        session "Sum up"
          context: findings
        #          ^^^^^^^^ error[E119] variable `findings` is not defined
        "#,
        r#"
        let findings = session "Research"
        session "Sum up"
          context: findings
        "#,
    );
}

/// Blocks and their parameters: Undefined block reference. E117
#[test]
fn blocks_undefined_block_reference() {
    check_rule(
        r#"
        do greet
        #  ^^^^^ error[E117] block `greet` is not defined
        "#,
        r#"
        block greet:
          session "Say hello"

        do greet
        "#,
    );
}

/// Blocks and their parameters: Duplicate block definition. E118
#[test]
fn blocks_duplicate_block_definition() {
    check_rule(
        r#"
        block greet:
          session "Say hello"

        block greet:
        #     ^^^^^ error[E118] block `greet` is already defined; rename one of them
          session "Say hi"

        do greet
        "#,
        r#"
        block greet:
          session "Say hello"

        block wave:
          session "Wave"

        do greet
        do wave
        "#,
    );
}

/// Blocks and their parameters: Block name conflicts with agent. E123
#[test]
fn blocks_block_name_conflicts_with_agent() {
    check_rule(
        r#"
        agent greet:
          prompt: "Greet"

        block greet:
        #     ^^^^^ error[E123] `greet` is also the name of an agent
          session: greet

        do greet
        "#,
        r#"
        agent greeter:
          prompt: "Greet"

        block greet:
          session: greeter

        do greet
        "#,
    );
}

/// Blocks and their parameters: Empty block name. E005
#[test]
fn blocks_empty_block_name() {
    check_rule(
        r#"
        block:
        #    ^ error[E005] expected a block name
          session "Say hello"
        "#,
        r#"
        block greet:
          session "Say hello"

        do greet
        "#,
    );
}

/// Blocks and their parameters: Argument count mismatch. W108
#[test]
fn blocks_argument_count_mismatch() {
    check_rule(
        r#"
        block greet(name):
          session "Say hello to {name}"

        do greet("Ann", "Bob")
        #               ^^^^^ warning[W108] `greet` takes 1 argument (`name`)
        do greet
        #  ^^^^^ warning[W108] `greet` takes 1 argument (`name`)
        "#,
        r#"
        block greet(name):
          session "Say hello to {name}"

        do greet("Ann")
        "#,
    );
}

/// Blocks and their parameters: Parameter shadows outer. W106
#[test]
fn blocks_parameter_shadows_outer() {
    check_rule(
        r#"
        let name = session "Choose a name"

        block greet(name):
        #           ^^^^ warning[W106] `name` shadows a variable of the same name
          session "Say hello to {name}"

        do greet(name)
        "#,
        r#"
        let chosen = session "Choose a name"

        block greet(name):
          session "Say hello to {name}"

        do greet(chosen)
        "#,
    );
}

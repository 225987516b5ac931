//! The rows of the reference's tables of rules about strings, agents, sessions, `resume`, retries and context: a wrong and a right
//! program each, in the strict profile.

use crate::support::{check_rule, check_strict};

/// An agent that is right.
const AGENT: &str = r#"
        agent writer:
          prompt: "Write"
          persist: true
        session: writer
        resume: writer
        "#;

/// Strings: unterminated string.
#[test]
fn unterminated_string() {
    check_rule(
        r#"
        session "Say hello
        #       ^^^^^^^^^^ error[E001]
        "#,
        r#"
        session "Say hello"
        "#,
    );
}

/// Strings: unknown escape sequence.
#[test]
fn unknown_escape() {
    check_rule(
        r#"
        session "Read C:\dir"
        #               ^^ error[E002]
        "#,
        r#"
        session "Read C:\\dir and say \"hello\"\n\t\{so}"
        "#,
    );
}

/// Strings: empty string as prompt. Sessions: empty prompt. W001.
#[test]
fn empty_session_text() {
    check_rule(
        r#"
        session ""
        #       ^^ warning[W001] the text of the session is empty; describe the task
        "#,
        r#"
        let note = ""
        session "Say hello"
          context: note
        "#,
    );
}

/// Strings: undefined interpolation variable.
#[test]
fn undefined_interpolation() {
    check_rule(
        r#"
        session "Write about {topic}"
        #                     ^^^^^ error[E120]
        "#,
        r#"
        input topic: "What to write about"
        session "Write about {topic}, with {} as they are"
        "#,
    );
}

/// Agents: duplicate agent name. E006.
#[test]
fn duplicate_agent() {
    check_rule(
        r#"
        agent writer:
          prompt: "Write"
        agent writer:
        #     ^^^^^^ error[E006]
          prompt: "Write well"
        session: writer
        "#,
        r#"
        agent writer:
          prompt: "Write"
        agent editor:
          prompt: "Edit"
        session: writer
        session: editor
        "#,
    );
}

/// Agents: invalid model value. E008.
#[test]
fn invalid_model() {
    check_rule(
        r#"
        agent writer:
          model: turbo
        #        ^^^^^ error[E008] unknown model `turbo`
          prompt: "Write"
        session: writer
        "#,
        r#"
        agent writer:
          model: sonnet
          prompt: "Write"
        agent editor:
          model: opus
          prompt: "Edit"
        session: writer
        session: editor
          model: haiku
        "#,
    );
}

/// Agents: empty prompt property. W004.
#[test]
fn empty_prompt_of_an_agent() {
    check_rule(
        r#"
        agent writer:
          prompt: ""
        #         ^^ warning[W004] the prompt is empty; describe the agent and how it works
        session: writer
        "#,
        r#"
        agent writer:
          prompt: "Write"
        session: writer
        "#,
    );
}

/// Agents: duplicate property. E009.
#[test]
fn duplicate_property_of_an_agent() {
    check_rule(
        r#"
        agent writer:
          model: opus
          prompt: "Write"
          model: haiku
        # ^^^^^ error[E009] property `model` is already set
        session: writer
        "#,
        r#"
        agent writer:
          model: opus
          prompt: "Write"
        session: writer
        "#,
    );
}

/// Agents and sessions: unknown property. W005.
#[test]
fn unknown_property() {
    check_rule(
        r#"
        agent writer:
          prompt: "Write"
          colour: red
        # ^^^^^^ warning[W005] unknown property `colour`; it has no effect
        session: writer
        "#,
        r#"
        agent writer:
          prompt: "Write"
        session: writer
          timeout: 120s
          early_exit: **nothing is left to do**
        "#,
    );
}

/// Sessions: missing prompt and agent. E003.
#[test]
fn session_without_prompt_and_agent() {
    check_strict(
        r#"
        session
        #<^^^^^^^ error[E003]
        "#,
    );
    check_rule(
        r#"
        session analysis:
        #       ^^^^^^^^ error[E003] neither an agent
          model: opus
        session "Sum up"
          context: analysis
        "#,
        r#"
        agent writer:
          prompt: "Write"
        session: writer
        session "Say hello"
        "#,
    );
}

/// Sessions: undefined agent reference. `resume`: undefined agent reference. E007.
#[test]
fn undefined_agent() {
    check_rule(
        r#"
        session: writer
        #        ^^^^^^ error[E007]
        resume: editor
        #       ^^^^^^ error[E007]
        "#,
        AGENT,
    );
}

/// Sessions: whitespace-only prompt. W002.
#[test]
fn blank_session_text() {
    check_rule(
        r#"
        session "  "
        #       ^^^^ warning[W002] the text of the session is only whitespace; describe the task
        "#,
        r#"
        session " Say hello "
        "#,
    );
}

/// Sessions: prompt of more than 10,000 characters. W003.
#[test]
fn long_prompt() {
    let program =
        |characters: usize, mark: &str| format!("session \"\"\"{}\"\"\"\n{mark}", "é".repeat(characters));
    check_strict(&program(10_001, "#       ^^^ warning[W003] 10,001 characters\n"));
    check_strict(&program(10_000, ""));
}

/// Sessions: duplicate property. E009.
#[test]
fn duplicate_property_of_a_session() {
    check_rule(
        r#"
        session "Say hello"
          retry: 3
          retry: 5
        # ^^^^^ error[E009] property `retry` is already set
        "#,
        r#"
        session "Say hello"
          retry: 3
          backoff: linear
        "#,
    );
}

/// `resume`: on an agent that is not persistent. E017.
#[test]
fn resumed_agent_without_memory() {
    check_rule(
        r#"
        agent writer:
          prompt: "Write"
        session: writer
        resume: writer
        #       ^^^^^^ error[E017]
        "#,
        r#"
        agent writer:
          prompt: "Write"
          persist: project
        session: writer
        resume: writer
        "#,
    );
}

/// `resume`: with no existing memory. E018.
#[test]
fn resume_before_the_first_session() {
    check_rule(
        r#"
        agent writer:
          prompt: "Write"
          persist: true
        resume: writer
        #       ^^^^^^ error[E018]
        "#,
        AGENT,
    );
}

/// `resume`: `session:` of a persistent agent with memory. W011.
#[test]
fn session_that_ignores_memory() {
    check_rule(
        r#"
        agent writer:
          prompt: "Write"
          persist: true
        session: writer
        session: writer
        #        ^^^^^^ warning[W011]
        "#,
        AGENT,
    );
}

/// When a block runs is not known, so its sessions start no memory that one behind it would drop.
#[test]
fn a_session_after_a_block_with_one() {
    check_strict(
        r#"
        agent writer:
          prompt: "Write"
          persist: true
        block draft:
          session: writer
        session: writer
        do draft
        "#,
    );
}

/// Agents: `persist:` is `true`, `project` or a string.
#[test]
fn invalid_persist() {
    check_rule(
        r#"
        agent writer:
          prompt: "Write"
          persist: forever
        #          ^^^^^^^ error[E132] unknown kind of memory `forever`; use `true`, `false`, `project`, `user` or a path in quotes
        session: writer
        "#,
        r#"
        agent writer:
          prompt: "Write"
          persist: ".prose/custom/"
        session: writer
        "#,
    );
}

/// Context: an item of an array that is no name. E136.
#[test]
fn context_array_of_more_than_names() {
    check_rule(
        r#"
        let note = session "Take a note"
        session "Sum up"
          context: [note, "a text", note.title]
        #                 ^^^^^^^^ error[E136] an array in `context:` must hold names of variables; bind this with `let` and pass its name
        #                           ^^^^^^^^^^ error[E136] an array in `context:` must hold names of variables; bind this with `let` and pass its name
        "#,
        r#"
        let note = session "Take a note"
        let other = session "Take another"
        session "Sum up"
          context: [note, other]
        "#,
    );
}

/// Retry: the count is positive. E112.
#[test]
fn retry_of_zero() {
    check_rule(
        r#"
        session "Try"
          retry: 0
        #        ^ error[E112]
        "#,
        r#"
        session "Try"
          retry: 1
        "#,
    );
}

/// Retry: the count is a whole number. E112 for a fraction, E137 for what is no number.
#[test]
fn retry_that_is_no_whole_number() {
    check_rule(
        r#"
        session "Try"
          retry: 1.5
        #        ^^^ error[E112]
        session "Try again"
          retry: "three"
        #        ^^^^^^^ error[E137] `retry` must be a number of retries, such as `retry: 3`
        "#,
        r#"
        session "Try"
          retry: 3
        "#,
    );
}

/// Retry: more than ten. W109.
#[test]
fn many_retries() {
    check_rule(
        r#"
        session "Try"
          retry: 11
        #        ^^ warning[W109] 11 retries are too many; a session that failed 10 times rarely succeeds
        "#,
        r#"
        session "Try"
          retry: 10
        "#,
    );
}

/// Retry: invalid backoff strategy. E130.
#[test]
fn invalid_backoff() {
    check_rule(
        r#"
        session "Try"
          retry: 3
          backoff: quadratic
        #          ^^^^^^^^^ error[E130] unknown backoff `quadratic`; use `none`, `linear` or `exponential`
        "#,
        r#"
        session "One"
          retry: 3
          backoff: none
        session "Two"
          retry: 3
          backoff: "linear"
        session "Three"
          retry: 3
          backoff: exponential
        "#,
    );
}

/// Retry: on an agent. W110.
#[test]
fn retry_on_an_agent() {
    check_rule(
        r#"
        agent writer:
          prompt: "Write"
          retry: 3
        # ^^^^^ warning[W110] belongs to a session
        session: writer
        "#,
        r#"
        agent writer:
          prompt: "Write"
        session: writer
          retry: 3
        "#,
    );
}

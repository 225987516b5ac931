//! What sessions are told (R25 to R30).

use expect_test::{Expect, expect};

use crate::support::{Setup, run_with};

const OK: &str = "[[session]]\nreply = \"ok\"";

/// What the last session of a program is told.
#[track_caller]
fn check_prompt(program: &str, change: impl FnOnce(&mut Setup), expected: Expect) {
    let ran = run_with(program, OK, change);
    let session = ran.sessions().pop().unwrap_or_else(|| panic!("{}", ran.story()));
    let system =
        session.system.as_ref().map_or(String::new(), |system| format!("\n=== system ===\n{system}"));
    expected.assert_eq(&format!("{}{system}\n", session.prompt));
}

#[test]
fn r025_text_and_prompt_of_a_session_are_put_together() {
    check_prompt(
        "session \"Review\"\n  prompt: \"Look at the tests\"\n",
        |_| {},
        expect![[r#"
        Review

        Look at the tests
    "#]],
    );
}

#[test]
fn the_skills_of_a_session_are_named_to_its_agent() {
    check_prompt(
        "agent a:\n  model: opus\n  skills: [\"unused\"]\nsession: a\n  prompt: \"Look\"\n  skills: [\"web-search\", \"pdf\"]\n",
        |_| {},
        expect![[r#"
            Look

            Skills to load: web-search, pdf

            Guidelines:
            - You are one step of a program. What stands above is all that you know of it.
            - Name places, numbers and names exactly: others go on with what you say, and have not seen what you saw.
            - Say a decision on a line `DECISION: …`, with a line `RATIONALE: …`.
            - Say what should be watched on a line `CONCERN: …`, with a line `SEVERITY: low`, `medium` or `high`.
        "#]],
    );
}

#[test]
fn r025_without_a_text_the_agents_prompt_is_the_task() {
    check_prompt(
        "agent a:\n  prompt: \"You review\"\nsession: a\n",
        |_| {},
        expect![[r#"
            You review

            Guidelines:
            - You are one step of a program. What stands above is all that you know of it.
            - Name places, numbers and names exactly: others go on with what you say, and have not seen what you saw.
            - Say a decision on a line `DECISION: …`, with a line `RATIONALE: …`.
            - Say what should be watched on a line `CONCERN: …`, with a line `SEVERITY: low`, `medium` or `high`.
        "#]],
    );
}

#[test]
fn r026_the_agents_prompt_is_the_system_part_of_a_session_with_a_text() {
    check_prompt(
        "agent a:\n  prompt: \"You review\"\nsession: a\n  prompt: \"Review this\"\n",
        |_| {},
        expect![[r#"
            Review this

            Guidelines:
            - You are one step of a program. What stands above is all that you know of it.
            - Name places, numbers and names exactly: others go on with what you say, and have not seen what you saw.
            - Say a decision on a line `DECISION: …`, with a line `RATIONALE: …`.
            - Say what should be watched on a line `CONCERN: …`, with a line `SEVERITY: low`, `medium` or `high`.
            === system ===
            You review
        "#]],
    );
}

#[test]
fn r028_parts_of_a_prompt_by_value() {
    check_prompt(
        r#"
agent a:
  prompt: "You work"
  persist: true
block outer():
  do inner()
block inner():
  let notes = session "Notes"
  let r = resume: a
    prompt: "Go on"
    context: notes
do outer()
"#,
        |setup| setup.memory("agents/a/", "# Agent Memory: a\n\n## Current Understanding\n\nTwo pages.\n", 2),
        expect![[r###"
            ## Agent Memory: a

            --- 9cd3c057c7
            ## Current Understanding

            Two pages.
            --- 9cd3c057c7

            Go on

            Context provided:
            --- 9cd3c057c7
            notes: "ok"
            --- 9cd3c057c7

            Execution scope:
              execution_id: 2
              block: inner
              depth: 2
              parent_execution_id: 1

            Guidelines:
            - You are one step of a program. What stands above is all that you know of it.
            - Name places, numbers and names exactly: others go on with what you say, and have not seen what you saw.
            - Say a decision on a line `DECISION: …`, with a line `RATIONALE: …`.
            - Say what should be watched on a line `CONCERN: …`, with a line `SEVERITY: low`, `medium` or `high`.

            Your memory starts with the line `# Agent Memory: a` and has the sections `## Current Understanding`, `## Decisions Made` (a line `- date: decision` each) and `## Open Concerns`; other sections stay as they are. Keep what you will need later in full: places, numbers, names, decisions with their reasons. Leave out how you came to them. When it grows long, keep the last two or three sessions in full and shorten what is older. Your result and your memory are two things: write both.

            End your reply with your new memory and a record of this session, each behind a line of its own:
            === MEMORY 9cd3c057c7 ===
            [your memory from now on]
            === SEGMENT 9cd3c057c7 ===
            - Reviewed: …
            - Found: …
            - Decided: …
            - Next: …
            === system ===
            You work
        "###]],
    );
}

#[test]
fn r028_parts_of_a_prompt_by_reference() {
    check_prompt(
        r#"
agent a:
  prompt: "You work"
  persist: true
block outer():
  do inner()
block inner():
  let notes = session "Notes"
  let r = resume: a
    prompt: "Go on"
    context: notes
do outer()
"#,
        |setup| {
            setup.with_files();
            setup.memory("agents/a/", "# Agent Memory: a\n", 2);
        },
        expect![[r#"
            Your memory is at:
            .prose/runs/20260115-143052-a7b3c9/agents/a/memory.md

            Read it first to understand your prior context. When done, update it
            with your compacted state following the guidelines in primitives/session.md.

            Also write your segment record to:
            .prose/runs/20260115-143052-a7b3c9/agents/a/a-003.md

            Go on

            Context (by reference):
            - notes: .prose/runs/20260115-143052-a7b3c9/bindings/notes__2.md

            Read these files to access the content. For large bindings, read selectively.

            Execution scope:
              execution_id: 2
              block: inner
              depth: 2
              parent_execution_id: 1

            Guidelines:
            - You are one step of a program. What stands above is all that you know of it.
            - Name places, numbers and names exactly: others go on with what you say, and have not seen what you saw.
            - Say a decision on a line `DECISION: …`, with a line `RATIONALE: …`.
            - Say what should be watched on a line `CONCERN: …`, with a line `SEVERITY: low`, `medium` or `high`.

            Write your output to:
              .prose/runs/20260115-143052-a7b3c9/bindings/r__2.md

            Format:
            # r

            kind: let
            execution_id: 2

            source:
            ```prose
            let r = resume: a
              prompt: "Go on"
              context: notes
            ```

            ---

            [Your output here]

            Then return only a confirmation, not the content:
            Binding written: r
            Location: .prose/runs/20260115-143052-a7b3c9/bindings/r__2.md
            Execution ID: 2
            Summary: [1 or 2 sentences about the result]

            Your memory starts with the line `# Agent Memory: a` and has the sections `## Current Understanding`, `## Decisions Made` (a line `- date: decision` each) and `## Open Concerns`; other sections stay as they are. Keep what you will need later in full: places, numbers, names, decisions with their reasons. Leave out how you came to them. When it grows long, keep the last two or three sessions in full and shorten what is older. Your result and your memory are two things: write both.
            === system ===
            You work
        "#]],
    );
}

#[test]
fn r029_frames_are_told_in_blocks_only() {
    check_prompt(
        "block f():\n  session \"S\"\ndo f()\n",
        |_| {},
        expect![[r#"
        S

        Execution scope:
          execution_id: 1
          block: f
          depth: 1
    "#]],
    );
    check_prompt(
        "session \"S\"\n",
        |_| {},
        expect![[r#"
        S
    "#]],
    );
}

#[test]
fn r030_agents_with_files_are_told_where_to_write() {
    check_prompt(
        "let report = session \"Write\"\n  context: []\n",
        Setup::with_files,
        expect![[r#"
        Write

        When you complete this task, write your output to:
          .prose/runs/20260115-143052-a7b3c9/bindings/report.md

        Format:
        # report

        kind: let

        source:
        ```prose
        let report = session "Write"
          context: []
        ```

        ---

        [Your output here]

        Then return only a confirmation, not the content:
        Binding written: report
        Location: .prose/runs/20260115-143052-a7b3c9/bindings/report.md
        Summary: [1 or 2 sentences about the result]
    "#]],
    );
    check_prompt(
        "session \"Write `it`\"\n",
        Setup::with_files,
        expect![[r#"
        Write `it`

        When you complete this task, write your output to:
          .prose/runs/20260115-143052-a7b3c9/bindings/anon_001.md

        Format:
        # anon_001

        kind: let

        source:
        ```prose
        session "Write `it`"
        ```

        ---

        [Your output here]

        Then return only a confirmation, not the content:
        Binding written: anon_001
        Location: .prose/runs/20260115-143052-a7b3c9/bindings/anon_001.md
        Summary: [1 or 2 sentences about the result]
    "#]],
    );
}

#[test]
fn c13_a_session_of_an_agent_without_a_prompt_sends_its_context() {
    check_prompt(
        "let a = \"x\"\nagent w:\n  model: sonnet\nsession: w\n  context: a\n",
        |_| {},
        expect![[r#"
            Context provided:
            ---
            a: "x"
            ---

            Guidelines:
            - You are one step of a program. What stands above is all that you know of it.
            - Name places, numbers and names exactly: others go on with what you say, and have not seen what you saw.
            - Say a decision on a line `DECISION: …`, with a line `RATIONALE: …`.
            - Say what should be watched on a line `CONCERN: …`, with a line `SEVERITY: low`, `medium` or `high`.
        "#]],
    );
}

#[test]
fn c17_a_session_may_be_told_when_to_stop_early() {
    check_prompt(
        "session \"Search\"\n  early_exit: **an answer is found**\n",
        |_| {},
        expect![[r#"
        Search

        You may stop before the task is done as soon as this is so: an answer is found
    "#]],
    );
}

#[test]
fn r032_every_session_of_an_agent_is_told_how_to_work_in_a_program() {
    let program = r#"
agent a:
  prompt: "You work"
  persist: true
session: a
resume: a
  prompt: "Go on"
block inner():
  session: a
    prompt: "Inside"
do inner()
session "Alone"
"#;
    for with_files in [false, true] {
        let ran = run_with(program, OK, |setup| {
            if with_files {
                setup.with_files();
            }
        });
        let told = |start: &str| ran.session(start).prompt.matches("You are one step of a program.").count();
        assert_eq!(["You work", "Go on", "Inside", "Alone"].map(told), [1, 1, 1, 0], "{with_files}");
    }
}

#[test]
fn r033_agents_are_told_which_lines_say_a_decision_or_a_concern() {
    let ran = run_with("agent a:\n  prompt: \"You work\"\nsession: a\n", OK, |_| {});
    let prompt = &ran.session("You work").prompt;
    for signal in ["`DECISION: …`", "`RATIONALE: …`", "`CONCERN: …`", "`SEVERITY: low`"] {
        assert!(prompt.contains(signal), "{signal}: {prompt}");
    }
}

//! The traces of the protocol: the same programs give the same lines, results aside (R108).

use crate::common::{Play, programs};
use expect_test::{Expect, expect};
use prose_narration::Markers;
use prose_vm::event::StateMode;

/// A narration as the state of a run.
#[track_caller]
fn check(program: fn(StateMode) -> Play, expected: Expect) {
    expected.assert_eq(&program(StateMode::InContext).narrate(Markers::Brackets));
}

/// The same without the lines before the first statement and after the last one.
#[track_caller]
fn check_statements(program: fn(StateMode) -> Play, expected: Expect) {
    let text = program(StateMode::InContext).narrate(Markers::Brackets);
    let (_, statements) = text.split_once("   Collecting definitions...\n\n").expect("a program starts");
    expected.assert_eq(statements.strip_suffix("\n[Program] Program Complete\n").expect("and completes"));
}

#[test]
fn r108_complete_trace() {
    check(
        programs::complete_trace,
        expect![[r#"
            OpenProse Program Start
               State mode: in-context (program is small, fits in context)
               Program: main.prose (run 20260115-143052-a7b3c9, sha256 5e1f)

            [Program] Program Start
               Collecting definitions...
               - Agent: researcher (model: sonnet)

            [Position] Statement 1: let research = session: researcher
               Spawning with prompt: "Research AI safety"
               Model: sonnet
               [Task tool call]
            [Success] Session complete: "AI safety research covers alignment."
            [Binding] let research = <result>

            [Position] Statement 2: parallel block
            [Parallel] Entering parallel (2 branches, strategy: all)
               [Task: "Analyze risk A"] [Task: "Analyze risk B"]
               - b: complete = "Risk B: robustness."
               - a: complete = "Risk A: misalignment."
            [Parallel] Parallel complete:
               - a = "Risk A: misalignment."
               - b = "Risk B: robustness."
            [Binding] a, b bound

            [Position] Statement 3: loop until **analysis complete** (max: 3)
            [Loop] Starting loop

            [Loop] Iteration 1 of max 3
               [Position] session "Synthesize" with context: {a, b, research}
               [Task with serialized context]
               [Success] Result: "Initial synthesis."
               [Loop] Evaluating: **analysis complete**
               [Flow] Not satisfied (synthesis is preliminary)

            [Loop] Iteration 2 of max 3
               [Position] session "Synthesize" with context: {a, b, research}
               [Task with serialized context]
               [Success] Result: "Comprehensive analysis."
               [Loop] Evaluating: **analysis complete**
               [Flow] Satisfied!

            [Loop] Loop exited: condition satisfied at iteration 2

            [Program] Program Complete
        "#]],
    );
}

#[test]
fn r108_session() {
    check_statements(
        programs::one_session,
        expect![[r#"
            [Position] Executing: session "Research the topic"
               [Task tool call]
            [Success] Session complete: "Research found that\nit is so."
            [Binding] let research = <result>
        "#]],
    );
}

#[test]
fn r108_parallel() {
    check_statements(
        programs::reviews,
        expect![[r#"
            [Parallel] Entering parallel block (3 branches, strategy: all)
               - security: pending
               - perf: pending
               - style: pending
               [Multiple Task calls]
               - style: complete = "About style."
               - perf: complete = "About perf."
               - security: complete = "About security."
            [Parallel] Parallel complete:
               - security = "About security."
               - perf = "About perf."
               - style = "About style."
            [Binding] security, perf, style bound
        "#]],
    );
}

#[test]
fn r108_loop() {
    check_statements(
        programs::one_loop,
        expect![[r#"
            [Loop] Starting loop until **task complete** (max: 5)

            [Loop] Iteration 1 of max 5
               [Position] session "Work on task"
               [Success] Session complete: "Done 1."
               [Loop] Evaluating: **task complete**
               [Flow] Not satisfied, continuing

            [Loop] Iteration 2 of max 5
               [Position] session "Work on task"
               [Success] Session complete: "Done 2."
               [Loop] Evaluating: **task complete**
               [Flow] Satisfied!

            [Loop] Loop exited: condition satisfied at iteration 2
        "#]],
    );
}

#[test]
fn r108_try() {
    check_statements(
        programs::recovery,
        expect![[r#"
            [Try] Entering try block
            [Position] session "Risky operation"
            [Warning] Session failed: connection timeout
            [Binding] err = {message: "connection timeout"}
            [Try] Executing catch block
            [Position] session "Handle error" with context: err
            [Success] Recovery complete: "Handled."
            [Try] Executing finally block
            [Position] session "Cleanup"
            [Success] Cleanup complete: "Clean."
        "#]],
    );
}

#[test]
fn r108_frames() {
    check(
        programs::recursion,
        expect![[r#"
            OpenProse Program Start
               State mode: in-context (program is small, fits in context)
               Program: main.prose (run 20260115-143052-a7b3c9, sha256 5e1f)

            [Program] Program Start
               Collecting definitions...
               - Block: process(chunk, depth)

            [Position] do process(data, 5)
            [Frame+] Entering block: process (execution_id: 1, depth: 1)
               Arguments: chunk=data, depth=5

               [Position] session "Split into parts"
                  [Task tool call]
               [Success] Session complete: "1\n2"
               [Binding] let parts = <result> (execution_id: 1)

               [Position] do process(parts[0], 4)
               [Frame+] Entering block: process (execution_id: 2, depth: 2)
                  Arguments: chunk=parts[0], depth=4
                  Parent: execution_id 1

                  [Position] session "Split into parts"
                     [Task tool call]
                  [Success] Session complete: "1.1"
                  [Binding] let parts = <result> (execution_id: 2)

               [Frame-] Exiting block: process (execution_id: 2)

               [Position] session "Combine results"
                  [Task tool call]
               [Success] Session complete: "All of it."

            [Frame-] Exiting block: process (execution_id: 1)

            [Program] Program Complete
        "#]],
    );
}

#[test]
fn r108_import() {
    check(
        programs::import,
        expect![[r#"
            OpenProse Program Start
               State mode: in-context (program is small, fits in context)
               Program: main.prose (run 20260115-143052-a7b3c9, sha256 5e1f)

            [Import] Importing: @alice/research
               Fetching from: https://registry.example/@alice/research
               Inputs expected: [topic, depth]
               Outputs provided: [findings, sources]
               Registered as: research

            [Program] Program Start
               Collecting definitions...

            [Import] Invoking: research(topic: "quantum computing")
               [Input] Passing inputs:
                  topic = "quantum computing"
               [Position] session "Look it up" with context: topic
               [Task with serialized context]
               [Success] Result: "It uses qubits."

               [Output] Received outputs:
                  findings = "It uses qubits."
                  sources = ["arxiv:2401.1234"]

            [Import] Import complete: research
            [Binding] result = { findings: "It uses qubits.", sources: ["arxiv:2401.1234"] }

            [Program] Program Complete
        "#]],
    );
}

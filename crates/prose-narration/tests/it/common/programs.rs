//! The programs whose narrations the protocol shows.

use prose_vm::error::ErrorKind;
use prose_vm::event::*;
use prose_vm::value::Value;

use super::{Play, reply};

/// The trace that the protocol shows in full.
pub(crate) fn complete_trace(state: StateMode) -> Play {
    let mut play = Play::new(state, &[]);
    play.define(&[("researcher", "sonnet")], &[], 3);
    play.session(
        "let research = session: researcher",
        Some("researcher"),
        "Research AI safety",
        &[],
        "AI safety research covers alignment.",
    );
    play.statement("parallel", StatementKind::Parallel, |play| {
        play.parallel(&["a", "b"], false);
        let a = play.branch(0, "a", "a = session \"Analyze risk A\"", "Analyze risk A", &[]);
        let b = play.branch(1, "b", "b = session \"Analyze risk B\"", "Analyze risk B", &[]);
        play.end_branch(b, reply("Risk B: robustness."));
        play.end_branch(a, reply("Risk A: misalignment."));
        play.join(&[("a", "Risk A: misalignment."), ("b", "Risk B: robustness.")]);
    });
    let condition = "analysis complete";
    play.statement("loop until **analysis complete** (max: 3)", StatementKind::Loop, |play| {
        play.start_loop(LoopKind::Until, "**analysis complete**", Some(3));
        play.judge(condition, ConditionOf::Loop, false, "nothing is there yet", true);
        for (number, text) in [(1, "Initial synthesis."), (2, "Comprehensive analysis.")] {
            play.iterate(number, Some(3), |play| {
                play.session("session \"Synthesize\"", None, "Synthesize", &["a", "b", "research"], text);
            });
            let reason = if number == 1 { "synthesis is preliminary" } else { "" };
            play.judge(condition, ConditionOf::Loop, number == 2, reason, false);
        }
        play.end_loop(LoopEnd::Satisfied, 2);
    });
    play.finish();
    play
}

/// A session whose result is kept.
pub(crate) fn one_session(state: StateMode) -> Play {
    let mut play = Play::new(state, &[]);
    play.define(&[], &[], 1);
    let source = "let research = session \"Research the topic\"";
    play.session(source, None, "Research the topic", &[], "Research found that\nit is so.");
    play.finish();
    play
}

/// A `parallel` that is all of a program.
pub(crate) fn reviews(state: StateMode) -> Play {
    let mut play = Play::new(state, &[]);
    play.define(&[], &[], 1);
    play.statement("parallel", StatementKind::Parallel, |play| {
        let names = ["security", "perf", "style"];
        play.parallel(&names, false);
        let running: Vec<_> = (0..)
            .zip(names)
            .map(|(index, name)| {
                play.branch(index, name, &format!("{name} = session \"Review\""), "Review", &[])
            })
            .collect();
        // The last one is the first to end.
        for (running, name) in running.into_iter().zip(names).rev() {
            play.end_branch(running, reply(&format!("About {name}.")));
        }
        play.join(&[("security", "About security."), ("perf", "About perf."), ("style", "About style.")]);
    });
    play.finish();
    play
}

/// A loop that is all of a program.
pub(crate) fn one_loop(state: StateMode) -> Play {
    let mut play = Play::new(state, &[]);
    play.define(&[], &[], 1);
    play.statement("loop until **task complete** (max: 5)", StatementKind::Loop, |play| {
        play.start_loop(LoopKind::Until, "**task complete**", Some(5));
        play.judge("task complete", ConditionOf::Loop, false, "", true);
        for number in 1..=2 {
            play.iterate(number, Some(5), |play| {
                play.session(
                    "session \"Work on task\"",
                    None,
                    "Work on task",
                    &[],
                    &format!("Done {number}."),
                );
            });
            play.judge("task complete", ConditionOf::Loop, number == 2, "", false);
        }
        play.end_loop(LoopEnd::Satisfied, 2);
    });
    play.finish();
    play
}

/// A `try` whose body fails.
pub(crate) fn recovery(state: StateMode) -> Play {
    let mut play = Play::new(state, &[]);
    play.define(&[], &[], 1);
    play.statement("try", StatementKind::Try, |play| {
        play.emit(EventKind::TryStarted);
        play.inside("try", |play| {
            play.failing_session("session \"Risky operation\"", "Risky operation", "connection timeout")
        });
        let error = play.raise(ErrorKind::Session, "connection timeout");
        play.emit(EventKind::TryEnded { part: TryPart::Body, status: Status::Failed });
        play.emit(EventKind::Caught { name: Some("err".into()), error });
        play.inside("catch", |play| {
            play.session("session \"Handle error\"", None, "Handle error", &["err"], "Handled.");
        });
        play.emit(EventKind::TryEnded { part: TryPart::Catch, status: Status::Complete });
        play.emit(EventKind::FinallyStarted);
        play.inside("finally", |play| play.session("session \"Cleanup\"", None, "Cleanup", &[], "Clean."));
        play.emit(EventKind::TryEnded { part: TryPart::Finally, status: Status::Complete });
    });
    play.finish();
    play
}

/// A block that calls itself.
pub(crate) fn recursion(state: StateMode) -> Play {
    let mut play = Play::new(state, &[]);
    play.define(&[], &[("process", &["chunk", "depth"])], 1);
    let split = "let parts = session \"Split into parts\"";
    play.statement("do process(data, 5)", StatementKind::Call, |play| {
        play.call("process", &[("chunk", "data"), ("depth", "5")], 1, |play| {
            play.session(split, None, "Split into parts", &[], "1\n2");
            play.statement("do process(parts[0], 4)", StatementKind::Call, |play| {
                play.call("process", &[("chunk", "parts[0]"), ("depth", "4")], 2, |play| {
                    play.session(split, None, "Split into parts", &[], "1.1");
                });
            });
            play.session("session \"Combine results\"", None, "Combine results", &[], "All of it.");
        });
    });
    play.finish();
    play
}

/// An imported program that is called.
pub(crate) fn import(state: StateMode) -> Play {
    let mut play = Play::new(state, &[]);
    play.emit(EventKind::Imported {
        path: "@alice/research".into(),
        from: "https://registry.example/@alice/research".into(),
        inputs: vec!["topic".into(), "depth".into()],
        outputs: vec!["findings".into(), "sources".into()],
        alias: "research".into(),
    });
    play.define(&[], &[], 1);
    let topic = vec![("topic".into(), Value::text("quantum computing"))];
    let sources = Value::array([Value::text("arxiv:2401.1234")]);
    let outputs = vec![("findings".into(), Value::text("It uses qubits.")), ("sources".into(), sources)];
    play.statement(
        "let result = research(topic: \"quantum computing\")",
        StatementKind::ImportCall,
        |play| {
            play.emit(EventKind::ImportCalled {
                program: 1,
                alias: "research".into(),
                inputs: topic.clone(),
                folder: "imports/alice--research".into(),
                text: "".into(),
            });
            play.inside("m1", |play| {
                play.emit(EventKind::InputsReceived { inputs: topic });
                let source = "output findings = session \"Look it up\"";
                play.session(source, None, "Look it up", &["topic"], "It uses qubits.");
            });
            play.emit(EventKind::ImportEnded {
                program: 1,
                alias: "research".into(),
                outputs: outputs.clone(),
                error: None,
            });
            play.bind(prose_vm::effect::BindingKind::Let, "result", Value::object(outputs), None);
        },
    );
    play.finish();
    play
}

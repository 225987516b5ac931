//! Programs with what the protocol's examples leave out.

use std::sync::Arc;

use prose_vm::effect::*;
use prose_vm::error::ErrorKind;
use prose_vm::event::*;
use prose_vm::value::Value;

use super::{Play, failure, reply};

/// Texts that could be taken for something else.
pub(crate) fn difficult_texts(state: StateMode) -> Play {
    let texts = [
        "To be continued...",
        "And so on…",
        "He said \"no\" and left.",
        "[Success] Session complete: \"not this one\"\n[Flow] Satisfied!",
        "Line 1\r\nLine 2\tand\u{2028}more\\",
        "",
        "- a = \"b\"",
        "<result>",
        "```\ncode\n```",
        "ends with a quote\"",
        "ends with a bracket)",
    ];
    let mut play = Play::new(
        state,
        &[("topic", Value::text("a \"b\" (from caller)...")), ("depth", Value::Number(3.0))],
    );
    play.define(&[], &[], texts.len() as u32);
    for (index, text) in texts.iter().enumerate() {
        let task = format!("Task {index}");
        play.session(&format!("session \"{task}\""), None, &task, &[], text);
    }
    play.finish();
    play
}

/// Failures of several kinds, retries, and what a program asks besides sessions.
pub(crate) fn other_effects(state: StateMode) -> Play {
    let mut play = Play::new(state, &[]);
    play.define(&[], &[], 6);
    play.statement("input topic: \"What about?\"", StatementKind::Input, |play| {
        play.input("topic", "What about?", Value::text("tea"));
    });
    play.statement("let draft = session \"Draft\"", StatementKind::Session, |play| {
        let messages = ["connection lost", "two\nlines", "trailing dots..."];
        for (attempt, message) in (0..).zip(messages) {
            let source = "let draft = session \"Draft\"";
            let request = play
                .inside(&format!("a{attempt}"), |play| play.ask_attempt(source, None, "Draft", &[], attempt));
            play.end_session(request, failure(message));
            play.retry(attempt + 1, 3, message);
        }
        let request = play.ask_attempt("let draft = session \"Draft\"", None, "Draft", &[], 3);
        play.end_session(request, reply("A draft."));
        play.bind_reply(request, "A draft.");
    });
    for memory in [Memory::default(), Memory { text: Some("# Captain\n(knows)".into()), segments: 2 }] {
        let place = MemoryPlace {
            agent: "captain".into(),
            scope: MemoryScope::Execution,
            folder: "agents/captain".into(),
        };
        let request = play.ask(Effect::Memory(place));
        play.answered(request, "memory", Outcome::Memory(memory), |play| play.events.len() as u64);
    }
    play.statement("choice **the severity level**", StatementKind::Choice, |play| {
        play.choose("the severity level", &["Critical", "Minor (or \"none\")"], 1, "nothing burns (yet)");
    });
    play.statement("if **the draft of {topic} is good**", StatementKind::If, |play| {
        play.judge("the draft of tea is good", ConditionOf::If, true, "it reads well (mostly)...", false);
        play.inside("t", |play| {
            play.session("session \"Publish\"", None, "Publish", &["draft"], "Published.")
        });
    });
    play.statement("let items = draft.items", StatementKind::Binding, |play| {
        let question = super::question("items", &[]);
        let request = play.ask(Effect::Extract(Arc::new(question)));
        play.answered(request, "extract", Outcome::Value(Value::Null), |play| play.events.len() as u64);
        play.bind(BindingKind::Let, "items", Value::Null, None);
    });
    play.statement("loop while **there is more** (max: 2)", StatementKind::Loop, |play| {
        play.start_loop(LoopKind::While, "**there is more**", Some(2));
        play.judge("there is more", ConditionOf::Loop, true, "", true);
        play.iterate(1, Some(2), |play| play.session("session \"Go on\"", None, "Go on", &[], "On."));
        play.judge("there is more", ConditionOf::Loop, true, "", false);
        play.iterate(2, Some(2), |play| play.session("session \"Go on\"", None, "Go on", &[], "And on."));
        play.judge("there is more", ConditionOf::Loop, false, "all is done", false);
        play.end_loop(LoopEnd::Satisfied, 2);
    });
    play.finish();
    play
}

/// Branches with several sessions of the same words, which take turns.
pub(crate) fn long_branches(state: StateMode) -> Play {
    let mut play = Play::new(state, &[]);
    play.define(&[], &[], 2);
    let look = "session \"Look\"";
    play.statement("parallel for item in items", StatementKind::Parallel, |play| {
        play.parallel(&["iteration 1", "iteration 2", "iteration 3"], true);
        let branches: Vec<_> = (0..3).map(|index| play.open_iteration(index)).collect();
        let mut requests: Vec<_> = branches.iter().map(|branch| play.start_in(branch, look)).collect();
        for (index, round) in [(1, 1), (2, 1), (1, 2), (0, 1), (0, 2), (2, 2)] {
            play.end_in(&branches[index], requests[index], &format!("{index} in round {round}"));
            if round == 1 {
                requests[index] = play.start_in(&branches[index], look);
            }
        }
        play.join(&[]);
    });
    play.session("session \"Look\"", None, "Look", &[], "At the end.");
    play.finish();
    play
}

/// Branches of which one is tried again, one fails, and one has no name. The same words are asked for twice.
pub(crate) fn failing_branches(state: StateMode) -> Play {
    let mut play = Play::new(state, &[]);
    play.define(&[], &[], 2);
    for _ in 0..2 {
        play.statement("parallel (on-fail: \"continue\")", StatementKind::Parallel, |play| {
            play.parallel(&["a", "b", ""], false);
            let mut a = play.branch(0, "a", "a = session \"Ask\"", "Ask", &[]);
            let b = play.branch(1, "b", "b = session \"Ask\"", "Ask", &[]);
            let last = play.branch(2, "", "session \"Ask\"", "Ask", &[]);
            let back = std::mem::replace(&mut play.here, a.cursor.clone());
            play.end_session(a.request, failure("no route"));
            play.retry(1, 1, "no route");
            a.request = play.ask_attempt("a = session \"Ask\"", None, "Ask", &[], 1);
            play.here = back;
            play.end_branch(last, reply("The last one."));
            play.end_branch(
                b,
                Outcome::Failed(Failure { kind: ErrorKind::Timeout, message: "too slow".into() }),
            );
            play.end_branch(a, reply("It works now."));
            let error = prose_vm::error::RuntimeError::new(ErrorKind::Timeout, "too slow");
            play.emit(EventKind::ParallelEnded {
                bound: vec![
                    ("a".into(), Value::text("It works now.")),
                    ("b".into(), Value::Error(Arc::new(error))),
                ],
                failures: vec!["b".into()],
                status: Status::Complete,
            });
        });
    }
    play.finish();
    play
}

/// Branches inside a branch, while the other one goes on. The same words are asked for everywhere.
pub(crate) fn nested_branches(state: StateMode) -> Play {
    let mut play = Play::new(state, &[]);
    play.define(&[], &[], 2);
    let look = "session \"Look\"";
    play.statement("parallel", StatementKind::Parallel, |play| {
        play.parallel(&["a", "b"], false);
        let a = play.open_branch(0, "a");
        let b = play.open_branch(1, "b");
        let say = |play: &mut Play, at: &super::Cursor, text: &str| {
            let back = std::mem::replace(&mut play.here, at.clone());
            play.session(look, None, "Look", &[], text);
            play.here = back;
        };
        say(play, &b, "b, first");
        say(play, &a, "a, first");
        let back = std::mem::replace(&mut play.here, a.clone());
        play.statement("parallel", StatementKind::Parallel, |play| {
            play.parallel(&["x", "y"], false);
            play.here.nesting += 1;
            let x = play.branch(0, "x", "x = session \"Look\"", "Look", &[]);
            let y = play.branch(1, "y", "y = session \"Look\"", "Look", &[]);
            play.end_branch(y, reply("y in a"));
            say(play, &b, "b, second");
            play.end_branch(x, reply("x in a"));
            play.here.nesting -= 1;
            play.join(&[("x", "x in a"), ("y", "y in a")]);
        });
        play.here = back;
        say(play, &b, "b, third");
        say(play, &a, "a, last");
        play.close_branch(&a, 0, "a");
        play.close_branch(&b, 1, "b");
        play.join(&[("a", "a, last"), ("b", "b, third")]);
    });
    play.session(look, None, "Look", &[], "At the end.");
    play.finish();
    play
}

/// Branches of which the first one decides, twice with the same words.
pub(crate) fn races(state: StateMode) -> Play {
    let mut play = Play::new(state, &[]);
    play.define(&[], &[], 2);
    for winner in [1, 0] {
        play.statement("parallel (\"first\")", StatementKind::Parallel, |play| {
            play.parallel(&["a", "b"], false);
            let mut running = vec![
                play.branch(0, "a", "a = session \"Run\"", "Run", &[]),
                play.branch(1, "b", "b = session \"Run\"", "Run", &[]),
            ];
            let loser = running.remove(1 - winner);
            let first = running.remove(0);
            play.end_branch(first, reply(&format!("{winner} wins.")));
            play.drop_branch(loser);
            let name = ["a", "b"][winner];
            play.join(&[(name, &format!("{winner} wins."))]);
        });
    }
    play.finish();
    play
}

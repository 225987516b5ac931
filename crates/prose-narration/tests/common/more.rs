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
            let error = play.raise(ErrorKind::Session, message);
            let pause = play.ask(Effect::Sleep(std::time::Duration::from_secs(1)));
            play.answered(pause, "sleep", Outcome::Slept, |play| {
                play.emit(What::Retrying { attempt: attempt + 1, retries: 3, delay_ms: 1000, error })
            });
        }
        let request = play.ask_attempt("let draft = session \"Draft\"", None, "Draft", &[], 3);
        play.end_session(request, reply("A draft."));
        play.bind_reply(request, "A draft.");
    });
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
        let question = Question { text: "items".into(), labels: Vec::new(), context: Vec::new() };
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
    play.statement("parallel for item in items", StatementKind::Parallel, |play| {
        play.parallel(&["item 1", "item 2", "item 3"], true);
        let start = |play: &mut Play, index: u32| {
            play.branch(index, &format!("item {}", index + 1), "session \"Look\"", "Look", &["item"])
        };
        let mut branches: Vec<_> = (0..3).map(|index| start(play, index)).collect();
        for (index, round) in [(1, 1), (2, 1), (1, 2), (0, 1), (0, 2), (2, 2)] {
            let back = play.here.clone();
            play.here = branches[index].cursor.clone();
            play.end_session(branches[index].request, reply(&format!("{index} in round {round}")));
            play.end();
            if round == 1 {
                play.here = play.here.outside();
                play.start("session \"Look\"", StatementKind::Session);
                branches[index].request = play.ask_session("session \"Look\"", None, "Look", &["item"]);
                branches[index].cursor = play.here.clone();
            }
            play.here = back;
        }
        play.join(&[]);
    });
    play.session("session \"Look\"", None, "Look", &[], "At the end.");
    play.finish();
    play
}

//! Scripts from runs.

use expect_test::expect;
use prose_harness::record;
use prose_harness::script::Script;
use prose_vm::effect::{
    Choice, Effect, Failure, Memory, Outcome, Reply, Request, RequestId, SummaryLength, Verdict,
};
use prose_vm::error::ErrorKind;
use prose_vm::event::{ConditionOf, Event, EventKind, RunHead, StateMode};
use prose_vm::value::Value;

use crate::support::*;

/// What a run tells of requests and their answers.
fn events(inputs: Vec<(&str, Value)>, answered: &[(Request, Outcome)]) -> Vec<Event> {
    let head = RunHead {
        version: 1,
        run: "20260101-000000-abc123".into(),
        program: "review.prose".into(),
        from: "review.prose".into(),
        sha256: String::new(),
        imports: Vec::new(),
        state: StateMode::Filesystem,
        harness: "claude".into(),
        script: None,
        seed: 0,
        routes: Vec::new(),
        context_by_reference: false,
        agents_write: false,
        isolates: false,
        max_iterations: 1_000,
        backoff_ms: 1_000,
        backoff_cap_ms: 60_000,
        caps: Vec::new(),
        timeout_ms: None,
        inputs: inputs.into_iter().map(|(name, value)| (name.into(), value)).collect(),
        earlier: None,
        set_before: Vec::new(),
        part: None,
        redacted: false,
        traceparent: None,
    };
    let mut told = vec![(place(""), EventKind::RunStarted(Box::new(head)))];
    for (index, (asked, outcome)) in answered.iter().enumerate() {
        let request = RequestId(index as u64);
        let at = asked.place.clone();
        match &asked.effect {
            Effect::Session(task) => {
                told.push((at.clone(), EventKind::SessionStarted { request, task: task.clone() }))
            }
            Effect::Judge(question) => {
                let text = question.text.clone();
                told.push((
                    at.clone(),
                    EventKind::ConditionAsked { request: Some(request), text, of: ConditionOf::If },
                ));
            }
            Effect::Input(input) => {
                let (name, prompt) = (input.name.clone(), input.prompt.clone());
                told.push((at.clone(), EventKind::InputAsked { request, name, prompt }));
            }
            _ => {}
        }
        let effect = asked.effect.kind().into();
        let fingerprint = Default::default();
        told.push((
            at.clone(),
            EventKind::Effect {
                request,
                effect,
                fingerprint,
                outcome: outcome.clone(),
                began: None,
                work: Box::default(),
            },
        ));
        if let (Effect::Choose(question), Outcome::Choice(choice)) = (&asked.effect, outcome) {
            let label = question.labels[choice.index].clone();
            told.push((
                at,
                EventKind::Chosen { criterion: question.text.clone(), label, reason: choice.reason.clone() },
            ));
        }
    }
    let events = told.into_iter().enumerate();
    let event = |(index, (place, kind))| Event {
        seq: index as u64 + 1,
        at: 0,
        paused: 0,
        place,
        site: None,
        frame: 0,
        nesting: 0,
        kind,
    };
    events.map(event).collect()
}

fn reply(text: &str) -> Outcome {
    Outcome::Reply(Reply { text: text.into(), ..Reply::default() })
}

fn verdict(met: bool, reason: &str) -> Outcome {
    Outcome::Verdict(Verdict { met, reason: reason.to_owned(), no_progress: false })
}

fn run() -> Vec<(Request, Outcome)> {
    let labels = ["Ship it", "Wait"];
    vec![
        (memory("s0", "writer"), Outcome::Memory(Memory { text: Some("Old\nthings".into()), segments: 2 })),
        (memory("s0/x", "critic"), Outcome::Memory(Memory::default())),
        (
            session_of("writer", "s1", "Write the draft\nin two pages"),
            reply("# Draft\n\n\"Tides\" — '''all''' \\ of them"),
        ),
        (
            loop_condition("s2/i1", "the draft is good", prose_vm::event::LoopKind::Until),
            verdict(false, "too short"),
        ),
        (session("s2/i1/s0", "Improve it"), Outcome::Failed(Failure::session("connection lost"))),
        (session("s2/i1/s0/a1", "Improve it"), reply("Better.\r\nMuch \u{1}better. \"\"\"")),
        (loop_condition("s2/i2", "the draft is good", prose_vm::event::LoopKind::Until), verdict(true, "")),
        (
            choice("s3", "how to go on", &labels),
            Outcome::Choice(Choice { index: 1, reason: "late".to_owned() }),
        ),
        (choice("s4", "how to end", &labels), Outcome::Choice(Choice { index: 0, reason: String::new() })),
        (extract("s5", "date", "…"), Outcome::Value("in May".into())),
        (extract("s6", "date", "…"), Outcome::Value(Value::Null)),
        (summary("s7", "draft", "…", SummaryLength::Essentials), Outcome::Value("Short.".into())),
        (input("s8", "harbour", "Which?"), Outcome::Value("Brest".into())),
        (input("s9", "", "How many?"), Outcome::Value(Value::Number(3.0))),
        (input("s10", "note", "Optional"), Outcome::Value(Value::Null)),
        (
            input("s11", "parts", "Which parts?"),
            Outcome::Value(Value::array([Value::Null, Value::File("a.md".into()), Value::Bool(true)])),
        ),
        (
            condition("s12", "it is over"),
            Outcome::Failed(Failure { kind: ErrorKind::Undecided, message: "it said: perhaps".to_owned() }),
        ),
        (request("s13", Effect::Sleep(std::time::Duration::ZERO)), Outcome::Slept),
    ]
}

#[tokio::test]
async fn a_run_with_the_recorded_script_is_answered_the_same() {
    let answered = run();
    let script = record::script(&events(vec![("topic", "tides".into())], &answered));
    let harness =
        Script::parse("recorded.toml", &script, 0).unwrap_or_else(|errors| panic!("{errors}\n{script}"));
    // Whatever comes first: no entry depends on the order.
    for (asked, outcome) in answered.iter().rev().chain(&answered) {
        assert_eq!(answer(&harness, asked).await.as_ref(), Some(outcome), "{asked:?}\n{script}");
    }
    assert_eq!(said(&harness, &input("s0", "topic", "What about?")).await, "tides");
}

#[test]
fn a_recorded_script_is_made_to_be_read_and_changed() {
    let script = record::script(&events(vec![("topic", "tides".into())], &run()));
    expect![[r##"
        # The run 20260101-000000-abc123 of review.prose with the harness claude.
        # docs/scripts.md describes what can be changed here.

        [[memory]]
        place = "s0"
        text = """
        Old
        things"""
        segments = 2

        [[memory]]
        place = "s0/x"
        absent = true

        [[session]]
        agent = "writer"
        label = "Write the draft"
        reply = """
        # Draft

        "Tides" — '''all''' \\ of them"""

        [[condition]]
        label = "the draft is good"
        place = "s2/i1"
        met = false
        reason = "too short"

        [[session]]
        label = "Improve it"
        place = "s2/i1/s0"
        fail = "connection lost"

        [[session]]
        label = "Improve it"
        place = "s2/i1/s0/a1"
        reply = """
        Better.\r
        Much \u0001better. ""\""""

        [[condition]]
        label = "the draft is good"
        place = "s2/i2"
        met = true

        [[choice]]
        label = "how to go on"
        choose = "Wait"
        reason = "late"

        [[choice]]
        label = "how to end"
        choose = "Ship it"

        [[extract]]
        place = "s5"
        value = "in May"

        [[extract]]
        place = "s6"
        absent = true

        [[summary]]
        place = "s7"
        text = "Short."

        [[input]]
        name = "harbour"
        label = "Which?"
        value = "Brest"

        [[input]]
        label = "How many?"
        value = 3.0

        [[input]]
        name = "note"
        label = "Optional"
        absent = true

        [[input]]
        name = "parts"
        label = "Which parts?"
        json = '[null,{"$file":"a.md"},true]'

        [[condition]]
        label = "it is over"
        fail = "it said: perhaps"
        kind = "undecided"

        [[input]]
        name = "topic"
        value = "tides"
    "##]]
    .assert_eq(&script);
}

#[tokio::test]
async fn an_input_that_is_asked_for_again_is_answered_as_it_was() {
    let answered = [
        (input("s1/i1", "topic", "What next?"), Outcome::Value("locks".into())),
        (input("s1/i2", "topic", "What next?"), Outcome::Value("dams".into())),
    ];
    let script = record::script(&events(vec![("topic", "tides".into())], &answered));
    let harness = Script::parse("recorded.toml", &script, 0).unwrap();
    assert_eq!(said(&harness, &input("", "topic", "What about?")).await, "tides");
    for (asked, outcome) in &answered {
        assert_eq!(answer(&harness, asked).await.as_ref(), Some(outcome));
    }
}

#[tokio::test]
async fn thousands_of_sessions_are_recorded_and_answered_in_no_time() {
    let mut answered = Vec::new();
    for number in 0..5_000 {
        let asked = session(&format!("s0/i{number}/s0"), "Look into it");
        answered.push((asked, reply(&format!("Found {number}."))));
    }
    let script = record::script(&events(Vec::new(), &answered));
    let harness = Script::parse("recorded.toml", &script, 0).unwrap();
    for (asked, outcome) in &answered {
        assert_eq!(answer(&harness, asked).await.as_ref(), Some(outcome));
    }
}

#[test]
fn a_choice_gets_the_label_of_its_own_place() {
    let labels = ["Ship", "Wait"];
    let chosen = |index| Outcome::Choice(Choice { index, reason: String::new() });
    let (first, tenth) = (choice("s1/b1", "first", &labels), choice("s1/b10", "tenth", &labels));
    let mut events = events(Vec::new(), &[(first, chosen(0)), (tenth, chosen(1))]);
    // Both were asked before the first one went on.
    events.swap(2, 3);
    let script = record::script(&events);
    expect![[r##"
        # The run 20260101-000000-abc123 of review.prose with the harness claude.
        # docs/scripts.md describes what can be changed here.

        [[choice]]
        label = "first"
        choose = "Ship"

        [[choice]]
        label = "tenth"
        choose = "Wait"
    "##]]
    .assert_eq(&script);
}

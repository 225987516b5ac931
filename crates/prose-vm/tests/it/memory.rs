//! Persistent agents (R42 to R49).

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use expect_test::expect;
use prose_vm::activity::Reporter;
use prose_vm::effect::{Effect, Failure, Memory, Outcome, PermissionRule, Reply, Request};
use prose_vm::event::{Event, EventKind};
use prose_vm::harness::{Capabilities, Harness, HarnessFuture};
use prose_vm::machine::MachineOutput;

use crate::support::{Able, Ran, check, drive, lines, reply, run, run_with};

const OK: &str = "[[session]]\nreply = \"ok\"";

/// What was written to memories: the folder, the number of the segment, the text and the record.
fn written(ran: &Ran) -> String {
    let mut out = String::new();
    for event in &ran.events {
        if let EventKind::MemoryWritten { place, memory, segment, record, .. } = &event.kind {
            out.push_str(&format!("{} {segment}\n{memory}---\n{record}\n\n", place.folder));
        }
    }
    out
}

#[test]
fn r042_scopes_of_memories() {
    let program = r#"
agent a:
  persist: true
  prompt: "A"
agent b:
  persist: project
  prompt: "B"
agent c:
  persist: user
  prompt: "C"
agent d:
  persist: "notes/d"
  prompt: "D"
agent e:
  persist: false
  prompt: "E"
session: a
session: b
session: c
session: d
session: e
"#;
    let ran = run(program, OK);
    let places: Vec<_> = ran
        .sessions()
        .iter()
        .map(|session| {
            session.memory.as_ref().map(|memory| (memory.place.scope, memory.place.folder.to_string()))
        })
        .collect();
    expect![[r#"
        Some((Execution, "agents/a/"))
        Some((Project, ".prose/agents/b/"))
        Some((User, ".prose/agents/c/"))
        Some((Custom, "notes/d/"))
        None
    "#]]
    .assert_eq(&lines(&places));
}

#[test]
fn r043_session_starts_fresh_and_resume_goes_on() {
    let program = r#"
agent a:
  persist: project
  prompt: "A"
session: a
  prompt: "Start"
resume: a
  prompt: "Go on"
"#;
    let script = r#"
[[session]]
label = "Start"
reply = """
Result one
=== MEMORY ===
I have started.
=== SEGMENT ===
- Decided: to start"""
[[session]]
label = "Go on"
reply = "Result two"
"#;
    let ran = run_with(program, script, |setup| setup.memory(".prose/agents/a/", "old memory", 3));
    expect![[r#"
        warning: agent 'a' has a memory, and `session:` starts without it; `resume:` continues with it
        session a: Start
        let anon_001 = Result one
        session a: Go on
        let anon_002 = Result two
        value: Result two
    "#]]
    .assert_eq(&ran.story());
    let known: Vec<_> = ran
        .sessions()
        .iter()
        .map(|session| session.memory.as_ref().and_then(|memory| memory.text.clone()))
        .collect();
    expect![[r##"
        [
            None,
            Some(
                "# Agent Memory: a\n\nI have started.\n",
            ),
        ]
    "##]]
    .assert_debug_eq(&known);
    expect![[r#"
        .prose/agents/a/ 4
        # Agent Memory: a

        I have started.
        ---
        - Decided: to start

        .prose/agents/a/ 5
        # Agent Memory: a

        I have started.

        ## Segment 5 Summary

        Result two
        ---
        - Found: Result two

    "#]]
    .assert_eq(&written(&ran));
}

#[test]
fn r044_a_resumed_agent_with_files_gets_its_memory_or_where_a_long_one_is() {
    let told = |text: &str| {
        let program =
            "agent captain:\n  persist: true\n  prompt: \"C\"\nresume: captain\n  prompt: \"Go on\"\n";
        let ran = run_with(program, OK, |setup| {
            setup.with_files();
            setup.memory("agents/captain/", text, 2);
        });
        let prompt = ran.session("Go on").prompt.to_string();
        prompt.split_once("\n\nGo on").unwrap().0.to_owned()
    };
    expect![[r#"
        Your memory is at:
        .prose/runs/20260115-143052-a7b3c9/agents/captain/memory.md

        Read it first to understand your prior context."#]]
    .assert_eq(&told(&"m".repeat(40_001)));
    expect![[r#"
        ## Agent Memory: captain

        --- 30c555ab4e
        m
        --- 30c555ab4e"#]]
    .assert_eq(&told("m"));
}

#[test]
fn r048_an_agent_with_files_writes_its_result_and_replies_with_its_memory() {
    let program = "agent a:\n  persist: true\n  prompt: \"A\"\nlet x = session: a\n";
    let script =
        "[[session]]\nreply = \"done\\n=== MEMORY ===\\nI know it.\\n=== SEGMENT ===\\n- Found: it\"";
    let ran = run_with(program, script, |setup| {
        setup.with_files();
        setup.harness = Arc::new(Able { inner: Arc::clone(&setup.harness), has_files: true, enforces: true });
        setup.written.insert("bindings/x.md".into(), "The result.".to_owned());
    });
    assert_eq!(ran.end.value.to_string(), "The result.", "{}", ran.story());
    expect![[r#"
        agents/a/ 1
        # Agent Memory: a

        I know it.
        ---
        - Found: it

    "#]]
    .assert_eq(&written(&ran));
}

#[test]
fn r045_an_agent_without_a_memory_starts_fresh_with_a_warning() {
    check(
        "agent a:\n  persist: true\n  prompt: \"A\"\nresume: a\n  prompt: \"Go\"\n",
        OK,
        expect![[r#"
            warning: No memory for agent 'a'; starting fresh
            session a: Go
            let anon_001 = ok
            value: ok
        "#]],
    );
}

#[test]
fn r046_a_memory_has_its_head_and_sections() {
    let ran = run("agent a:\n  persist: true\n  prompt: \"A\"\nsession: a\n  prompt: \"Go\"\n", OK);
    expect![[r#"
        agents/a/ 1
        # Agent Memory: a

        ## Current Understanding

        ## Decisions Made

        ## Open Concerns

        ## Segment 1 Summary

        ok
        ---
        - Found: ok

    "#]]
    .assert_eq(&written(&ran));
}

#[test]
fn r047_segments_are_numbered_behind_the_highest() {
    let ran = run_with(
        "agent a:\n  persist: true\n  prompt: \"A\"\nrepeat 2:\n  resume: a\n    prompt: \"Go\"\n",
        OK,
        |setup| setup.memory("agents/a/", "m", 998),
    );
    let segments: Vec<_> =
        ran.sessions().iter().filter_map(|session| Some(session.memory.as_ref()?.segment)).collect();
    assert_eq!(segments, [999, 1000]);
}

#[test]
fn r048_result_and_memory_are_two_outputs() {
    let ran = run(
        "agent a:\n  persist: true\n  prompt: \"A\"\nlet x = session: a\nsession \"Use {x}\"\n",
        "[[session]]\nlabel = \"A\"\nreply = \"Result\\n=== MEMORY ===\\n# Agent Memory: a\\n\\n## Open Concerns\\n- none\"\n[[session]]\nreply = \"ok\"",
    );
    assert_eq!(ran.tasks(), ["A", "Use Result"]);
    expect![[r#"
        agents/a/ 1
        # Agent Memory: a

        ## Open Concerns
        - none
        ---
        - Found: Result

    "#]]
    .assert_eq(&written(&ran));
}

#[test]
fn r049_concurrent_sessions_of_an_agent_have_segments_of_their_own_and_the_last_writes() {
    let ran = run(
        r#"
agent a:
  persist: true
  prompt: "A"
parallel:
  session: a
    prompt: "One"
  session: a
    prompt: "Two"
resume: a
  prompt: "Three"
"#,
        r#"
[[session]]
label = "One"
delay = "2s"
reply = "one\n=== MEMORY ===\nfrom one"
[[session]]
label = "Two"
delay = "1s"
reply = "two\n=== MEMORY ===\nfrom two"
[[session]]
reply = "ok"
"#,
    );
    let sessions: Vec<_> = ran
        .sessions()
        .iter()
        .filter_map(|session| {
            let memory = session.memory.as_ref()?;
            Some((session.task.to_string(), memory.segment, memory.text.clone()))
        })
        .collect();
    expect![[r##"
        [
            (
                "One",
                1,
                None,
            ),
            (
                "Two",
                2,
                None,
            ),
            (
                "Three",
                3,
                Some(
                    "# Agent Memory: a\n\nfrom one\n",
                ),
            ),
        ]
    "##]]
    .assert_debug_eq(&sessions);
}

#[test]
fn c02_an_agent_that_is_not_persistent_cannot_be_resumed() {
    check(
        "agent a:\n  prompt: \"A\"\ntry:\n  resume: a\ncatch as e:\n  session \"{e.message}\"\n",
        OK,
        expect![[r#"
            caught: agent `a` has no memory to resume: give it `persist: true`, or use `session: a`
            session: agent `a` has no memory to resume: give it `persist: true`, or use `session: a`
            let anon_002 = ok
            value: ok
        "#]],
    );
}

#[test]
fn c03_that_session_leaves_a_memory_aside_is_told_once() {
    let ran =
        run_with("agent a:\n  persist: true\n  prompt: \"A\"\nrepeat 2:\n  session: a\n", OK, |setup| {
            setup.memory("agents/a/", "m", 1)
        });
    expect![[r#"
        iteration 1
        warning: agent 'a' has a memory, and `session:` starts without it; `resume:` continues with it
        session a: A
        let anon_001 = ok
        iteration 2
        session a: A
        let anon_002 = ok
        loop ended: Exhausted after 2
        value: ok
    "#]]
    .assert_eq(&ran.story());
}

#[test]
fn r098_a_memory_that_its_agent_has_written_is_not_written_by_the_machine() {
    let program = "agent a:\n  prompt: \"You work\"\n  persist: true\nsession: a\n";
    let written = |wrote_memory: bool| {
        let said = drive(program, |request| match &request.effect {
            Effect::Memory(_) => Some(Outcome::Memory(Memory::default())),
            _ => Some(Outcome::Reply(Reply { text: "ok".into(), wrote_memory, ..Reply::default() })),
        });
        let is_written = |said: &&MachineOutput| matches!(said, MachineOutput::Event(event) if matches!(event.kind, EventKind::MemoryWritten { .. }));
        said.iter().filter(is_written).count()
    };
    assert_eq!([true, false].map(written), [0, 1]);
}

#[test]
fn r049_a_session_waits_until_another_run_is_done_with_the_memory_and_nothing_else_waits() {
    let program = "agent m:\n  prompt: \"Keep\"\n  persist: project\nparallel:\n  resume: m\n    prompt: \"Go on\"\n  session \"Other\"\n";
    let ran = run_with(program, "[[session]]\nreply = \"ok\"\ndelay = \"1s\"", |setup| {
        setup.memory(".prose/agents/m/", "old", 0);
        setup.busy_until.insert(".prose/agents/m/".into(), Duration::from_secs(5));
    });
    let mut said = String::new();
    for event in &ran.events {
        said += &match &event.kind {
            EventKind::MemoryAwaited { agent, .. } => format!("{}: waits for {agent}\n", event.at),
            EventKind::MemoryAcquired { .. } => format!("{}: goes on\n", event.at),
            EventKind::SessionStarted { task, .. } => {
                let memory = task.memory.as_ref().and_then(|memory| memory.text.as_deref());
                format!("{}: {} {memory:?}\n", event.at, task.task)
            }
            EventKind::SessionEnded { .. } => format!("{}: done\n", event.at),
            _ => continue,
        };
    }
    expect![[r#"
        0: Other None
        0: waits for m
        1000: done
        5000: goes on
        5000: Go on Some("of another run")
        6000: done
    "#]]
    .assert_eq(&said);
}

#[test]
fn r049_a_turn_at_a_memory_ends_with_its_session_however_that_ends() {
    let program = r#"
agent m:
  prompt: "Keep"
  persist: project
resume: m
  prompt: "well"
try:
  resume: m
    prompt: "fails"
catch as e:
  session "After"
parallel ("first"):
  resume: m
    prompt: "slow"
  session "fast"
"#;
    let said = drive(program, |request| match &request.effect {
        Effect::Memory(_) => Some(Outcome::Memory(Memory::default())),
        Effect::Session(task) if task.task.as_ref() == "fails" => {
            Some(Outcome::Failed(Failure::session("no")))
        }
        Effect::Session(task) if task.task.as_ref() == "slow" => None,
        _ => reply("ok"),
    });
    let mut names = HashMap::new();
    let mut story = String::new();
    for said in &said {
        match said {
            MachineOutput::Request(request) => {
                let name = match &request.effect {
                    Effect::Session(task) => task.task.to_string(),
                    effect => effect.kind().to_owned(),
                };
                names.insert(request.id, name.clone());
                story += &format!("asks {} {name}\n", request.id.0);
            }
            MachineOutput::Cancel(id) => story += &format!("cancels {} {}\n", id.0, names[id]),
            MachineOutput::EndTurn(id) => story += &format!("ends the turn of {} {}\n", id.0, names[id]),
            MachineOutput::Event(event) if matches!(event.kind, EventKind::MemoryWritten { .. }) => {
                story += "writes\n"
            }
            MachineOutput::Event(_) => {}
        }
    }
    expect![[r#"
        asks 1 memory
        asks 2 well
        writes
        ends the turn of 1 memory
        asks 3 memory
        asks 4 fails
        ends the turn of 3 memory
        asks 5 After
        asks 6 memory
        asks 7 fast
        asks 8 slow
        cancels 8 slow
        ends the turn of 6 memory
    "#]]
    .assert_eq(&story);
}

#[test]
fn an_agent_whose_name_is_too_long_for_a_file_remembers() {
    let long = "a".repeat(300);
    let text = "agent LONG:\n  persist: project\nsession: LONG\n  prompt: \"A\"\n".replace("LONG", &long);
    let ran = run(&text, OK);
    let place = ran.sessions()[0].memory.as_ref().unwrap().place.clone();
    assert!(place.agent.starts_with(&"a".repeat(100)) && place.agent.len() == 117, "{place:?}");
    assert_eq!(&*place.folder, format!(".prose/agents/{}/", place.agent));
}

/// A harness that notes which session of its own each session is to continue, and what it is told then.
struct Continuing {
    inner: Arc<dyn Harness>,
    noted: Arc<Mutex<String>>,
}

impl Harness for Continuing {
    fn name(&self) -> &str {
        "continuing"
    }

    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    fn enforces(&self, about: &str, rule: &PermissionRule) -> bool {
        self.inner.enforces(about, rule)
    }

    fn perform<'a>(&'a self, request: &'a Request, reporter: &'a Reporter) -> HarnessFuture<'a, Outcome> {
        if let Effect::Session(task) = &request.effect {
            let own = task.memory.as_ref().and_then(|memory| memory.own_session.as_ref());
            let own = own.map_or("nothing".to_owned(), |own| {
                let first = own.prompt.lines().next().unwrap_or_default();
                format!("{} of {}, told first: {first}", own.id, own.harness)
            });
            *self.noted.lock().unwrap() += &format!("{} continues {own}\n", task.task);
        }
        self.inner.perform(request, reporter)
    }
}

/// What sessions continue, in a run of which these events are recorded.
fn continued(program: &str, script: &str, earlier: &[Event]) -> (String, Ran) {
    let noted = Arc::new(Mutex::new(String::new()));
    let ran = run_with(program, script, |setup| {
        setup.harness = Arc::new(Continuing { inner: Arc::clone(&setup.harness), noted: Arc::clone(&noted) });
        setup.earlier = earlier.to_vec();
        for event in earlier {
            if let EventKind::MemoryWritten { place, memory, segment, .. } = &event.kind {
                setup.memory(&place.folder, memory, *segment);
            }
        }
    });
    let noted = noted.lock().unwrap().clone();
    (noted, ran)
}

/// Each session has an id of its own.
const NUMBERED: &str = r#"
    [[session]]
    pattern = "plan it"
    reply = "North"
    activity = [{ agent = "s1" }]
    [[session]]
    pattern = "sail now"
    fail = "a storm"
    times = 1
    activity = [{ agent = "s2" }]
    [[session]]
    pattern = "sail now"
    reply = "Sailing"
    activity = [{ agent = "s3" }]
    [[session]]
    reply = "Landed"
    activity = [{ agent = "s4" }]
"#;

const VOYAGE: &str = r#"
agent captain:
  persist: true
  prompt: "You are the captain"
session: captain
  prompt: "plan it"
resume: captain
  prompt: "sail now"
  retry: 1
resume: captain
  prompt: "land"
session: captain
  prompt: "anew"
"#;

/// What is recorded of a run that is stopped after its second session, which has two attempts.
fn until_second_session(ran: &Ran) -> Vec<Event> {
    let recorded = ran.events.iter().filter(|event| !matches!(event.kind, EventKind::Activity { .. }));
    let mut ends = 0;
    let until = recorded.take_while(|event| {
        let is_before = ends < 3;
        ends += u32::from(matches!(event.kind, EventKind::SessionEnded { .. }));
        is_before
    });
    until.cloned().collect()
}

#[test]
fn r043_resume_continues_the_last_session_of_the_agent_also_in_a_run_that_is_resumed() {
    let (noted, ran) = continued(VOYAGE, NUMBERED, &[]);
    expect![[r#"
        plan it continues nothing
        sail now continues s1 of continuing, told first: sail now
        sail now continues s1 of continuing, told first: sail now
        land continues s3 of continuing, told first: land
        anew continues nothing
    "#]]
    .assert_eq(&noted);
    // The prompt with the memory is the one that is recorded.
    assert!(ran.sessions().iter().any(|session| session.prompt.starts_with("## Agent Memory: captain")));

    // The run was stopped after the second session.
    let earlier = until_second_session(&ran);
    let (noted, _) = continued(VOYAGE, NUMBERED, &earlier);
    expect![[r#"
        land continues s3 of continuing, told first: land
        anew continues nothing
    "#]]
    .assert_eq(&noted);
}

#[test]
fn a_memory_that_others_have_changed_is_read_instead() {
    let (_, ran) = continued(VOYAGE, NUMBERED, &[]);
    let earlier = until_second_session(&ran);
    let noted = Arc::new(Mutex::new(String::new()));
    run_with(VOYAGE, NUMBERED, |setup| {
        setup.harness = Arc::new(Continuing { inner: Arc::clone(&setup.harness), noted: Arc::clone(&noted) });
        setup.earlier = earlier;
        // Another run writes the memory before the next session.
        setup.busy_until.insert("agents/captain/".into(), Duration::from_secs(1));
    });
    expect![[r#"
        land continues nothing
        anew continues nothing
    "#]]
    .assert_eq(&noted.lock().unwrap());
}

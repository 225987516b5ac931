//! Programs run as before after the refactorings that say so, and in their canonical form: the same sessions are asked the same, and the outputs are
//! the same.

#[path = "../../../crates/prose-ide/tests/it/support/offered.rs"]
mod offered;

use std::collections::{BTreeMap, BTreeSet};

use offered::{analysed, offered};
use prose_analysis::diagnostics::diagnostics;
use prose_fixture::number;
use prose_format::canonical;
use prose_ide::Assist;
use prose_syntax::{Fix, Severity, fix};
use prose_tests::{repository, sound_official_programs};
use prose_vm::effect::{
    Choice, ContextItem, Effect, Failure, Memory, Outcome, Reply, SessionTask, Verdict, digest,
};
use prose_vm::event::EventKind;
use prose_vm::machine::{Machine, MachineOutput};
use prose_vm::program::Program;
use prose_vm::settings::Settings;
use prose_vm::value::Value;

/// After so many questions a run has shown enough.
const MAX_QUESTIONS: usize = 150;

fn has_errors(text: &str) -> bool {
    let (host, file) = analysed(text);
    let mut found = diagnostics(host.db(), file).iter();
    found.any(|found| found.severity() == Severity::Error)
}

/// What a run asked for, in its order, and how it ended.
#[derive(Debug, PartialEq, Eq)]
struct Ran {
    asked: Vec<String>,
    ended: String,
    /// That of the last statement of a program without outputs.
    value: String,
    /// Whether a name was looked up that nothing was called, or only in a block that had ended: what that finds is no meaning to keep.
    is_lost: bool,
}

impl Ran {
    fn did(&self) -> (&[String], &str, &str) {
        (&self.asked, &self.ended, &self.value)
    }
}

fn context(items: &[ContextItem]) -> String {
    let items = items.iter().map(|item| format!("{}={}", item.name, item.text.as_deref().unwrap_or("?")));
    // Their order tells nothing.
    items.collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join(", ")
}

/// All that a session is told, but for the name of an agent without memory, which tells nothing.
fn told(task: &SessionTask) -> String {
    let SessionTask { task: text, system, model, skills, permissions, retries, memory, .. } = task;
    let memory = memory.as_ref().map(|memory| (&memory.place, memory.resumes, &memory.text));
    let context = context(&task.context);
    format!("{text} | {system:?} {model:?} {skills:?} {permissions:?} {retries} {memory:?} | {context}")
}

/// Runs a program. What is answered depends on all that is asked, so that whatever goes another way shows in what comes later. Where
/// `can_fail`, some sessions do.
fn run(text: &str, can_fail: bool, by_evidence: bool) -> Ran {
    let evidence = |items: &[ContextItem]| if by_evidence { context(items) } else { String::new() };
    let (host, file) = analysed(text);
    let program = Program::new(host.db(), file);
    let mut settings = Settings::new("20260115-143052-a7b3c9");
    settings.max_iterations = 5;
    let mut machine = Machine::new(program, settings);
    let mut asked = Vec::new();
    let mut is_lost = false;
    let mut memories: BTreeMap<String, Memory> = BTreeMap::new();
    while asked.len() < MAX_QUESTIONS {
        let said = machine.advance();
        if said.is_empty() {
            break;
        }
        for said in said {
            if let MachineOutput::Event(happening) = &said
                && let EventKind::Warning { message } = &happening.kind
            {
                is_lost |= message.contains("has ended");
            }
            let MachineOutput::Request(request) = said else { continue };
            let is_odd = |text: &str| digest(text).ends_with(['1', '3', '5', '7', '9', 'b', 'd', 'f']);
            let outcome = match &request.effect {
                Effect::Session(task) => {
                    let told = told(task);
                    let said = digest(&told);
                    asked.push(told);
                    if let Some(memory) = &task.memory {
                        let text = Some(said.as_str().into());
                        let memory_of = Memory { text, segments: memory.segment };
                        memories.insert(memory.place.folder.to_string(), memory_of);
                    }
                    if can_fail && said.starts_with(['0', '1', '2', '3']) {
                        Outcome::Failed(Failure::session(said.as_str()))
                    } else {
                        let text = format!("- {said}\n- more").as_str().into();
                        Outcome::Reply(Reply { text, ..Reply::default() })
                    }
                }
                Effect::Judge(question) => {
                    let text = format!("if {} | {}", question.text, evidence(&question.context));
                    let times = asked.iter().filter(|asked| **asked == text).count();
                    let met = is_odd(&format!("{text} {times}"));
                    asked.push(text);
                    Outcome::Verdict(Verdict { met, reason: String::new(), no_progress: false })
                }
                Effect::Choose(question) => {
                    let text = format!("choice {} | {}", question.text, evidence(&question.context));
                    let index = usize::from(is_odd(&text) && question.labels.len() > 1);
                    asked.push(text);
                    Outcome::Choice(Choice { index, reason: String::new() })
                }
                Effect::Extract(question) => {
                    let text = format!("part {} of {}", question.text, context(&question.context));
                    Outcome::Value(Value::text(digest(&text).to_string()))
                }
                Effect::Summarise(summary) => Outcome::Value(Value::text(digest(&summary.text).to_string())),
                Effect::Input(input) => {
                    Outcome::Value(Value::text(format!("- some\n- {}", input.name.as_deref().unwrap_or("x"))))
                }
                Effect::Memory(place) => Outcome::Memory(
                    memories.get(&*place.folder).cloned().unwrap_or(Memory { text: None, segments: 0 }),
                ),
                Effect::File(path) | Effect::FileCheck(path) => {
                    Outcome::Value(Value::text(path.path.to_string()))
                }
                Effect::Tree(_) => unreachable!("working trees are off"),
                Effect::Sleep(_) => Outcome::Slept,
            };
            machine.deliver(request.id, outcome);
        }
    }
    let (ended, value) = machine.end().map_or_else(
        || ("not ended".to_owned(), String::new()),
        |end| {
            // An error as a value has its line in it, which may be another one.
            let outputs = end.outputs.iter().map(|(name, value)| format!("{name} = {value}"));
            let outputs = outputs.collect::<Vec<_>>().join(", ");
            let error = end.error.map(|error| error.to_string());
            (format!("{:?} with {outputs}, {error:?}", end.status), end.value.to_string())
        },
    );
    let says = |part: &&str| asked.iter().chain([&ended, &value]).any(|text| text.contains(part));
    is_lost |= ["not been bound yet", "{w}", "{inner}"].iter().any(says);
    Ran { asked, ended, value, is_lost }
}

/// Says what an assist changed of what a program does; none if nothing. How often it was looked at is counted by its label.
fn changed(text: &str, assist: &Assist, counts: &mut BTreeMap<String, usize>) -> Option<String> {
    let label = assist.label.as_str();
    // These say that the program does something else.
    if label.starts_with("Resume") || label.starts_with("Start") || label.contains("(also judges") {
        return None;
    }
    // There are many of these, and they differ little.
    if label.starts_with("Surround") && !assist.edits.len().is_multiple_of(7) {
        return None;
    }
    let fix = Fix::safe("Assist", assist.edits.clone());
    let after = fix::apply(text, [&fix]).text;
    let is_unordered = label.starts_with("Run the");
    // What conditions know is what such a label is about; and of many results they know the newest, which are others in another order.
    let by_evidence = !label.contains("conditions") && !is_unordered;
    for can_fail in [false, true] {
        // Of what runs at once, the others go on when one fails.
        if can_fail && is_unordered {
            continue;
        }
        let (mut old, mut new) = (run(text, can_fail, by_evidence), run(&after, can_fail, by_evidence));
        if is_unordered {
            old.asked.sort();
            new.asked.sort();
        }
        if is_unordered {
            // A `parallel` has the values of all that is in it.
            old.value.clear();
            new.value.clear();
        }
        if label.starts_with("Make") {
            // There is an output more.
            for ran in [&mut old, &mut new] {
                ran.ended.clear();
                ran.value.clear();
            }
        }
        *counts.entry(label.split('`').next().unwrap_or_default().to_owned()).or_default() += 1;
        if old.did() != new.did() {
            let at = old.asked.iter().zip(&new.asked).position(|(old, new)| old != new);
            let at = at.unwrap_or(old.asked.len().min(new.asked.len()));
            return Some(format!(
                "=== {label} (failing: {can_fail})\n--- of\n{text}\n--- to\n{after}\n--- old[{at}] {:?}\n--- new[{at}] {:?}\n--- {}\n--- {}",
                old.asked.get(at),
                new.asked.get(at),
                old.ended,
                new.ended
            ));
        }
    }
    None
}

/// Applies everything that is offered in some programs. Those with errors, or whose meaning hangs on names that nothing has, are left out.
#[track_caller]
fn check(programs: impl IntoIterator<Item = String>) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    let mut wrong: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for text in programs {
        if has_errors(&text) || run(&text, false, true).is_lost {
            continue;
        }
        for assist in offered(&text) {
            if let Some(found) = changed(&text, &assist, &mut counts) {
                wrong.entry(assist.label.clone()).or_default().push(found);
            }
        }
    }
    let mut shown = String::new();
    for (label, mut found) in wrong {
        found.sort_by_key(String::len);
        shown += &format!("##### {label}: {}\n", found.len());
        shown += &found[..found.len().min(3)].join("\n");
        shown += "\n";
    }
    assert!(shown.is_empty(), "{shown}\n{counts:#?}");
    counts
}

/// Statements with `A`, `B` and `C` for names and `NEW` for one that nothing else has; `BODY` stands for other statements.
const STATEMENTS: &[&str] = &[
    "let A = session \"Use {B}\"",
    "const A = session \"Use it\"\n  context: B",
    "session \"a {A}\" -> session \"b {B}\" -> session \"{C}\"",
    "let A = session \"a\" -> session \"b {B}\"",
    "session \"one\\ntwo {A}\"",
    "A = session \"{A} {B}\"",
    "let A = B",
    "A = \"lit {B}\"",
    "let { A, B } = do three(\"x\")",
    "parallel:\n  A = session \"x\"\n  B = session \"y {C}\"\n  session \"z\"",
    "parallel:\n  session \"x {A}\"\n  B = do two(A, B)",
    "let A = session: keeper\n  context: { A, C }",
    "resume: keeper\n  prompt: \"on {A}\"",
    "session: plain\n  prompt: \"say {A}\"\n  context: [B, C]",
    "session: plain",
    "do one",
    "do two(A, B)",
    "let A = do two(B, \"lit\")",
    "A = do two(b: B, a: \"z\")",
    "let A = do four(B)",
    "do four(C)",
    "do set(A)",
    "do five(A, B)",
    "block NEW(a):\n  session \"new {a} {B}\"\nlet A = do NEW(C)",
    "agent NEW:\n  model: opus\n  prompt: \"New {A}\"\nsession: NEW\n  prompt: \"of {B}\"",
    "block NEW:\n  output session \"new\" -> session \"more\"\nsession \"before\"\nlet B = do NEW",
    "parallel:\n  session \"x {A}\" -> session \"y {B}\"\n    model: opus\n  C = session \"z\" -> session \"{A}\"",
    "do five(other: A, one_of: \"lit\")",
    "do five(one_of: A, other: B)",
    "let A = do five(B, C)",
    "A = do six(B)",
    "output A = do six(A)",
    "do six(C)  # why",
    "let A = do seven",
    "do seven",
    "let A = session \"new {B}\"\nlet B = session \"other\"\n  context: C",
    "session \"p\"\nsession \"q {A}\"",
    "parallel:\n  session \"p\"\n  session \"q {A}\"\n    model: opus",
    "session \"{seen}\"",
    "output A = B",
    "output r = do two(A, A)",
    "let A = do:\nBODY",
    "for A in B:\nBODY",
    "for A, i in [B, C]:\nBODY",
    "parallel for A in [B, \"k\"]:\nBODY",
    "repeat 3 as A:\n  if **enough {B}**:\n    break\nBODY",
    "loop (max: 3):\nBODY\n  if **enough {B}**:\n    break",
    "loop until **fine {A}** (max: 2):\nBODY",
    "try:\nBODY\nfinally:\n  session \"fin {B}\"",
    "try:\nBODY\ncatch as A:\n  session \"caught {A.message}\"\nBODY",
    "try:\nBODY\ncatch:\n  A = session \"caught\"",
    "let A = [B, C] | map:\n  session \"{item} {C}\"",
    "if **is {A}**:\nBODY\nelse:\nBODY",
    "choice **best {A}**:\n  option \"one\":\n    session \"one {B}\"\n  option \"two\":\n    A = session \"two\"",
    "throw \"bad {A}\"",
    "if A == B:\nBODY",
    "let A = session \"\"\"\n    Say {B}\n  {C.x}\n\"\"\"\n  retry: 1",
];

const HEAD: &str = r#"
let x = "one"
let y = session "why"
let z = ["a", "b"]
let seen = "none"

agent plain:
  model: opus
  prompt: "You are plain about {x}"

agent keeper:
  persist: true
  prompt: "You keep {y}"

# One.
block one:
  session "first of one {x}"
  let inner = session "last of one"

block two(a, b):
  let inner = session "two {a}"
    context: b
  output session "give {inner}"

block three(p):
  let q = session "three {p}"
  output x = q
  output y = "lit"
  output z = session "third"

block four(x):
  session "four {x}"
  if **stop {x}**:
    return "early"
  session "after {x} {y}"

# Five.
block five(one_of, other):
  # Now.
  let found = session "five {one_of}"  # first
    context: other
  session "last {found} {x}"  # end

block six(what):
  if **fine {what}**:
    session: plain
      prompt: "six {what}"
  output session "done {what}" -> session "so"

block seven:
  session "seven"
    model: opus
  let result = session "seven {seen}"

block set(to):
  seen = to
  y = session "set {to}"
"#;

fn body(random: &mut fastrand::Rng, depth: usize) -> String {
    let mut body = String::new();
    for _ in 0..random.usize(1..=3) {
        body += &statement(random, depth);
    }
    body
}

fn statement(random: &mut fastrand::Rng, depth: usize) -> String {
    let names = ["x", "y", "z", "w", "inner"];
    let name = |random: &mut fastrand::Rng| names[random.usize(..names.len())];
    let template = loop {
        let template = STATEMENTS[random.usize(..STATEMENTS.len())];
        if depth < 2 || !template.contains("BODY") {
            break template;
        }
    };
    let (a, b, c) = (name(random), name(random), name(random));
    let new = format!("new{}", random.u32(..));
    let mut text = String::new();
    for line in template.lines() {
        if line == "BODY" {
            for line in body(random, depth + 1).lines() {
                text += "  ";
                text += line;
                text.push('\n');
            }
            continue;
        }
        let mut line = line.to_owned();
        for (letter, name) in [("A", a), ("B", b), ("C", c), ("NEW", new.as_str())] {
            line = line
                .split_inclusive(|char: char| !char.is_alphanumeric())
                .map(|word| {
                    let end = word.len()
                        - word
                            .chars()
                            .next_back()
                            .filter(|char| !char.is_alphanumeric())
                            .map_or(0, char::len_utf8);
                    if &word[..end] == letter { format!("{name}{}", &word[end..]) } else { word.to_owned() }
                })
                .collect();
        }
        if random.u8(..12) == 0 && !template.contains("\"\"\"") && !line.starts_with("->") {
            line += "  # note";
        }
        text += &line;
        text.push('\n');
    }
    if random.u8(..10) == 0 {
        text = format!("# above\n{text}");
    }
    if random.u8(..10) == 0 {
        text.push('\n');
    }
    text
}

fn generated(random: &mut fastrand::Rng) -> String {
    let mut text = HEAD.trim_start().to_owned();
    text += "\nblock more(x, n):\n";
    for line in body(random, 1).lines() {
        if !line.is_empty() {
            text += "  ";
        }
        text += line;
        text.push('\n');
    }
    text.push('\n');
    text += &body(random, 0);
    text += &body(random, 0);
    if random.bool() {
        text += "do more(y, 2)\n";
    }
    text += "session \"end {x} {y} {seen}\"\n";
    if random.bool() {
        let wide = |line: &str| " ".repeat(2 * (line.len() - line.trim_start().len())) + line.trim_start();
        text = text.lines().map(|line| wide(line) + "\n").collect();
    }
    if random.bool() { text.replace('\n', "\r\n") } else { text }
}

/// How many programs are made up. A number in `PROSE_GENERATED_PROGRAMS` has more of them, to look for what these do not show.
const GENERATED: usize = 200;

fn generated_programs() -> Vec<String> {
    let wanted = number("PROSE_GENERATED_PROGRAMS").unwrap_or(GENERATED);
    let mut random = fastrand::Rng::with_seed(20_260_115);
    let mut programs = Vec::new();
    while programs.len() < wanted {
        let text = generated(&mut random);
        if !has_errors(&text) {
            programs.push(text);
        }
    }
    programs
}

#[test]
fn generated_programs_do_the_same_in_their_canonical_form() {
    for text in generated_programs() {
        let compiled = canonical(&text);
        assert!(!has_errors(&compiled), "{compiled}\nof\n{text}");
        assert_eq!(canonical(&compiled), compiled, "of\n{text}");
        for can_fail in [false, true] {
            let (old, new) = (run(&text, can_fail, true), run(&compiled, can_fail, true));
            assert_eq!(old.did(), new.did(), "{compiled}\nof\n{text}");
        }
    }
}

#[test]
fn generated_programs_do_the_same() {
    let counts = check(generated_programs());
    for label in [
        "Extract a block",
        "Extract the prompt",
        "Inline",
        "Convert the sessions",
        "Surround",
        "Convert the arrow",
        "Convert to a triple-quoted",
    ] {
        let count: usize =
            counts.iter().filter(|(found, _)| found.starts_with(label)).map(|(_, count)| count).sum();
        assert!(count >= 3, "{label} was tried {count} times: {counts:#?}");
    }
}

#[test]
fn the_examples_do_the_same() {
    let folder = std::fs::read_dir(repository().join("examples")).unwrap();
    let paths = folder.map(|entry| entry.unwrap().path());
    let programs = paths.filter(|path| path.extension().is_some_and(|extension| extension == "prose"));
    let counts = check(programs.map(|path| std::fs::read_to_string(path).unwrap()));
    assert!(counts.values().sum::<usize>() > 50, "{counts:#?}");
}

#[test]
#[ignore = "needs the official programs, see tests/fetch-official-programs"]
fn the_official_programs_do_the_same() {
    // Each assist takes four runs of the whole program.
    let programs =
        sound_official_programs().into_iter().map(|(_, text)| text).filter(|text| text.len() < 12_000);
    let counts = check(programs);
    assert!(counts.values().sum::<usize>() > 500, "{counts:#?}");
}

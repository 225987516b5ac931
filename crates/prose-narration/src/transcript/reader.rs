//! Goes through the lines of a narration and keeps track of where in the program they are.

mod branches;
mod conditions;

use prose_vm::budget::Maximum;
use prose_vm::effect::{Failure, Memory, Outcome, Reply};
use prose_vm::error::ErrorKind;
use prose_vm::value::Value;
use rustc_hash::FxHashMap;

use super::lines::{after, item, marked, number_after};
use super::values::{self, Read};
use super::{About, Answer, Entry, NarratedSession, Recovered, Step};
use crate::markers::Marker;
use crate::text;

use branches::index_of;

const NOT_STATED: &str = "its result is not stated";
const NOT_ENDED: &str = "it had not ended";
const FAILED_BY: &str = "the program failed by it";

/// What the lines of a list without markers are about.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum List {
    #[default]
    None,
    Inputs,
    Branches,
    Joined,
}

/// What continues one after the other: the program, or a branch.
#[derive(Debug, Default)]
struct Strand {
    stack: Vec<Around>,
    /// The statement that was narrated last, and what its session is asked to do.
    said: NarratedSession,
    /// Whether the session of that statement has no result so far, and the line of it.
    open: Option<usize>,
    /// The condition that is judged, and whether it is that of the loop around it.
    asked: Option<(String, bool)>,
    /// The session that ended last.
    last: Option<usize>,
}

/// What is around a line.
#[derive(Debug)]
enum Around {
    Loop(Loop),
    Frame(u32),
    Parallel(Parallel),
}

#[derive(Debug)]
struct Loop {
    conditions: Vec<String>,
    is_while: bool,
    iteration: u32,
    is_judged: bool,
}

/// The branches by name are in their order only where all of them were listed before they started.
#[derive(Debug, Default)]
struct Parallel {
    names: Vec<String>,
    is_listed: bool,
    tasks: Vec<String>,
    narrated: Vec<String>,
}

#[derive(Default)]
pub(super) struct Reader<'a> {
    lines: Vec<&'a str>,
    /// Whether the last line lacks its end.
    is_torn: bool,
    at: usize,
    strands: FxHashMap<Vec<String>, Strand>,
    path: Vec<String>,
    list: List,
    recovered: Recovered,
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let mut lines: Vec<&str> = text.lines().collect();
        // A narration that is quoted as a whole is read as if it were not; a quote inside of it belongs to a result.
        let unquoted = |line: &'a str| line.trim_start().strip_prefix('>');
        let mut narrated = lines.iter().filter(|line| marked(line).is_some()).peekable();
        if narrated.peek().is_some() && narrated.all(|line| unquoted(line).is_some()) {
            lines = lines.into_iter().map(|line| unquoted(line).unwrap_or(line)).collect();
        }
        Self { lines, is_torn: !text.ends_with('\n'), ..Self::default() }
    }

    pub(super) fn read(mut self) -> Recovered {
        while let Some(&line) = self.lines.get(self.at) {
            self.at += 1;
            match marked(line) {
                Some((marker, said)) => {
                    if self.list == List::Joined {
                        self.leave_parallel();
                    }
                    self.list = List::None;
                    self.line(marker, said);
                }
                None => self.detail(line),
            }
        }
        let paths: Vec<Vec<String>> = self.strands.keys().cloned().collect();
        for path in paths {
            self.path = path;
            self.close();
        }
        // Those left open at the end were added in no order.
        self.recovered.entries.sort_by_key(|entry| entry.line);
        self.recovered
    }

    fn line(&mut self, marker: Marker, said: &'a str) {
        match marker {
            Marker::Program => {
                self.recovered.is_complete |= after(said, "Program Complete").is_some();
                if let Some(rest) = after(said, "Program Failed") {
                    self.failed_by(rest);
                }
            }
            Marker::Position => self.position(said),
            Marker::Success => self.success(said),
            Marker::Warning | Marker::Error => self.warning(said),
            Marker::Binding => self.binding(said),
            Marker::Parallel => self.parallel(said),
            Marker::Loop => self.a_loop(said),
            Marker::Flow => self.flow(said),
            Marker::Input => self.input(said),
            Marker::FrameEntered => {
                let id = number_after(said, "execution_id").unwrap_or_default();
                self.strand().stack.push(Around::Frame(id));
            }
            Marker::FrameLeft => {
                self.close();
                // What is bound after a call is the result of the call.
                self.strand().last = None;
                self.strand().leave(|around| matches!(around, Around::Frame(_)));
            }
            Marker::Output => self.bound(said),
            Marker::Import | Marker::Pipeline | Marker::Try | Marker::CallStack => {}
        }
    }

    /// What the program failed by is asked again, so that it can continue; an answer that was caught, or that a later one replaced, stays. A program that
    /// failed by itself has nothing to try again.
    fn failed_by(&mut self, said: &'a str) {
        let (_, said) = said.split_once(':').unwrap_or(("", said));
        let Read::Whole(said) = self.value(said).0 else { return };
        let is_it = |entry: &&mut Entry| match &entry.answer {
            // What an imported program failed by is narrated by its caller in other words around it.
            Ok(Answer::Outcome(Outcome::Failed(failure))) => {
                !failure.message.is_empty() && said.contains(&failure.message)
            }
            _ => false,
        };
        if let Some(entry) = self.recovered.entries.iter_mut().rev().find(is_it) {
            entry.answer = Err(FAILED_BY);
        }
    }

    fn strand(&mut self) -> &mut Strand {
        self.strands.entry(self.path.clone()).or_default()
    }

    /// Adds an effect that the last line states.
    fn add(&mut self, line: usize, about: About, answer: Result<Answer, &'static str>) -> usize {
        let steps = self.steps(false);
        self.recovered.entries.push(Entry { line, about, steps, answer });
        self.recovered.entries.len() - 1
    }

    /// The way to the current line, or to the condition of the loop that it is in: that belongs to the iteration that would follow.
    fn steps(&self, of_loop: bool) -> Vec<Step> {
        let mut steps = Vec::new();
        for depth in 0..=self.path.len() {
            let strand = self.strands.get(&self.path[..depth]);
            let stack = strand.map(|strand| strand.stack.as_slice()).unwrap_or_default();
            let innermost = stack
                .iter()
                .rposition(|around| matches!(around, Around::Loop(_)))
                .filter(|_| of_loop && depth == self.path.len());
            for (at, around) in stack.iter().enumerate() {
                match around {
                    Around::Loop(it) if innermost == Some(at) => steps.push(Step::Iteration(it.iteration)),
                    Around::Loop(Loop { iteration: 0, .. }) | Around::Parallel(_) => {}
                    Around::Loop(it) => steps.push(Step::Iteration(it.iteration - 1)),
                    Around::Frame(id) => steps.push(Step::Frame(*id)),
                }
            }
            if let Some(branch) = self.path.get(depth) {
                steps.push(Step::Branch(index_of(stack, branch)));
            }
        }
        steps
    }

    /// A value that starts in the current line; takes up the lines that belong to it.
    fn value(&mut self, first: &'a str) -> (Read, &'a str) {
        let is_torn = self.is_torn;
        let (read, rest, lines) = values::value(first, &self.lines[self.at..], is_torn);
        self.at += lines;
        (read, rest)
    }

    /// Notes the session that was started and has no result.
    fn close(&mut self) {
        let strand = self.strand();
        if let Some(line) = strand.open.take() {
            let narrated = strand.said.clone();
            self.add(line, About::Session(narrated), Err(NOT_ENDED));
        }
    }

    fn position(&mut self, said: &'a str) {
        let said = after(said, "Executing").map_or(said, |rest| rest.trim_start_matches([':', ' ']));
        let source = match after(said, "Statement ") {
            Some(rest) => {
                // The statements of the program stand in nothing, whatever a model forgot to close.
                self.close();
                self.path.clear();
                self.strand().stack.clear();
                let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
                let rest = after(rest, " of ")
                    .map_or(rest, |of| of.trim_start_matches(|c: char| c.is_ascii_digit()));
                rest.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '"' && c != '*')
            }
            None => said,
        };
        self.close();
        let line = self.at;
        let strand = self.strand();
        strand.asked = None;
        strand.said = NarratedSession {
            source: (!source.is_empty()).then(|| source.to_owned()),
            ..NarratedSession::default()
        };
        let effect = crate::narrator::without_binding(source);
        let is_session = ["session", "resume"].iter().any(|keyword| after(effect, keyword).is_some());
        strand.open = is_session.then_some(line);
    }

    fn success(&mut self, said: &'a str) {
        let phrases = [
            "Session completed",
            "Session complete",
            "Session finished",
            "Session result",
            "Recovery complete",
            "Cleanup complete",
            "Result",
            "Completed",
            "Complete",
        ];
        let Some(rest) = phrases.iter().find_map(|phrase| after(said, phrase)) else { return };
        let line = self.at;
        // What continues in other ways, such as ", binding written", is no result.
        let rest = rest.trim_start();
        let answer = match values::separated(rest) {
            Some("") => {
                let (read, lines) = values::below(&self.lines[self.at..], self.is_torn);
                self.at += lines;
                reply(read)
            }
            Some(result) => match self.value(result).0 {
                Read::Doubtful(doubt) if doubt == values::CUT && !self.is_at_torn_end() => {
                    Ok(Answer::Ended { part: Some(values::start(result)), doubt })
                }
                read => reply(read),
            },
            None if self.is_at_torn_end() => Err(values::TORN),
            // It has ended, whether its result is narrated or not (decision 23).
            None => Ok(Answer::Ended { part: None, doubt: NOT_STATED }),
        };
        let strand = self.strand();
        strand.open = None;
        let narrated = strand.said.clone();
        // A statement may start several sessions; only failures leave one to be tried again.
        strand.said.prompt = None;
        let entry = self.add(line, About::Session(narrated), answer);
        self.strand().last = Some(entry);
    }

    /// Whether the line that was read last is the last one and may lack its end.
    fn is_at_torn_end(&self) -> bool {
        self.is_torn && self.at >= self.lines.len()
    }

    fn warning(&mut self, said: &'a str) {
        let line = self.at;
        if let Some(rest) = after(said, "Session failed") {
            let answer = self.failure(rest);
            let strand = self.strand();
            strand.open = None;
            let narrated = strand.said.clone();
            self.add(line, About::Session(narrated), answer);
        } else if let Some(rest) = after(said, "Retry ") {
            self.retry(rest);
        } else if let Some(rest) = after(said, "No answer to ") {
            let about = match rest.split(' ').next() {
                Some("judge") => About::Judge(self.strand().asked.take().map(|(text, _)| text)),
                Some("choose") => About::Choose(None),
                Some("extract") => About::Extract,
                Some("summarise") => About::Summarise,
                Some("memory") => About::Memory,
                Some("file") => About::File,
                Some("input") => About::Input(None),
                _ => return,
            };
            let answer = self.failure(rest.split_once(' ').map_or("", |(_, rest)| rest));
            self.add(line, about, answer);
        }
    }

    /// After a failure there is a pause, and the session is tried again. A pause that had not ended when the narration did has passed meanwhile.
    fn retry(&mut self, rest: &'a str) {
        let line = self.at;
        // Nothing but the retry may tell that the attempt before it has failed.
        if self.strand().open.is_some()
            && let Some((_, why)) = rest.split_once("error")
        {
            let answer = self.failure(why);
            let narrated = self.strand().said.clone();
            self.add(line, About::Session(narrated), answer);
        }
        self.add(line, About::Sleep, Ok(Answer::Outcome(Outcome::Slept)));
        self.strand().open = Some(line);
    }

    fn failure(&mut self, rest: &'a str) -> Result<Answer, &'static str> {
        let rest = rest.trim();
        let (kind, message) = match rest.strip_prefix('(').and_then(|rest| rest.split_once(')')) {
            Some((word, message)) => (kind_of(word), message),
            None => (ErrorKind::Session, rest),
        };
        let (read, _) = self.value(values::separated(message).unwrap_or(message));
        let message = read.whole("why it failed is not stated")?;
        Ok(Answer::Outcome(Outcome::Failed(Failure { kind, message })))
    }

    fn binding(&mut self, said: &'a str) {
        let line = self.at;
        let narrated =
            [("Extracted:", About::Extract), ("Summarised:", About::Summarise), ("File:", About::File)];
        for (phrase, about) in narrated {
            if let Some(rest) = after(said, phrase) {
                let (read, _) = self.value(rest);
                let answer = read.whole(NOT_STATED).map(|text| match text.as_str() {
                    "null" if rest.trim() == "null" => Value::Null,
                    _ => Value::text(text),
                });
                self.add(line, about, answer.map(|value| Answer::Outcome(Outcome::Value(value))));
                return;
            }
        }
        if let Some(rest) = after(said, "Memory:") {
            let (read, remark) = self.value(rest);
            let segments = number_after(if remark.is_empty() { rest } else { remark }, "segments");
            let text = match read {
                _ if rest.trim().starts_with("null") => Ok(None),
                read => read.whole(NOT_STATED).map(|text| Some(text.into())),
            };
            let answer = text.and_then(|text| {
                let memory = Memory { text, segments: segments.ok_or(NOT_STATED)? };
                Ok(Answer::Outcome(Outcome::Memory(memory)))
            });
            self.add(line, About::Memory, answer);
            return;
        }
        self.bound(said);
    }

    /// The name of the session that ended last and, where only this line states it, its result.
    fn bound(&mut self, said: &'a str) {
        let Some((left, right)) = said.split_once('=') else { return };
        let words: Vec<&str> = left.split_whitespace().collect();
        let name = match words.as_slice() {
            ["let" | "const" | "output", name] | [name] if text::is_name(name) => (*name).to_owned(),
            _ => return,
        };
        let (read, _) = self.value(right);
        let strand = self.strand();
        let Some(entry) = strand.last.take() else { return };
        let source_binds = strand.said.source.as_deref().is_some_and(|source| source.contains('='));
        let is_here = strand.said.source.as_deref().is_none_or(|source| {
            // A statement that binds something else says that this line is about something else.
            let bound = source.split_once('=').map(|(left, _)| left.split_whitespace().next_back());
            bound.is_none_or(|bound| bound == Some(name.as_str()))
        });
        let Some(entry) = self.recovered.entries.get_mut(entry).filter(|_| is_here) else { return };
        match (&entry.answer, read) {
            (_, Read::Reference) => {}
            // A model may tell the result only here, or shorten it in one of both places.
            (Err(_) | Ok(Answer::Ended { .. }), read @ (Read::Whole(_) | Read::Doubtful(_))) => {
                if !right.trim_start().starts_with(['{', '[']) {
                    entry.answer = reply(read);
                }
            }
            (Ok(Answer::Outcome(Outcome::Reply(reply))), Read::Whole(text)) if *reply.text == text => {}
            (Ok(_), Read::Doubtful(_)) if source_binds => {}
            _ => return,
        }
        if let About::Session(narrated) = &mut entry.about {
            narrated.name = Some(name);
        }
    }

    /// A line without a marker.
    /// The limits of the run, as the flags that set them.
    fn limits(&mut self, flags: &str) {
        let mut words = flags.split_whitespace();
        while let (Some(flag), Some(value)) = (words.next(), words.next()) {
            let limit = match flag {
                "--max-cost" => value.parse().ok().map(Maximum::Cost),
                "--max-tokens" => value.parse().ok().map(Maximum::Tokens),
                "--max-sessions" => value.parse().ok().map(Maximum::Sessions),
                _ => None,
            };
            self.recovered.limits.extend(limit.filter(|limit| limit.is_valid()));
            if flag == "--timeout" {
                self.recovered.timeout_ms = value.strip_suffix("ms").and_then(|time| time.parse().ok());
            }
        }
    }

    fn detail(&mut self, line: &'a str) {
        let said = line.trim();
        if said.is_empty() {
            return;
        }
        if let Some(rest) = after(said, "Spawning with prompt:") {
            let (read, remark) = self.value(rest);
            let prompt = match read {
                Read::Whole(prompt) => Some(prompt),
                // A beginning is enough to know a session by.
                Read::Doubtful(_) if remark.is_empty() => Some(values::start(rest)),
                _ => None,
            };
            self.strand().said.prompt = prompt;
            return;
        }
        if let Some(rest) = after(said, "Program:").filter(|_| self.recovered.entries.is_empty()) {
            let (from, about) = rest.trim().rsplit_once(" (run ").unwrap_or((rest.trim(), ""));
            self.recovered.program = Some(from.to_owned());
            let hash = about.split_once("sha256 ").map(|(_, hash)| hash.trim_end_matches(')'));
            self.recovered.sha256 = hash.map(str::to_owned);
            return;
        }
        if let Some(rest) = after(said, "Limits:").filter(|_| self.recovered.entries.is_empty()) {
            self.limits(rest);
            return;
        }
        if said.starts_with("[Task: ") {
            let tasks =
                said.split("[Task: ").skip(1).map(|task| task.trim().trim_end_matches(']').trim_matches('"'));
            let found: Vec<String> = tasks.map(str::to_owned).collect();
            if let Some(Around::Parallel(parallel)) = self.strand().stack.last_mut() {
                parallel.tasks.extend(found);
            }
            return;
        }
        match self.list {
            List::None => {
                if let Some(said) = item(line) {
                    self.branch_item(said);
                }
            }
            List::Inputs => {
                if let Some((name, read, raw)) = self.named_value(item(line).unwrap_or(said)) {
                    if let Ok(value) = values::input(read, raw) {
                        self.recovered.inputs.push((name.into(), value));
                    }
                } else {
                    self.list = List::None;
                }
            }
            List::Branches | List::Joined => self.branch_item(item(line).unwrap_or(said)),
        }
    }

    fn named_value(&mut self, said: &'a str) -> Option<(&'a str, Read, &'a str)> {
        let (name, raw) = said.split_once(['=', ':'])?;
        let name = name.trim().trim_matches(['*', '`']);
        if !is_branch(name) {
            return None;
        }
        let raw = raw.trim();
        let (read, _) = self.value(raw);
        Some((name, read, raw))
    }

    fn input(&mut self, said: &'a str) {
        let line = self.at;
        if after(said, "Inputs received").is_some() {
            self.list = List::Inputs;
        } else if let Some(rest) = after(said, "Input not given") {
            let name = Some(rest.trim_start_matches([':', ' ']).trim()).filter(|name| text::is_name(name));
            let nothing = Answer::Outcome(Outcome::Value(Value::Null));
            self.add(line, About::Input(name.map(str::to_owned)), Ok(nothing));
        } else if let Some(rest) = after(said, "Input received") {
            let rest = rest.trim_start_matches([':', ' ']);
            let (name, raw) = match rest.split_once('=') {
                Some((name, raw)) if text::is_name(name.trim()) => (Some(name.trim().to_owned()), raw),
                _ => (None, rest),
            };
            let (read, _) = self.value(raw);
            let answer = values::input(read, raw).map(|value| Answer::Outcome(Outcome::Value(value)));
            self.add(line, About::Input(name), answer);
        }
    }
}

impl Strand {
    /// The innermost loop, if it is one of the block or program that is executed.
    fn loop_around(&mut self) -> Option<&mut Loop> {
        let mut inner = self.stack.iter_mut().rev().take_while(|around| !matches!(around, Around::Frame(_)));
        inner.find_map(|around| if let Around::Loop(it) = around { Some(it) } else { None })
    }

    /// Goes out of the innermost of what is around, and of what is in it.
    fn leave(&mut self, is_it: fn(&Around) -> bool) {
        if let Some(at) = self.stack.iter().rposition(is_it) {
            self.stack.truncate(at);
        }
    }
}

/// Whether a branch can be called so: by a name or a number.
fn is_branch(name: &str) -> bool {
    text::is_name(name) || name.parse::<u32>().is_ok()
}

fn reply(read: Read) -> Result<Answer, &'static str> {
    let text = read.whole(NOT_STATED)?.into();
    Ok(Answer::Outcome(Outcome::Reply(Reply { text, ..Reply::default() })))
}

fn kind_of(word: &str) -> ErrorKind {
    serde_json::from_value(word.into()).unwrap_or(ErrorKind::Session)
}

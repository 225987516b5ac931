//! Plans a fork: a new run that keeps what a recorded run did before a point, and asks what comes after it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::sync::Arc;

use prose_state::StateError;
use prose_state::replay::RecordedRun;
use prose_syntax::suggest;
use prose_syntax::text::enumerated;
use prose_vm::earlier::ChangedVariable;
use prose_vm::effect::{Effect, Usage};
use prose_vm::event::{Event, EventKind, RunStatus, StatementKind, Status};
use prose_vm::place::{NamedLine, Place, Site};
use prose_vm::program::Program;
use prose_vm::program_names::ProgramNames;
use prose_vm::questions::Attribution;
use prose_vm::value::Value;
use smol_str::SmolStr;

use crate::FromRun;
use crate::fork_point::Point;
use crate::moved::is_same_program;
use crate::outline::{LocalName, Outline};

/// What a fork changes.
#[derive(Debug, Clone, Default)]
pub struct ForkRequest {
    /// Where it leaves the recorded run; without one, after the last changed reply, and otherwise at its end.
    pub from: Option<Point>,
    /// The variables that get other values at the point.
    pub variables: Vec<(SmolStr, Value)>,
    /// The replies that are replaced, by their sessions.
    pub replies: Vec<(Point, Arc<str>)>,
    /// Who changes them.
    pub by: Option<Attribution>,
    /// The number of lines before the program in its document, for editors, where messages count lines in the document. The lines of points are those of the
    /// program.
    pub first_line: u32,
}

/// A fork before it starts.
#[derive(Debug, Clone, PartialEq)]
pub struct Fork {
    /// The start of the run.
    pub from: FromRun,
    /// The statement that the point is before or inside of; `None` at the end of the run.
    pub site: Option<Site>,
    /// The line of that statement, as messages name it.
    pub line: Option<NamedLine>,
    /// The place of that statement.
    pub place: Option<Place>,
    /// Whether the point is inside of the statement: after its start, and before the outcome of something that it asks.
    pub is_inside: bool,
    /// The first statement that starts after the point, where variables can be set.
    next: Option<Place>,
    /// Where that is in the text, and the call that it belongs to.
    next_site: Option<Site>,
    next_frame: Frame,
    /// The number of sessions whose replies are reused.
    pub reused_sessions: u32,
    /// The number of decisions that are reused.
    pub reused_decisions: u32,
    /// What they used, if that was reported.
    pub reused: Option<Usage>,
    /// The number of sessions that the recorded run asked after the point.
    pub asked_sessions: u32,
    /// The number of decisions that it asked there.
    pub asked_decisions: u32,
    /// What they used, if that was reported.
    pub expected: Option<Usage>,
    /// The names that have a value at the point.
    names: NamesBefore,
    /// Whether the recorded run came to its end, so that the numbers cover the rest of the program.
    pub is_whole: bool,
}

/// The reason why a run cannot be forked as requested.
#[derive(Debug)]
pub enum ForkError {
    /// The run cannot be read.
    State(StateError),
    /// The point does not exist, or what is to be changed is not there.
    Request(String),
}

impl fmt::Display for ForkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ForkError::State(error) => error.fmt(f),
            ForkError::Request(why) => f.write_str(why),
        }
    }
}

impl ForkError {
    /// The error with the fix in an editor.
    pub fn for_editor(&self) -> String {
        match self {
            ForkError::State(error) => error.for_editor(),
            ForkError::Request(why) => why.clone(),
        }
    }
}

impl std::error::Error for ForkError {}

impl From<StateError> for ForkError {
    fn from(error: StateError) -> Self {
        Self::State(error)
    }
}

/// Plans a fork of a run. Nothing is written.
pub fn plan_fork(recorded: RecordedRun, request: ForkRequest) -> Result<Fork, ForkError> {
    let run = recorded.head.run.clone();
    let refuse = |why: String| Err(ForkError::Request(why));
    let mut replies = Vec::new();
    let mut after_replies = None;
    let first_line = request.first_line;
    for (point, text) in &request.replies {
        let shown = point.shown(first_line);
        // Most likely a variable of a shell without a value.
        if text.trim().is_empty() {
            return refuse(format!(
                "the reply of the session at {shown} has no text, and a session that answers with nothing fails; pass a reply"
            ));
        }
        let Some((seq, place)) = find_reply(&recorded, point)? else {
            return refuse(format!(
                "run {run} has no reply of a session at {shown}; `prose runs show {run} --json` lists the places of its requests"
            ));
        };
        if replies.iter().any(|(known, _)| *known == place) {
            return refuse(format!("the reply of the session at {place} is replaced twice; pass one reply"));
        }
        after_replies = after_replies.max(Some(seq + 1));
        replies.push((place, Arc::clone(text)));
    }
    let before = match &request.from {
        Some(point) => Some(find_point(&recorded, point, first_line)?),
        None => after_replies,
    };
    if let (Some(before), Some(after)) = (before, after_replies)
        && before < after
    {
        return refuse(format!(
            "the changed reply is recorded by event {}, after the point at event {before}; fork from a later point",
            after - 1
        ));
    }
    let mut fork = Fork {
        from: FromRun {
            before,
            is_live: true,
            is_replay: false,
            variables: Vec::new(),
            replies,
            first_line,
            by: request.by.filter(|_| !request.replies.is_empty() || !request.variables.is_empty()),
            recorded,
        },
        site: None,
        line: None,
        place: None,
        is_inside: false,
        next: None,
        next_site: None,
        next_frame: Frame::default(),
        reused_sessions: 0,
        reused_decisions: 0,
        reused: None,
        asked_sessions: 0,
        asked_decisions: 0,
        expected: None,
        names: NamesBefore::default(),
        is_whole: false,
    };
    let mut programs = ProgramNames::default();
    for event in fork.from.recorded.clone().events()? {
        let Ok(event) = event else { break };
        programs.apply(&event);
        fork.add(&event);
    }
    fork.line = fork.site.and_then(|site| programs.line(site));
    for (name, value) in request.variables {
        let Some(place) = fork.next.clone() else {
            return refuse(format!(
                "`{name}` cannot be set, since no statement of run {run} comes after the point"
            ));
        };
        fork.check_has_value(&name)?;
        if fork.from.variables.iter().any(|known| known.name == name) {
            return refuse(format!("`{name}` is set twice; pass one value"));
        }
        fork.from.variables.push(ChangedVariable { place, name, value });
    }
    Ok(fork)
}

impl Fork {
    /// Whether a program, with its imports, is another one than that of the recorded run.
    pub fn is_edited(&self, program: &Program) -> bool {
        !is_same_program(&self.from.recorded.head, program)
    }

    /// The first event after the point that belongs to a statement says where the point is.
    fn point_at(&mut self, event: &Event, is_inside: bool) {
        if self.place.is_none() {
            (self.site, self.place, self.is_inside) = (event.site, Some(event.place.clone()), is_inside);
        }
    }

    /// Refuses a name that has no value at the point, or one that a person cannot give it.
    fn check_has_value(&self, name: &SmolStr) -> Result<(), ForkError> {
        let recorded = &self.from.recorded;
        let own = self.next_site.filter(|site| site.program == 0);
        let local = own.and_then(|site| Outline::new(recorded.program.as_deref()?).local_at(site.line, name));
        if let Some(LocalName { what, line }) = local {
            let line = self.from.first_line + line;
            return Err(ForkError::Request(format!(
                "`{name}` cannot be set: it is {what} at line {line}, which gives it its value; set what that line uses, from line {line} on"
            )));
        }
        let known = self.names.visible(self.next_frame);
        if known.contains(name) {
            return Ok(());
        }
        let run = &recorded.head.run;
        let hint = suggest::nearest(name, &known, |known| known.as_str());
        let hint = hint.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
        Err(ForkError::Request(format!("`{name}` has no value before the point in run {run}{hint}")))
    }

    fn add(&mut self, event: &Event) {
        let is_before = self.from.before.is_none_or(|before| event.seq < before);
        match &event.kind {
            EventKind::StatementStarted { .. } if !is_before && self.next.is_none() => {
                self.next = Some(event.place.clone());
                (self.next_site, self.next_frame) = (event.site, frame_of(event));
                self.point_at(event, false);
            }
            EventKind::Bound { .. } | EventKind::FrameEntered { .. } if is_before => self.names.add(event),
            EventKind::Effect { effect, .. } if !Effect::KINDS_WITHOUT_AGENT.contains(&effect.as_str()) => {
                if !is_before {
                    self.point_at(event, true);
                }
                let is_session = effect == "session";
                match (is_before, is_session) {
                    (true, true) => self.reused_sessions += 1,
                    (true, false) => self.reused_decisions += 1,
                    (false, true) => self.asked_sessions += 1,
                    (false, false) => self.asked_decisions += 1,
                }
                let used = if is_before { &mut self.reused } else { &mut self.expected };
                *used = Usage::sum([*used, event.kind.usage()]);
            }
            EventKind::RunEnded(end) => {
                self.is_whole = matches!(end.status, RunStatus::Completed);
            }
            _ => {}
        }
    }
}

/// A call of a block: the number of the execution of its program, and its own. The program itself is call 0.
type Frame = (u32, u32);

fn frame_of(event: &Event) -> Frame {
    (event.program(), event.frame)
}

/// The names that have a value before a point.
#[derive(Debug, Clone, Default, PartialEq)]
struct NamesBefore {
    variables: BTreeSet<SmolStr>,
    /// The parameters of each call, and the call from which it was called.
    calls: BTreeMap<Frame, (Vec<SmolStr>, Frame)>,
}

impl NamesBefore {
    fn add(&mut self, event: &Event) {
        match &event.kind {
            EventKind::Bound { binding, .. } => _ = self.variables.insert(binding.name.clone()),
            EventKind::FrameEntered { id, parent, arguments, .. } => {
                let program = frame_of(event).0;
                let params = arguments.iter().map(|(name, ..)| name.clone()).collect();
                self.calls.insert((program, *id), (params, (program, *parent)));
            }
            _ => {}
        }
    }

    /// Those that a statement of a call sees.
    fn visible(&self, mut frame: Frame) -> BTreeSet<SmolStr> {
        let mut names = self.variables.clone();
        while let Some((params, caller)) = self.calls.get(&frame) {
            names.extend(params.iter().cloned());
            frame = *caller;
        }
        names
    }
}

/// The number of the event that a point is before.
fn find_point(recorded: &RecordedRun, point: &Point, first_line: u32) -> Result<u64, ForkError> {
    let run = &recorded.head.run;
    let mut innermost: Option<(u32, u64, StatementKind)> = None;
    let mut executed = Executed::default();
    let mut programs = ProgramNames::default();
    let mut failure = FailurePoint::default();
    let mut last = 0;
    for event in recorded.events()? {
        let Ok(event) = event else { break };
        last = event.seq;
        programs.apply(&event);
        match (point, event.site) {
            (Point::Place(place), _) if *place == event.place => return Ok(event.seq),
            (Point::Line(NamedLine { program, line }), Some(site))
                if programs.has_name(site, program.as_deref()) =>
            {
                executed.lines.insert(site.line);
                let EventKind::StatementStarted { kind, .. } = event.kind else { continue };
                executed.statements.insert(site.line);
                if site.line == *line {
                    return Ok(event.seq);
                }
                // A line in the middle of a statement stands for the innermost statement around it.
                let is_around = site.line < *line && *line <= site.last_line;
                if is_around && innermost.is_none_or(|(start, ..)| start < site.line) {
                    innermost = Some((site.line, event.seq, kind));
                }
            }
            (Point::Failure, _) => failure.add(&event),
            _ => {}
        }
    }
    match (point, innermost) {
        (Point::Event(seq), _) if (1..=last + 1).contains(seq) => Ok(*seq),
        (Point::Event(seq), _) => {
            Err(ForkError::Request(format!("run {run} has {last} events and no event {seq}")))
        }
        (Point::Line(line), Some((start, seq, kind))) => {
            // A line of a branch that was not taken is no part of what was executed around it.
            let is_other = match (&line.program, &recorded.program) {
                (None, Some(text)) => {
                    let own = Outline::new(text).statement_at(line.line);
                    own.is_some_and(|own| own > start && !executed.lines.contains(&own))
                }
                // The text of an imported program is not recorded.
                _ => has_body(kind),
            };
            if is_other { Err(executed.refusal(run, line, first_line)) } else { Ok(seq) }
        }
        (Point::Line(line), None) => Err(executed.refusal(run, line, first_line)),
        (Point::Place(place), _) => Err(ForkError::Request(format!(
            "run {run} has no place `{place}`; `prose runs show {run} --json` lists the places of its requests"
        ))),
        (Point::Failure, _) => failure.found.ok_or_else(|| {
            ForkError::Request(format!("run {run} has not failed; name a line, a place or an event instead"))
        }),
    }
}

/// Whether the lines of a statement may be those of others inside of it.
fn has_body(kind: StatementKind) -> bool {
    matches!(
        kind,
        StatementKind::Do
            | StatementKind::Parallel
            | StatementKind::Loop
            | StatementKind::If
            | StatementKind::Choice
            | StatementKind::Try
            | StatementKind::Pipeline
            | StatementKind::Other
    )
}

/// The lines of a program that a run has executed.
#[derive(Default)]
struct Executed {
    /// The first lines of the statements.
    statements: BTreeSet<u32>,
    /// The first lines of whatever happened, such as the branches of a `parallel`.
    lines: BTreeSet<u32>,
}

impl Executed {
    /// Says that a line was not executed, with the lines around it that were.
    fn refusal(&self, run: &str, asked: &NamedLine, first_line: u32) -> ForkError {
        let before = self.statements.range(..asked.line).next_back();
        let after = self.statements.range(asked.line..).next();
        let near = before.into_iter().chain(after);
        let near: Vec<NamedLine> =
            near.map(|line| NamedLine { line: *line, ..asked.clone() }.in_document(first_line)).collect();
        let near = match near.as_slice() {
            [] => String::new(),
            [only] => format!("; {only} was"),
            [a, b] if asked.program.is_none() => format!("; lines {} and {} were", a.line, b.line),
            near => format!("; {} were", enumerated(near, "and")),
        };
        let asked = asked.clone().in_document(first_line);
        ForkError::Request(format!("{asked} was not executed in run {run}{near}"))
    }
}

/// Where a run failed.
#[derive(Default)]
struct FailurePoint {
    /// The statements of the program at work, by their places, with the events of their starts.
    started: HashMap<Place, u64>,
    /// The last start of the statement at each line that has failed.
    failed: HashMap<u32, u64>,
    /// The start of the statement of which the run reports the error.
    found: Option<u64>,
}

impl FailurePoint {
    fn add(&mut self, event: &Event) {
        match (&event.kind, event.site) {
            (EventKind::StatementStarted { .. }, Some(site)) if site.program == 0 => {
                self.started.insert(event.place.clone(), event.seq);
            }
            (EventKind::StatementEnded { status, .. }, Some(site)) if site.program == 0 => {
                let started = self.started.remove(&event.place);
                if let Some(started) = started.filter(|_| *status == Status::Failed) {
                    self.failed.insert(site.line, started);
                }
            }
            (EventKind::RunEnded(end), _) => {
                let error = end.error.as_ref().filter(|_| end.status == RunStatus::Failed);
                self.found = error.and_then(|error| self.failed.get(&error.line)).copied();
            }
            _ => {}
        }
    }
}

/// The number of the event that records the reply of a session, and its place. The last attempt counts.
fn find_reply(recorded: &RecordedRun, point: &Point) -> Result<Option<(u64, Place)>, ForkError> {
    let mut found = None;
    let mut of_line: Option<Place> = None;
    let mut inside = RepliesInside::default();
    let mut programs = ProgramNames::default();
    for event in recorded.events()? {
        let Ok(event) = event else { break };
        programs.apply(&event);
        if let EventKind::SessionStarted { .. } = &event.kind
            && let (Point::Line(NamedLine { program, line }), Some(site)) = (point, event.site)
            && programs.has_name(site, program.as_deref())
            && (site.line..=site.last_line).contains(line)
        {
            of_line.get_or_insert_with(|| event.place.clone());
        }
        let EventKind::Effect { effect, .. } = &event.kind else { continue };
        if effect != "session" {
            continue;
        }
        let place = event.place.as_str();
        let is_asked = match point {
            Point::Event(seq) => *seq == event.seq,
            Point::Place(asked) => {
                inside.add(asked, &event.place, event.seq);
                is_attempt(place, asked.as_str())
            }
            Point::Line(_) => of_line.as_ref().is_some_and(|asked| is_attempt(place, asked.as_str())),
            Point::Failure => false,
        };
        if is_asked {
            found = Some((event.seq, event.place.clone()));
        }
    }
    match (found, point) {
        (None, Point::Place(asked)) => {
            Ok(inside.only(&recorded.head.run, asked)?.map(|(place, seq)| (seq, place)))
        }
        (found, _) => Ok(found),
    }
}

/// The sessions of the statement at a place, such as `s3/1` of `s3`. The place of a statement with one session stands for that.
#[derive(Default)]
struct RepliesInside {
    /// The place and the event of the last attempt of each session.
    found: BTreeMap<SmolStr, (Place, u64)>,
}

impl RepliesInside {
    fn add(&mut self, statement: &Place, place: &Place, seq: u64) {
        let request = without_attempt(place.as_str());
        if request.rsplit_once('/').is_some_and(|(parent, _)| parent == statement.as_str()) {
            self.found.insert(request.into(), (place.clone(), seq));
        }
    }

    /// The only one.
    fn only(self, run: &str, statement: &Place) -> Result<Option<(Place, u64)>, ForkError> {
        if self.found.len() > 1 {
            let places = self.found.keys().map(|place| format!("`{place}`"));
            return Err(ForkError::Request(format!(
                "`{statement}` has several sessions in run {run}; name {}",
                enumerated(places, "or")
            )));
        }
        Ok(self.found.into_values().next())
    }
}

/// Whether a place is that of a session or of one of its retries.
fn is_attempt(place: &str, session: &str) -> bool {
    place == session || without_attempt(place) == session
}

/// The place of a request without the number of its retry.
fn without_attempt(place: &str) -> &str {
    match place.rsplit_once("/a") {
        Some((request, number)) if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) => {
            request
        }
        _ => place,
    }
}

//! The protocol: requests of a client, and events for it.

mod breaks;
mod change;
mod control;
mod evaluate;
mod fork;
mod lifecycle;
mod stack;
mod threads;

use std::collections::BTreeSet;
use std::io::{self, BufReader, Read, Write};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, MutexGuard};
use std::thread;

use dapts::{IEvent, IRequest, event, request};
use prose_state::replay::RecordedRun;
use serde::de::DeserializeOwned;
use serde_json::{Value as Json, json};

use self::breaks::Requested;
use self::stack::Handles;
use crate::breakpoints::About;
use crate::debuggee::{Debuggee, Reason, Stop};
use crate::launch::{Arguments, Options};
use crate::live::{Attached, Category, Input, Live, Output, Shared};
use crate::sources::Sources;
use crate::timeline::NodeId;
use crate::wire;

/// Serves a client until it closes the connection or disconnects. A run that it has started is interrupted then, and can be resumed.
pub fn serve(input: impl Read + Send + 'static, output: impl Write, options: Options) -> io::Result<()> {
    let (sender, inputs) = mpsc::channel();
    let messages = sender.clone();
    let read = move || {
        let mut input = BufReader::new(input);
        loop {
            let next = match wire::read(&mut input) {
                Ok(Some(message)) => Input::Message(message),
                Ok(None) => Input::Closed(None),
                Err(error) => Input::Closed(Some(error.to_string())),
            };
            let is_last = matches!(next, Input::Closed(_));
            if messages.send(next).is_err() || is_last {
                break;
            }
        }
    };
    thread::Builder::new().name("client".to_owned()).spawn(read)?;
    let mut adapter = Adapter::new(output, options, sender);
    let mut served = Ok(());
    while !adapter.is_finished
        && let Ok(next) = inputs.recv()
    {
        served = adapter.receive(next);
        if served.is_err() {
            break;
        }
    }
    adapter.leave();
    served
}

/// What a session debugs.
enum Session {
    /// Nothing yet.
    None,
    /// A run that has ended.
    Recorded,
    /// A run of this process.
    Live(Live),
    /// A run of another process.
    Attached(Attached),
}

struct Adapter<W> {
    output: W,
    options: Options,
    inputs: Sender<Input>,
    /// The number of the last message to the client.
    seq: i64,
    is_initialized: bool,
    is_finished: bool,
    /// Whether the client has set its breakpoints.
    is_configured: bool,
    /// Whether the end was reported.
    is_terminated: bool,
    /// What counts from 1 for the client.
    lines_start: u32,
    arguments: Arguments,
    session: Session,
    shared: Arc<Shared>,
    sources: Sources,
    project: Option<prose_run::Project>,
    /// The run that is looked at, as it was when the session started.
    recorded: Option<RecordedRun>,
    requested: Requested,
    handles: Handles,
    /// The branches that the client was notified of.
    branches: BTreeSet<NodeId>,
    /// Why the debugger stands where it does.
    stop: Option<Stop>,
    /// The stop to report after the response.
    pending: Option<Stop>,
    /// Whether the end is to be reported after the response.
    ends: bool,
    /// Whether the client has started the run; what continues another one as a fork is the debugger's own.
    is_launched: bool,
    /// Whether the run continues without the client.
    leaves_run: bool,
    /// Whether the client shows something that is not so any more.
    is_outdated: bool,
    /// Whether the client asks again when it is notified of that.
    refreshes: bool,
}

impl<W: Write> Adapter<W> {
    fn new(output: W, options: Options, inputs: Sender<Input>) -> Self {
        Self {
            output,
            options,
            shared: Shared::new(inputs.clone()),
            inputs,
            seq: 0,
            is_initialized: false,
            is_finished: false,
            is_configured: false,
            is_terminated: false,
            lines_start: 1,
            arguments: Arguments::default(),
            session: Session::None,
            sources: Sources::default(),
            project: None,
            recorded: None,
            requested: Requested::default(),
            handles: Handles::default(),
            branches: BTreeSet::new(),
            stop: None,
            pending: None,
            ends: false,
            is_launched: false,
            leaves_run: false,
            is_outdated: false,
            refreshes: false,
        }
    }

    fn receive(&mut self, input: Input) -> io::Result<()> {
        match input {
            Input::Message(message) => self.message(&message),
            Input::Closed(None) => {
                self.is_finished = true;
                Ok(())
            }
            Input::Closed(Some(why)) => {
                self.is_finished = true;
                self.write_output(&Output::new(Category::Stderr, format!("The connection is broken: {why}")))
            }
            Input::Stopped(stop) => self.stopped(stop),
            Input::BranchesChanged => self.report_changed_branches(),
            Input::Output(output) => self.write_output(&output),
            Input::Question(question) => {
                let text = format!(
                    "The run asks: {}\nAnswer it here with `:answer …`, or with `prose runs answer`.",
                    question.prompt
                );
                self.write_output(&Output::new(Category::Console, text))
            }
            Input::Ended => self.ended(),
        }
    }

    fn message(&mut self, message: &[u8]) -> io::Result<()> {
        let Ok(message) = serde_json::from_slice::<Json>(message) else {
            let text = "A message of the client is not JSON; it is ignored.";
            return self.write_output(&Output::new(Category::Stderr, text));
        };
        // Answers to requests of the adapter, which makes none.
        if message["type"] != "request" {
            return Ok(());
        }
        let request: dapts::Request = match serde_json::from_value(with_arguments(message)) {
            Ok(request) => request,
            Err(error) => {
                let text = format!("A request of the client is not understood: {error}");
                return self.write_output(&Output::new(Category::Stderr, text));
            }
        };
        let command = request.command.clone();
        let answered = self.answer(&command, request.arguments);
        self.respond(request.seq, &command, answered)?;
        self.after(&command)?;
        if std::mem::take(&mut self.is_outdated) && self.refreshes {
            self.emit::<event::Invalidated>(dapts::InvalidatedEvent::default())?;
        }
        Ok(())
    }

    fn answer(&mut self, command: &str, arguments: Json) -> Result<Json, String> {
        if !self.is_initialized && command != request::Initialize::COMMAND {
            return Err(format!("`{command}` came before `initialize`"));
        }
        let is_before_start = matches!(
            command,
            request::Initialize::COMMAND
                | request::Launch::COMMAND
                | request::Attach::COMMAND
                | request::Disconnect::COMMAND
                | request::Terminate::COMMAND
        );
        if matches!(self.session, Session::None) && !is_before_start {
            return Err(format!("`{command}` came before `launch` or `attach`: nothing is debugged yet"));
        }
        match command {
            request::Initialize::COMMAND => self.initialize(read(arguments)?),
            request::Launch::COMMAND | request::Attach::COMMAND => self.launch(read(arguments)?),
            request::ConfigurationDone::COMMAND => self.configured(),
            request::Disconnect::COMMAND => self.disconnect(&arguments),
            request::Terminate::COMMAND => self.terminate(),
            request::SetBreakpoints::COMMAND => self.set_breakpoints(read(arguments)?),
            request::SetFunctionBreakpoints::COMMAND => self.set_function_breakpoints(read(arguments)?),
            request::SetExceptionBreakpoints::COMMAND => self.set_exception_breakpoints(read(arguments)?),
            request::DataBreakpointInfo::COMMAND => self.data_breakpoint_info(read(arguments)?),
            request::SetDataBreakpoints::COMMAND => self.set_data_breakpoints(read(arguments)?),
            request::BreakpointLocations::COMMAND => self.breakpoint_locations(read(arguments)?),
            request::Threads::COMMAND => self.threads(),
            request::StackTrace::COMMAND => self.stack_trace(read(arguments)?),
            request::Scopes::COMMAND => self.scopes(read(arguments)?),
            request::Variables::COMMAND => self.variables(read(arguments)?),
            request::Source::COMMAND => self.source(read(arguments)?),
            request::LoadedSources::COMMAND => self.loaded_sources(),
            request::Evaluate::COMMAND => self.evaluate(read(arguments)?),
            request::Completions::COMMAND => self.completions(read(arguments)?),
            request::SetVariable::COMMAND => self.set_variable(read(arguments)?),
            request::SetExpression::COMMAND => self.set_expression(read(arguments)?),
            request::ExceptionInfo::COMMAND => self.exception_info(),
            request::Continue::COMMAND => self.resume(read(arguments)?),
            request::Next::COMMAND
            | request::StepIn::COMMAND
            | request::StepOut::COMMAND
            | request::StepBack::COMMAND
            | request::ReverseContinue::COMMAND
            | request::Pause::COMMAND => self.control(command, &arguments),
            request::StepInTargets::COMMAND => self.step_in_targets(),
            request::GotoTargets::COMMAND => self.goto_targets(read(arguments)?),
            request::Goto::COMMAND => self.go_to(read(arguments)?),
            request::RestartFrame::COMMAND => self.restart_frame(read(arguments)?),
            _ => Err(format!("the debugger has no request `{command}`")),
        }
    }

    fn debuggee(&self) -> MutexGuard<'_, Debuggee> {
        self.shared.lock()
    }

    fn respond(&mut self, to: i64, command: &str, answered: Result<Json, String>) -> io::Result<()> {
        let mut response = json!({ "type": "response", "request_seq": to, "command": command });
        match answered {
            Ok(body) => {
                response["success"] = true.into();
                if !body.is_null() {
                    response["body"] = body;
                }
            }
            Err(why) => {
                response["success"] = false.into();
                response["message"] = why.as_str().into();
                let is_shown = !is_look(command);
                response["body"] = json!({ "error": { "id": 1, "format": why, "showUser": is_shown } });
            }
        }
        self.write(response)
    }

    fn emit<E: IEvent>(&mut self, body: E::Body) -> io::Result<()>
    where
        E::Body: serde::Serialize,
    {
        let mut message = json!({ "type": "event", "event": E::EVENT });
        let body = serde_json::to_value(body)?;
        if !body.is_null() {
            message["body"] = body;
        }
        self.write(message)
    }

    fn write(&mut self, mut message: Json) -> io::Result<()> {
        self.seq += 1;
        message["seq"] = self.seq.into();
        wire::write(&mut self.output, &message)
    }

    fn write_output(&mut self, output: &Output) -> io::Result<()> {
        let category = match output.category {
            Category::Console => dapts::OutputEventCategory::Console,
            Category::Stdout => dapts::OutputEventCategory::Stdout,
            Category::Stderr => dapts::OutputEventCategory::Stderr,
        };
        let from = output.line.and_then(|(program, line)| {
            let from = self.debuggee().timeline.program(program)?.from.clone();
            Some((from, line))
        });
        let place = from.and_then(|(from, line)| self.place(&from, line));
        let (source, line) = place.map_or((None, None), |(source, line)| (Some(source), Some(line)));
        self.emit::<event::Output>(dapts::OutputEvent {
            category: Some(category),
            output: format!("{}\n", output.text),
            source,
            line,
            ..Default::default()
        })
    }

    /// Reports that the debugger stands somewhere else now.
    fn stopped(&mut self, stop: Stop) -> io::Result<()> {
        self.handles.clear();
        self.learn_sources();
        use dapts::StoppedEventReason as Why;
        let (reason, description, ids) = match &stop.reason {
            Reason::Entry => (Why::Entry, "Stopped at the start", Vec::new()),
            Reason::Step => (Why::Step, "Stopped after a step", Vec::new()),
            Reason::Pause => (Why::Pause, "Paused", Vec::new()),
            Reason::Goto => (Why::Goto, "Stopped", Vec::new()),
            Reason::Start => (Why::Step, "At the start of the run", Vec::new()),
            Reason::End => (Why::Step, "At the end of the run", Vec::new()),
            Reason::Breakpoint { ids, about } => {
                let (reason, description) = match about {
                    About::Exception(filter) => (Why::Exception, filter.title()),
                    About::Variable => (Why::DataBreakpoint, "A variable got a value"),
                    About::Function => (Why::FunctionBreakpoint, "Stopped at a block or an agent"),
                    About::Place => (Why::Breakpoint, "Stopped at a breakpoint"),
                };
                (reason, description, ids.clone())
            }
        };
        // The end of a run that this process has executed ends the session, unless something stops there.
        if stop.reason == Reason::End && !matches!(self.session, Session::Recorded) {
            self.stop = Some(stop);
            return Ok(());
        }
        let thread = thread_id(stop.thread);
        let is_running = self.debuggee().is_running();
        self.stop = Some(stop);
        self.report_branches()?;
        let exception = matches!(reason, Why::Exception).then(|| self.exception()).flatten();
        self.emit::<event::Stopped>(dapts::StoppedEvent {
            reason,
            description: Some(description.to_owned()),
            thread_id: Some(thread),
            all_threads_stopped: Some(!is_running),
            hit_breakpoint_ids: Some(ids).filter(|ids| !ids.is_empty()),
            text: exception.map(|exception| exception.text),
            ..Default::default()
        })
    }
}

/// Whether clients make a request by themselves, to show where the debugger stands. It may come when the debugger stands somewhere else already, which is
/// no news for a person.
fn is_look(command: &str) -> bool {
    matches!(
        command,
        request::Threads::COMMAND
            | request::StackTrace::COMMAND
            | request::Scopes::COMMAND
            | request::Variables::COMMAND
            | request::Evaluate::COMMAND
            | request::Completions::COMMAND
            | request::ExceptionInfo::COMMAND
    )
}

/// The number of a thread for the client. 0 is no thread for some.
fn thread_id(thread: NodeId) -> u64 {
    u64::from(thread) + 1
}

/// The branch that a client means.
fn thread_of(id: u64) -> NodeId {
    id.saturating_sub(1) as NodeId
}

/// Requests without arguments may leave them out.
fn with_arguments(mut message: Json) -> Json {
    if message["arguments"].is_null() {
        message["arguments"] = json!({});
    }
    message
}

fn read<T: DeserializeOwned>(arguments: Json) -> Result<T, String> {
    serde_json::from_value(arguments).map_err(|error| format!("the arguments are not understood: {error}"))
}

fn body<T: serde::Serialize>(body: T) -> Result<Json, String> {
    serde_json::to_value(body).map_err(|error| error.to_string())
}

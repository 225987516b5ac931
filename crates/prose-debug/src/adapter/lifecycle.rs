//! How a session starts and ends.

use std::io::{self, Write};

use dapts::{IRequest, event, request};
use prose_vm::event::EventKind;
use serde_json::{Value as Json, json};

use super::breaks::filters;
use super::{Adapter, Session, body};
use crate::debuggee::Reason;
use crate::launch::{Arguments, Target};
use crate::live::{Attached, Category, Live, Output};

impl<W: Write> Adapter<W> {
    pub(super) fn initialize(
        &mut self,
        arguments: dapts::InitializeRequestArguments,
    ) -> Result<Json, String> {
        if self.is_initialized {
            return Err("`initialize` came twice".to_owned());
        }
        self.is_initialized = true;
        self.refreshes = arguments.supports_invalidated_event == Some(true);
        self.lines_start = u32::from(arguments.lines_start_at1.unwrap_or(true));
        body(dapts::Capabilities {
            supports_configuration_done_request: Some(true),
            supports_function_breakpoints: Some(true),
            supports_conditional_breakpoints: Some(true),
            supports_hit_conditional_breakpoints: Some(true),
            supports_log_points: Some(true),
            supports_data_breakpoints: Some(true),
            supports_breakpoint_locations_request: Some(true),
            supports_exception_filter_options: Some(true),
            supports_exception_info_request: Some(true),
            exception_breakpoint_filters: Some(filters()),
            supports_evaluate_for_hovers: Some(true),
            supports_clipboard_context: Some(true),
            supports_completions_request: Some(true),
            completion_trigger_characters: Some(vec![".".into(), ":".into()]),
            supports_step_back: Some(true),
            supports_step_in_targets_request: Some(true),
            supports_goto_targets_request: Some(true),
            supports_restart_frame: Some(true),
            supports_set_variable: Some(true),
            supports_set_expression: Some(true),
            supports_loaded_sources_request: Some(true),
            supports_delayed_stack_trace_loading: Some(true),
            supports_single_thread_execution_requests: Some(true),
            supports_terminate_request: Some(true),
            support_terminate_debuggee: Some(true),
            ..Default::default()
        })
    }

    pub(super) fn launch(&mut self, arguments: Arguments) -> Result<Json, String> {
        if !matches!(self.session, Session::None) {
            return Err("a run is debugged already; start another session for another one".to_owned());
        }
        let target = arguments.target(&self.options)?;
        self.arguments = arguments;
        self.is_launched = matches!(target, Target::Launch(_));
        self.session = match target {
            Target::Launch(request) => {
                let project = request.project.clone();
                self.sources.add_program(&request.program, &project.root);
                self.project = Some(project);
                Session::Live(Live::prepare(*request, &self.shared)?)
            }
            Target::Recorded(recorded, project) => {
                let mut debuggee = self.shared.lock();
                let mut damage = None;
                for event in recorded.events().map_err(|error| error.for_editor())? {
                    match event {
                        Ok(event) => debuggee.push(event),
                        Err(error) => {
                            damage = Some(error.to_string());
                            break;
                        }
                    }
                }
                debuggee.end();
                drop(debuggee);
                let (name, from) = (&recorded.head.program, &recorded.head.from);
                self.sources.add(name, from, recorded.program.as_ref(), &project.root);
                self.project = Some(project);
                self.recorded = Some(*recorded);
                self.learn_sources();
                if let Some(damage) = damage {
                    let text = format!("{damage}; the events before it are shown");
                    // A client that does not read any more is noticed by the response.
                    let _ = self.write_output(&Output::new(Category::Stderr, text));
                }
                Session::Recorded
            }
            Target::Attached { recorded, project, client } => {
                let (name, from) = (&recorded.head.program, &recorded.head.from);
                self.sources.add(name, from, recorded.program.as_ref(), &project.root);
                self.project = Some(project);
                let folder = recorded.path.parent().unwrap_or(&recorded.path);
                self.shared.lock().start(false);
                Session::Attached(Attached::follow(*client, folder, &self.shared)?)
            }
        };
        Ok(Json::Null)
    }

    /// What follows a response.
    pub(super) fn after(&mut self, command: &str) -> io::Result<()> {
        match command {
            request::Launch::COMMAND | request::Attach::COMMAND if !matches!(self.session, Session::None) => {
                // Breakpoints are checked against the program, so clients are asked for them when it is there.
                self.emit::<event::Initialized>(Default::default())
            }
            request::ConfigurationDone::COMMAND if self.is_configured => self.start(),
            _ => {
                let messages = self.shared.lock().take_messages();
                for message in messages {
                    self.write_output(&Output::new(Category::Console, message))?;
                }
                if let Some(stop) = self.pending.take() {
                    self.stopped(stop)?;
                }
                if std::mem::take(&mut self.ends) { self.report_end() } else { Ok(()) }
            }
        }
    }

    pub(super) fn configured(&mut self) -> Result<Json, String> {
        if self.is_configured {
            return Err("`configurationDone` came twice".to_owned());
        }
        self.is_configured = true;
        Ok(Json::Null)
    }

    /// Starts to move, once the breakpoints are set.
    fn start(&mut self) -> io::Result<()> {
        match &mut self.session {
            Session::None | Session::Attached(_) => return Ok(()),
            Session::Live(live) => {
                let stops = self.arguments.stop_on_entry == Some(true) && !self.arguments.no_debug;
                self.shared.lock().start(stops);
                let run = live.run.clone();
                live.start(&self.inputs);
                return self.write_output(&Output::new(Category::Console, format!("Run {run} starts.")));
            }
            Session::Recorded => {}
        }
        let (stop, messages) = {
            let mut debuggee = self.debuggee();
            let is_failed =
                debuggee.timeline.events().last().is_some_and(
                    |event| matches!(&event.kind, EventKind::RunEnded(end) if end.error.is_some()),
                );
            // A failed run is looked at from where it failed, and any other from its start.
            let at_start = self.arguments.stop_on_entry.unwrap_or(!is_failed);
            let stop = match (at_start, debuggee.breakpoints.is_empty()) {
                (true, _) => debuggee.start(true),
                (false, true) => Some(debuggee.go_to_failure()),
                (false, false) => debuggee.start(false),
            };
            (stop, debuggee.take_messages())
        };
        for message in messages {
            self.write_output(&Output::new(Category::Console, message))?;
        }
        match stop {
            Some(stop) => self.stopped(stop),
            None => Ok(()),
        }
    }

    /// The run has ended, or its process.
    pub(super) fn ended(&mut self) -> io::Result<()> {
        // What stopped at the end is looked at until the client continues.
        let is_looked_at = self.stop.as_ref().is_some_and(|stop| stop.reason != Reason::End);
        if is_looked_at && !self.debuggee().is_running() { Ok(()) } else { self.report_end() }
    }

    pub(super) fn report_end(&mut self) -> io::Result<()> {
        if std::mem::replace(&mut self.is_terminated, true) {
            return Ok(());
        }
        self.emit::<event::Terminated>(Default::default())
    }

    pub(super) fn terminate(&mut self) -> Result<Json, String> {
        match &mut self.session {
            Session::Live(live) => {
                live.interrupt("stopped in the debugger");
                // Its end is reported, wherever the debugger stands.
                self.stop = None;
                self.shared.lock().detach();
                self.shared.open();
            }
            Session::Attached(_) => {
                return Err("the run belongs to another process; stop it with `prose runs stop`".to_owned());
            }
            Session::Recorded | Session::None => self.ends = true,
        }
        Ok(Json::Null)
    }

    pub(super) fn disconnect(&mut self, arguments: &Json) -> Result<Json, String> {
        self.is_finished = true;
        // A run that is to continue does so without the debugger. Clients that have attached to a run mean that one by it, not a fork of it,
        // which would ask agents while nobody looks.
        self.leaves_run = self.is_launched && arguments["terminateDebuggee"] == json!(false);
        Ok(Json::Null)
    }

    /// Ends the session.
    pub(super) fn leave(&mut self) {
        match std::mem::replace(&mut self.session, Session::None) {
            Session::None | Session::Recorded => {}
            Session::Attached(attached) => attached.leave(),
            Session::Live(mut live) => {
                if !self.leaves_run {
                    live.interrupt("the client of the debugger has disconnected");
                }
                self.shared.lock().detach();
                self.shared.open();
                live.join();
            }
        }
    }
}

//! The run is executed once more up to where the debugger stands: as itself, after a person has set a variable, or as a fork, after a change of what is
//! recorded. Nothing that has a result is asked again before that point.

use std::io::Write;
use std::sync::mpsc;
use std::time::Duration;

use prose_run::{ForkRequest, RunRequest, Start, describe_fork, plan_fork};
use prose_state::replay::RecordedRun;

use super::{Adapter, Session};
use crate::debuggee::Reason;
use crate::live::{Category, Input, Live, Output, Shared};

/// How long the repeated part of a run takes at most. Only what is recorded is computed, so this is far more than it needs.
const MAX_TIME: Duration = Duration::from_secs(60);

impl<W: Write> Adapter<W> {
    /// Continues with a fork of the run, at the event up to which the program has emitted `count` events. The run itself stays as it is.
    pub(super) fn fork(&mut self, change: ForkRequest, count: usize) -> Result<(), String> {
        self.check_nothing_at_work()?;
        let recorded = self.recorded_now()?;
        let mut request = match &self.session {
            Session::Live(live) => (*live.request).clone(),
            _ => {
                let project = self.project.as_ref().ok_or("nothing is debugged yet")?;
                self.arguments.request_of(&recorded, project, &self.options)?
            }
        };
        let run = recorded.head.run.clone();
        let offset = self.sources.find(&recorded.head.from).map_or(0, |(_, source)| source.offset);
        let fork = plan_fork(recorded, ForkRequest { first_line: offset, ..change })
            .map_err(|error| error.for_editor())?;
        if fork.is_edited(&request.program) {
            return Err(format!(
                "the program has changed since run {run}; `prose runs fork {run} --program FILE` makes a new run with it as it is now"
            ));
        }
        request.start = Start::From(Box::new(fork.from.clone()));
        let plan = describe_fork(&fork, &request).map_err(|error| error.to_string())?;
        let new = self.execute_again(request, count)?;
        let lines = [plan.title].into_iter().chain(plan.details).chain(plan.notes);
        let last = format!("The debugger continues with the fork, run {new}; run {run} stays as it is.");
        let text = lines.chain([last]).collect::<Vec<_>>().join("\n");
        // A client that does not read any more is noticed by the response.
        let _ = self.write_output(&Output::new(Category::Console, text));
        Ok(())
    }

    /// The run as it is recorded up to now.
    fn recorded_now(&self) -> Result<RecordedRun, String> {
        let folder = match &self.session {
            Session::Live(live) => live.request.project.existing_run(&live.run),
            Session::Attached(attached) => Ok(attached.folder.clone()),
            Session::Recorded | Session::None => {
                return self.recorded.clone().ok_or_else(|| "nothing is debugged yet".to_owned());
            }
        };
        folder.and_then(|folder| RecordedRun::in_folder(&folder)).map_err(|error| error.for_editor())
    }

    /// Another execution would ask again what is at work now.
    pub(super) fn check_nothing_at_work(&self) -> Result<(), String> {
        match &self.session {
            Session::Live(live) if live.count_at_work() > 0 => {
                Err("a session of another branch is at work; wait until it has ended, so that it is not asked twice"
                    .to_owned())
            }
            _ => Ok(()),
        }
    }

    /// Executes a run that repeats this one up to an event, and stands there. Returns its id.
    pub(super) fn execute_again(&mut self, request: RunRequest, count: usize) -> Result<String, String> {
        let (sender, reports) = mpsc::channel();
        let shared = Shared::new(sender);
        shared.lock().start_at(count);
        let project = request.project.clone();
        let mut live = Live::prepare(request, &shared)?;
        live.start(&self.inputs);
        let mut last_output = None;
        let stop = loop {
            match reports.recv_timeout(MAX_TIME) {
                Ok(Input::Stopped(stop)) if stop.reason != Reason::End => break Some(stop),
                Ok(Input::Stopped(_)) | Err(_) => break None,
                // What is repeated was shown before.
                Ok(Input::Output(output)) => last_output = Some(output.text),
                Ok(_) => {}
            }
        };
        let Some(stop) = stop else {
            shared.silence();
            live.interrupt("the run did not come to the point of the debugger again");
            live.join();
            let why = last_output.map_or(String::new(), |output| format!(": {output}"));
            return Err(format!("the run did not come to this point again{why}"));
        };
        shared.report_to(&self.inputs, &reports);
        let run = live.run.to_string();
        let before = std::mem::replace(&mut self.session, Session::Live(live));
        std::mem::replace(&mut self.shared, shared).silence();
        match before {
            Session::None | Session::Recorded => {}
            Session::Attached(attached) => attached.leave(),
            Session::Live(mut live) => {
                live.interrupt("the debugger continues with a fork of the run");
                live.join();
            }
        }
        self.project = Some(project);
        self.stop = Some(stop);
        (self.is_terminated, self.is_outdated) = (false, true);
        self.renew_breakpoints();
        self.learn_sources();
        Ok(run)
    }
}

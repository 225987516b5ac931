//! Runs of programs with agents that answer at once.

use std::sync::Arc;

use prose_analysis::{AnalysisHost, SourceFile};
use prose_vm::effect::{Choice, PermissionRule, Question, Reply, Request, SessionTask, Summary, Verdict};
use prose_vm::harness::{Answer, Capabilities, Harness};
use prose_vm::machine::Machine;
use prose_vm::program::Program;
use prose_vm::runner::{self, Host, Limits, NoInputs};
use prose_vm::settings::Settings;
use prose_vm::store::{Fresh, NoStore};

/// Answers at once.
struct Instantly;

fn at_once<'a, T: Send + 'a>(answer: T) -> Answer<'a, T> {
    Box::pin(std::future::ready(Ok(answer)))
}

impl Harness for Instantly {
    fn name(&self) -> &str {
        "instantly"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
    }

    fn enforces(&self, _: &str, _: &PermissionRule) -> bool {
        true
    }

    fn session<'a>(&'a self, _: &'a Request, _: &'a Arc<SessionTask>) -> Answer<'a, Reply> {
        at_once(Reply { text: "done".into(), ..Reply::default() })
    }

    fn judge<'a>(&'a self, _: &'a Request, _: &'a Question) -> Answer<'a, Verdict> {
        at_once(Verdict { met: false, reason: String::new(), no_progress: false })
    }

    fn choose<'a>(&'a self, _: &'a Request, _: &'a Question) -> Answer<'a, Choice> {
        at_once(Choice { index: 0, reason: String::new() })
    }

    fn extract<'a>(&'a self, _: &'a Request, _: &'a Question) -> Answer<'a, Option<String>> {
        at_once(None)
    }

    fn summarise<'a>(&'a self, _: &'a Request, summary: &'a Summary) -> Answer<'a, String> {
        at_once(summary.name.to_string())
    }
}

/// Runs the program to its end, however it ends, and gives how many events there were.
pub(crate) fn run(host: &AnalysisHost, file: SourceFile) -> usize {
    let program = Program::new(host.db(), file);
    let machine = Machine::new(Arc::clone(&program), Settings::new("20260115-143052-a7b3c9"));
    let mut events = 0;
    let host = Host {
        harness: Arc::new(Instantly),
        store: &mut NoStore,
        recall: &mut Fresh,
        inputs: Arc::new(NoInputs),
        observer: &mut |_, _| events += 1,
        interrupted: Box::pin(std::future::pending()),
        limits: Limits { max_parallel: usize::MAX, ..Limits::default() },
        clock: &|| 0,
    };
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime can be built");
    let end = runtime.block_on(runner::run(machine, host));
    end.expect("nothing is kept, so nothing fails");
    events
}

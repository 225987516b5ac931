//! Runs of programs with agents that answer at once.

use std::sync::Arc;

use prose_analysis::{AnalysisHost, SourceFile};
use prose_vm::activity::NoApprovals;
use prose_vm::budget::NoAccounts;
use prose_vm::machine::Machine;
use prose_vm::program::Program;
use prose_vm::runner::{self, Host, Limits, NoInputs};
use prose_vm::settings::Settings;
use prose_vm::store::{NoRecording, NoStore};

#[path = "../../../crates/prose-vm/benches/support/instantly.rs"]
mod instantly;

use instantly::Instantly;

/// Runs the program to its end, however it ends, and gives how many events there were.
pub(crate) fn run(host: &AnalysisHost, file: SourceFile) -> usize {
    let program = Program::new(host.db(), file);
    let machine = Machine::new(Arc::clone(&program), Settings::new("20260115-143052-a7b3c9"));
    let mut events = 0;
    let host = Host {
        harness: Arc::new(Instantly),
        store: &mut NoStore,
        recall: &mut NoRecording,
        trees: Arc::new(prose_vm::runner::NoTrees),
        gate: None,
        inputs: Arc::new(NoInputs),
        observer: &mut |_, _| events += 1,
        interrupted: Box::pin(std::future::pending()),
        approvals: Arc::new(NoApprovals),
        commands: prose_vm::command::Commands::none(),
        accounts: Arc::new(NoAccounts),
        limits: Limits { max_parallel: usize::MAX, ..Limits::default() },
        secrets: Arc::default(),
        clock: &|| 0,
    };
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime can be built");
    let end = runtime.block_on(runner::run(machine, host));
    end.expect("nothing is kept, so nothing fails");
    events
}

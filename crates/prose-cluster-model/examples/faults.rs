//! Checks the protocol with more faults than the tests: `cargo run --release -p prose-cluster-model --example faults 4`. Four take a minute, and each further
//! one six times as long.

#![allow(clippy::print_stdout, reason = "it reports on standard output")]

use std::process::ExitCode;

use prose_cluster_model::{Cluster, Program, endings};
use stateright::{Checker, Model};

fn main() -> ExitCode {
    let Some(Ok(faults)) = std::env::args().nth(1).map(|faults| faults.parse()) else {
        println!("usage: faults NUMBER");
        return ExitCode::from(2);
    };
    let cluster =
        || Cluster { program: Program::NeedsBoth, leaders: 2, workers: 2, faults, stops: 1, mutation: None };
    cluster().checker().symmetry().spawn_dfs().join().assert_properties();
    match endings::check(&cluster()) {
        Ok(found) => {
            println!("every property holds, and every execution ends: {found:?}");
            ExitCode::SUCCESS
        }
        Err(fault) => {
            println!("an execution does not end: {fault:#?}");
            ExitCode::FAILURE
        }
    }
}

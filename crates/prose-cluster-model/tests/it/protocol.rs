//! The protocol as it is.

use prose_cluster_model::{Cluster, Program, endings};
use stateright::{Checker, Model};

/// Two leaders and two workers.
fn cluster(faults: u8, stops: u8) -> Cluster {
    Cluster { program: Program::NeedsBoth, leaders: 2, workers: 2, faults, stops, mutation: None }
}

fn check_properties(cluster: Cluster) {
    cluster.checker().symmetry().spawn_dfs().join().assert_properties();
}

#[track_caller]
fn check_ends(cluster: Cluster) {
    let endings = endings::check(&cluster).unwrap_or_else(|fault| panic!("{cluster:?}: {fault:#?}"));
    assert!(endings.ends > 1, "{endings:?}");
}

#[test]
fn every_property_holds_in_every_state() {
    check_properties(cluster(3, 1));
}

#[test]
fn every_property_holds_where_one_of_two_effects_is_cancelled() {
    check_properties(Cluster { program: Program::NeedsFirst, ..cluster(2, 1) });
}

#[test]
fn every_execution_ends() {
    check_ends(cluster(3, 1));
}

#[test]
fn every_execution_ends_where_one_of_two_effects_is_cancelled() {
    check_ends(Cluster { program: Program::NeedsFirst, ..cluster(2, 1) });
}

#[test]
fn every_execution_ends_in_clusters_of_other_sizes() {
    for (leaders, workers) in [(1, 1), (1, 3), (3, 1)] {
        check_ends(Cluster { leaders, workers, ..cluster(1, 2) });
    }
}

//! Each part of the protocol is needed: without it, the checker finds states in which properties do not hold.

use std::collections::BTreeSet;

use prose_cluster_model::Mutation::{self, *};
use prose_cluster_model::endings::{self, Fault};
use prose_cluster_model::{Cluster, properties as p};
use stateright::{Checker, HasDiscoveries, Model};

/// What is wrong without each part. Each property has a counterexample, though not all of them the same one.
const CONSEQUENCES: &[(Mutation, &[&str])] = &[
    (SettleWithoutFence, &[p::OWN_EPOCH, p::ONE_OUTCOME, p::WHOLE_JOURNAL]),
    (SettleInTwoTransactions, &[p::ONE_OUTCOME]),
    (SettleAgain, &[p::ONE_OUTCOME, p::WHOLE_JOURNAL]),
    (SettleReplacesEffects, &[p::NOTHING_LOST, p::NOT_ASKED_AGAIN, p::ACCEPTED]),
    (SettleAfterStop, &[p::STOPPED]),
    (ReplayBeforeLead, &[p::WHOLE_JOURNAL]),
    (LeadByOwnClock, &[p::LEASES]),
    (ClaimByOwnClock, &[p::LEASES]),
    (ClaimWithoutState, &[p::NOT_ASKED_AGAIN, p::NOTHING_LOST, p::ONE_OUTCOME, p::ACCEPTED]),
    (ClaimWithoutRun, &[p::AT_REST]),
    (HeartbeatWithoutAttempt, &[p::ONE_WORKER]),
    (CompleteWithoutAttempt, &[p::OWN_CLAIM]),
    (CompleteWithoutState, &[p::ONE_OUTCOME]),
];

#[test]
fn each_part_of_the_protocol_is_needed() {
    for &(mutation, broken) in CONSEQUENCES {
        let cluster = Cluster { leaders: 2, workers: 2, faults: 2, requests: 1, mutation: Some(mutation) };
        let expected: BTreeSet<&'static str> = broken.iter().copied().collect();
        let checker = cluster
            .checker()
            .finish_when(HasDiscoveries::AllOf(expected.clone()))
            // Some have executions without an end.
            .target_state_count(2_000_000)
            .spawn_bfs()
            .join();
        let found = checker.discoveries();
        for property in expected {
            assert!(found.contains_key(property), "{mutation:?} has no counterexample of `{property}`");
        }
    }
}

#[test]
fn every_mutation_is_checked() {
    let checked: Vec<Mutation> = CONSEQUENCES.iter().map(|(mutation, _)| *mutation).collect();
    let missing: Vec<&Mutation> =
        Mutation::ALL.iter().filter(|mutation| !checked.contains(mutation)).collect();
    // All properties hold without it, but runs do not end.
    assert_eq!(missing, [&ClaimOnlyFree]);
}

#[test]
fn a_run_whose_claims_nobody_takes_over_is_stuck() {
    let cluster = Cluster { leaders: 1, workers: 2, faults: 1, requests: 0, mutation: Some(ClaimOnlyFree) };
    let fault = endings::check(&cluster).unwrap_err();
    assert!(matches!(fault, Fault::Stuck(_)), "{fault:?}");
}

/// An outcome whose reply was lost is sent again. Meanwhile it came into the journal, where it must not come twice.
#[test]
fn an_outcome_that_is_sent_again_is_not_settled_twice() {
    use prose_cluster_model::Action::*;
    use prose_cluster_model::Reply::*;

    let steps = [
        Lead(0, Received),
        Replay(0),
        Settle(0, Received),
        Claim(0, 0, Received),
        Complete(0, LostAfterCommit),
        Collect(0),
        Settle(0, Received),
        Complete(0, Received),
        Collect(0),
        Settle(0, Received),
    ];
    let journal = |mutation| {
        let cluster = Cluster { leaders: 1, workers: 1, faults: 1, requests: 0, mutation };
        let start = cluster.init_states().remove(0);
        // A step that changes nothing is none.
        let end = steps.iter().fold(start, |state, &step| cluster.next_state(&state, step).unwrap_or(state));
        end.server.journal.iter().map(|entry| entry.effect).collect::<Vec<_>>()
    };
    assert_eq!(journal(None), [0]);
    assert_eq!(journal(Some(CompleteWithoutState)), [0, 0]);
}

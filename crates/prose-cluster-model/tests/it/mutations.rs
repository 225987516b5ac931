//! Each part of the protocol is needed: without it, the checker finds states in which properties do not hold.

use std::collections::BTreeSet;

use prose_cluster_model::Mutation::{self, *};
use prose_cluster_model::endings::{self, Fault};
use prose_cluster_model::{Cluster, EffectState, Program, properties as p};
use stateright::{Checker, HasDiscoveries, Model};

/// What is wrong without each part. Each property has a counterexample, though not all of them the same one.
const CONSEQUENCES: &[(Mutation, &[&str])] = &[
    (SettleWithoutFence, &[p::OWN_EPOCH, p::ONE_OUTCOME, p::WHOLE_JOURNAL]),
    (SettleInTwoTransactions, &[p::NOTHING_LOST]),
    (SettleAgain, &[p::ONE_OUTCOME, p::WHOLE_JOURNAL]),
    (SettleFreesEffects, &[p::NOT_ASKED_AGAIN, p::GONE]),
    (RequestWithoutFence, &[p::NOT_ASKED_AGAIN, p::GONE, p::ENDED]),
    (RequestWithoutLock, &[p::NOT_ASKED_AGAIN, p::GONE, p::ENDED]),
    (RequestReplacesEffects, &[p::NOTHING_LOST, p::NOT_ASKED_AGAIN, p::ACCEPTED]),
    (CancelWithoutFence, &[p::NOTHING_LOST]),
    (EndWithoutFence, &[p::OWN_EPOCH]),
    (EndKeepsEffects, &[p::ENDED]),
    (HandOverWithoutFence, &[p::OWN_EPOCH]),
    (ReplayBeforeLead, &[p::WHOLE_JOURNAL]),
    (LeadByOwnClock, &[p::LEASES]),
    (ClaimByOwnClock, &[p::LEASES]),
    (ClaimWithoutOutcome, &[p::NOT_ASKED_AGAIN, p::NOTHING_LOST]),
    (ClaimByAttempt, &[p::OWN_CLAIM, p::ONE_WORKER]),
    (HeartbeatWithoutClaim, &[p::ONE_WORKER]),
    (CompleteWithoutClaim, &[p::OWN_CLAIM]),
    (ReleaseWithoutClaim, &[p::LEASES]),
];

/// Parts without which all properties hold, but runs do not end.
const NEEDED_FOR_THE_END: &[Mutation] = &[RequestKeepsMarks, TakeWithoutEpoch, ClaimOnlyFree];

/// Two leaders and two workers.
fn cluster(faults: u8, mutation: Option<Mutation>) -> Cluster {
    Cluster { program: Program::NeedsBoth, leaders: 2, workers: 2, faults, stops: 1, mutation }
}

#[test]
fn each_part_of_the_protocol_is_needed() {
    for &(mutation, broken) in CONSEQUENCES {
        let cluster = cluster(2, Some(mutation));
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
    let missing: Vec<Mutation> =
        Mutation::ALL.iter().copied().filter(|mutation| !checked.contains(mutation)).collect();
    assert_eq!(missing, NEEDED_FOR_THE_END);
}

#[test]
fn runs_are_stuck_without_some_parts_of_the_protocol() {
    for &mutation in NEEDED_FOR_THE_END {
        let fault = endings::check(&Cluster { stops: 0, ..cluster(1, Some(mutation)) }).unwrap_err();
        assert!(matches!(fault, Fault::Stuck(_)), "{mutation:?}: {fault:?}");
    }
}

/// What a leader asked for before it lost the run may arrive when another one has settled it: it would be performed a second time.
#[test]
fn an_effect_that_was_settled_is_not_inserted_again_by_an_earlier_leader() {
    use prose_cluster_model::Action::*;
    use prose_cluster_model::Reply::*;

    let steps = [
        Lead(0, Received),
        Replay(0),
        EndLease,
        Lead(1, Received),
        Replay(1),
        Request(1, Received),
        Claim(0, 0, Received),
        Complete(0, Received),
        Take(1, Received),
        Settle(1, Received),
        Request(0, Received),
    ];
    let effect = |mutation| {
        let cluster = cluster(1, mutation);
        let start = cluster.init_states().remove(0);
        let step = |state, &step| cluster.next_state(&state, step).expect("the step is possible");
        steps.iter().fold(start, step).server.effects[0].state
    };
    assert_eq!(effect(None), EffectState::Absent);
    assert_eq!(effect(Some(RequestWithoutFence)), EffectState::Free);
}

/// A new leader looks for outcomes before its program has come to the requests that they belong to.
#[test]
fn an_outcome_that_a_leader_takes_before_it_asks_for_it_is_taken_again() {
    use prose_cluster_model::Action::*;
    use prose_cluster_model::Reply::*;

    let steps = [
        Lead(0, Received),
        Replay(0),
        Request(0, Received),
        Claim(0, 0, Received),
        Complete(0, Received),
        LeaderGoesDown(0),
        EndLease,
        Lead(1, Received),
        Take(1, Received),
        Replay(1),
        Request(1, Received),
        Take(1, Received),
        Settle(1, Received),
    ];
    let journal = |mutation| {
        let cluster = cluster(1, mutation);
        let start = cluster.init_states().remove(0);
        // A step that changes nothing is none.
        let end = steps.iter().fold(start, |state, &step| cluster.next_state(&state, step).unwrap_or(state));
        end.server.journal.len()
    };
    assert_eq!(journal(None), 1);
    assert_eq!(journal(Some(RequestKeepsMarks)), 0);
}

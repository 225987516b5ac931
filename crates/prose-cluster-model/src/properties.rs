//! What holds in every state, and what is possible in some.

use stateright::{Model, Property};

use crate::server::{EffectState, RunState};
use crate::state::State;
use crate::{EFFECTS, Leader, Worker};

/// In the journal, each effect has one outcome.
pub const ONE_OUTCOME: &str = "an effect has one outcome in the journal";
/// The outcomes in the journal are those that `complete` accepted.
pub const ACCEPTED: &str = "the journal has only accepted outcomes";
/// What `complete` accepted is done or in the journal.
pub const NOTHING_LOST: &str = "an accepted outcome is not lost";
/// What has an outcome cannot be claimed.
pub const NOT_ASKED_AGAIN: &str = "an effect with an outcome is not asked again";
/// An outcome is that of the attempt that had the claim.
pub const OWN_CLAIM: &str = "an outcome is accepted from the worker that has the claim";
/// The journal is appended to in the current epoch.
pub const OWN_EPOCH: &str = "only the leader of the current epoch appends to the journal";
/// A leader of the current epoch that remembers anything remembers the whole journal.
pub const WHOLE_JOURNAL: &str = "the leader of the current epoch knows the whole journal";
/// Nothing is taken whose lease is valid.
pub const LEASES: &str = "a lease is not taken before it is over";
/// Nobody continues with a claim that another one has.
pub const ONE_WORKER: &str = "a worker that lost its claim is told so";
/// Effects are claimed only in running runs.
pub const AT_REST: &str = "no effect of a paused or stopped run is claimed";
/// A stopped run has nothing to do.
pub const STOPPED: &str = "a stopped run has no effect to perform";
/// A finished run has a complete journal.
pub const FINISHED: &str = "a finished run has all outcomes in its journal";

/// All properties: those above, and a few that show that the model gets to the places where they matter.
pub(crate) fn all<M: Model<State = State>>() -> Vec<Property<M>> {
    vec![
        Property::always(ONE_OUTCOME, |_, state: &State| {
            let journal = &state.server.journal;
            journal
                .iter()
                .enumerate()
                .all(|(row, entry)| journal[..row].iter().all(|earlier| earlier.effect != entry.effect))
        }),
        Property::always(ACCEPTED, |_, state: &State| {
            let accepted = &state.server.accepted;
            state.server.journal.iter().all(|entry| accepted[entry.effect] == Some(entry.outcome))
        }),
        Property::always(NOTHING_LOST, |_, state: &State| {
            let journal = state.server.replay();
            (0..EFFECTS).all(|effect| {
                let row = &state.server.effects[effect];
                let is_kept =
                    || row.state == EffectState::Done && row.outcome == state.server.accepted[effect];
                let accepted = state.server.accepted[effect];
                accepted.is_none() || journal[effect] == accepted || is_kept()
            })
        }),
        Property::always(NOT_ASKED_AGAIN, |_, state: &State| {
            let is_open = |effect: usize| {
                matches!(state.server.effects[effect].state, EffectState::Free | EffectState::Claimed)
            };
            (0..EFFECTS).all(|effect| state.server.accepted[effect].is_none() || !is_open(effect))
        }),
        Property::always(OWN_CLAIM, |_, state: &State| {
            state.server.effects.iter().all(|row| row.outcome.is_none_or(|outcome| outcome == row.attempt))
        }),
        Property::always(OWN_EPOCH, |_, state: &State| !state.server.breaches.is_appended_by_another),
        Property::always(WHOLE_JOURNAL, |_, state: &State| {
            let journal = state.server.replay();
            state.leaders.iter().all(|leader| match leader {
                Leader::Leads { epoch, memory: Some(memory) } if *epoch == state.server.run.epoch => {
                    memory.journal == journal
                }
                Leader::Leads { .. } | Leader::Waits { .. } | Leader::Down => true,
            })
        }),
        Property::always(LEASES, |_, state: &State| !state.server.breaches.is_taken_early),
        Property::always(ONE_WORKER, |_, state: &State| !state.server.breaches.is_kept_working),
        Property::always(AT_REST, |_, state: &State| !state.server.breaches.is_claimed_at_rest),
        Property::always(STOPPED, |_, state: &State| {
            let is_open = |state: EffectState| matches!(state, EffectState::Free | EffectState::Claimed);
            state.server.run.state != RunState::Stopped
                || state.server.effects.iter().all(|row| !is_open(row.state))
        }),
        Property::always(FINISHED, |_, state: &State| {
            state.server.run.state != RunState::Finished || state.server.replay().iter().all(Option::is_some)
        }),
        Property::sometimes("a run that was led three times is finished", |_, state: &State| {
            state.server.run.state == RunState::Finished && state.server.run.epoch >= 3
        }),
        Property::sometimes("two processes believe that they lead", |_, state: &State| {
            state.leaders.iter().filter(|leader| leader.epoch().is_some()).count() == 2
        }),
        Property::sometimes("two workers perform the same effect", |_, state: &State| {
            let [Worker::Works { effect: first, .. }, Worker::Works { effect: second, .. }] =
                state.workers[..]
            else {
                return false;
            };
            first == second
        }),
        Property::sometimes("an outcome waits for a leader", |_, state: &State| {
            let has_leader = state.leaders.iter().any(|leader| leader.epoch().is_some());
            !has_leader && state.server.effects.iter().any(|row| row.state == EffectState::Done)
        }),
        Property::sometimes(
            "a run is stopped with an outcome that is not in its journal",
            |_, state: &State| {
                state.server.run.state == RunState::Stopped
                    && state.server.effects.iter().any(|row| row.state == EffectState::Done)
            },
        ),
    ]
}

/// Whether a run may rest in a state for ever.
pub fn is_end(state: &State) -> bool {
    !state.server.run.state.is_active()
}

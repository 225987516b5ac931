//! What holds in every state, and what is possible in some.

use stateright::{Model, Property};

use crate::server::{EffectState, RunState};
use crate::state::State;
use crate::{EFFECTS, Leader, Program, Worker};

/// In the journal, each effect has one outcome.
pub const ONE_OUTCOME: &str = "an effect has one outcome in the journal";
/// The outcomes in the journal are those that `complete` accepted.
pub const ACCEPTED: &str = "the journal has only accepted outcomes";
/// What `complete` accepted is done or in the journal, unless the effect is not needed any more.
pub const NOTHING_LOST: &str = "an accepted outcome is not lost";
/// What has an outcome cannot be claimed.
pub const NOT_ASKED_AGAIN: &str = "an effect with an outcome is not asked again";
/// An outcome is that of the attempt that had the claim.
pub const OWN_CLAIM: &str = "an outcome is accepted from the worker that has the claim";
/// A run is changed in the current epoch.
pub const OWN_EPOCH: &str =
    "only the leader of the current epoch appends to the journal, and ends the run or gives it back";
/// A leader of the current epoch that remembers anything remembers the whole journal, unless it waits for the reply of what it appends.
pub const WHOLE_JOURNAL: &str = "the leader of the current epoch knows the whole journal";
/// Nothing is taken whose lease is valid.
pub const LEASES: &str = "a lease is taken by another when it is over, or given back";
/// Nobody continues with a claim that another one has.
pub const ONE_WORKER: &str = "a worker that lost its claim receives that";
/// What is settled is nothing that others see any more.
pub const GONE: &str = "an effect whose outcome is in the journal has no row";
/// A run that has ended has nothing to do.
pub const ENDED: &str = "a run that has ended has no effects";
/// A finished run has a complete journal.
pub const FINISHED: &str = "a finished run has all outcomes that its program needs in its journal";

/// A model of a run.
pub(crate) trait Executes {
    /// What the run executes.
    fn program(&self) -> Program;
}

/// All properties: those above, and a few that show that the model gets to the places where they matter.
pub(crate) fn all<M: Model<State = State> + Executes>() -> Vec<Property<M>> {
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
        Property::always(OWN_CLAIM, |_, state: &State| !state.server.breaches.is_foreign_outcome),
        Property::always(OWN_EPOCH, |_, state: &State| !state.server.breaches.is_changed_by_another),
        Property::always(WHOLE_JOURNAL, |_, state: &State| {
            let journal = state.server.replay();
            state.leaders.iter().all(|leader| match leader {
                Leader::Leads { epoch, memory: Some(memory) } if *epoch == state.server.run.epoch => {
                    memory.is_unsure || memory.journal == journal
                }
                Leader::Leads { .. } | Leader::Waits { .. } | Leader::Down => true,
            })
        }),
        Property::always(LEASES, |_, state: &State| !state.server.breaches.is_taken_early),
        Property::always(ONE_WORKER, |_, state: &State| !state.server.breaches.is_kept_working),
        Property::always(GONE, |_, state: &State| {
            let journal = state.server.replay();
            let is_gone = |effect: usize| state.server.effects[effect].state == EffectState::Absent;
            (0..EFFECTS).all(|effect| journal[effect].is_none() || is_gone(effect))
        }),
        Property::always(ENDED, |_, state: &State| {
            state.server.run.state == RunState::Active
                || state.server.effects.iter().all(|row| row.state == EffectState::Absent)
        }),
        Property::always(FINISHED, |cluster: &M, state: &State| {
            state.server.run.state != RunState::Finished
                || cluster.program().open_effects(&state.server.replay()).next().is_none()
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
        Property::sometimes("a stopped run is finished", |_, state: &State| {
            state.server.run.state == RunState::Finished && state.stops == 0
        }),
    ]
}

/// Whether a run may rest in a state for ever. One that was stopped can be continued.
pub fn is_end(state: &State) -> bool {
    state.server.run.state == RunState::Finished
}

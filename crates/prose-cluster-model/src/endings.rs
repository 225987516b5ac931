//! Shows that every execution ends, and where.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use stateright::{Model, Representative};

use crate::{Action, Cluster, State, properties};

/// What a walk through all executions saw.
#[derive(Debug, PartialEq, Eq)]
pub struct Endings {
    /// How many states there are, without those that differ only in the order of processes.
    pub states: usize,
    /// How many of them have no next step.
    pub ends: usize,
}

/// An execution that does not end as it should.
#[derive(Debug)]
pub enum Fault {
    /// The run is neither finished nor stopped, and no process can do anything unless a notification wakes it.
    Stuck(Box<State>),
    /// The steps lead back to a state, so that an execution may never end.
    Endless(Box<State>),
}

/// A state on the path from the initial state, with the steps that are still to be tried.
struct Visit {
    state: State,
    fingerprint: u64,
    steps: Vec<Action>,
    has_successor: bool,
}

impl Visit {
    fn new(cluster: &Cluster, state: State, fingerprint: u64) -> Self {
        let mut steps = Vec::new();
        cluster.actions(&state, &mut steps);
        Self { state, fingerprint, steps, has_successor: false }
    }
}

/// Walks through all executions of a cluster.
///
/// A property that something happens eventually would not do: the checker looks at one path to each state, and does not follow it any further if it comes to a state that it has
/// seen on another path.
///
/// # Errors
///
/// Some execution is endless, or ends although the run is neither finished nor stopped.
pub fn check(cluster: &Cluster) -> Result<Endings, Fault> {
    /// Whether a state that was visited is on the path.
    type IsOnPath = bool;

    let mut seen: HashMap<u64, IsOnPath> = HashMap::new();
    let mut path = Vec::new();
    let mut ends = 0;
    for state in cluster.init_states() {
        let fingerprint = fingerprint(&state);
        seen.insert(fingerprint, true);
        path.push(Visit::new(cluster, state, fingerprint));
    }
    while let Some(last) = path.last_mut() {
        let Some(step) = last.steps.pop() else {
            if !last.has_successor {
                if !properties::is_end(&last.state) {
                    return Err(Fault::Stuck(Box::new(last.state.clone())));
                }
                ends += 1;
            }
            seen.insert(last.fingerprint, false);
            path.pop();
            continue;
        };
        let Some(next) = cluster.next_state(&last.state, step) else { continue };
        // A notification may be lost, so nothing may depend on one.
        last.has_successor |= !matches!(step, Action::TakeNamed(_));
        let next = next.representative();
        let fingerprint = fingerprint(&next);
        match seen.get(&fingerprint) {
            Some(true) => return Err(Fault::Endless(Box::new(next))),
            Some(false) => {}
            None => {
                seen.insert(fingerprint, true);
                path.push(Visit::new(cluster, next, fingerprint));
            }
        }
    }
    Ok(Endings { states: seen.len(), ends })
}

fn fingerprint(state: &State) -> u64 {
    let mut hasher = DefaultHasher::new();
    state.hash(&mut hasher);
    hasher.finish()
}

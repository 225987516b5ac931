//! Runs that start with the answers of an earlier run: replays and forks.

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use crate::place::Place;
use crate::questions::Attribution;
use crate::value::Value;

/// The earlier run whose recorded outcomes a run takes, instead of asking again. Recorded in the head of the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EarlierRun {
    /// Its id.
    pub run: SmolStr,
    /// The number of its event before which outcomes are taken; `None` if all are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<u64>,
    /// Whether what is not recorded is asked. Otherwise the run stops there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_live: bool,
    /// Whether it is a replay, also if what is not recorded is asked. Replays of earlier versions that ask look like forks.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_replay: bool,
    /// The variables that a person changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variables: Vec<ChangedVariable>,
    /// The places of the sessions whose replies a person changed. The changed replies are in their outcomes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replies: Vec<Place>,
    /// Who changed them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Attribution>,
}

/// A variable that a person gives another value (decision 25).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChangedVariable {
    /// The statement before which it changes.
    pub place: Place,
    /// The variable.
    pub name: SmolStr,
    /// Its new value.
    pub value: Value,
}

/// A variable that a person set in a run before its program changed, at the place that its statement has now.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VariableSetBefore {
    /// What is set.
    #[serde(flatten)]
    pub changed: ChangedVariable,
    /// Who set it.
    #[serde(flatten)]
    pub by: Attribution,
}

//! The view of a run: one pure fold of its events, which every display renders.
//!
//! [`View`] is the view after an event. [`View::apply`] folds the next event into it, [`View::since`] gives what changed since a revision, and
//! [`History`] gives the view after any event of a run. Times are in milliseconds on a clock that stands still while the run is stopped
//! and while it only waits for people; [`Times`] has how long that was.

mod activity;
mod agent;
mod census;
mod compare;
mod delta;
mod fold;
mod history;
mod json;
mod node;
mod request;
mod session;
mod statement;
mod text;
mod times;
mod versioned;
mod view;

pub use activity::{NodeActivity, Retry};
pub use agent::{AgentKey, AgentTotal};
pub use census::{Census, HandledFailure, Handling, MissingResult, SessionCensus};
pub use compare::{Comparison, Difference, Pair, RunTotals, Step, compare};
pub use delta::Delta;
pub use history::History;
pub use node::{Attempt, Counts, Node, NodeId, NodeKind, Session, Span, Status, WaitsFor};
pub use request::{RequestRecord, RequestStatus, Requests};
pub use session::{SessionDetails, SessionFiles, SessionRecord, SessionRecords};
pub use statement::{Execution, ExecutionId, Outcome, Statement};
pub use text::{duration, usage_text};
pub use times::Times;
pub use view::{BoundName, Entry, EntryKind, Failure, Program, View};

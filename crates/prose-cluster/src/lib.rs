//! Runs on many machines: a run is submitted to a PostgreSQL server, a worker leads it, and workers perform what it asks of agents.
//!
//! A [`Bundle`] is everything that a run needs, so that any machine can execute it. [`work`] is the process of a worker: it leads runs, each with the
//! virtual machine of every other run, a store that is fenced by the lease of the leader, and a harness that makes effects of requests ([`effects`]); and it
//! claims effects and performs them with the harnesses of its machine ([`perform`]). A [`Mirror`] is the runs of a server as a project of this machine, so
//! that every command for runs works with them. The statements of the protocol are in [`prose_state::protocol`].

mod activity;
mod bundle;
mod checkout;
mod connection;
mod done;
mod effects;
mod error;
mod harness;
mod lead;
mod metrics;
mod mirror;
mod news;
mod perform;
mod priority;
mod quota;
mod repository;
mod skill_files;
mod submit;
mod worker;

pub use self::activity::{Queue, WorkerState, queues, workers};
pub use self::bundle::{Bundle, BundleError, Options};
pub use self::error::ClusterError;
pub use self::mirror::{Mirror, Standing};
pub use self::priority::{Priority, prioritize};
pub use self::quota::{Period, Quota, QuotaUse, quotas, remove_quota, set_quota};
pub use self::repository::Repository;
pub use self::submit::{adopt, submit};
pub use self::worker::{WorkerSettings, work};

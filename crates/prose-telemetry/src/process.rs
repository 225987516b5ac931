//! What the environment of this process asks for. It is read, and its threads are started, by the first run.

use std::sync::{Arc, OnceLock};

use crate::ids::Parent;
use crate::pipeline::Pipeline;
use crate::variables::Variables;

/// The traces and metrics of this process.
#[derive(Debug)]
pub(crate) struct Process {
    pub(crate) variables: Variables,
    /// The span that the process was started in.
    pub(crate) parent: Option<Parent>,
    pub(crate) pipeline: Arc<Pipeline>,
}

static PROCESS: OnceLock<Option<Process>> = OnceLock::new();

impl Process {
    /// Those of this process; `None` if the environment asks for none.
    pub(crate) fn get() -> Option<&'static Self> {
        let start = || {
            let variables = Variables::read(&|name| std::env::var(name).ok())?;
            let pipeline = Arc::new(Pipeline::start(&variables));
            Some(Self { variables, parent: parent(), pipeline })
        };
        PROCESS.get_or_init(start).as_ref()
    }

    /// The same, if a run has started them.
    pub(crate) fn started() -> Option<&'static Self> {
        PROCESS.get()?.as_ref()
    }
}

/// The span that this process was started in.
pub(crate) fn parent() -> Option<Parent> {
    std::env::var("TRACEPARENT").ok().and_then(|text| Parent::parse(&text))
}

//! Work, waiting for people, and stopped time, told apart.
//!
//! All times of a view are on a clock that stops while the run is stopped and while it only waits for a person: while an input or a permission is asked for and nothing
//! else is at work. So a bar or a duration is work, whether the answer came at once or on the next day.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::json::optional;

/// What the time of a run was taken up by, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Times {
    /// Work.
    pub work: u64,
    /// Waiting for people, with nothing else at work.
    pub waiting: u64,
    /// Lying there between a stop or a crash and the resumption.
    pub stopped: u64,
}

/// How long a part of a run has waited for people, with nothing else open in it.
///
/// While a branch waits, others may work: then the clock of the view does not stop, and the part has this time to take off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Waiting {
    /// The number of requests that are open in it.
    open: u32,
    /// How many of those wait for people.
    asking: u32,
    since: Option<Clocks>,
    until_now: Clocks,
}

/// A time, or a stretch of time, on two clocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Clocks {
    /// The clock of the view.
    pub(crate) view: u64,
    /// The clock that stops only while the run is stopped and does not wait for people.
    pub(crate) whole: u64,
}

/// Whether a request is open, and whether it waits for a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Standing {
    #[default]
    Closed,
    AtWork,
    Asking,
}

impl Standing {
    fn is_open(self) -> u32 {
        u32::from(self != Standing::Closed)
    }

    fn asks(self) -> u32 {
        u32::from(self == Standing::Asking)
    }
}

impl Waiting {
    /// Whether everything that is open in the part waits for people.
    pub(crate) fn is_now(&self) -> bool {
        self.asking > 0 && self.asking == self.open
    }

    /// Whether it waits or has waited.
    pub(crate) fn is_any(&self) -> bool {
        self.since.is_some() || self.until_now != Clocks::default()
    }

    /// A request in the part stands otherwise than before.
    pub(crate) fn change(&mut self, before: Standing, after: Standing, now: Clocks) {
        self.until_now = self.at(now);
        self.open = (self.open + after.is_open()).saturating_sub(before.is_open());
        self.asking = (self.asking + after.asks()).saturating_sub(before.asks());
        self.since = self.is_now().then_some(now);
    }

    /// How long it has waited up to a time.
    pub(crate) fn at(&self, now: Clocks) -> Clocks {
        let Clocks { view, whole } = self.since.map_or_else(Clocks::default, |since| Clocks {
            view: now.view.saturating_sub(since.view),
            whole: now.whole.saturating_sub(since.whole),
        });
        Clocks { view: self.until_now.view + view, whole: self.until_now.whole + whole }
    }
}

impl Serialize for Waiting {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("total", &self.until_now.whole)?;
        map.serialize_entry("within", &self.until_now.view)?;
        optional(&mut map, "since", &self.since.map(|since| since.view))?;
        map.end()
    }
}

/// How long the run has waited for people.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Waits {
    /// While its process ran.
    pub(crate) attended: u64,
    /// After its process had ended to wait.
    pub(crate) unattended: u64,
    /// Since when it waits, on the clock of [`prose_vm::event::Event::active_at`].
    pub(crate) since: Option<u64>,
}

//! Calls by their order at a place. In an edited program, a call of a block or of an imported program can have another number than it had.

use rustc_hash::FxHashMap;
use smol_str::{SmolStr, format_smolstr};

use crate::event::{Event, EventKind};
use crate::place::Place;

/// The calls of a run up to an event. A place names a call by its number, as in `s4/f2/1`; a change that a person makes in an edited program names it by its
/// order among the calls at the same place, as in `s4/f@1/1`.
#[derive(Debug, Default, Clone)]
pub struct CallOrder {
    /// The order of each call, by its place.
    orders: FxHashMap<Place, u32>,
    /// How many calls of blocks and of programs there were at a place.
    counts: FxHashMap<(Place, char), u32>,
}

impl CallOrder {
    /// Takes up an event of the run. Events must come in their order.
    pub fn apply(&mut self, event: &Event) {
        match &event.kind {
            EventKind::FrameEntered { id, .. } => self.called(&event.place, 'f', *id),
            EventKind::ImportCalled { program, .. } => self.called(&event.place, 'm', *program),
            _ => {}
        }
    }

    /// Takes up a call of a block, `f`, or of a program, `m`, with its number.
    pub(crate) fn called(&mut self, at: &Place, kind: char, number: u32) {
        let count = self.counts.entry((at.clone(), kind)).or_default();
        *count += 1;
        self.orders.insert(at.step(format_args!("{kind}{number}")), *count);
    }

    /// The last step of the place of a call, by its order; `None` for any other place.
    pub fn step(&self, call: &Place) -> Option<SmolStr> {
        let kind = call.as_str().rsplit('/').next()?.chars().next()?;
        Some(format_smolstr!("{kind}@{}", self.orders.get(call)?))
    }

    /// Whether a place, which may name calls by their order, is this place of the run.
    pub fn is_same(&self, named: &Place, place: &Place) -> bool {
        named == place || has_orders(named) && *named == self.by_order(place)
    }

    /// A place with its calls by their order.
    fn by_order(&self, place: &Place) -> Place {
        let (mut around, mut named) = (Place::root(), Place::root());
        for step in place.as_str().split('/').filter(|step| !step.is_empty()) {
            around = around.step(step);
            named = match self.step(&around) {
                Some(order) => named.step(order),
                None => named.step(step),
            };
        }
        named
    }
}

/// Whether a place names calls by their order.
pub fn has_orders(place: &Place) -> bool {
    place.as_str().contains('@')
}

//! Where the statements that a recorded run has executed are in an edited program.

use std::collections::{HashMap, HashSet};

use prose_state::StateError;
use prose_state::replay::RecordedRun;
use prose_syntax::lines::line_start;
use prose_vm::call_order::{CallOrder, has_orders};
use prose_vm::event::RunHead;
use prose_vm::place::{Place, Site};
use prose_vm::program::Program;
use prose_vm::program_names::ProgramNames;
use smol_str::SmolStr;

use crate::line_map::LineMap;

/// Finds places of a recorded run in a program.
pub(crate) struct MovedPlaces<'a> {
    recorded: &'a RecordedRun,
    program: &'a Program,
    /// `None` for the program of the recorded run, where every place is what it was.
    edits: Option<Edits>,
}

/// What has changed since the recorded run.
struct Edits {
    lines: LineMap,
    /// Where the statements at the places, and those around them, are in the program of the recorded run.
    sites: HashMap<Place, Site>,
    programs: ProgramNames,
    call_order: CallOrder,
}

impl<'a> MovedPlaces<'a> {
    /// Looks at what has changed around `places`.
    pub(crate) fn new<'p>(
        recorded: &'a RecordedRun,
        program: &'a Program,
        places: impl IntoIterator<Item = &'p Place>,
    ) -> Result<Self, StateError> {
        let around: HashSet<Place> = places.into_iter().flat_map(steps).map(|(around, _)| around).collect();
        if around.is_empty() || is_same_program(&recorded.head, program) {
            return Ok(Self { recorded, program, edits: None });
        }
        let (mut sites, mut programs) = (HashMap::new(), ProgramNames::default());
        let mut call_order = CallOrder::default();
        let by_order: Vec<&Place> = around.iter().filter(|place| has_orders(place)).collect();
        for event in recorded.events()? {
            let Ok(event) = event else { break };
            programs.apply(&event);
            call_order.apply(&event);
            let Some(site) = event.site else { continue };
            for named in by_order.iter().filter(|named| call_order.is_same(named, &event.place)) {
                sites.entry((*named).clone()).or_insert(site);
            }
            if around.contains(&event.place) {
                sites.entry(event.place).or_insert(site);
            }
        }
        let before = recorded.program.as_deref().unwrap_or_default();
        let edits = Edits { lines: LineMap::new(before, &program.text), sites, programs, call_order };
        Ok(Self { recorded, program, edits: Some(edits) })
    }

    /// The place that a place of the recorded run has in the program, with its calls by their order; `None` if a statement of it is gone.
    pub(crate) fn find(&self, place: &Place) -> Option<Place> {
        self.find_as(place, |edits, call| edits.call_order.step(call))
    }

    /// The same with calls by the numbers that they had, for what is only looked up by places of the execution.
    pub(crate) fn find_by_number(&self, place: &Place) -> Option<Place> {
        self.find_as(place, |_, _| None)
    }

    fn find_as(&self, place: &Place, order: impl Fn(&Edits, &Place) -> Option<SmolStr>) -> Option<Place> {
        let Some(edits) = &self.edits else { return Some(place.clone()) };
        let mut moved = Place::root();
        for (around, step) in steps(place) {
            // Only statements are counted in the text: iterations and branches are counted by the execution. So are calls, but over the whole program, where
            // one that was added changes the numbers of those after it.
            let is_statement = step.trim_start_matches('s').bytes().all(|byte| byte.is_ascii_digit());
            moved = match is_statement {
                true => moved.step(self.step_of(edits.sites.get(&around)?, edits, step)?),
                false => moved.step(order(edits, &around).unwrap_or_else(|| step.into())),
            };
        }
        Some(moved)
    }

    /// Why a place is not in the program, in words. Lines are counted in a document in which the program starts after `first_line` lines.
    pub(crate) fn gone(&self, place: &Place, first_line: u32) -> String {
        let line = self.edits.as_ref().and_then(|edits| edits.programs.line(*edits.sites.get(place)?));
        let place = match line {
            Some(line) => format!("{} ({place})", line.in_document(first_line)),
            None => place.to_string(),
        };
        format!(
            "the statement at {place} of run {} is not in the edited program, or not in the same body",
            self.recorded.head.run
        )
    }

    fn step_of(&self, site: &Site, edits: &Edits, step: &str) -> Option<String> {
        if site.program != 0 {
            return (self.recorded.head.imports == self.program.imported()).then(|| step.to_owned());
        }
        let text = self.recorded.program.as_deref()?;
        let start = site.start as usize;
        let column = text.is_char_boundary(start).then(|| start - line_start(text, start))?;
        let before = site.line.checked_sub(1)?;
        let now = edits.lines.line_or_edited(before)?;
        let moved = self.program.step_at(u32::try_from(now).ok()? + 1, u32::try_from(column).ok()?)?;
        // A statement that was moved into the body of another one, or out of it, is executed at another time.
        (moved.starts_with('s') == step.starts_with('s')).then(|| moved.into())
    }
}

/// The places around a place, from the outermost to itself, each with its last step.
fn steps(place: &Place) -> impl Iterator<Item = (Place, &str)> {
    let mut around = Place::root();
    place.as_str().split('/').filter(|step| !step.is_empty()).map(move |step| {
        around = around.step(step);
        (around.clone(), step)
    })
}

/// Whether a program with its imports is the one that a run was started with.
pub(crate) fn is_same_program(head: &RunHead, program: &Program) -> bool {
    head.sha256 == program.sha256 && head.imports == program.imported()
}

//! Applying fixes: compatible ones together, and all of them until none is left.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet};
use std::ops::Range;

use rowan::TextRange;

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Fix, FixSafety, TextEdit};
use crate::lines::LINE_BREAKS;
use crate::severity::Severity;

/// The maximum number of passes. A fix may uncover another diagnostic with a fix, and so on.
const MAX_PASSES: usize = 100;

/// So many passes in a row may leave as many diagnostics as there were. What such a row did is then reverted: fixes that
/// undo each other, or one that never helps, would continue forever.
const MAX_IDLE_PASSES: usize = 10;

/// The result of applying fixes to a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied {
    /// The new text.
    pub text: String,
    /// The fixes that were applied, as indices, in the order in which they were given.
    pub applied: Vec<usize>,
}

/// Applies as many of the fixes as go together. Where two of them are about the same place, the first of them is applied.
///
/// Fixes overlap if they change a common byte, or if one inserts where the other inserts or changes something: which of two
/// insertions comes first is not left to chance. A fix is applied whole or not at all; one that changes nothing, or whose
/// edits do not lie in the text, is not applied. Line breaks are inserted as the text has them, and nothing is inserted before a
/// byte-order mark.
pub fn apply<'a>(text: &str, fixes: impl IntoIterator<Item = &'a Fix>) -> Applied {
    let mut chosen = Edits::default();
    let mut applied = Vec::new();
    for (index, fix) in fixes.into_iter().enumerate() {
        if let Some(edits) = placed(text, fix)
            && chosen.take(edits)
        {
            applied.push(index);
        }
    }
    Applied { text: chosen.apply(text), applied }
}

/// The line ending of a text: that of its first line.
pub fn line_ending(text: &str) -> &'static str {
    match text.find(LINE_BREAKS).map(|at| &text[at..]) {
        Some(rest) if rest.starts_with("\r\n") => "\r\n",
        Some(rest) if rest.starts_with('\r') => "\r",
        _ => "\n",
    }
}

/// An edit that is known to lie in the text.
#[derive(Debug)]
struct PlacedEdit<'a> {
    range: Range<usize>,
    new_text: &'a str,
}

/// The edits of a fix in the order of the text, or nothing if they cannot be made.
fn placed<'a>(text: &str, fix: &'a Fix) -> Option<Vec<PlacedEdit<'a>>> {
    let first = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let mut edits = Vec::with_capacity(fix.edits.len());
    for TextEdit { range, new_text } in &fix.edits {
        let range = Range::<usize>::from(*range);
        text.get(range.clone())?;
        edits.push(PlacedEdit { range: range.start.max(first)..range.end.max(first), new_text });
    }
    edits.sort_by_key(|edit| (edit.range.start, edit.range.end));
    let are_apart = edits.windows(2).all(|pair| pair[0].range.end <= pair[1].range.start);
    let changes_something = edits.iter().any(|edit| text[edit.range.clone()] != *edit.new_text);
    (are_apart && changes_something).then_some(edits)
}

/// The edits of fixes that go together.
#[derive(Default)]
struct Edits<'a> {
    edits: Vec<PlacedEdit<'a>>,
    /// Their ranges. None overlap, so that they are sorted by their ends as well.
    ranges: BTreeSet<(usize, usize)>,
}

impl<'a> Edits<'a> {
    /// Takes the edits of one fix, unless one of them overlaps what is taken.
    fn take(&mut self, edits: Vec<PlacedEdit<'a>>) -> bool {
        if edits.iter().any(|edit| self.overlaps(&edit.range)) {
            return false;
        }
        self.ranges.extend(edits.iter().map(|edit| (edit.range.start, edit.range.end)));
        self.edits.extend(edits);
        true
    }

    fn overlaps(&self, range: &Range<usize>) -> bool {
        self.ranges.range(..=(range.end, usize::MAX)).rev().take_while(|&&(_, end)| end >= range.start).any(
            |&(start, end)| {
                let inserts = start == end || range.is_empty();
                inserts || (start < range.end && range.start < end)
            },
        )
    }

    fn apply(mut self, text: &str) -> String {
        // The order of a fix's own insertions at one place is kept.
        self.edits.sort_by_key(|edit| (edit.range.start, edit.range.end));
        let line_ending = line_ending(text);
        let mut fixed = String::with_capacity(text.len());
        let mut end = 0;
        for PlacedEdit { range, new_text } in self.edits {
            fixed.push_str(&text[end..range.start]);
            fixed.push_str(&with_line_ending(new_text, line_ending));
            end = range.end;
        }
        fixed.push_str(&text[end..]);
        fixed
    }
}

fn with_line_ending<'a>(text: &'a str, line_ending: &str) -> Cow<'a, str> {
    if line_ending == "\n" || !text.contains('\n') {
        return Cow::Borrowed(text);
    }
    // What a fix moves has the right line endings already.
    Cow::Owned(text.replace("\r\n", "\n").replace('\n', line_ending))
}

/// A diagnostic that is reported with a severity, which settings may have changed.
pub trait Reported {
    /// What is reported.
    fn diagnostic(&self) -> &Diagnostic;

    /// Its severity.
    fn severity(&self) -> Severity;
}

impl Reported for Diagnostic {
    fn diagnostic(&self) -> &Diagnostic {
        self
    }

    fn severity(&self) -> Severity {
        self.severity()
    }
}

/// The result of fixing a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fixed<D = Diagnostic> {
    /// The new text.
    pub text: String,
    /// The code of each diagnostic that was fixed, and the title of its fix, in the order in which they were applied.
    pub applied: Vec<(Code, String)>,
    /// The diagnostics of the new text.
    pub remaining: Vec<D>,
}

/// Applies the fixes of a program's diagnostics, and those of the diagnostics that then come up, until there are no more.
///
/// `safety` is [`FixSafety::Safe`] to apply safe fixes only, or [`FixSafety::Unsafe`] to apply all. What is certain comes
/// first, since it may make a guess needless; and errors come before warnings, since a warning may be the consequence of an
/// error.
///
/// What is unused is not removed where the text had a mistake to start with: see [`Code::is_about_unused`].
///
/// The new text never has more errors than `text`: fixes that would add some are left out. Fixes that go in circles are taken
/// back.
pub fn fix_all<D: Reported>(
    text: &str,
    mut diagnose: impl FnMut(&str) -> Vec<D>,
    safety: FixSafety,
) -> Fixed<D> {
    let remaining = diagnose(text);
    let had_mistake = remaining.iter().any(|reported| reported.diagnostic().code.is_error_code());
    let mut current = Fixed { text: text.to_owned(), applied: Vec::new(), remaining };
    let mut before_idle_passes: Option<Fixed<D>> = None;
    let mut idle_passes = 0;
    let mut changes = HashSet::new();
    let mut circular = HashSet::new();
    for _ in 0..MAX_PASSES {
        let tiers = Tier::up_to(safety).map(|tier| {
            let mut fixes = current.fixes(tier, &circular);
            // A guess at what a mistake meant is no reason to remove what then looks unused.
            fixes.retain(|(code, _)| !(had_mistake && code.is_about_unused()));
            fixes
        });
        let next = tiers.filter(|fixes| !fixes.is_empty()).find_map(|fixes| {
            let mut trial =
                Trial { before: &current, diagnose: &mut diagnose, taken: Vec::new(), after: None };
            trial.take(&fixes);
            Some((trial.after?, Change::all(&current.text, &trial.taken)))
        });
        let Some((next, made)) = next else { return current };
        let is_better = next.burden() < before_idle_passes.as_ref().unwrap_or(&current).burden();
        let before = std::mem::replace(&mut current, next);
        if is_better {
            before_idle_passes = None;
            idle_passes = 0;
            changes.clear();
            continue;
        }
        before_idle_passes.get_or_insert(before);
        idle_passes += 1;
        changes.extend(made);
        if idle_passes == MAX_IDLE_PASSES {
            current = before_idle_passes.take().unwrap_or(current);
            idle_passes = 0;
            circular.extend(changes.drain());
        }
    }
    before_idle_passes.unwrap_or(current)
}

/// A diagnostic's code and its fix.
type CodedFix<'a> = (Code, &'a Fix);

/// A fix in certain surroundings, wherever they are: other fixes move them.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Change {
    code: Code,
    title: String,
    /// The rest of the line, before and after what is changed.
    surroundings: [String; 2],
}

impl Change {
    fn new(text: &str, (code, fix): CodedFix<'_>) -> Self {
        /// Enough to tell places apart. Whole lines may be a megabyte long, with a fix every ten bytes.
        const CONTEXT: usize = 100;
        let ranges = fix.edits.iter().map(|edit| edit.range);
        let range = ranges.reduce(TextRange::cover).map(Range::<usize>::from).unwrap_or_default();
        let start = text.floor_char_boundary(range.start.saturating_sub(CONTEXT));
        let end = text.ceil_char_boundary(range.end.saturating_add(CONTEXT));
        let before = text.get(start..range.start).and_then(|before| before.rsplit(LINE_BREAKS).next());
        let after = text.get(range.end..end).and_then(|after| after.split(LINE_BREAKS).next());
        Self {
            code,
            title: fix.title.clone(),
            surroundings: [before, after].map(|part| part.unwrap_or_default().to_owned()),
        }
    }

    fn all(text: &str, fixes: &[CodedFix<'_>]) -> Vec<Self> {
        fixes.iter().map(|&fix| Self::new(text, fix)).collect()
    }
}

impl<D: Reported> Fixed<D> {
    fn fixes(&self, tier: Tier, without: &HashSet<Change>) -> Vec<CodedFix<'_>> {
        let fixes = self.remaining.iter().filter_map(|reported| {
            let fix = reported.diagnostic().fix.as_ref()?;
            let is_error = reported.severity() == Severity::Error;
            (Tier { safety: fix.safety, is_error } == tier).then_some((reported.diagnostic().code, fix))
        });
        fixes.filter(|&fix| without.is_empty() || !without.contains(&Change::new(&self.text, fix))).collect()
    }

    fn errors(&self) -> usize {
        errors(&self.remaining)
    }

    /// How much is wrong, errors first.
    fn burden(&self) -> (usize, usize) {
        (self.errors(), self.remaining.len())
    }
}

fn errors<D: Reported>(diagnostics: &[D]) -> usize {
    diagnostics.iter().filter(|reported| reported.severity() == Severity::Error).count()
}

/// Fixes that are applied in the same pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Tier {
    safety: FixSafety,
    is_error: bool,
}

impl Tier {
    /// The tiers that may be applied, most urgent first.
    fn up_to(safety: FixSafety) -> impl Iterator<Item = Self> {
        let safeties: &[FixSafety] = match safety {
            FixSafety::Safe => &[FixSafety::Safe],
            FixSafety::Unsafe => &[FixSafety::Safe, FixSafety::Unsafe],
        };
        safeties.iter().flat_map(|&safety| [true, false].map(|is_error| Self { safety, is_error }))
    }
}

/// One pass: finds out which of its fixes do no harm.
struct Trial<'a, D, F> {
    before: &'a Fixed<D>,
    diagnose: &'a mut F,
    taken: Vec<CodedFix<'a>>,
    after: Option<Fixed<D>>,
}

impl<'a, D: Reported, F: FnMut(&str) -> Vec<D>> Trial<'a, D, F> {
    /// Takes the fixes, if together they add no error to what is taken. If they do, each half is tried for itself, which finds
    /// the few harmful ones among many in few trials.
    fn take(&mut self, fixes: &[CodedFix<'a>]) {
        let candidates = [self.taken.as_slice(), fixes].concat();
        let Applied { text, applied } = apply(&self.before.text, candidates.iter().map(|(_, fix)| *fix));
        let so_far = self.after.as_ref().unwrap_or(self.before);
        if text == so_far.text {
            return;
        }
        let remaining = (self.diagnose)(&text);
        if errors(&remaining) <= so_far.errors() {
            self.taken = applied.into_iter().map(|index| candidates[index]).collect();
            let new = self.taken.iter().map(|(code, fix)| (*code, fix.title.clone()));
            let applied = self.before.applied.iter().cloned().chain(new).collect();
            self.after = Some(Fixed { text, applied, remaining });
        } else if fixes.len() > 1 {
            let (first, second) = fixes.split_at(fixes.len() / 2);
            self.take(first);
            self.take(second);
        }
    }
}

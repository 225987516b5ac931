//! Loops, verdicts and choices.

use prose_vm::effect::{Outcome, Verdict};

use super::{Around, Loop, Reader};
use crate::text;
use crate::transcript::lines::{after, discretions, number_after};
use crate::transcript::values::{self, Read};
use crate::transcript::{About, Answer, Entry};

impl<'a> Reader<'a> {
    pub(super) fn a_loop(&mut self, said: &'a str) {
        if let Some(rest) = after(said, "Starting") {
            self.close();
            let rest = rest.trim();
            let header = match after(rest, "loop").map(str::trim) {
                Some("") => self.strand().said.source.clone().unwrap_or_default(),
                _ => rest.to_owned(),
            };
            self.strand().stack.push(new_loop(&header));
        } else if let Some(rest) = after(said, "Iteration ") {
            self.close();
            let Some(number) = number_after(rest, "") else { return };
            if self.strand().loop_around().is_none() {
                let header = self.strand().said.source.clone().unwrap_or_default();
                self.strand().stack.push(new_loop(&header));
            }
            self.conclude(false);
            if let Some(it) = self.strand().loop_around() {
                it.iteration = number;
                it.is_judged = false;
            }
        } else if let Some(rest) = after(said, "Evaluating") {
            self.asked(rest, true);
        } else if let Some(rest) = after(said, "Loop exited").or_else(|| after(said, "Exited")) {
            self.close();
            if rest.contains("satisfied") {
                self.conclude(true);
            } else if rest.contains("max") {
                self.conclude(false);
            }
            self.strand().leave(|around| matches!(around, Around::Loop(_)));
        } else {
            self.flow(said);
        }
    }

    /// What became of a loop says how its condition was judged where no line says it, as before the first iteration (D1).
    fn conclude(&mut self, is_over: bool) {
        let line = self.at;
        let Some(it) = self.strand().loop_around() else { return };
        // Of several conditions, it is not known which ones were asked.
        if let ([condition], false) = (it.conditions.as_slice(), it.is_judged) {
            let (condition, met) = (condition.clone(), is_over != it.is_while);
            let verdict = Verdict { met, reason: String::new(), no_progress: false };
            self.strand().asked = None;
            self.judged(line, Some(condition), verdict, true);
        }
    }

    fn judged(&mut self, line: usize, text: Option<String>, verdict: Verdict, of_loop: bool) {
        let steps = self.steps(of_loop);
        let answer = Ok(Answer::Outcome(Outcome::Verdict(verdict)));
        self.recovered.entries.push(Entry { line, about: About::Judge(text), steps, answer });
    }

    fn asked(&mut self, rest: &str, is_of_loop: bool) {
        let text = rest.trim_start_matches([':', ' ']);
        // A condition that needs no model is narrated without marks.
        let condition = discretions(text).into_iter().next().unwrap_or_else(|| text::one_line(text));
        self.strand().asked = Some((condition, is_of_loop));
    }

    pub(super) fn flow(&mut self, said: &'a str) {
        if let Some(rest) = after(said, "Evaluating") {
            return self.asked(rest, false);
        }
        if let Some(rest) =
            ["Chose", "Choice", "Selected", "Chosen"].iter().find_map(|word| after(said, word))
        {
            return self.chosen(rest);
        }
        let lower = said.to_lowercase();
        let head = lower.split(['(', '"']).next().unwrap_or_default();
        let is_any = |words: &[&str]| words.iter().any(|word| head.contains(word));
        let met = if is_any(&["not satisfied", "unsatisfied", "not met", "no longer", "not yet", "false"]) {
            false
        } else if is_any(&["satisfied", "met", "true"]) {
            true
        } else {
            return;
        };
        let line = self.at;
        let no_progress = head.contains("no progress");
        let reason = said.find('(').map_or(String::new(), |at| reason_in(&said[at..]));
        let strand = self.strand();
        let asked = strand.asked.take();
        let mut of_loop = false;
        let mut text = asked.as_ref().map(|(text, _)| text.clone());
        if let Some(it) = strand.loop_around()
            && asked.as_ref().is_none_or(|(_, is_of_loop)| *is_of_loop)
        {
            it.is_judged = true;
            of_loop = true;
            text = text.or_else(|| it.conditions.first().cloned());
        }
        if text.is_none() {
            let source = strand.said.source.as_deref().unwrap_or_default();
            text = discretions(source).into_iter().next();
        }
        let verdict = Verdict { met, reason, no_progress };
        self.judged(line, text, verdict, of_loop);
    }

    fn chosen(&mut self, rest: &'a str) {
        let line = self.at;
        let criterion = discretions(rest).into_iter().next();
        let behind = rest.rsplit_once("**").map_or(rest, |(_, behind)| behind);
        let behind = behind.trim_start_matches([':', ' ', '-', '>', '→']);
        let behind = after(behind, "option ").unwrap_or(behind);
        let (read, remark) = match behind.split_once(" (") {
            Some((label, _)) if !label.starts_with(['"', '“', '\'']) => {
                (Read::Whole(label.into()), &behind[label.len()..])
            }
            _ => self.value(behind),
        };
        let label = read.whole("what was chosen is not stated");
        let answer = label.map(|label| Answer::Label { label, reason: reason_in(remark) });
        self.add(line, About::Choose(criterion), answer);
    }
}

fn new_loop(header: &str) -> Around {
    let words = header.split("**").next().unwrap_or_default();
    let conditions =
        if words.contains("until") || words.contains("while") { discretions(header) } else { Vec::new() };
    Around::Loop(Loop { conditions, is_while: words.contains("while"), iteration: 0, is_judged: false })
}

/// The reason of an answer, which stands between parentheses.
fn reason_in(remark: &str) -> String {
    let remark = remark.trim();
    let reason = remark.strip_prefix('(').unwrap_or(remark);
    let reason = reason.strip_suffix(')').unwrap_or(reason).trim();
    match values::value(reason, &[], false).0 {
        Read::Whole(text) if reason.starts_with('"') => text,
        _ => reason.to_owned(),
    }
}

//! Branches that run together: their states, their results, and whose turn it is.

use prose_vm::effect::Outcome;

use super::{Around, List, Parallel, Reader, Strand, is_branch, reply};
use crate::transcript::lines::after;
use crate::transcript::values::{self, Read};
use crate::transcript::{About, Answer, NarratedSession};

impl<'a> Reader<'a> {
    pub(super) fn parallel(&mut self, said: &'a str) {
        if let Some(rest) = after(said, "Branch ") {
            let path = rest.trim_end_matches([':', ' ']).split(" > ").map(|name| name.trim().to_owned());
            self.path = path.collect();
            if let Some((last, around)) = self.path.clone().split_last() {
                let name = last.split(" (").next().unwrap_or(last);
                self.strands.entry(around.to_vec()).or_default().narrate_branch(name);
            }
        } else if after(said, "Entering").is_some() || after(said, "Starting").is_some() {
            self.close();
            self.strand().stack.push(Around::Parallel(Parallel::default()));
            // Branches of an earlier one may have had the same names.
            let path = self.path.clone();
            self.strands.retain(|other, _| other.len() <= path.len() || !other.starts_with(&path));
            self.list = List::Branches;
        } else if ["Parallel complete", "Parallel failed", "Joined", "All branches complete"]
            .iter()
            .any(|phrase| after(said, phrase).is_some())
        {
            self.go_to_parallel(None);
            self.list = List::Joined;
        }
    }

    /// Goes out to the branch or program whose `parallel` has a branch of that name, or to the innermost one that has a `parallel`.
    fn go_to_parallel(&mut self, name: Option<&str>) {
        let has = |strand: Option<&Strand>| {
            strand.is_some_and(|strand| {
                strand.stack.iter().filter_map(Around::as_parallel).any(|Parallel { names, .. }| {
                    name.is_none_or(|name| names.is_empty() || names.iter().any(|it| it == name))
                })
            })
        };
        let depth = (0..=self.path.len()).rev().find(|depth| has(self.strands.get(&self.path[..*depth])));
        if let Some(depth) = depth {
            self.path.truncate(depth);
        }
    }

    pub(super) fn leave_parallel(&mut self) {
        self.strand().leave(|around| around.as_parallel().is_some());
    }

    /// The state or the result of a branch in a list.
    pub(super) fn branch_item(&mut self, said: &'a str) {
        let Some(at) = said.find([':', '=']) else { return };
        let is_value = said[at..].starts_with('=');
        let (name, rest) = (said[..at].trim().trim_matches(['*', '`']), &said[at + 1..]);
        if !is_branch(name) {
            return;
        }
        let rest = rest.trim().trim_start_matches(['*', '✓', '✅', ' ']);
        let line = self.at;
        // The items below a line belong to what that is about; others are known by their names.
        self.go_to_parallel(Some(name).filter(|_| self.list == List::None));
        if self.strand().parallel_mut().is_none() {
            return;
        }
        let is_joined = self.list == List::Joined;
        if is_value {
            if is_joined || self.list == List::Branches {
                self.branch_replied(name, line, rest);
            }
        } else if let Some(rest) = ["complete", "done"].iter().find_map(|word| after(rest, word)) {
            let rest = rest.strip_prefix('d').unwrap_or(rest);
            let rest = values::separated(rest).unwrap_or(rest).trim_start_matches('(');
            if rest.is_empty() && !is_joined {
                self.strand().know_branch(name);
            } else {
                self.branch_replied(name, line, rest);
            }
        } else if let Some(rest) = after(rest, "failed") {
            let answer = self.failure(rest);
            // The join only repeats how a branch has ended.
            if is_joined && self.is_narrated(name) {
                return;
            }
            self.strand().know_branch(name);
            self.strand().narrate_branch(name);
            self.add_of_branch(name, line, answer);
        } else if after(rest, "retry ").is_some() {
            self.path.push(name.to_owned());
            self.add(line, About::Sleep, Ok(Answer::Outcome(Outcome::Slept)));
            self.path.pop();
        } else if ["pending", "running", "executing", "waiting", "started"]
            .iter()
            .any(|word| after(rest, word).is_some())
        {
            let is_list = self.list == List::Branches;
            self.strand().know_branch(name);
            if let Some(Around::Parallel(parallel)) = self.strand().stack.last_mut() {
                parallel.is_listed |= is_list;
            }
        } else if is_joined {
            self.branch_replied(name, line, rest);
        }
    }

    fn is_narrated(&self, name: &str) -> bool {
        let strand = self.strands.get(&self.path);
        let parallel = strand.and_then(|strand| strand.stack.iter().rev().find_map(Around::as_parallel));
        parallel.is_some_and(|parallel| parallel.narrated.iter().any(|it| it == name))
    }

    fn branch_replied(&mut self, name: &str, line: usize, rest: &'a str) {
        let is_absent = ["null", "cancelled", "skipped", "(cancelled", "(skipped", "<cancelled"]
            .iter()
            .any(|word| after(rest, word).is_some());
        let (read, _) = self.value(rest);
        let is_joined = self.list == List::Joined;
        let strand = self.strand();
        strand.know_branch(name);
        let is_narrated = is_joined && self.is_narrated(name);
        if is_absent || is_narrated || read == Read::Reference {
            return;
        }
        self.add_of_branch(name, line, reply(read));
        self.strand().narrate_branch(name);
    }

    fn add_of_branch(&mut self, name: &str, line: usize, answer: Result<Answer, &'static str>) {
        let strand = self.strand();
        let prompt = index_of(&strand.stack, name).and_then(|index| {
            let mut around = strand.stack.iter().rev().filter_map(Around::as_parallel);
            around.find_map(|parallel| parallel.tasks.get(index as usize).cloned())
        });
        let is_numbered = name.parse::<u32>().is_ok();
        let narrated =
            NarratedSession { source: None, prompt, name: (!is_numbered).then(|| name.to_owned()) };
        self.path.push(name.to_owned());
        self.add(line, About::Session(narrated), answer);
        self.path.pop();
    }
}

impl Around {
    fn as_parallel(&self) -> Option<&Parallel> {
        if let Self::Parallel(parallel) = self { Some(parallel) } else { None }
    }
}

impl Strand {
    fn parallel_mut(&mut self) -> Option<&mut Parallel> {
        let mut around = self.stack.iter_mut().rev();
        around.find_map(|around| if let Around::Parallel(parallel) = around { Some(parallel) } else { None })
    }

    /// Notes that a branch is there.
    pub(super) fn know_branch(&mut self, name: &str) {
        if let Some(Parallel { names, .. }) = self.parallel_mut()
            && names.iter().all(|it| it != name)
        {
            names.push(name.to_owned());
        }
    }

    /// Notes that the sessions of a branch are narrated.
    pub(super) fn narrate_branch(&mut self, name: &str) {
        if let Some(parallel) = self.parallel_mut() {
            parallel.narrated.push(name.to_owned());
        }
    }
}

/// The number of a branch from 0: its name, where that is a number, the number after its name, and its place in a list of names.
pub(super) fn index_of(stack: &[Around], branch: &str) -> Option<u32> {
    let number = branch.rsplit_once('(').map_or(branch, |(_, number)| number.trim_end_matches(')'));
    if let Ok(number) = number.parse::<u32>() {
        return number.checked_sub(1);
    }
    let mut listed = stack.iter().rev().filter_map(Around::as_parallel).filter(|it| it.is_listed);
    let at = listed.find_map(|parallel| parallel.names.iter().position(|name| name == branch));
    at.and_then(|at| u32::try_from(at).ok())
}

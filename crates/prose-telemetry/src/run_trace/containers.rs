//! Parallels, loops, calls and pipelines.

use std::borrow::Cow;

use opentelemetry::KeyValue;
use opentelemetry::trace::SpanKind;
use prose_vm::effect::LoopKind;
use prose_vm::event::{EventKind, LoopEnd, Status};
use smol_str::{SmolStr, format_smolstr};

use super::RunTrace;
use crate::open::OpenSpan;
use crate::table::key;

impl RunTrace {
    /// Events of what contains other statements.
    pub(super) fn container(&mut self, place: &str, kind: &EventKind) {
        match kind {
            EventKind::ParallelStarted { branches, strategy, .. } => {
                let attributes = [
                    KeyValue::new(key::STRATEGY, strategy.to_string()),
                    KeyValue::new(key::BRANCHES, branches.len() as i64),
                ];
                self.enter(place, place, "parallel".into(), attributes);
            }
            EventKind::ParallelEnded { status, .. } => self.close(place, Some(*status), None),
            EventKind::BranchStarted { index, name } => {
                // Its name is that in the program or a number.
                let name = match name.strip_prefix("branch ").or(name.strip_prefix("iteration ")) {
                    Some(number) if number.bytes().all(|digit| digit.is_ascii_digit()) => "branch".into(),
                    _ => format!("branch {name}").into(),
                };
                let index = KeyValue::new(key::BRANCH, i64::from(*index));
                let span = self.entered(&format!("{place} branch"), place, name, [index]);
                self.spans.insert(place.into(), span);
            }
            EventKind::BranchEnded { status, .. } => self.close(place, Some(*status), None),

            EventKind::LoopStarted { kind, max, .. } => {
                let name = match kind {
                    LoopKind::For => "loop for",
                    LoopKind::Repeat => "loop repeat",
                    LoopKind::Forever => "loop forever",
                    LoopKind::Until => "loop until",
                    LoopKind::While => "loop while",
                };
                let max = max.map(|max| KeyValue::new(key::LOOP_MAX, i64::from(max)));
                self.enter(place, place, name.into(), max);
            }
            EventKind::IterationStarted { number, .. } => {
                self.iteration_ended(place, Status::Complete);
                let at = format_smolstr!("{place}/i{}", number - 1);
                self.enter(
                    &at,
                    place,
                    "iteration".into(),
                    [KeyValue::new(key::ITERATION, i64::from(*number))],
                );
            }
            EventKind::LoopEnded { why, iterations } => {
                let (why, status) = match why {
                    LoopEnd::Satisfied => ("satisfied", Status::Complete),
                    LoopEnd::NoProgress => ("no-progress", Status::Complete),
                    LoopEnd::Max => ("max", Status::Complete),
                    LoopEnd::Exhausted => ("exhausted", Status::Complete),
                    LoopEnd::Left => ("left", Status::Complete),
                    LoopEnd::Failed => ("failed", Status::Failed),
                };
                self.iteration_ended(place, status);
                if let Some(span) = self.spans.get_mut(place) {
                    span.set(key::LOOP_END, why);
                    span.set(key::ITERATIONS, i64::from(*iterations));
                }
                self.close(place, Some(status), None);
            }

            EventKind::FrameEntered { id, block, depth, .. } => {
                let at = format_smolstr!("{place}/f{id}");
                let depth = KeyValue::new(key::DEPTH, i64::from(*depth));
                self.enter(&at, place, format!("block {block}").into(), [depth]);
            }
            EventKind::FrameLeft { id, status, .. } => {
                self.close(&format_smolstr!("{place}/f{id}"), Some(*status), None);
            }
            EventKind::ImportCalled { program, alias, .. } => {
                let at = format_smolstr!("{place}/m{program}");
                self.programs.insert(*program, alias.clone());
                let attributes = [
                    KeyValue::new(key::OPERATION, "invoke_workflow"),
                    KeyValue::new(key::WORKFLOW, alias.to_string()),
                    KeyValue::new(key::AGENT, alias.to_string()),
                ];
                self.enter(&at, place, format!("invoke_workflow {alias}").into(), attributes);
            }
            EventKind::ImportEnded { program, error, .. } => {
                let status = if error.is_some() { Status::Failed } else { Status::Complete };
                self.close(&format_smolstr!("{place}/m{program}"), Some(status), error.as_deref());
            }

            EventKind::PipelineStarted { items, .. } => {
                let items = KeyValue::new(key::ITEMS, i64::from(*items));
                self.enter(place, place, "pipeline".into(), [items]);
            }
            EventKind::StageStarted { operator, items } => {
                let items = KeyValue::new(key::ITEMS, i64::from(*items));
                self.enter(place, place, format!("stage {operator}").into(), [items]);
            }
            EventKind::StageEnded { .. } => self.close(place, Some(Status::Complete), None),
            _ => {}
        }
    }

    /// Opens the span of a container at `at`, whose parent is above it.
    fn enter(
        &mut self,
        at: &str,
        place: &str,
        name: Cow<'static, str>,
        attributes: impl IntoIterator<Item = KeyValue>,
    ) {
        let span = self.entered(at, place, name, attributes);
        self.spans.insert(at.into(), span);
    }

    /// The span of a container, whose parent is above it. `id` is unique in the run.
    fn entered(
        &self,
        id: &str,
        place: &str,
        name: Cow<'static, str>,
        attributes: impl IntoIterator<Item = KeyValue>,
    ) -> OpenSpan {
        let mut span = self.open(place, id, name, SpanKind::Internal);
        span.attributes.extend(attributes);
        if !self.is_new {
            span.set(key::RESUMED, true);
        }
        span
    }

    pub(super) fn iteration_ended(&mut self, place: &str, status: Status) {
        let below = format!("{place}/i");
        let is_iteration = |key: &&SmolStr| key[below.len()..].bytes().all(|byte| byte.is_ascii_digit());
        let open = self.spans.starting_with(&below).find(is_iteration).cloned();
        if let Some(key) = open {
            self.close(&key, Some(status), None);
        }
    }
}

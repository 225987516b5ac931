//! The ids of traces and spans. They are computed from the id of the run and the place of an event, so that a resumed run and a fork link to the spans of
//! another process, which may have been killed, without anything being stored for it.

use std::fmt::Display;

use opentelemetry::trace::{SpanContext, SpanId, TraceFlags, TraceId, TraceState};
use sha2::{Digest, Sha256};

/// The span that a run was started in, as the W3C writes it in `traceparent`: `00-<trace>-<span>-<flags>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Parent {
    pub(crate) trace: TraceId,
    pub(crate) span: SpanId,
    pub(crate) is_sampled: bool,
}

impl Parent {
    /// Reads a `traceparent`; `None` if it is invalid. Versions after 00 may have more fields at their end, which are ignored.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut fields = text.trim().split('-');
        let mut field = |length: usize| {
            let is_hex = |field: &&str| {
                field.len() == length && field.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
            };
            fields.next().filter(is_hex)
        };
        let (version, trace, span, flags) = (field(2)?, field(32)?, field(16)?, field(2)?);
        let has_more = fields.next().is_some();
        if version == "ff" || (version == "00" && has_more) {
            return None;
        }
        let trace = TraceId::from_hex(trace).ok().filter(|trace| *trace != TraceId::INVALID)?;
        let span = SpanId::from_hex(span).ok().filter(|span| *span != SpanId::INVALID)?;
        let is_sampled = u8::from_str_radix(flags, 16).ok()? & 1 == 1;
        Some(Self { trace, span, is_sampled })
    }
}

impl std::fmt::Display for Parent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "00-{}-{}-{:02x}", self.trace, self.span, u8::from(self.is_sampled))
    }
}

/// The ids of one execution of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ids {
    pub(crate) trace: TraceId,
    pub(crate) root: SpanId,
    /// The parent of the root; invalid for a root without one.
    pub(crate) parent: SpanId,
}

impl Ids {
    /// The ids of the first execution of a run, which later ones link to.
    pub(crate) fn of_start(run: &str, parent: Option<Parent>) -> Self {
        Self::of(&format!("run {run}"), parent)
    }

    /// The ids of a later execution, which begins at a time in milliseconds.
    pub(crate) fn of_resumption(run: &str, at: u64, parent: Option<Parent>) -> Self {
        Self::of(&format!("run {run} resumed at {at}"), parent)
    }

    fn of(execution: &str, parent: Option<Parent>) -> Self {
        let trace = match parent {
            Some(parent) => parent.trace,
            None => TraceId::from_bytes(digest(execution)),
        };
        let root = span_id(trace, execution);
        Self { trace, root, parent: parent.map_or(SpanId::INVALID, |parent| parent.span) }
    }

    /// The id of the span with a key that is unique in the run.
    pub(crate) fn span(&self, key: &dyn Display) -> SpanId {
        span_id(self.trace, &format!("{} {key}", self.root))
    }

    /// The root as the target of a link.
    pub(crate) fn root_context(&self) -> SpanContext {
        SpanContext::new(self.trace, self.root, TraceFlags::SAMPLED, true, TraceState::NONE)
    }
}

fn span_id(trace: TraceId, key: &str) -> SpanId {
    let bytes = digest(&format!("{trace} {key}"));
    let mut id = [0; 8];
    id.copy_from_slice(&bytes[..8]);
    SpanId::from_bytes(id)
}

/// The first half of a hash. That it has only zeros, which would be an invalid id, is as likely as that two ids are equal.
fn digest(text: &str) -> [u8; 16] {
    let hash = Sha256::digest(text.as_bytes());
    let mut half = [0; 16];
    half.copy_from_slice(&hash[..16]);
    half
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_traceparent_is_read_as_the_w3c_says() {
        let parent = Parent::parse("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01").unwrap();
        assert_eq!(parent.trace.to_string(), "0af7651916cd43dd8448eb211c80319c");
        assert_eq!(parent.span.to_string(), "b7ad6b7169203331");
        assert!(parent.is_sampled);
        let of_later_version = "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00-more";
        assert!(!Parent::parse(of_later_version).unwrap().is_sampled);
        for invalid in [
            "",
            "00",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
            "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
            "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-zz",
        ] {
            assert_eq!(Parent::parse(invalid), None, "{invalid}");
        }
    }

    #[test]
    fn ids_depend_on_the_run_and_the_execution_alone() {
        let run = "20260101-120000-abcdef";
        let start = Ids::of_start(run, None);
        assert_eq!(start, Ids::of_start(run, None));
        assert_ne!(start.trace, Ids::of_start("20260101-120000-abcdeg", None).trace);
        let resumed = Ids::of_resumption(run, 1, None);
        assert!(resumed.trace != start.trace && resumed != Ids::of_resumption(run, 2, None));
        let parent = Parent::parse("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
        let child = Ids::of_start(run, parent);
        assert_eq!(child.trace.to_string(), "0af7651916cd43dd8448eb211c80319c");
        assert_eq!(child.parent.to_string(), "b7ad6b7169203331");
        // Two executions may belong to one trace.
        assert_ne!(child.root, Ids::of_resumption(run, 1, parent).root);
    }
}

//! Spans that have not ended.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Bound;
use std::time::{Duration, SystemTime};

use opentelemetry::trace::{Event, SpanId, SpanKind, Status as SpanStatus};
use opentelemetry::{KeyValue, Value};
use prose_vm::error::{ErrorKind, RuntimeError};
use prose_vm::event::Status;
use smol_str::SmolStr;

use crate::content::Content;
use crate::table::key;

/// A span that has not ended.
#[derive(Debug)]
pub(crate) struct OpenSpan {
    pub(crate) id: SpanId,
    pub(crate) parent: SpanId,
    pub(crate) name: Cow<'static, str>,
    pub(crate) kind: SpanKind,
    /// In milliseconds since 1970.
    pub(crate) start: u64,
    pub(crate) attributes: Vec<KeyValue>,
    pub(crate) events: Vec<Event>,
}

impl OpenSpan {
    pub(crate) fn set(&mut self, key: &'static str, value: impl Into<Value>) {
        self.attributes.push(KeyValue::new(key, value));
    }

    /// Notes how it ended.
    pub(crate) fn set_status(&mut self, status: Status) {
        match status {
            Status::Complete | Status::Failed => {}
            Status::Skipped => self.set(key::STATUS, "skipped"),
            Status::Left => self.set(key::STATUS, "left"),
        }
    }

    /// Notes the error by which it ended. Its message may have texts of the run.
    pub(crate) fn set_error(
        &mut self,
        error: Option<&RuntimeError>,
        content: Option<&Content>,
    ) -> SpanStatus {
        let Some(error) = error else {
            self.set(key::ERROR, "_OTHER");
            return SpanStatus::error("");
        };
        self.set(key::ERROR, kind_name(error.kind));
        SpanStatus::error(content.map(|content| content.text(&error.message)).unwrap_or_default())
    }
}

/// The name of a kind of error, as `catch` sees it.
pub(crate) fn kind_name(kind: ErrorKind) -> String {
    match serde_json::to_value(kind) {
        Ok(serde_json::Value::String(name)) => name,
        _ => "_OTHER".to_owned(),
    }
}

/// A time in milliseconds since 1970.
pub(crate) fn time(ms: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_millis(ms)
}

/// The open spans by their place. A branch whose only statement is a session or a `parallel` has the place of that: of several spans at a place, each is
/// inside of those before it.
#[derive(Debug, Default)]
pub(crate) struct OpenSpans(BTreeMap<SmolStr, Vec<OpenSpan>>);

impl OpenSpans {
    /// Opens a span inside of those at its place.
    pub(crate) fn insert(&mut self, place: SmolStr, span: OpenSpan) {
        self.0.entry(place).or_default().push(span);
    }

    /// The innermost span at a place.
    pub(crate) fn get(&self, place: &str) -> Option<&OpenSpan> {
        self.0.get(place)?.last()
    }

    /// The innermost span at a place.
    pub(crate) fn get_mut(&mut self, place: &str) -> Option<&mut OpenSpan> {
        self.0.get_mut(place)?.last_mut()
    }

    /// Takes the innermost span at a place.
    pub(crate) fn remove(&mut self, place: &str) -> Option<OpenSpan> {
        let spans = self.0.get_mut(place)?;
        let innermost = spans.pop();
        if spans.is_empty() {
            self.0.remove(place);
        }
        innermost
    }

    /// The places that start so, in order.
    pub(crate) fn starting_with<'a>(&'a self, start: &'a str) -> impl Iterator<Item = &'a SmolStr> {
        let from = (Bound::Included(start), Bound::Unbounded);
        let following = self.0.range::<str, (Bound<&str>, Bound<&str>)>(from);
        following.map(|(place, _)| place).take_while(move |place| place.starts_with(start))
    }
}

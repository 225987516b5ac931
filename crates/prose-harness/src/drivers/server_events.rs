//! Events of a stream of server-sent events.

use serde_json::Value;

/// The maximum size of an event: 16 MiB.
const MAX_EVENT: usize = 16 << 20;

/// Takes the data of events out of the bytes of a stream.
#[derive(Debug, Default)]
pub(super) struct Events {
    line: Vec<u8>,
    data: String,
}

/// An event.
#[derive(Debug, PartialEq)]
pub(super) enum StreamEvent {
    Data(Value),
    /// `[DONE]`, the last event of some streams.
    Done,
    /// Something that is no JSON, or too long.
    Invalid,
}

impl Events {
    /// The events that are complete with more bytes.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Vec<StreamEvent> {
        let mut events = Vec::new();
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(part);
            if part.ends_with(b"\n") {
                let line = std::mem::take(&mut self.line);
                events.extend(self.line(&String::from_utf8_lossy(&line)));
            }
            if self.line.len() + self.data.len() > MAX_EVENT {
                events.push(StreamEvent::Invalid);
                *self = Self::default();
            }
        }
        events
    }

    /// The event that the end of the stream completes.
    pub(super) fn finish(&mut self) -> Option<StreamEvent> {
        let line = std::mem::take(&mut self.line);
        let event = self.line(&String::from_utf8_lossy(&line));
        event.or_else(|| self.event())
    }

    fn line(&mut self, line: &str) -> Option<StreamEvent> {
        let line = line.trim_end_matches(['\n', '\r']);
        if let Some(data) = line.strip_prefix("data:") {
            if !self.data.is_empty() {
                self.data.push('\n');
            }
            self.data.push_str(data.strip_prefix(' ').unwrap_or(data));
            return None;
        }
        line.is_empty().then(|| self.event()).flatten()
    }

    fn event(&mut self) -> Option<StreamEvent> {
        let data = std::mem::take(&mut self.data);
        match data.trim() {
            "" => None,
            "[DONE]" => Some(StreamEvent::Done),
            data => Some(serde_json::from_str(data).map_or(StreamEvent::Invalid, StreamEvent::Data)),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn events_are_complete_wherever_their_bytes_are_split() {
        let stream = "event: a\ndata: {\"text\":\"Flut – Ebbe\"}\r\n\r\n: ping\n\ndata: [1,\ndata: 2]\n\ndata:[DONE]\n\n";
        let expected = [
            StreamEvent::Data(json!({ "text": "Flut – Ebbe" })),
            StreamEvent::Data(json!([1, 2])),
            StreamEvent::Done,
        ];
        for size in 1..stream.len() {
            let mut events = Events::default();
            let found: Vec<_> = stream.as_bytes().chunks(size).flat_map(|bytes| events.push(bytes)).collect();
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn the_end_of_a_stream_completes_an_event() {
        let mut events = Events::default();
        assert_eq!(events.push(b"data: 1"), []);
        assert_eq!(events.finish(), Some(StreamEvent::Data(json!(1))));
        assert_eq!(events.finish(), None);
    }

    #[test]
    fn what_is_no_json_is_invalid() {
        assert_eq!(Events::default().push(b"data: <html>\n\n"), [StreamEvent::Invalid]);
    }
}

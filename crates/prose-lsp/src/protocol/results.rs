//! Results on their way around the transport library.
//!
//! The library holds a result as a tree of JSON values, which for the outline of a long document is ten times what the rest of the
//! server takes. So a result is text from the start. The library carries a short stand-in, and the frame that brings it out
//! gets the text in its place.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use crate::protocol::json::Json;

/// The results that the library carries the stand-ins of.
#[derive(Debug, Clone, Default)]
pub(crate) struct Results(Arc<Mutex<Held>>);

#[derive(Debug, Default)]
struct Held {
    texts: HashMap<u64, Json>,
    next: u64,
}

/// How the library begins a message that has a result.
const BEFORE_RESULT: &[u8] = br#"{"jsonrpc":"2.0","result":"#;
/// How a stand-in begins. It is a text, which no result is that the library gets itself.
const BEFORE_NUMBER: &[u8] = br#""held "#;

impl Results {
    fn lock(&self) -> MutexGuard<'_, Held> {
        // The map is whole after each of the operations below.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a result; gives its stand-in.
    pub(crate) fn hold(&self, text: Json) -> Value {
        let mut held = self.lock();
        let number = held.next;
        held.next += 1;
        held.texts.insert(number, text);
        Value::String(format!("held {number}"))
    }

    /// The pieces of a message, with the result if the message has the stand-in of one.
    pub(crate) fn put_in(&self, body: Vec<u8>) -> Vec<Vec<u8>> {
        match self.find(&body) {
            Some((text, rest)) => {
                let mut pieces = vec![BEFORE_RESULT.to_vec()];
                pieces.extend(text.into_pieces());
                pieces.push(body[rest..].to_vec());
                pieces
            }
            None => vec![body],
        }
    }

    /// The result that a message has the stand-in of, and where the message goes on behind the stand-in.
    fn find(&self, body: &[u8]) -> Option<(Json, usize)> {
        let number = body.strip_prefix(BEFORE_RESULT)?.strip_prefix(BEFORE_NUMBER)?;
        let length = number.iter().position(|byte| *byte == b'"')?;
        let (number, rest) = number.split_at(length);
        let number = std::str::from_utf8(number).ok()?.parse().ok()?;
        let text = self.lock().texts.remove(&number)?;
        Some((text, body.len() - (rest.len() - 1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::json::json;

    fn sent(results: &Results, body: &str) -> String {
        String::from_utf8(results.put_in(body.as_bytes().to_vec()).concat()).unwrap()
    }

    #[test]
    fn a_result_comes_out_where_its_stand_in_was() {
        let results = Results::default();
        assert_eq!(results.hold(json(&[1, 2])), "held 0");
        assert_eq!(results.hold(json(&"held 0")), "held 1");
        let second = sent(&results, r#"{"jsonrpc":"2.0","result":"held 1","id":"\"held 0"}"#);
        assert_eq!(second, r#"{"jsonrpc":"2.0","result":"held 0","id":"\"held 0"}"#);
        let first = sent(&results, r#"{"jsonrpc":"2.0","result":"held 0","id":1}"#);
        assert_eq!(first, r#"{"jsonrpc":"2.0","result":[1,2],"id":1}"#);
        assert!(results.lock().texts.is_empty());
    }

    #[test]
    fn other_messages_stay_as_they_are() {
        let results = Results::default();
        results.hold(json(&7));
        for body in [
            r#"{"jsonrpc":"2.0","result":null,"id":1}"#,
            r#"{"jsonrpc":"2.0","result":["held 0"],"id":1}"#,
            r#"{"jsonrpc":"2.0","method":"m","params":{"result":"held 0"}}"#,
        ] {
            assert_eq!(sent(&results, body), body);
        }
    }
}

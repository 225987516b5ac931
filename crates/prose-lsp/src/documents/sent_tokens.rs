//! Deltas of semantic tokens.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};

use crate::protocol::uri::DocumentUri;

/// The tokens that the client was given last, by document.
#[derive(Debug, Default)]
pub(crate) struct SentTokens(Mutex<Sent>);

#[derive(Debug, Default)]
struct Sent {
    last_id: u64,
    tokens: HashMap<DocumentUri, (String, Vec<u32>)>,
}

/// Each token is five numbers, and only whole tokens are replaced.
const NUMBERS: usize = 5;

impl SentTokens {
    /// The answer with all tokens of a document.
    pub(crate) fn full(&self, uri: &DocumentUri, data: Vec<u32>) -> Value {
        let mut answer = json!({ "data": data });
        answer["resultId"] = json!(self.keep(uri, data));
        answer
    }

    /// The answer with what has changed since the answer of that id; with all tokens if that was not the last one.
    pub(crate) fn delta(&self, uri: &DocumentUri, previous: &str, data: Vec<u32>) -> Value {
        let before = {
            let mut sent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            sent.tokens.remove(uri).filter(|(id, _)| id == previous)
        };
        let Some((_, before)) = before else { return self.full(uri, data) };
        let edits: Vec<Value> = edit(&before, &data).into_iter().collect();
        json!({ "edits": edits, "resultId": self.keep(uri, data) })
    }

    /// Forgets a document that was closed.
    pub(crate) fn forget(&self, uri: &DocumentUri) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).tokens.remove(uri);
    }

    fn keep(&self, uri: &DocumentUri, data: Vec<u32>) -> String {
        let mut sent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sent.last_id += 1;
        let id = sent.last_id.to_string();
        sent.tokens.insert(uri.clone(), (id.clone(), data));
        id
    }
}

/// What makes one list of another: the part between what both start with and what both end with. Places are relative to the token before, so
/// an edit changes few of them.
fn edit(before: &[u32], now: &[u32]) -> Option<Value> {
    if before == now {
        return None;
    }
    let (olds, news) = (before.chunks(NUMBERS), now.chunks(NUMBERS));
    let same = olds.clone().zip(news.clone()).take_while(|(old, new)| old == new).count();
    let shorter = olds.len().min(news.len());
    let behind = olds.rev().zip(news.rev()).take(shorter - same).take_while(|(old, new)| old == new).count();
    let (start, behind) = (same * NUMBERS, behind * NUMBERS);
    let data = &now[start..now.len() - behind];
    Some(json!({ "start": start, "deleteCount": before.len() - behind - start, "data": data }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tokens that a client has after an answer.
    fn applied(before: &[u32], answer: &Value) -> Vec<u32> {
        let mut tokens = before.to_vec();
        for edit in answer["edits"].as_array().unwrap() {
            let number = |key: &str| edit[key].as_u64().unwrap() as usize;
            let data: Vec<u32> = serde_json::from_value(edit["data"].clone()).unwrap();
            tokens.splice(number("start")..number("start") + number("deleteCount"), data);
        }
        tokens
    }

    #[test]
    fn what_has_changed_makes_the_new_tokens_of_the_old_ones() {
        let tokens =
            |seeds: &[u32]| -> Vec<u32> { seeds.iter().flat_map(|seed| [*seed, 1, 2, 3, 4]).collect() };
        let lists: [&[u32]; 7] = [&[], &[1], &[1, 1], &[1, 2, 3], &[1, 3], &[1, 2, 2, 3], &[4, 2, 3]];
        let uri: DocumentUri = "file:///a.prose".into();
        for before in lists {
            for now in lists {
                let sent = SentTokens::default();
                let full = sent.full(&uri, tokens(before));
                let answer = sent.delta(&uri, full["resultId"].as_str().unwrap(), tokens(now));
                assert_eq!(applied(&tokens(before), &answer), tokens(now), "{before:?} to {now:?}");
                assert_eq!(answer["edits"].as_array().unwrap().is_empty(), before == now);
            }
        }
    }

    #[test]
    fn an_answer_that_is_not_the_last_one_is_no_base() {
        let sent = SentTokens::default();
        let uri: DocumentUri = "file:///a.prose".into();
        sent.full(&uri, vec![0; 5]);
        assert_eq!(sent.delta(&uri, "0", vec![0; 10])["data"], json!(vec![0; 10]));
        let last = sent.delta(&uri, "2", vec![0; 10]);
        assert_eq!(last["edits"], json!([]));
        sent.forget(&uri);
        assert_eq!(sent.delta(&uri, last["resultId"].as_str().unwrap(), vec![])["data"], json!([]));
    }
}

//! JSON as text.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;

use serde::Serialize;

/// JSON as text, in pieces. The outline of a long document is many megabytes, and a buffer that grows to that size moves all of
/// it again and again and leaves holes that nothing else fits into.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct Json(Vec<Vec<u8>>);

const PIECE: usize = 32 * 1024;

/// The text of a value.
pub(crate) fn json(value: &impl Serialize) -> Json {
    let mut text = Json::default();
    match serde_json::to_writer(&mut text, value) {
        Ok(()) => text,
        Err(error) => {
            // Only maps whose keys are no strings fail, and nothing here has them.
            tracing::error!("a value could not be written as JSON: {error}");
            Json(vec![b"null".to_vec()])
        }
    }
}

/// One list of several ones. A list on its own stays as it is, and so does anything else on its own. Of no lists the answer is `null`.
pub(crate) fn joined(lists: impl IntoIterator<Item = Json>) -> Json {
    let mut lists = lists.into_iter();
    let Some(mut joined) = lists.next() else { return json(&()) };
    for mut list in lists {
        if list.is_empty_list() {
            continue;
        }
        if joined.is_empty_list() {
            joined = list;
            continue;
        }
        // `[a]` and `[b]` are `[a` and `,b]`.
        if let (Some(end), Some(start)) = (joined.0.last_mut(), list.0.iter_mut().flatten().next()) {
            end.pop();
            *start = b',';
        }
        joined.0.append(&mut list.0);
    }
    joined
}

/// A digest of diagnostics, to detect changes without storing them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Digest(u64);

impl Digest {
    /// The digest of what the client would get, so that an answer is repeated only when something in it has changed.
    pub(crate) fn of(answer: &Json) -> Self {
        let mut hasher = DefaultHasher::new();
        answer.hash(&mut hasher);
        Self(hasher.finish())
    }

    pub(crate) fn id(self) -> String {
        format!("{:016x}", self.0)
    }
}

/// An object of fields whose values are JSON already.
pub(crate) fn fields<'a>(fields: impl IntoIterator<Item = (&'a str, Json)>) -> Json {
    let mut object = Json::default();
    for (index, (name, value)) in fields.into_iter().enumerate() {
        object.push(if index == 0 { b"{" } else { b"," });
        // The names are those of the protocol, and need no escapes.
        object.push(format!("\"{name}\":").as_bytes());
        object.append(value);
    }
    object.push(if object.0.is_empty() { b"{}" } else { b"}" });
    object
}

/// A list of items that are JSON already.
pub(crate) fn list(items: impl IntoIterator<Item = Json>) -> Json {
    let mut list = Json::default();
    list.push(b"[");
    for (index, item) in items.into_iter().enumerate() {
        if index > 0 {
            list.push(b",");
        }
        list.append(item);
    }
    list.push(b"]");
    list
}

impl Json {
    /// Appends bytes to the last piece if it has room.
    fn push(&mut self, bytes: &[u8]) {
        match self.0.last_mut() {
            Some(piece) if piece.len() + bytes.len() <= PIECE => piece.extend_from_slice(bytes),
            _ => self.0.push(bytes.to_vec()),
        }
    }

    /// Appends JSON. Short pieces are copied, long ones are moved.
    fn append(&mut self, other: Json) {
        for piece in other.0 {
            match self.0.last_mut() {
                Some(last) if last.len() + piece.len() <= PIECE => last.extend_from_slice(&piece),
                _ => self.0.push(piece),
            }
        }
    }

    fn is_empty_list(&self) -> bool {
        let bytes = self.0.iter().flatten().take(3);
        bytes.eq(b"[]")
    }

    pub(crate) fn into_pieces(self) -> Vec<Vec<u8>> {
        self.0
    }
}

impl io::Write for Json {
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.0.last_mut() {
            Some(piece) if piece.len() + bytes.len() <= PIECE => piece.extend_from_slice(bytes),
            Some(_) => {
                // An answer that fills one piece usually fills the next.
                let mut piece = Vec::with_capacity(PIECE.max(bytes.len()));
                piece.extend_from_slice(bytes);
                self.0.push(piece);
            }
            None => self.0.push(bytes.to_vec()),
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_and_lists_are_made_of_json() {
        let text = |json: Json| String::from_utf8(json.into_pieces().concat()).unwrap();
        let items = list([json(&1), json(&"a")]);
        assert_eq!(text(fields([("items", items), ("none", json(&()))])), r#"{"items":[1,"a"],"none":null}"#);
        assert_eq!(text(fields([])) + &text(list([])), "{}[]");
    }

    #[test]
    fn lists_are_joined() {
        let lists: [&[u8]; 5] = [&[], &[1, 2], &[], &[], &[3]];
        let text = |json: Json| String::from_utf8(json.into_pieces().concat()).unwrap();
        assert_eq!(text(joined(lists.map(|list| json(&list)))), "[1,2,3]");
        assert_eq!(text(joined([json(&[0; 0]), json(&[0; 0])])), "[]");
        assert_eq!(text(joined([])), "null");
        assert_eq!(text(joined([json(&"alone")])), "\"alone\"");
        let long: Vec<_> = (0..10_000).collect();
        let read: Vec<i32> = serde_json::from_str(&text(joined([json(&long), json(&long)]))).unwrap();
        assert_eq!(read, [&long[..], &long[..]].concat());
    }

    #[test]
    fn a_long_text_is_whole() {
        let lines: Vec<_> = (0..10_000).map(|number| format!("\"line\" {number}")).collect();
        let long = "x".repeat(3 * PIECE);
        let pieces = json(&(&lines, &long)).into_pieces();
        assert!(pieces.len() > 5, "{}", pieces.len());
        let read: (Vec<String>, String) = serde_json::from_slice(&pieces.concat()).unwrap();
        assert_eq!(read, (lines, long));
    }
}

//! Looks for a key that was planted in the environment of programs.

use std::fs;
use std::path::{Path, PathBuf};

/// The forms in which texts contain a key: as it is, in JSON, in an address, and in base64 at each offset.
pub fn forms(key: &str) -> Vec<String> {
    let json = serde_json::Value::from(key).to_string();
    let json = json.trim_matches('"').to_owned();
    let address: String = key
        .bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => char::from(byte).to_string(),
            byte => format!("%{byte:02X}"),
        })
        .collect();
    let mut forms = vec![key.to_owned(), json.replace('/', "\\/"), json, address];
    forms.extend((0..3).flat_map(|offset| {
        let text = base64(key.as_bytes(), offset);
        [text.replace('+', "-").replace('/', "_"), text]
    }));
    forms.sort();
    forms.dedup();
    forms
}

/// The files below a folder that contain a key in any form, with the form.
pub fn find(folder: &Path, key: &str) -> Vec<(PathBuf, String)> {
    let mut search = Search::new(key);
    search.add(folder);
    search.found.sort();
    search.found
}

/// A search for a key in folders.
#[derive(Debug)]
pub struct Search {
    forms: Vec<String>,
    /// The files that contain the key, with its form.
    pub found: Vec<(PathBuf, String)>,
    /// The number of files that were read.
    pub read: usize,
}

impl Search {
    /// A search for a key in all its forms.
    pub fn new(key: &str) -> Self {
        Self { forms: forms(key), found: Vec::new(), read: 0 }
    }

    /// Searches a folder and those in it. Symbolic links are not followed.
    pub fn add(&mut self, folder: &Path) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let (path, Ok(kind)) = (entry.path(), entry.file_type()) else { continue };
            if kind.is_dir() {
                self.add(&path);
            } else if kind.is_file()
                && let Ok(text) = fs::read(&path)
            {
                self.read += 1;
                let is_in = |form: &&String| memchr::memmem::find(&text, form.as_bytes()).is_some();
                let form = self.forms.iter().find(is_in).cloned();
                self.found.extend(form.map(|form| (path, form)));
            }
        }
    }
}

/// The part of a text in base64 that is the same whatever comes before and after a key, if it begins at this offset of a group.
fn base64(key: &[u8], offset: usize) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let padded = [&[0; 2][..offset], key].concat();
    let digit = |at: usize| {
        let bits = (0..6).map(|bit| at * 6 + bit).map(|bit| (padded[bit / 8] >> (7 - bit % 8)) & 1);
        char::from(DIGITS[usize::from(bits.fold(0, |digit, bit| digit << 1 | bit))])
    };
    // The digits that only bytes of the key determine.
    let (first, end) = ((offset * 8).div_ceil(6), padded.len() * 8 / 6);
    (first..end).map(digit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_found_in_every_form() {
        let key = "sk-\"pl/an+ted\\";
        let folder = prose_fixture::tempdir().unwrap();
        fs::create_dir(folder.path().join("inner")).unwrap();
        let texts = [
            "the key is sk-\"pl/an+ted\\.",
            r#"{"key":"sk-\"pl/an+ted\\"}"#,
            r#"{"key":"sk-\"pl\/an+ted\\"}"#,
            "?key=sk-%22pl%2Fan%2Bted%5C&x",
            // `x` zero to two times, the key, `y`.
            "c2stInBsL2FuK3RlZFx5",
            "eHNrLSJwbC9hbit0ZWRceQ==",
            "eHhzay0icGwvYW4rdGVkXHk=",
        ];
        for (number, text) in texts.iter().enumerate() {
            fs::write(folder.path().join(format!("inner/{number}")), text).unwrap();
        }
        fs::write(folder.path().join("inner/other"), "sk-planted").unwrap();
        assert_eq!(find(folder.path(), key).len(), texts.len(), "{:#?}", find(folder.path(), key));
    }
}

//! Where a place of a test file is: in which table, in a key or in a value.
//!
//! A file is half written while someone asks, so it is read token by token, and not as a document: what is unfinished ends with its line.

use std::ops::Range;

use prose_syntax::{TextRange, TextSize};

/// Where a place of a test file is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Position {
    /// The keys from the top of the file to the table or the value around the place.
    pub(super) path: Vec<String>,
    pub(super) place: Place,
    /// What is written there; empty if nothing is.
    pub(super) range: TextRange,
    /// The other keys of the same table.
    pub(super) known: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// A key in the header of a table, or of one of several tables, whose header has double brackets.
    Header { is_list: bool },
    /// A key, which may be the first thing in its line outside of values.
    Key { starts_line: bool },
    /// A value of the last key of the path.
    Value,
}

/// The place of a byte. `None` where nothing can be written, such as in a comment.
pub(super) fn position(text: &str, offset: TextSize) -> Option<Position> {
    let mut scanner = Scanner {
        text,
        at: 0,
        wanted: usize::from(offset),
        table: Vec::new(),
        header: 0,
        keys: Vec::new(),
        found: None,
    };
    scanner.file();
    let (header, position) = scanner.found?;
    let known = scanner.keys.iter().filter(|(of, range, path)| {
        *of == header && *range != Range::<usize>::from(position.range) && path.starts_with(&position.path)
    });
    let known = known.filter_map(|(_, _, path)| path.get(position.path.len()).cloned()).collect();
    Some(Position { known, ..position })
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
    wanted: usize,
    /// The keys of the last header.
    table: Vec<String>,
    /// The number of headers so far.
    header: usize,
    /// The keys of all entries: below which header, where the last key stands, and the keys from the top.
    keys: Vec<(usize, Range<usize>, Vec<String>)>,
    found: Option<(usize, Position)>,
}

impl Scanner<'_> {
    fn file(&mut self) {
        loop {
            let from = self.at;
            self.skip(|c| c.is_whitespace());
            let is_before_token = self.at == self.wanted && !matches!(self.peek(), None | Some('#'));
            if (from..=self.at).contains(&self.wanted) && !is_before_token && self.starts_line(self.wanted) {
                let (path, place) = (self.table.clone(), Place::Key { starts_line: true });
                self.find(path, place, self.wanted..self.wanted);
            }
            match self.peek() {
                None => return,
                Some('[') => self.read_header(),
                Some(_) => {
                    let table = self.table.clone();
                    self.entry(&table, false);
                }
            }
            self.skip(|c| c != '\n');
        }
    }

    fn read_header(&mut self) {
        let is_list = self.text[self.at..].starts_with("[[");
        self.at += if is_list { 2 } else { 1 };
        let keys = self.dotted();
        self.header += 1;
        self.find_in(&[], &keys, |_| Place::Header { is_list });
        self.table = keys.into_iter().map(|(key, _)| key).collect();
    }

    /// A key with its value.
    fn entry(&mut self, table: &[String], is_nested: bool) {
        let start = self.at;
        let starts_line = !is_nested && self.starts_line(start);
        let keys = self.dotted();
        if self.at == start {
            // It is no key. What comes next may be one.
            self.at += self.peek().map_or(0, char::len_utf8);
            return;
        }
        self.find_in(table, &keys, |nth| Place::Key { starts_line: starts_line && nth == 0 });
        let mut path = table.to_vec();
        for (key, range) in keys {
            path.push(key);
            self.keys.push((self.header, range, path.clone()));
        }
        if self.peek() == Some('=') {
            self.at += 1;
            self.value(&path, is_nested);
        }
    }

    fn value(&mut self, path: &[String], is_nested: bool) {
        let from = self.at;
        self.skip(|c| if is_nested { c.is_whitespace() } else { c == ' ' || c == '\t' });
        let start = self.at;
        match self.peek() {
            Some('"' | '\'') => self.string(),
            Some('[') => return self.array(path),
            Some('{') => return self.inline_table(path),
            _ => {
                self.skip(|c| !matches!(c, ',' | ']' | '}' | '\n' | '#'));
                let written = self.text[start..self.at].trim_end().len();
                self.at = start + written;
            }
        }
        let is_in_it = (start..=self.at).contains(&self.wanted);
        if is_in_it {
            self.find(path.to_vec(), Place::Value, start..self.at);
        } else if (from..start).contains(&self.wanted) {
            self.find(path.to_vec(), Place::Value, self.wanted..self.wanted);
        }
    }

    fn array(&mut self, path: &[String]) {
        self.at += 1;
        self.items(']', |scanner, free| match free {
            Some(free) => scanner.find(path.to_vec(), Place::Value, free..free),
            None => scanner.value(path, true),
        });
    }

    fn inline_table(&mut self, path: &[String]) {
        self.at += 1;
        self.items('}', |scanner, free| match free {
            Some(free) => scanner.find(path.to_vec(), Place::Key { starts_line: false }, free..free),
            None => scanner.entry(path, true),
        });
    }

    /// Reads what is in brackets: the function is called for each item, and with the place where another one may be written.
    fn items(&mut self, end: char, mut item: impl FnMut(&mut Self, Option<usize>)) {
        loop {
            let from = self.at;
            self.skip(|c| c.is_whitespace() || c == ',');
            let is_free = (from..=self.at).contains(&self.wanted);
            let next = self.peek();
            if is_free && (self.wanted < self.at || matches!(next, None | Some(']' | '}' | '#'))) {
                item(self, Some(self.wanted));
            }
            match next {
                None => return,
                Some(c) if c == end => return self.at += 1,
                Some('#') => self.skip(|c| c != '\n'),
                // A bracket is missing before the next header.
                Some('[') if self.starts_line(self.at) && self.is_at_case() => return,
                Some(_) => {
                    let before = self.at;
                    item(self, None);
                    if self.at == before {
                        self.at += self.peek().map_or(0, char::len_utf8);
                    }
                }
            }
        }
    }

    fn is_at_case(&self) -> bool {
        self.text[self.at..].trim_start_matches('[').starts_with("case")
    }

    fn string(&mut self) {
        let rest = &self.text[self.at..];
        if let Some(quotes) = ["\"\"\"", "'''"].into_iter().find(|quotes| rest.starts_with(quotes)) {
            let end = rest[3..].find(quotes).map_or(rest.len(), |end| end + 6);
            self.at += end;
            return;
        }
        let quote = self.peek();
        let mut escaped = false;
        self.at += 1;
        while let Some(c) = self.peek().filter(|c| *c != '\n') {
            self.at += c.len_utf8();
            if Some(c) == quote && !escaped {
                return;
            }
            escaped = c == '\\' && quote == Some('"') && !escaped;
        }
    }

    /// Keys with dots between them, and where each stands. One that is not written yet is empty.
    fn dotted(&mut self) -> Vec<(String, Range<usize>)> {
        let mut keys = Vec::new();
        loop {
            self.skip(|c| c == ' ' || c == '\t');
            let start = self.at;
            let key = match self.peek() {
                Some('"' | '\'') => {
                    self.string();
                    self.text[start..self.at].trim_matches(['"', '\'']).to_owned()
                }
                _ => {
                    self.skip(|c| c.is_alphanumeric() || c == '_' || c == '-');
                    self.text[start..self.at].to_owned()
                }
            };
            keys.push((key, start..self.at));
            self.skip(|c| c == ' ' || c == '\t');
            if self.peek() != Some('.') {
                return keys;
            }
            self.at += 1;
        }
    }

    /// Takes up the key at the place, if it is one of these.
    fn find_in(&mut self, table: &[String], keys: &[(String, Range<usize>)], place: impl Fn(usize) -> Place) {
        let here = |(_, range): &(String, Range<usize>)| (range.start..=range.end).contains(&self.wanted);
        let Some(nth) = keys.iter().position(here) else { return };
        let before = keys[..nth].iter().map(|(key, _)| key.clone());
        let path = table.iter().cloned().chain(before).collect();
        self.find(path, place(nth), keys[nth].1.clone());
    }

    fn find(&mut self, path: Vec<String>, place: Place, range: Range<usize>) {
        let size = |at: usize| TextSize::try_from(at).unwrap_or_default();
        let range = TextRange::new(size(range.start), size(range.end));
        let position = Position { path, place, range, known: Vec::new() };
        self.found.get_or_insert((self.header, position));
    }

    /// Whether nothing but blanks is before a place in its line.
    fn starts_line(&self, at: usize) -> bool {
        let before = self.text.get(..at).unwrap_or_default();
        before.rsplit('\n').next().is_none_or(|line| line.trim().is_empty())
    }

    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn skip(&mut self, is_skipped: impl Fn(char) -> bool) {
        let rest = &self.text[self.at..];
        self.at += rest.find(|c| !is_skipped(c)).unwrap_or(rest.len());
    }
}

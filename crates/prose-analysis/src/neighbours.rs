//! Names that are nearly a word, for files with so many names that not each can be compared with each.

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHasher};

/// Above that many names, a word is compared only with those that differ from it in one letter.
pub(crate) const MAX_COMPARED: usize = 512;

/// Names by what is left of them without any one letter: two that are one slip apart, or differ in case alone, have such a rest in
/// common.
#[derive(Debug, Clone, PartialEq, Eq, salsa::SalsaValue)]
pub(crate) struct Neighbours<T> {
    by_rest: FxHashMap<u64, Vec<T>>,
}

impl<T: Clone + PartialEq> Neighbours<T> {
    /// The neighbourhood of some names.
    pub(crate) fn new<S: AsRef<str>>(names: impl Iterator<Item = (T, S)>) -> Self {
        let mut by_rest: FxHashMap<u64, Vec<T>> = FxHashMap::default();
        for (name, text) in names {
            for rest in rests(text.as_ref()) {
                let near = by_rest.entry(rest).or_default();
                if near.last() != Some(&name) {
                    near.push(name.clone());
                }
            }
        }
        Self { by_rest }
    }

    /// The names that are probably near to a word, some of them several times.
    pub(crate) fn of(&self, word: &str) -> impl Iterator<Item = T> {
        rests(word).into_iter().filter_map(|rest| self.by_rest.get(&rest)).flatten().cloned()
    }
}

fn rests(word: &str) -> Vec<u64> {
    // Suggestions for longer words are not searched.
    const MAX_WORD: usize = 64;
    if word.len() > MAX_WORD {
        return Vec::new();
    }
    let letters: Vec<char> = word.chars().flat_map(char::to_lowercase).collect();
    let without = |left_out: Option<usize>| {
        let mut hasher = FxHasher::default();
        for (_, letter) in letters.iter().enumerate().filter(|(index, _)| Some(*index) != left_out) {
            letter.hash(&mut hasher);
        }
        hasher.finish()
    };
    (0..letters.len()).map(Some).chain([None]).map(without).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_the_name() {
        let names = ["summary", "Report", "sum", "draft_1", "draft_2", "zusammenfassung"];
        let neighbours = Neighbours::new(names.into_iter().map(|name| (name, name)));
        let near = |word: &str| {
            let mut near: Vec<&str> = neighbours.of(word).collect();
            near.sort_unstable();
            near.dedup();
            near
        };
        assert_eq!(near("sumary"), ["summary"]);
        assert_eq!(near("sumamry"), ["summary"]);
        assert_eq!(near("symmary"), ["summary"]);
        assert_eq!(near("summaryy"), ["summary"]);
        assert_eq!(near("REPORT"), ["Report"]);
        assert_eq!(near("draft_3"), ["draft_1", "draft_2"]);
        assert_eq!(near("nothing"), [] as [&str; 0]);
    }
}

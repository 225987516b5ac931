//! Suggestions: the nearest of a set of words.

/// The candidate nearest to `word`, if it is so near that it was probably meant: one edit for words of up to three letters, two for
/// longer ones; a difference in case alone always is.
pub fn nearest<T>(
    word: &str,
    candidates: impl IntoIterator<Item = T>,
    text: impl Fn(&T) -> &str,
) -> Option<T> {
    // The distance takes quadratic time, and no longer word is a typo.
    const MAX_WORD: usize = 64;
    if word.is_empty() || word.len() > MAX_WORD {
        return None;
    }
    let allowed = if word.len() <= 3 { 1 } else { 2 };
    candidates
        .into_iter()
        .filter_map(|candidate| {
            let other = text(&candidate);
            let distance =
                if other.eq_ignore_ascii_case(word) { 0 } else { strsim::osa_distance(word, other) };
            // Half of a short word changed is another word.
            (distance <= allowed && distance * 2 < other.len().max(2)).then_some((distance, candidate))
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[track_caller]
    fn check(word: &str, expected: Option<&str>) {
        let words = ["session", "resume", "if", "for", "do", "parallel", "repeat"];
        assert_eq!(nearest(word, words, |word| word), expected);
    }

    #[test]
    fn slips_are_found() {
        check("sesion", Some("session"));
        check("sessoin", Some("session"));
        check("Session", Some("session"));
        check("parralel", Some("parallel"));
        check("fro", Some("for"));
    }

    #[test]
    fn other_words_are_not() {
        check("selection", None);
        check("of", None);
        check("my", None);
        check("", None);
    }
}

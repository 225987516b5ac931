//! The rules that every message of a diagnostic and every title of a fix keeps to, for tests to hold them to it.

/// The longest message, with every quoted name counted as [`MAX_NAME`] characters at most: a name may be as long as its author wants.
const MAX_MESSAGE: usize = 100;
const MAX_NAME: usize = 20;

/// Words that messages do not use besides those that the glossary retires, and what they use instead.
const RETIRED: &[(&str, &str)] = &[("stands", "is"), ("is no", "is not a"), ("misspelt", "misspelled")];

const GLOSSARY: &str = include_str!("../../../docs/glossary.md");

/// The words and phrases that `docs/glossary.md` retires, each with what to write instead.
pub fn retired_words() -> impl Iterator<Item = (&'static str, &'static str)> {
    let section = GLOSSARY.split_once("\n## Retired words\n").map_or("", |(_, section)| section);
    let rows =
        section.lines().filter_map(|row| row.strip_prefix("| `")?.strip_suffix(" |")?.split_once("` | "));
    rows.flat_map(|(words, instead)| words.split("`, `").map(move |word| (word, instead)))
}

/// Whether a text has a word as a whole word, in any case and outside of `code`.
pub fn contains_word(text: &str, word: &str) -> bool {
    let parts: Vec<&str> = text.split('`').collect();
    // Without a closing backtick, the rest is text.
    let is_code = |index: usize| index % 2 == 1 && index + 1 < parts.len();
    let prose = parts.iter().enumerate().filter(|(index, _)| !is_code(*index)).map(|(_, part)| *part);
    let is_part_of_word = |c: char| c.is_alphanumeric() || c == '_';
    prose.map(str::to_lowercase).any(|part| {
        part.match_indices(word).any(|(start, _)| {
            !part[..start].ends_with(is_part_of_word)
                && !part[start + word.len()..].starts_with(is_part_of_word)
        })
    })
}

/// Panics unless a message starts in lower case, ends without a full stop, and is short.
#[track_caller]
pub fn check_message(message: &str) {
    let first = message.chars().next();
    assert!(first.is_some_and(|first| !first.is_uppercase()), "starts in upper case: {message}");
    check_text(message);
    let length = parts(message).map(|(part, is_quoted)| match is_quoted {
        true => part.chars().count().min(MAX_NAME) + 2,
        false => part.chars().count(),
    });
    let length: usize = length.sum();
    assert!(length <= MAX_MESSAGE, "{length} characters, more than {MAX_MESSAGE}: {message}");
}

/// Panics unless the title of a fix starts with a verb in upper case and ends without a full stop.
#[track_caller]
pub fn check_title(title: &str) {
    let first = title.chars().next();
    assert!(first.is_some_and(char::is_uppercase), "starts in lower case: {title}");
    check_text(title);
}

/// Panics unless an explanation of one or several sentences starts in upper case and ends with a full stop.
#[track_caller]
pub fn check_explanation(text: &str) {
    assert!(text.ends_with('.') && !text.starts_with(char::is_lowercase), "no sentences: {text}");
    check_words(text);
}

#[track_caller]
fn check_text(text: &str) {
    assert!(!text.ends_with(['.', ' ', ':', ';']), "ends with a full stop or in the middle: {text}");
    check_words(text);
}

#[track_caller]
fn check_words(text: &str) {
    let sentence = text.replace("here is no ", "");
    for (retired, instead) in retired_words().chain(RETIRED.iter().copied()) {
        assert!(!contains_word(&sentence, retired), "`{retired}`, instead: {instead}: {text}");
    }
}

/// The parts of a text between backticks and around them, and whether they are between.
fn parts(text: &str) -> impl Iterator<Item = (&str, bool)> {
    text.split('`').enumerate().map(|(at, part)| (part, at % 2 == 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn good_messages_and_titles() {
        check_message("agent `writr` is not defined; did you mean `writer`?");
        check_message("`is no` is quoted");
        check_message(&format!("`{}` is a long name", "a".repeat(200)));
        check_title("Insert `:`");
    }

    #[test]
    fn bad_messages_and_titles() {
        for bad in ["Agents", "ends.", "`x` is no agent", "a colon stands behind, it", &"long ".repeat(30)] {
            assert!(std::panic::catch_unwind(|| check_message(bad)).is_err(), "{bad}");
        }
        assert!(std::panic::catch_unwind(|| check_title("insert `:`")).is_err());
    }

    #[test]
    fn a_word_is_found_as_a_whole_word_and_not_in_code() {
        let check = |text: &str, word: &str, expected: bool| {
            assert_eq!(contains_word(text, word), expected, "{word}: {text}");
        };
        check("Stands behind it", "behind", true);
        check("Behind it", "behind", true);
        check("lefthand, behindhand", "behind", false);
        check("the run goes on, as before", "goes on", true);
        check("it goes only here", "goes on", false);
        check("the event `behind` and `a behind b`", "behind", false);
        check("an odd ` before behind", "behind", true);
        check("the set-up of", "set-up", true);
    }
}

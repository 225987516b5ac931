//! The rules that every message of a diagnostic and every title of a fix keeps to, for tests to hold them to it.

/// The longest message, with every quoted name counted as [`MAX_NAME`] characters at most: a name may be as long as its author wants.
const MAX_MESSAGE: usize = 100;
const MAX_NAME: usize = 20;

/// Words that messages do not use, and what they use instead.
const RETIRED: &[(&str, &str)] = &[
    ("behind", "after"),
    ("stands", "is"),
    ("is no", "is not a"),
    ("goes on", "continues"),
    ("misspelt", "misspelled"),
];

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
    for (part, _) in parts(text).filter(|(_, is_quoted)| !is_quoted) {
        let words = format!(" {} ", part.replace([',', ';', ':'], " ")).replace("here is no ", "");
        for (retired, instead) in RETIRED {
            assert!(!words.contains(&format!(" {retired} ")), "`{instead}` instead of `{retired}`: {text}");
        }
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
}

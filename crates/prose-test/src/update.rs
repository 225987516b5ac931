//! Writes actual values in the place of expected ones.

use prose_syntax::fix::apply;
use prose_syntax::{Fix, TextEdit};

use crate::check::Mismatch;
use crate::file::TestFile;
use crate::runner::{AttemptEnd, VariantResult};

/// The text of a test file in which expected values that differ are the actual ones; `None` if there are none. Values that differ between the variants or the
/// runs of a case are left as they are.
pub fn updated(file: &TestFile, results: &[VariantResult]) -> Option<String> {
    let mut edits: Vec<TextEdit> = Vec::new();
    for (index, case) in file.cases.iter().enumerate() {
        let attempts = results.iter().filter(|result| result.case == index);
        let attempts: Vec<_> =
            attempts.flat_map(|result| &result.attempts).map(|attempt| &attempt.end).collect();
        let [first, others @ ..] = attempts.as_slice() else { continue };
        for mismatch in of(first).iter().filter(|mismatch| mismatch.is_updatable) {
            let is_same = |end: &&AttemptEnd| of(end).contains(mismatch);
            if let Some(actual) = &mismatch.actual
                && others.iter().all(is_same)
                && case.range.contains_range(mismatch.range)
            {
                edits.push(TextEdit::replace(mismatch.range, written(actual)));
            }
        }
    }
    if edits.is_empty() {
        return None;
    }
    edits.sort_by_key(|edit| edit.range.start());
    edits.dedup_by_key(|edit| edit.range);
    let fix = Fix::safe("Update", edits);
    Some(apply(&file.text, [&fix]).text)
}

/// What a run did not fulfil.
fn of(end: &AttemptEnd) -> &[Mismatch] {
    match end {
        AttemptEnd::Failed(mismatches) => mismatches,
        _ => &[],
    }
}

/// A text as a value of TOML.
fn written(text: &str) -> String {
    let is_plain = |c: char| c == '\n' || c == '\t' || !c.is_control();
    let is_long = text.contains('\n');
    if is_long && !text.contains("'''") && !text.ends_with('\'') && text.chars().all(is_plain) {
        return format!("'''\n{text}'''");
    }
    if text.contains('\r') {
        // In several lines, its line ends would be mixed with those of the file. The escapes of JSON are those of TOML, except for one.
        return serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007f");
    }
    toml::Value::String(text.to_owned()).to_string()
}

#[cfg(test)]
mod tests {
    use prose_syntax::TextRange;

    use super::{Fix, TextEdit, apply, written};

    #[track_caller]
    fn check(text: &str) {
        let file = "a = \"\"\nb = 1\n";
        for file in [file.to_owned(), file.replace('\n', "\r\n")] {
            let edit = TextEdit::replace(TextRange::new(4.into(), 6.into()), written(text));
            let updated = apply(&file, [&Fix::safe("Update", vec![edit])]).text;
            assert!(!updated.contains("\r\r"), "{updated:?}");
            let table: toml::Table = toml::from_str(&updated).expect("it is TOML");
            // A comparison does not tell the line ends of the file from those of the text.
            let read = table["a"].as_str().map(|read| read.replace("\r\n", "\n"));
            assert_eq!(read, Some(text.replace("\r\n", "\n")), "{updated:?}");
        }
    }

    #[test]
    fn any_text_can_be_written() {
        for text in [
            "",
            "a",
            "a\nb",
            "\na",
            "a\n",
            "'",
            "'''\n",
            "\"\"\"\n\\",
            "tab\t\n",
            "\u{1b}\nx",
            "x\r\ny",
            "\u{7f}\r\n\u{1}\"\\",
            "it's'\n'",
        ] {
            check(text);
        }
    }
}

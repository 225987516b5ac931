//! Writes actual values in the place of expected ones.

use prose_syntax::fix::apply;
use prose_syntax::{Fix, TextEdit, TextRange};

use crate::check::{Actual, Mismatch, Update};
use crate::file::TestFile;
use crate::runner::{AttemptEnd, VariantResult};

/// A test file with actual values in the place of expected ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Updated {
    /// The text of the file; `None` if no value is replaced.
    pub text: Option<String>,
    /// What is still expected and not fulfilled, in the order of the file.
    pub kept: Vec<KeptExpectation>,
}

/// An expectation that is not fulfilled and stays as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptExpectation {
    /// Its line in the text of the file after the update, from 1.
    pub line: usize,
    /// What is wrong.
    pub message: String,
    /// Why it stays.
    pub reason: &'static str,
}

/// Replaces expected values that differ by the actual ones. What has no value that could be meant alone stays: limits, bounds, comparisons other than
/// equality, and values that differ between the variants, the runs or the sessions of a case.
pub fn updated(file: &TestFile, results: &[VariantResult]) -> Updated {
    let mut edits: Vec<TextEdit> = Vec::new();
    let mut kept: Vec<(TextRange, &Mismatch, &'static str)> = Vec::new();
    for (index, case) in file.cases.iter().enumerate() {
        let attempts = results.iter().filter(|result| result.case == index);
        let attempts: Vec<_> =
            attempts.flat_map(|result| &result.attempts).map(|attempt| &attempt.end).collect();
        let all: Vec<&Mismatch> = attempts.iter().flat_map(|end| of(end)).collect();
        for mismatch in &all {
            let same = |other: &&&Mismatch| other.update == mismatch.update;
            let differs = match &mismatch.update {
                None => false,
                Some(update) => {
                    let of_value = |other: &&&Mismatch| {
                        other.update.as_ref().is_some_and(|other| other.range == update.range)
                    };
                    let has_value =
                        |end: &&AttemptEnd| of(end).iter().any(|other| other.update == mismatch.update);
                    !all.iter().filter(of_value).all(|other| same(&other)) || !attempts.iter().all(has_value)
                }
            };
            let edit = mismatch.update.as_ref().map(|update| (update.range, replacement(file, update)));
            match edit {
                None => kept.push((mismatch.range, mismatch, "change it by hand")),
                Some(_) if differs => kept.push((
                    mismatch.range,
                    mismatch,
                    "the value differs between variants, runs or sessions",
                )),
                Some((range, Some(text))) if case.range.contains_range(range) => {
                    edits.push(TextEdit::replace(range, text));
                }
                Some(_) => kept.push((mismatch.range, mismatch, "it is no plain number or list")),
            }
        }
    }
    edits.sort_by_key(|edit| edit.range.start());
    edits.dedup_by_key(|edit| edit.range);
    kept.sort_by_key(|(range, ..)| range.start());
    kept.dedup_by(|a, b| (a.0, &a.1.message) == (b.0, &b.1.message));
    let lines = |text: &str| text.matches('\n').count();
    let line_now = |range: TextRange| {
        let before = edits.iter().take_while(|edit| edit.range.end() <= range.start());
        let (added, removed) = before.fold((0, 0), |(added, removed), edit| {
            (added + lines(&edit.new_text), removed + lines(&file.text[edit.range]))
        });
        lines(&file.text[..usize::from(range.start())]) + 1 + added - removed
    };
    let kept = kept
        .iter()
        .map(|(range, mismatch, reason)| KeptExpectation {
            line: line_now(*range),
            message: mismatch.message.clone(),
            reason,
        })
        .collect();
    let fix = (!edits.is_empty()).then(|| Fix::safe("Update", edits));
    Updated { text: fix.map(|fix| apply(&file.text, [&fix]).text), kept }
}

/// An actual value as TOML; `None` where the expected one is not written in the form that it can take the place of.
fn replacement(file: &TestFile, update: &Update) -> Option<String> {
    let before = file.text.get(std::ops::Range::<usize>::from(update.range))?;
    match &update.to {
        Actual::Text(text) => Some(written(text)),
        Actual::Number(number) => before.parse::<u64>().is_ok().then(|| number.to_string()),
        Actual::Texts(texts) => {
            let table = format!("list = {before}").parse::<toml::Table>().ok()?;
            table.get("list")?.as_array()?.iter().all(toml::Value::is_str).then(|| {
                let texts: Vec<String> =
                    texts.iter().map(|text| toml::Value::from(text.as_str()).to_string()).collect();
                format!("[{}]", texts.join(", "))
            })
        }
    }
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
    use super::{Fix, TextEdit, TextRange, apply, written};

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

//! Comments that switch diagnostics off: `# prose: ignore[E019, W105] reason`.
//!
//! At the end of a line the comment is for that line; on a line of its own it is for the next line of code. Above the first
//! statement, `# prose: ignore-file[…]` is for the whole file.

use prose_syntax::{Code, Diagnostic, Fix, Parse, SyntaxKind, TextEdit, TextRange, TextSize, suggest};

/// An ignore comment.
struct Ignore {
    codes: Vec<(Result<Code, String>, TextRange)>,
    /// The bytes that it is for.
    covers: TextRange,
    comment: TextRange,
    used: bool,
}

/// Takes out what comments switch off, and reports comments that have no effect.
pub(crate) fn apply(text: &str, parse: &Parse, found: &mut Vec<Diagnostic>) {
    // Few programs have such a comment, and looking at every token of the others would cost more than all of the checks.
    if memchr::memmem::find(text.as_bytes(), MARK.as_bytes()).is_none() {
        return;
    }
    let mut ignores = ignores(text, parse);
    found.retain(|diagnostic| {
        let at = diagnostic.range.start();
        let mut kept = true;
        for ignore in &mut ignores {
            let covers = ignore.covers.start() <= at && at <= ignore.covers.end();
            if covers && ignore.codes.iter().any(|(code, _)| code.as_ref() == Ok(&diagnostic.code)) {
                ignore.used = true;
                kept = false;
            }
        }
        kept
    });
    for ignore in &ignores {
        for (code, range) in &ignore.codes {
            if let Err(name) = code {
                let near = suggest::nearest(name, Code::ALL.iter().copied(), |code| code.as_str());
                let mut message = format!("`{name}` is not a diagnostic code");
                let fix = near.map(|near| {
                    message.push_str(&format!("; did you mean `{near}`?"));
                    Fix::guess(format!("Change to `{near}`"), vec![TextEdit::replace(*range, near.as_str())])
                });
                found.push(Diagnostic::new(Code::W137, *range, message).with_fix(fix));
            }
        }
        if !ignore.used && ignore.codes.iter().any(|(code, _)| code.is_ok()) {
            let message = "nothing with this code is reported here, so the comment has no effect";
            let remove = Fix::safe("Remove the comment", vec![TextEdit::delete(ignore.comment)]);
            found.push(Diagnostic::new(Code::W137, ignore.comment, message).with_fix(remove));
        }
    }
    found.sort_by_key(|diagnostic| (diagnostic.range.start(), diagnostic.range.end(), diagnostic.code));
}

const MARK: &str = "prose: ignore";

fn ignores(text: &str, parse: &Parse) -> Vec<Ignore> {
    let root = parse.syntax();
    let comments = root
        .descendants_with_tokens()
        .filter_map(|element| element.into_token())
        .filter(|token| token.kind() == SyntaxKind::COMMENT);
    comments.filter_map(|token| ignore(text, token.text(), token.text_range())).collect()
}

fn ignore(text: &str, comment: &str, range: TextRange) -> Option<Ignore> {
    let said = comment.trim_start_matches('#').trim_start().strip_prefix(MARK)?;
    let (of_file, said) = match said.strip_prefix("-file") {
        Some(said) => (true, said),
        None => (false, said),
    };
    let list = said.strip_prefix('[')?;
    let list = &list[..list.find(']')?];
    let list_start = usize::from(range.start()) + (list.as_ptr() as usize - comment.as_ptr() as usize);
    let mut codes = Vec::new();
    let mut at = list_start;
    for part in list.split(',') {
        let name = part.trim();
        let start = at + (part.len() - part.trim_start().len());
        at += part.len() + 1;
        if !name.is_empty() {
            let range = TextRange::at(size(start), size(name.len()));
            codes.push((name.parse().map_err(|_| name.to_owned()), range));
        }
    }
    let covers = if of_file { TextRange::up_to(TextSize::of(text)) } else { covered(text, range) };
    Some(Ignore { codes, covers, comment: range, used: false })
}

/// The line of a comment, or the next line of code if nothing else stands on it.
fn covered(text: &str, comment: TextRange) -> TextRange {
    let is_break = ['\n', '\r'];
    let start = text[..usize::from(comment.start())].rfind(is_break).map_or(0, |index| index + 1);
    let end = usize::from(comment.end());
    if !text[start..usize::from(comment.start())].trim().is_empty() {
        return TextRange::new(size(start), size(end));
    }
    let mut at = end;
    for line in text[end..].split_inclusive(is_break) {
        let code = line.trim();
        if !code.is_empty() && !code.starts_with('#') {
            return TextRange::new(size(at), size(at + line.trim_end_matches(is_break).len()));
        }
        at += line.len();
    }
    TextRange::empty(size(text.len()))
}

fn size(bytes: usize) -> TextSize {
    // The text was parsed, so its length fits.
    TextSize::new(bytes as u32)
}

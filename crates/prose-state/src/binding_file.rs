//! The form of binding files (R101).

use std::borrow::Cow;
use std::fmt::Write;

use prose_vm::effect::Binding;

/// The text of a binding file.
pub fn write(binding: &Binding, value: &str) -> String {
    let mut text = head(binding);
    text.reserve(value.len() + 2);
    text.push('\n');
    text.push_str(value);
    // Files end with a line break; `read` takes it off again.
    text.push('\n');
    text
}

/// The part of a binding file above the value, up to and with the line `---`.
pub fn head(binding: &Binding) -> String {
    let Binding { name, kind, frame, source, .. } = binding;
    let fence = fence_for(source);
    let mut text = format!("# {name}\n\nkind: {}\n", kind.name());
    if *frame != 0 {
        let _ = writeln!(text, "execution_id: {frame}");
    }
    let _ =
        write!(text, "\nsource:\n{fence}prose\n{}\n{fence}\n\n---\n", source.trim_end_matches(['\n', '\r']));
    text
}

/// A fence that no fence of the text ends.
pub(crate) fn fence_for(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(3.max(longest + 1))
}

/// The value in a binding file: what stands below the first line `---` outside the fence. A file without such a line is all value, since
/// agents forget the head sometimes.
pub fn read(text: &str) -> &str {
    let below = value_start(text, true).or_else(|| value_start(text, false));
    let value = below.map_or(text, |start| {
        let rest = &text[start..];
        rest.strip_prefix('\n').or_else(|| rest.strip_prefix("\r\n")).unwrap_or(rest)
    });
    let value = value.strip_suffix('\n').unwrap_or(value);
    // A carriage return belongs to the line break only where the head has them too.
    if below.is_some_and(|start| text[..start].ends_with("\r\n")) {
        value.strip_suffix('\r').unwrap_or(value)
    } else {
        value
    }
}

/// The value in the bytes of a binding file. What is no UTF-8 is replaced, since agents write whatever their tools give them.
pub fn read_bytes(bytes: &[u8]) -> String {
    match String::from_utf8_lossy(bytes) {
        Cow::Borrowed(text) => read(text).to_owned(),
        Cow::Owned(text) => read(&text).to_owned(),
    }
}

/// The value in the bytes of a file that an agent wrote for a binding: the whole text, or what follows the head of R101 (decision 21). A rule `---` of the
/// value itself is no end of a head.
pub fn read_of_agent(name: &str, bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    match has_head(name, &text) {
        true => read(&text).to_owned(),
        false => {
            text.strip_suffix('\n').map_or(&*text, |text| text.strip_suffix('\r').unwrap_or(text)).to_owned()
        }
    }
}

/// Whether a text starts with the head of a binding, as R101 has it or shortened to the name.
fn has_head(name: &str, text: &str) -> bool {
    let Some(head) = value_start(text, true).or_else(|| value_start(text, false)).map(|end| &text[..end])
    else {
        return false;
    };
    let mut lines = head.lines().map(str::trim_end).filter(|line| !line.is_empty());
    let Some(title) = lines.next().and_then(|line| line.strip_prefix("# ")) else { return false };
    match lines.next() {
        Some("---") => title.trim() == name,
        Some(line) => line
            .strip_prefix("kind:")
            .is_some_and(|kind| ["input", "output", "let", "const"].contains(&kind.trim())),
        None => false,
    }
}

/// What a head says of its kind, such as `let`; none where there is no head.
pub fn kind(text: &str) -> Option<&str> {
    let head = &text[..value_start(text, true)?];
    head.lines().find_map(|line| line.strip_prefix("kind:")).map(str::trim)
}

/// The first line of the statement that a head names as the source of the value; none where there is no such line.
pub fn source(text: &str) -> Option<&str> {
    let head = &text[..value_start(text, true)?];
    let mut lines = head.lines().skip_while(|line| line.trim_end() != "source:").skip(1);
    lines.by_ref().find(|line| line.starts_with("```"))?;
    lines.next().filter(|line| !line.trim().is_empty() && !line.starts_with("```"))
}

/// The byte after the line `---`.
fn value_start(text: &str, minds_fences: bool) -> Option<usize> {
    let mut fence: Option<&str> = None;
    let mut offset = 0;
    for line in text.split_inclusive('\n') {
        offset += line.len();
        let line = line.trim_end_matches(['\n', '\r']);
        let run = &line[..line.len() - line.trim_start_matches('`').len()];
        match fence {
            Some(open) if run.len() >= open.len() && line[run.len()..].trim().is_empty() => fence = None,
            Some(_) => {}
            None if run.len() >= 3 && minds_fences => fence = Some(run),
            None if line.trim_end() == "---" => return Some(offset),
            None => {}
        }
    }
    None
}

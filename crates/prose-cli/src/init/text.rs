//! Adds entries to texts that are no JSON: lists of lines, TOML and Markdown.

use toml::Table;

/// Adds the lines that a list such as `.gitignore` does not have.
pub(super) fn add_lines(text: &str, added: &str) -> String {
    let has = |line: &&str| text.lines().any(|present| same_pattern(present, line));
    let missing: Vec<&str> = added.lines().filter(|line| !has(line)).collect();
    // A comment belongs to the lines after it.
    match missing.iter().all(|line| line.starts_with('#')) {
        true => text.to_owned(),
        false => append(text, &missing.join("\n"), ""),
    }
}

/// Whether two patterns of `.gitignore` are the same, except for the slashes around them.
fn same_pattern(one: &str, other: &str) -> bool {
    let plain = |line: &str| line.trim().trim_start_matches('/').trim_end_matches('/').to_owned();
    plain(one) == plain(other)
}

/// Adds a table such as `[mcp_servers.prose]` to a TOML text, whose comments stay.
pub(super) fn add_table(text: &str, added: &str) -> TableAddition {
    let (Ok(present), Ok(new)) = (text.parse::<Table>(), added.parse::<Table>()) else {
        return TableAddition::Impossible;
    };
    match compare(&present, &new) {
        Comparison::Same => return TableAddition::Present { is_same: true },
        Comparison::Other => return TableAddition::Present { is_same: false },
        Comparison::Missing => {}
    }
    let extended = append(text, added, "\n");
    // A table in braces, for example, cannot be extended after it.
    match extended.parse::<Table>() {
        Ok(_) => TableAddition::Added(extended),
        Err(_) => TableAddition::Impossible,
    }
}

/// What became of a table.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum TableAddition {
    /// The text with the table.
    Added(String),
    /// A table of that name is there.
    Present { is_same: bool },
    /// The text is not TOML, or nothing can be appended.
    Impossible,
}

#[derive(PartialEq, Eq)]
enum Comparison {
    Same,
    Other,
    Missing,
}

/// Compares a table with the one that is to be added, which has one key on each level down to its values.
fn compare(present: &Table, new: &Table) -> Comparison {
    let Some((key, value)) = new.iter().next() else { return Comparison::Same };
    match (present.get(key), value.as_table()) {
        (None, _) => Comparison::Missing,
        (Some(old), _) if old == value => Comparison::Same,
        (Some(toml::Value::Table(old)), Some(inner)) if new.len() == 1 => {
            // The innermost table is a setting of its own.
            match inner.values().any(toml::Value::is_table) {
                true => compare(old, inner),
                false => Comparison::Other,
            }
        }
        _ => Comparison::Other,
    }
}

/// Adds a section to a Markdown document, unless it has one with this heading.
pub(super) fn add_section(text: &str, section: &str) -> Option<String> {
    let heading = section.lines().next().unwrap_or_default().trim();
    let is_there = text.lines().any(|line| line.trim() == heading);
    (!is_there).then(|| append(text, section, "\n"))
}

/// A text with another one at its end, on lines of its own.
fn append(text: &str, added: &str, separator: &str) -> String {
    let line_end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let mut appended = text.to_owned();
    if !text.is_empty() {
        if !text.ends_with('\n') {
            appended.push_str(line_end);
        }
        appended.push_str(&separator.replace('\n', line_end));
    }
    for line in added.lines() {
        appended.push_str(line);
        appended.push_str(line_end);
    }
    appended
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    const TABLE: &str = "[mcp_servers.prose]\ncommand = \"prose\"\nargs = [\"mcp\"]\n";

    #[test]
    fn missing_lines_are_added() {
        let added = "# State of runs\n.prose/runs/\n.prose/.env\n";
        assert_eq!(add_lines("/target", added), "/target\n# State of runs\n.prose/runs/\n.prose/.env\n");
        assert_eq!(add_lines("/.prose/runs\n", added), "/.prose/runs\n# State of runs\n.prose/.env\n");
        let all = add_lines("", added);
        assert_eq!(add_lines(&all, added), all);
        assert_eq!(add_lines("a\r\n", "b\n"), "a\r\nb\r\n");
    }

    #[test]
    fn a_table_is_added_and_comments_stay() {
        let text = "# mine\nmodel = \"large\"   # fast enough\n\n[mcp_servers.tracker]\ncommand = \"npx\"";
        let TableAddition::Added(extended) = add_table(text, TABLE) else { panic!() };
        expect![[r#"
            # mine
            model = "large"   # fast enough

            [mcp_servers.tracker]
            command = "npx"

            [mcp_servers.prose]
            command = "prose"
            args = ["mcp"]
        "#]]
        .assert_eq(&extended);
        assert_eq!(add_table(&extended, TABLE), TableAddition::Present { is_same: true });
    }

    #[test]
    fn a_table_that_is_there_or_cannot_be_added_leaves_the_text_alone() {
        let other = "[mcp_servers]\nprose = { command = \"/opt/prose\" }\n";
        assert_eq!(add_table(other, TABLE), TableAddition::Present { is_same: false });
        for text in
            ["mcp_servers = { tracker = { command = \"npx\" } }\n", "mcp_servers = [\n", "mcp_servers = 1\n"]
        {
            assert!(!matches!(add_table(text, TABLE), TableAddition::Added(_)), "{text}");
        }
    }

    #[test]
    fn a_section_is_added_once() {
        let section = "## OpenProse\n\nCheck programs.\n";
        let extended = add_section("# Rules\n\nBe kind.\n", section).unwrap();
        assert_eq!(extended, "# Rules\n\nBe kind.\n\n## OpenProse\n\nCheck programs.\n");
        assert_eq!(add_section(&extended, section), None);
    }
}

//! What agents are permitted: kinds, values, patterns, and permissions that cannot hold together.

use prose_rights::{About, Enforcement, RuleKind};
use prose_syntax::options::Word;
use prose_syntax::properties::{PERMISSION_VALUES, PERMISSIONS, find_permission};
use prose_syntax::text::enumerated;
use prose_syntax::{Code, Diagnostic, Fix, TextEdit, TextRange, TextSize};
use smol_str::SmolStr;

use super::Checker;
use super::names::did_you_mean_or;
use super::properties::{Expected, Shape, quote};
use crate::model::{self, *};
use crate::skills::agent_of;

/// Each pattern is compared with each other one, so not in generated lists.
const MAX_PATTERNS: usize = 256;

impl<'db> Checker<'_, 'db> {
    pub(super) fn permissions(&mut self, owner: StmtId, property: &Property) {
        let Some(entries) = &property.entries else {
            if let Some(value) = property.value {
                let finding = self.no_block(property, value);
                self.report(finding);
            }
            return;
        };
        let entries = self.given_once(entries);
        for entry in &entries {
            self.permission_kind(entry);
            self.permission_value(entry);
            self.unenforced(owner, entry);
            self.unknown_servers(owner, entry);
        }
        self.contradictions(&entries);
    }

    fn no_block(&self, property: &Property, value: ExprId) -> Diagnostic {
        let range = self.body[value].range;
        let message = "`permissions` must be a block with one permission per line, such as `bash: deny`";
        let lines: Vec<String> = match &self.body[value].expr {
            Expr::Object(entries) => entries
                .iter()
                .filter_map(|entry| {
                    let value = self.source(self.body.value_range(entry.value?));
                    Some(format!("{}: {value}", entry.key.as_ref()?.text))
                })
                .collect(),
            _ => match self.body.word(value).filter(|word| Word::is_one_of(word, PERMISSION_VALUES)) {
                Some(word) => PERMISSIONS.iter().map(|kind| format!("{}: {word}", kind.name)).collect(),
                None => Vec::new(),
            },
        };
        let fix = self.indentation(property.range).filter(|_| !lines.is_empty()).map(|indentation| {
            let lines: String = lines.iter().map(|line| format!("\n{indentation}  {line}")).collect();
            let after_name = TextRange::new(property.name.range.end(), range.end());
            Fix::suggestion(
                "Write one permission per line",
                TextEdit::replace(after_name, format!(":{lines}")),
            )
        });
        Diagnostic::new(Code::E015, range, message).with_fix(fix)
    }

    fn permission_kind(&mut self, entry: &Property) {
        let model::Word { text, range } = &entry.name;
        if find_permission(text).is_some() {
            return;
        }
        let known = PERMISSIONS.iter().map(|kind| SmolStr::new_static(kind.name)).collect();
        let message = format!("unknown permission `{text}`");
        let hint = || "the host may not support it".to_owned();
        self.report(did_you_mean_or(Code::W008, *range, message, text, known, hint));
    }

    fn permission_value(&mut self, entry: &Property) {
        let kind = &entry.name.text;
        let expected = Expected {
            subject: "a permission",
            noun: "permission value",
            values: "`allow`, `deny`, `prompt` or an array of patterns",
            words: PERMISSION_VALUES,
        };
        let Some(value) = entry.value else {
            if entry.entries.is_some() {
                let message = format!("`{kind}` must be {}", expected.values);
                self.report(Diagnostic::new(Code::W009, entry.name.range, message));
            }
            return;
        };
        if let Expr::Array(items) = &self.body[value].expr {
            return self.patterns(items);
        }
        let range = self.body[value].range;
        let diagnostic = match Shape::of(self.body, value) {
            Shape::Word(word) if Word::is_one_of(word, PERMISSION_VALUES) || word == "ask" => return,
            Shape::Word(word) => {
                let meant = match word {
                    "never" | "no" | "none" | "off" | "denied" | "forbid" | "disallow" => Some("deny"),
                    "always" | "yes" | "all" | "on" | "allowed" | "permit" => Some("allow"),
                    _ => None,
                };
                expected.diagnostic(Code::W009, range, word, meant)
            }
            Shape::Bool(value) => {
                let (word, meant) = if value { ("true", "allow") } else { ("false", "deny") };
                expected.diagnostic(Code::W009, range, word, Some(meant))
            }
            Shape::Text(text) => {
                let word = text.value.as_deref().filter(|word| Word::is_one_of(word, PERMISSION_VALUES));
                let (message, fix) = match word {
                    Some(word) => (format!("`{word}` must not be quoted"), Fix::change(range, word)),
                    None => {
                        let array = format!("[{}]", self.source(range));
                        let edit = TextEdit::replace(range, array);
                        let fix = Fix::suggestion("Wrap it in brackets", edit);
                        ("a pattern must be in brackets: `[\"docs/**\"]`".to_owned(), fix)
                    }
                };
                Diagnostic::new(Code::W009, range, message).with_fix(fix)
            }
            Shape::Unknown => return,
            _ => expected.diagnostic(Code::W009, range, "", None),
        };
        self.report(diagnostic);
    }

    /// Reports a rule that the configured harness of the agent cannot enforce (decision 13).
    fn unenforced(&mut self, owner: StmtId, entry: &Property) {
        let about = &entry.name.text;
        let Some(harness) = self.harness_of(owner) else { return };
        let Some(value) = entry.value else { return };
        let kind = match &self.body[value].expr {
            Expr::Array(items) if items.is_empty() => RuleKind::Deny,
            Expr::Array(_) => RuleKind::Patterns,
            _ => match self.body.word(value) {
                Some("deny") => RuleKind::Deny,
                Some("prompt" | "ask") => RuleKind::Prompt,
                _ => return,
            },
        };
        let is_enforced = |known: &Enforcement| known.covers(about, kind);
        if find_permission(about).is_none() || Enforcement::of(harness).is_none_or(is_enforced) {
            return;
        }
        let rule = match kind {
            RuleKind::Patterns => format!("patterns of `{about}`"),
            RuleKind::Deny | RuleKind::Prompt => {
                format!("`{about}: {}`", self.source(self.body[value].range))
            }
        };
        let others: Vec<_> =
            Enforcement::covering(about, kind).map(|harness| format!("`{harness}`")).collect();
        let hint = match others.is_empty() {
            true => String::new(),
            false => format!("; {} can", enumerated(others.into_iter(), "and")),
        };
        let range = entry.name.range.cover(self.body[value].range);
        let message = format!("harness `{harness}` cannot enforce {rule}{hint}");
        self.report(Diagnostic::new(Code::W150, range, message));
    }

    /// The configured harness of an agent or session.
    fn harness_of(&self, owner: StmtId) -> Option<&'db SmolStr> {
        let project = self.file.project(self.db);
        let own = agent_of(self.body, owner).and_then(|agent| project.agent_harnesses.get(agent));
        own.or(project.harness.as_ref())
    }

    /// Reports the MCP servers in patterns of `mcp` that the project does not configure. Agents have no others.
    fn unknown_servers(&mut self, owner: StmtId, entry: &Property) {
        let Some(Expr::Array(items)) = entry.value.map(|value| &self.body[value].expr) else { return };
        // Placeholder replies use no tools.
        let is_agent = |harness: &SmolStr| Enforcement::of(harness).is_some_and(Enforcement::has_tools);
        if About::of(&entry.name.text) != Some(About::Mcp) || !self.harness_of(owner).is_some_and(is_agent) {
            return;
        }
        let servers = &self.file.project(self.db).servers;
        for item in items {
            let text = item.expr().and_then(|expr| self.body.text(expr));
            let Some(text) = text.filter(|text| text.interpolations.is_empty()) else { continue };
            let Some(pattern) = text.value.as_deref() else { continue };
            let name = pattern.split('/').next().unwrap_or_default();
            // Placeholders stand for any server, and what is excluded need not exist.
            let is_name =
                !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_'));
            if !is_name || servers.contains(name) {
                continue;
            }
            let range = TextRange::at(text.content.start(), TextSize::of(name));
            let message = format!("server `{name}` is not configured");
            let known = servers.iter().cloned().collect();
            let hint = || format!("add `[mcp.servers.{name}]` to `prose.toml`");
            self.report(did_you_mean_or(Code::W153, range, message, name, known, hint));
        }
    }

    fn patterns(&mut self, items: &[Value]) {
        for item in items {
            let range = self.body.value_range(*item);
            let shape = Shape::of_value(self.body, *item);
            let is_pattern = matches!(shape, Shape::Text(text) if text.kind != TextKind::Discretion);
            // A name that nothing binds is a mistake of its own.
            let is_missing = matches!(item, Value::Expr(expr)
                if self.body.name_of(*expr).is_some_and(|name| !self.resolution.of(name).is_found()));
            if is_pattern || is_missing {
                continue;
            }
            let is_unknown = matches!(shape, Shape::Unknown);
            let message = match is_unknown {
                true => "the reference requires a string as a pattern; interpolate a variable: `\"{name}\"`",
                false => "a pattern must be a string in quotes, such as `\"docs/**\"`",
            };
            let fix = match item {
                Value::Expr(expr) if self.body.name_of(*expr).is_some() => {
                    let text = format!("\"{{{}}}\"", self.source(range));
                    Some(Fix::suggestion("Interpolate it in a string", TextEdit::replace(range, text)))
                }
                _ => shape.is_literal().then(|| quote(self.source(range), range)),
            };
            self.report(Diagnostic::new(Code::E016, range, message).with_lenient(is_unknown).with_fix(fix));
        }
    }

    fn contradictions(&mut self, entries: &[&Property]) {
        for entry in entries {
            if let Some(Expr::Array(items)) = entry.value.map(|value| &self.body[value].expr) {
                self.contradicting_patterns(&entry.name.text, items);
            }
        }
        // What one kind denies, the others give.
        let needs: [(&str, &[&str], &str); 2] = [
            ("read", &["write"], "writing requires reading"),
            ("filesystem", &["read", "write"], "it covers reading and writing"),
        ];
        for (denied, others, why) in needs {
            let find = |name: &str| entries.iter().find(|entry| entry.name.text == name);
            let Some(deny) = find(denied).and_then(|entry| entry.value) else { continue };
            if self.body.word(deny) != Some("deny") {
                continue;
            }
            let given = others.iter().filter_map(|other| find(other)).filter(|entry| self.grants(entry));
            let given: Vec<_> = given.collect();
            let [first, ..] = given.as_slice() else { continue };
            let message = format!("`{denied}: deny` conflicts with `{}`; {why}", first.name.text);
            let mut diagnostic = Diagnostic::new(Code::W123, self.body[deny].range, message);
            for entry in given {
                let message = format!("`{}` is allowed here", entry.name.text);
                diagnostic = diagnostic.with_related(entry.name.range, message);
            }
            self.report(diagnostic);
        }
    }

    fn grants(&self, entry: &Property) -> bool {
        entry.value.is_some_and(|value| match &self.body[value].expr {
            Expr::Array(items) => !items.is_empty(),
            _ => matches!(self.body.word(value), Some("allow" | "prompt" | "ask")),
        })
    }

    fn contradicting_patterns(&mut self, kind: &str, items: &[Value]) {
        if items.len() > MAX_PATTERNS {
            return;
        }
        let texts: Vec<Option<(&str, TextRange)>> = items
            .iter()
            .map(|item| {
                let expr = item.expr()?;
                let text = self.body.string(expr).filter(|text| !text.trim().is_empty())?;
                Some((text, self.body[expr].range))
            })
            .collect();
        for (index, text) in texts.iter().enumerate() {
            let Some((text, range)) = *text else { continue };
            let others = texts.iter().enumerate().filter_map(|(at, other)| Some((at, (*other)?)));
            let mut others = others.filter(|(at, _)| *at != index);
            let diagnostic = if let Some(negated) = text.strip_prefix('!') {
                others.find(|(_, (other, _))| !other.starts_with('!') && covers(kind, negated, other)).map(
                    |(_, (other, place))| {
                        let message = format!("`{text}` excludes everything that `{other}` allows");
                        Diagnostic::new(Code::W123, range, message).with_related(place, "given here")
                    },
                )
            } else {
                others
                    // Of two that are equal, the second one is too many.
                    .find(
                        |(at, (other, _))| {
                            if *other == text { *at < index } else { covers(kind, other, text) }
                        },
                    )
                    .map(|(_, (other, place))| {
                        let message = match other == text {
                            true => format!("pattern `{text}` is already given"),
                            false => format!("pattern `{text}` is redundant; `{other}` already allows it"),
                        };
                        let edit = TextEdit::delete(self.item_with_comma(items, index));
                        Diagnostic::new(Code::W123, range, message)
                            .with_related(place, "given here")
                            .with_fix(Fix::suggestion(format!("Remove `{text}`"), edit))
                    })
            };
            if let Some(diagnostic) = diagnostic {
                self.report(diagnostic);
            }
        }
    }

    fn item_with_comma(&self, items: &[Value], index: usize) -> TextRange {
        let range = |index: usize| self.body.value_range(items[index]);
        match index {
            0 => TextRange::new(range(0).start(), range(1).start()),
            _ => TextRange::new(range(index - 1).end(), range(index).end()),
        }
    }
}

/// Whether whatever the second pattern matches is matched by the first too. `false` where that is not certain.
fn covers(kind: &str, pattern: &str, other: &str) -> bool {
    if pattern == other || (kind == "network" && pattern == "*") {
        return true;
    }
    // Classes, alternatives and braces that are interpolated could stand for anything.
    let is_plain = |text: &str| !text.contains(['{', '[', '!', '\\']);
    if !is_plain(pattern) || !is_plain(other) {
        return false;
    }
    let pattern: Vec<&str> = pattern.split('/').collect();
    let other: Vec<&str> = other.split('/').collect();
    let is_absolute =
        |first: &str| first.is_empty() || first == ".." || first.starts_with('~') || first.contains(':');
    let (Some(first), Some(second)) = (pattern.first(), other.first()) else { return false };
    if (is_absolute(first) || is_absolute(second)) && first != second {
        return false;
    }
    // Whether `src/**` stands for `src` itself too is not sure.
    if pattern.last() == Some(&"**") && other.len() < pattern.len() {
        return false;
    }
    matches_all(
        &pattern,
        &other,
        |segment| *segment == "**",
        |segment, other| {
            let is_star = |byte: &u8| *byte == b'*';
            let is_one = |byte: &u8, other: &u8| byte == other || (*byte == b'?' && !is_star(other));
            *other != "**" && matches_all(segment.as_bytes(), other.as_bytes(), is_star, is_one)
        },
    )
}

/// Whether the parts of a pattern, some of which match any number of parts, match those of another one.
fn matches_all<T>(
    pattern: &[T],
    other: &[T],
    is_star: impl Fn(&T) -> bool,
    is_one: impl Fn(&T, &T) -> bool,
) -> bool {
    let (mut at, mut other_at) = (0, 0);
    // Where to continue if the parts after the last star do not match: it takes one part more.
    let mut star: Option<(usize, usize)> = None;
    while other_at < other.len() {
        if pattern.get(at).is_some_and(&is_star) {
            star = Some((at + 1, other_at));
            at += 1;
        } else if pattern.get(at).is_some_and(|part| is_one(part, &other[other_at])) {
            at += 1;
            other_at += 1;
        } else if let Some((behind, taken)) = star {
            star = Some((behind, taken + 1));
            at = behind;
            other_at = taken + 1;
        } else {
            return false;
        }
    }
    pattern[at..].iter().all(is_star)
}

#[cfg(test)]
mod tests {
    use super::covers;

    #[track_caller]
    fn check(pattern: &str, other: &str, expected: bool) {
        assert_eq!(covers("read", pattern, other), expected, "{pattern} covers {other}");
    }

    #[test]
    fn wider_patterns_cover_narrower_ones() {
        check("**", "src/**", true);
        check("**/*", "src/main.rs", true);
        check("src/**", "src/**/*.rs", true);
        check("**/*.md", "docs/*.md", true);
        check("*.md", "read*.md", true);
        check("docs/?.md", "docs/a.md", true);
    }

    #[test]
    fn others_do_not() {
        check("src/**", "**", false);
        check("*", "src/main.rs", false);
        check("*.md", "**", false);
        check("docs/*.md", "**/*.md", false);
        check("docs/?.md", "docs/*.md", false);
        check("**", "/etc/**", false);
        check("**", "~/notes/*", false);
        check("**", "{home}/**", false);
        check("**", "../**", false);
        check("src/*.{js,ts}", "src/*.js", false);
    }

    #[test]
    fn long_patterns_take_no_time_to_speak_of() {
        check(&"*a".repeat(2000), &"a".repeat(4000), true);
        check(&format!("{}b", "*a".repeat(20)), &"a".repeat(60), false);
        check(&format!("{}b", "**/a/".repeat(20)), &"a/".repeat(60), false);
    }
}

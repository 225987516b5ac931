//! What is between the parentheses of a header, and the numbers and collections of loops.

use prose_syntax::options::{self, FAILURE_POLICIES, Header, HeaderOption, OptionValue, STRATEGIES};
use prose_syntax::suggest::nearest;
use prose_syntax::{Code, Diagnostic, Fix, TextEdit, TextRange};
use rustc_hash::FxHashMap;
use smol_str::SmolStr;

use super::Checker;
use super::calls::listed;
use crate::model::*;

pub(super) fn check(checker: &mut Checker<'_, '_>) {
    let body = checker.body;
    for (_, data) in body.stmts() {
        match &data.stmt {
            Stmt::Parallel { options, body } => {
                checker.named_options(Header::Parallel, options);
                checker.strategy(options, *body);
            }
            Stmt::Loop { options, .. } => {
                checker.named_options(Header::Loop, options);
                checker.nameless_options(Header::Loop, options);
            }
            Stmt::Block { options, .. } => {
                checker.named_options(Header::Block, options);
                checker.nameless_options(Header::Block, options);
            }
            Stmt::Repeat { count: Some(count), .. } => {
                checker.count("the count of `repeat`", "`repeat 3:`", *count)
            }
            Stmt::For { collection: Some(collection), .. } => checker.collection(*collection),
            Stmt::Pipeline { source: Some(Value::Expr(source)), .. } => checker.collection(*source),
            _ => {}
        }
    }
}

impl Checker<'_, '_> {
    fn named_options(&mut self, header: Header, given: &[Modifier]) {
        let mut firsts: FxHashMap<&SmolStr, &Word> = FxHashMap::default();
        for (position, modifier) in given.iter().enumerate() {
            let Some(name) = &modifier.name else { continue };
            let first = *firsts.entry(&name.text).or_insert(name);
            let Some(option) = options::find(header, &name.text) else {
                self.unknown_option(header, given, modifier, name);
                continue;
            };
            if !std::ptr::eq(first, name) {
                let message = format!("option `{}` is already given", name.text);
                let diagnostic = Diagnostic::new(Code::E135, modifier.range, message)
                    .with_related(first.range, "first given here")
                    .with_fix(removal(given, position));
                self.report(diagnostic);
                continue;
            }
            let Some(value) = modifier.value else { continue };
            match option.value {
                OptionValue::Count => self.count(&format!("`{}`", name.text), &example(option), value),
                OptionValue::FailurePolicy => self.failure_policy(value),
            }
        }
    }

    fn unknown_option(&mut self, header: Header, given: &[Modifier], modifier: &Modifier, name: &Word) {
        let is_given = |option: &&HeaderOption| {
            given.iter().any(|other| other.name.as_ref().is_some_and(|name| name.text == option.name))
        };
        let keyword = header.keyword();
        let free: Vec<&HeaderOption> = header.options().filter(|option| !is_given(option)).collect();
        let near = nearest(&name.text, free.iter().copied(), |option| option.name)
            // Others spell it out, or cut it short.
            .or_else(|| free.into_iter().find(|option| shares_word(&name.text, option.name)));
        let of_other = options::OPTIONS.iter().find(|option| option.name == name.text);
        let is_strategy = header == Header::Parallel && name.text == "strategy";
        let message = match (near, of_other) {
            _ if is_strategy => "a strategy takes no name: `parallel (\"first\"):`".to_owned(),
            (Some(near), _) => {
                format!("`{keyword}` has no option `{}`; did you mean `{}`?", name.text, near.name)
            }
            (None, Some(other)) => format!(
                "`{}` is an option of `{}` and has no effect on `{keyword}`",
                name.text,
                other.header.keyword()
            ),
            (None, None) => {
                let known: Vec<&str> = header.options().map(|option| option.name).collect();
                format!("`{keyword}` has no option `{}`; it has {}", name.text, listed(&known, "and"))
            }
        };
        let fix = match modifier.value {
            Some(value) if is_strategy => {
                let label = TextRange::new(name.range.start(), self.body[value].range.start());
                Some(Fix::suggestion("Remove the name", TextEdit::delete(label)))
            }
            _ => near.map(|near| Fix::change(name.range, near.name)),
        };
        self.report(Diagnostic::new(Code::W128, name.range, message).with_fix(fix));
    }

    /// A value without a name, where only `parallel` has one.
    fn nameless_options(&mut self, header: Header, given: &[Modifier]) {
        for modifier in given.iter().filter(|modifier| modifier.name.is_none()) {
            let Some(option) = header.options().next() else { return };
            let message =
                format!("an option of `{}` needs a name, as in {}", header.keyword(), example(option));
            self.report(Diagnostic::new(Code::W128, modifier.range, message));
        }
    }

    fn strategy(&mut self, given: &[Modifier], list: Option<ListId>) {
        let mut strategies = given.iter().enumerate().filter(|(_, modifier)| modifier.name.is_none());
        let strategy = strategies.next().map(|(_, modifier)| modifier);
        for (position, second) in strategies {
            let mut diagnostic = Diagnostic::new(Code::E135, second.range, "a strategy is already given")
                .with_fix(removal(given, position));
            if let Some(first) = strategy {
                diagnostic = diagnostic.with_related(first.range, "first given here");
            }
            self.report(diagnostic);
        }
        let known = match strategy.and_then(|modifier| modifier.value) {
            Some(value) => self.strategy_value(value),
            None => Known::Nothing,
        };
        let named = |name: &str| {
            given.iter().find(|modifier| modifier.name.as_ref().is_some_and(|word| word.text == name))
        };
        let (Some(count), None) = (named("count"), named("strategy")) else { return };
        match known {
            Known::Word("any") => self.count_of_branches(count, list),
            Known::Word(other) => {
                let message = format!("`count` requires the strategy `\"any\"`, not `\"{other}\"`");
                let mut diagnostic = Diagnostic::new(Code::E126, count.range, message);
                if let Some(strategy) = strategy {
                    let edit = TextEdit::replace(strategy.range, "\"any\"");
                    let fix = Fix::suggestion("Change the strategy to `\"any\"`", edit);
                    diagnostic =
                        diagnostic.with_related(strategy.range, "the strategy is given here").with_fix(fix);
                }
                let position = given.iter().position(|modifier| modifier == count);
                let fix = position.and_then(|position| removal(given, position));
                self.report(diagnostic.with_fix(fix));
            }
            Known::Nothing => {
                let message = "`count` requires the strategy `\"any\"`";
                let fix = given.first().map(|first| {
                    let edit = TextEdit::insert(first.range.start(), "\"any\", ");
                    Fix::suggestion("Add the strategy `\"any\"`", edit)
                });
                self.report(Diagnostic::new(Code::E126, count.range, message).with_fix(fix));
            }
            Known::Wrong => {}
        }
    }

    fn strategy_value(&mut self, value: ExprId) -> Known {
        let range = self.body[value].range;
        let Some((word, is_bare)) = self.word(value, "the strategy of a `parallel`", STRATEGIES) else {
            return Known::Wrong;
        };
        if let Some(known) = STRATEGIES.iter().find(|strategy| strategy.name == word) {
            if is_bare {
                self.bare(range, known.name);
            }
            return Known::Word(known.name);
        }
        if FAILURE_POLICIES.iter().any(|policy| policy.name == word) {
            let message = format!("`\"{word}\"` is a failure policy; write `on-fail: \"{word}\"`");
            let edit = TextEdit::replace(range, format!("on-fail: \"{word}\""));
            let fix = Fix::suggestion("Name it `on-fail`", edit);
            self.report(Diagnostic::new(Code::E124, range, message).with_fix(fix));
            return Known::Wrong;
        }
        self.unknown_word(Code::E124, range, &format!("unknown strategy `{word}`"), &word, STRATEGIES);
        Known::Wrong
    }

    fn failure_policy(&mut self, value: ExprId) {
        let range = self.body[value].range;
        let Some((word, is_bare)) = self.word(value, "`on-fail`", FAILURE_POLICIES) else { return };
        match FAILURE_POLICIES.iter().find(|policy| policy.name == word) {
            Some(known) if is_bare => self.bare(range, known.name),
            Some(_) => {}
            None => {
                let message = format!("unknown failure policy `{word}`");
                self.unknown_word(Code::E125, range, &message, &word, FAILURE_POLICIES);
            }
        }
    }

    /// The word that a value is, and whether it has no quotes. Anything else is reported, unless it is interpolated at run time.
    fn word(&mut self, value: ExprId, what: &str, words: &[options::Word]) -> Option<(String, bool)> {
        let data = &self.body[value];
        match &data.expr {
            Expr::Text(text) if !text.interpolations.is_empty() => None,
            Expr::Text(text) if text.kind == TextKind::OneLine => {
                let word = text.value.clone().unwrap_or_default();
                Some((word.to_string(), text.content == data.range))
            }
            _ => {
                let message = format!("{what} must be {}", quoted(words));
                self.report(Diagnostic::new(Code::E137, data.range, message));
                None
            }
        }
    }

    fn unknown_word(
        &mut self,
        code: Code,
        range: TextRange,
        message: &str,
        word: &str,
        words: &[options::Word],
    ) {
        let near = nearest(word, words, |known| known.name);
        let message = match near {
            Some(near) => format!("{message}; did you mean `\"{}\"`?", near.name),
            None => format!("{message}; use {}", quoted(words)),
        };
        let fix = near.map(|near| Fix::change(range, &format!("\"{}\"", near.name)));
        self.report(Diagnostic::new(code, range, message).with_fix(fix));
    }

    fn bare(&mut self, range: TextRange, word: &str) {
        let message = format!("`{word}` should be in quotes; without them it looks like a variable");
        let edit = TextEdit::replace(range, format!("\"{word}\""));
        let fix = Fix::safe("Put it in quotes", edit);
        self.report(Diagnostic::new(Code::W131, range, message).with_fix(fix));
    }

    fn count_of_branches(&mut self, count: &Modifier, list: Option<ListId>) {
        let (Some(value), Some(list)) = (count.value, list) else { return };
        let Expr::Number(number) = &self.body[value].expr else { return };
        let Ok(number) = number.parse::<u64>() else { return };
        // A line that was not understood may be a branch, and so may what a placeholder stands for.
        if self.has_errors(self.body[list].range) {
            return;
        }
        let mut branches = 0;
        for stmt in &self.body[list].stmts {
            match self.body[*stmt].stmt {
                Stmt::Placeholder => return,
                Stmt::Agent { .. } | Stmt::Block { .. } => {}
                _ => branches += 1,
            }
        }
        if branches == 0 || number <= branches {
            return;
        }
        let range = self.body[value].range;
        let message = match branches {
            1 => format!("`count` is {number}, but there is only 1 branch"),
            _ => format!("`count` is {number}, but there are only {branches} branches"),
        };
        let fix = Fix::change(range, &branches.to_string());
        self.report(Diagnostic::new(Code::W114, range, message).with_fix(fix));
    }

    /// A count is a number, or a value that may be one. The parser reports numbers that are not counts.
    fn count(&mut self, what: &str, example: &str, value: ExprId) {
        let data = &self.body[value];
        let is_wrong = match &data.expr {
            Expr::Text(_)
            | Expr::Duration(_)
            | Expr::Bool(_)
            | Expr::Null
            | Expr::Array(_)
            | Expr::Object(_) => true,
            Expr::Unary { negates, .. } => *negates,
            _ => false,
        };
        if !is_wrong {
            return;
        }
        let message = format!("{what} must be a whole number, such as {example}");
        let digits = |text: &&str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let number = self.body.string(value).filter(digits);
        let edit = number.map(|number| TextEdit::replace(data.range, number));
        let fix = edit.map(|edit| Fix::safe("Remove the quotes", edit));
        self.report(Diagnostic::new(Code::E137, data.range, message).with_fix(fix));
    }

    fn collection(&mut self, value: ExprId) {
        let data = &self.body[value];
        let what = match &data.expr {
            Expr::Number(_) => "a number",
            Expr::Duration(_) => "a duration",
            Expr::Bool(_) => "a Boolean",
            Expr::Null => "`null`",
            Expr::Text(text) if text.kind == TextKind::Discretion => "a condition",
            _ => return,
        };
        let message =
            format!("{what} is not a collection; use an array such as `[\"a\", \"b\"]`, or a variable");
        self.report(Diagnostic::new(Code::E137, data.range, message));
    }
}

/// Whether one of two names is a word of the other, as in `max_iterations`.
fn shares_word(name: &str, option: &str) -> bool {
    let has_word = |name: &str, word: &str| name.split(['_', '-']).any(|part| part == word);
    has_word(name, option) || has_word(option, name) || (name, option) == ("maximum", "max")
}

/// The value of a strategy, as far as it is known.
enum Known {
    /// There is none.
    Nothing,
    /// It is this.
    Word(&'static str),
    /// It is wrong, and reported, or interpolated at run time.
    Wrong,
}

fn example(option: &HeaderOption) -> String {
    match option.value {
        OptionValue::Count => format!("`{}: 5`", option.name),
        OptionValue::FailurePolicy => format!("`{}: \"{}\"`", option.name, FAILURE_POLICIES[0].name),
    }
}

fn quoted(words: &[options::Word]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("\"{}\"", word.name)).collect();
    listed(&quoted, "or")
}

/// The fix that removes one of several options.
fn removal(given: &[Modifier], position: usize) -> Option<Fix> {
    let modifier = given.get(position)?;
    let before = given.get(position.checked_sub(1)?)?;
    let range = TextRange::new(before.range.end(), modifier.range.end());
    Some(Fix::suggestion("Remove the option", TextEdit::delete(range)))
}

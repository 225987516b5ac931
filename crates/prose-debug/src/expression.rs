//! The expressions of conditions, log messages, watches and the debug console: names, paths, literals and comparisons. They read and never ask.

use std::fmt::Write as _;

use prose_vm::structure;
use prose_vm::value::Value;

/// An expression.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Expression {
    Literal(Value),
    Name(String),
    Field(Box<Expression>, String),
    Index(Box<Expression>, Box<Expression>),
    Not(Box<Expression>),
    Binary(Box<Expression>, Operator, Box<Expression>),
}

/// Operators, from the loosest to the tightest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operator {
    Or,
    And,
    Equal,
    Unequal,
    Less,
    AtMost,
    Greater,
    AtLeast,
    Contains,
}

impl Expression {
    /// Reads an expression. The error is a sentence for the user.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut parser = Parser { rest: text };
        let expression = parser.alternatives()?;
        match parser.peek() {
            None => Ok(expression),
            Some(_) => Err(parser.unexpected()),
        }
    }

    /// Reads a name with fields and indices; `None` of anything else.
    pub(crate) fn path(text: &str) -> Option<Self> {
        fn is_path(expression: &Expression) -> bool {
            match expression {
                Expression::Name(_) => true,
                Expression::Field(base, _) | Expression::Index(base, _) => is_path(base),
                _ => false,
            }
        }
        Self::parse(text).ok().filter(is_path)
    }

    /// Its value. The error is a sentence for the user.
    pub(crate) fn value(&self, look_up: &dyn Fn(&str) -> Option<Value>) -> Result<Value, String> {
        Ok(match self {
            Self::Literal(value) => value.clone(),
            Self::Name(name) => {
                look_up(name).ok_or_else(|| format!("`{name}` has no value at this point of the run"))?
            }
            Self::Field(base, name) => {
                let base = base.value(look_up)?;
                match (structure::field(&base, name), name.as_str()) {
                    (Some(value), _) => value,
                    (None, "length") => Value::Number(length(&base) as f64),
                    (None, _) => return Err(format!("the value is {}, and has no `{name}`", base.kind())),
                }
            }
            Self::Index(base, index) => {
                let (base, index) = (base.value(look_up)?, index.value(look_up)?);
                let found = match &index {
                    Value::Text(key) => structure::field(&base, key),
                    index => index.as_number().and_then(|nth| structure::element(&base, nth)),
                };
                found.ok_or_else(|| format!("the value is {}, and has no `[{index}]`", base.kind()))?
            }
            Self::Not(operand) => Value::Bool(!operand.holds(look_up)?),
            Self::Binary(left, Operator::Or, right) => {
                Value::Bool(left.holds(look_up)? || right.holds(look_up)?)
            }
            Self::Binary(left, Operator::And, right) => {
                Value::Bool(left.holds(look_up)? && right.holds(look_up)?)
            }
            Self::Binary(left, operator, right) => {
                let (left, right) = (left.value(look_up)?, right.value(look_up)?);
                Value::Bool(operator.compare(&left, &right)?)
            }
        })
    }

    /// Whether it holds, as a condition.
    pub(crate) fn holds(&self, look_up: &dyn Fn(&str) -> Option<Value>) -> Result<bool, String> {
        self.value(look_up).map(|value| structure::truth(&value).holds())
    }
}

impl Operator {
    fn compare(self, left: &Value, right: &Value) -> Result<bool, String> {
        let order = || {
            structure::compare(left, right)
                .ok_or_else(|| format!("{} and {} cannot be compared by size", left.kind(), right.kind()))
        };
        Ok(match self {
            Operator::Equal => structure::equal(left, right),
            Operator::Unequal => !structure::equal(left, right),
            Operator::Less => order()?.is_lt(),
            Operator::AtMost => order()?.is_le(),
            Operator::Greater => order()?.is_gt(),
            Operator::AtLeast => order()?.is_ge(),
            Operator::Contains => match left {
                Value::Array(items) => items.iter().any(|item| structure::equal(item, right)),
                left => left.to_string().to_lowercase().contains(&right.to_string().to_lowercase()),
            },
            Operator::Or | Operator::And => structure::truth(left).holds() && structure::truth(right).holds(),
        })
    }
}

fn length(value: &Value) -> usize {
    match value {
        Value::Text(text) => text.chars().count(),
        Value::Array(items) => items.len(),
        Value::Object(entries) => entries.len(),
        _ => 0,
    }
}

/// A text with expressions in braces, as log points have it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Template(Vec<Result<Expression, String>>);

impl Template {
    /// Reads a template. A brace that opens no expression is text.
    pub(crate) fn parse(text: &str) -> Self {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some(start) = rest.find('{') {
            let Some(length) = rest[start..].find('}') else { break };
            let inside = &rest[start + 1..start + length];
            parts.push(Err(rest[..start].to_owned()));
            parts.push(Expression::parse(inside).map_err(|_| format!("{{{inside}}}")));
            rest = &rest[start + length + 1..];
        }
        parts.push(Err(rest.to_owned()));
        Self(parts)
    }

    /// The text with values filled in; an expression without a value shows why.
    pub(crate) fn fill(&self, look_up: &dyn Fn(&str) -> Option<Value>) -> String {
        let mut text = String::new();
        for part in &self.0 {
            match part {
                Err(part) => text.push_str(part),
                Ok(expression) => {
                    let filled = match expression.value(look_up) {
                        Ok(value) => write!(text, "{value}"),
                        Err(why) => write!(text, "<{why}>"),
                    };
                    // A string takes everything.
                    debug_assert!(filled.is_ok());
                }
            }
        }
        text
    }
}

struct Parser<'a> {
    rest: &'a str,
}

impl Parser<'_> {
    fn peek(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start();
        self.rest.chars().next()
    }

    fn takes(&mut self, token: &str) -> bool {
        self.peek();
        let Some(rest) = self.rest.strip_prefix(token) else { return false };
        let is_word = token.ends_with(char::is_alphanumeric);
        if is_word && rest.starts_with(is_part_of_name) {
            return false;
        }
        self.rest = rest;
        true
    }

    fn unexpected(&mut self) -> String {
        match self.peek() {
            None => "expected a name, a text in quotes or a number at the end".to_owned(),
            Some(_) => format!(
                "unexpected `{}`; a condition compares names and values, such as `topic == \"tides\"`, `draft contains \"error\"` or `iteration > 2`",
                self.rest
            ),
        }
    }

    fn alternatives(&mut self) -> Result<Expression, String> {
        let mut left = self.conjunction()?;
        while self.takes("or") || self.takes("||") {
            left = Expression::Binary(left.into(), Operator::Or, self.conjunction()?.into());
        }
        Ok(left)
    }

    fn conjunction(&mut self) -> Result<Expression, String> {
        let mut left = self.comparison()?;
        while self.takes("and") || self.takes("&&") {
            left = Expression::Binary(left.into(), Operator::And, self.comparison()?.into());
        }
        Ok(left)
    }

    fn comparison(&mut self) -> Result<Expression, String> {
        const OPERATORS: [(&str, Operator); 8] = [
            ("==", Operator::Equal),
            ("!=", Operator::Unequal),
            ("<=", Operator::AtMost),
            (">=", Operator::AtLeast),
            ("<", Operator::Less),
            (">", Operator::Greater),
            ("contains", Operator::Contains),
            ("=", Operator::Equal),
        ];
        let left = self.operand()?;
        match OPERATORS.iter().find(|(token, _)| self.takes(token)) {
            Some((_, operator)) => Ok(Expression::Binary(left.into(), *operator, self.operand()?.into())),
            None => Ok(left),
        }
    }

    fn operand(&mut self) -> Result<Expression, String> {
        if self.takes("not") || (!self.rest.starts_with("!=") && self.takes("!")) {
            return Ok(Expression::Not(self.operand()?.into()));
        }
        if self.takes("(") {
            let inside = self.alternatives()?;
            return if self.takes(")") { Ok(inside) } else { Err("expected `)`".to_owned()) };
        }
        for (word, value) in
            [("true", Value::Bool(true)), ("false", Value::Bool(false)), ("null", Value::Null)]
        {
            if self.takes(word) {
                return Ok(Expression::Literal(value));
            }
        }
        match self.peek() {
            Some('"') => self.text(),
            Some(first) if first.is_ascii_digit() || first == '-' => self.number(),
            Some(first) if is_part_of_name(first) => {
                let name = self.name();
                self.path(Expression::Name(name))
            }
            _ => Err(self.unexpected()),
        }
    }

    fn path(&mut self, mut base: Expression) -> Result<Expression, String> {
        loop {
            if let Some(rest) = self.rest.strip_prefix('.') {
                self.rest = rest;
                let name = self.name();
                if name.is_empty() {
                    return Err("expected the name of a field after `.`".to_owned());
                }
                base = Expression::Field(base.into(), name);
            } else if let Some(rest) = self.rest.strip_prefix('[') {
                self.rest = rest;
                let index = self.operand()?;
                if !self.takes("]") {
                    return Err("expected `]`".to_owned());
                }
                base = Expression::Index(base.into(), index.into());
            } else {
                return Ok(base);
            }
        }
    }

    fn name(&mut self) -> String {
        let end = self.rest.find(|letter| !is_part_of_name(letter)).unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest;
        name.to_owned()
    }

    fn number(&mut self) -> Result<Expression, String> {
        let is_part = |letter: char| letter.is_ascii_digit() || matches!(letter, '.' | '-');
        let end = self.rest.find(|letter| !is_part(letter)).unwrap_or(self.rest.len());
        let (digits, rest) = self.rest.split_at(end);
        let number = digits.parse().map_err(|_| format!("`{digits}` is not a number"))?;
        self.rest = rest;
        Ok(Expression::Literal(Value::Number(number)))
    }

    fn text(&mut self) -> Result<Expression, String> {
        let mut texts = serde_json::Deserializer::from_str(self.rest).into_iter::<String>();
        match texts.next() {
            Some(Ok(text)) => {
                self.rest = &self.rest[texts.byte_offset()..];
                Ok(Expression::Literal(Value::from(text.as_str())))
            }
            _ => Err("expected `\"` at the end of the text".to_owned()),
        }
    }
}

fn is_part_of_name(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn look_up(name: &str) -> Option<Value> {
        match name {
            "topic" => Some(Value::from("tides")),
            "count" => Some(Value::Number(3.0)),
            "plan" => Some(Value::from(r#"{"steps": ["read", "write"], "done": false}"#)),
            _ => None,
        }
    }

    #[track_caller]
    fn check(expression: &str, expected: Expect) {
        let value = Expression::parse(expression).and_then(|parsed| parsed.value(&look_up));
        expected.assert_eq(&value.map_or_else(|why| why, |value| value.to_string()));
    }

    #[test]
    fn expressions_read_values() {
        check("topic", expect!["tides"]);
        check("plan.steps[1]", expect!["write"]);
        check(r#"plan["steps"].length"#, expect!["2"]);
        check("topic.length", expect!["5"]);
        check(r#"topic == "tides" and count >= 3"#, expect!["true"]);
        check(r#"topic contains "IDE""#, expect!["true"]);
        check(r#"plan.steps contains "read""#, expect!["true"]);
        check("not plan.done or missing", expect!["true"]);
        check("!(count < 3)", expect!["true"]);
        check("orchid", expect!["`orchid` has no value at this point of the run"]);
    }

    #[test]
    fn mistakes_say_what_is_expected() {
        check("count >", expect!["expected a name, a text in quotes or a number at the end"]);
        check(
            "count is 3",
            expect![[
                r#"unexpected `is 3`; a condition compares names and values, such as `topic == "tides"`, `draft contains "error"` or `iteration > 2`"#
            ]],
        );
        check("topic.unknown", expect!["the value is text, and has no `unknown`"]);
        check(r#"topic == "tides"#, expect![[r#"expected `"` at the end of the text"#]]);
        check("(count", expect!["expected `)`"]);
    }

    #[test]
    fn log_messages_have_values() {
        let message = Template::parse("{count} on {topic}, {missing}: {not an expression} {");
        expect!["3 on tides, <`missing` has no value at this point of the run>: {not an expression} {"]
            .assert_eq(&message.fill(&look_up));
    }
}

//! The names that a loop gives to its items, read from its first line. Events have no values of theirs, so that journals stay small.

use prose_vm::structure;
use prose_vm::value::Value;

use crate::expression::Expression;

/// The names of a loop.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct LoopNames<'a> {
    pub(crate) item: Option<&'a str>,
    pub(crate) index: Option<&'a str>,
    pub(crate) collection: Option<&'a str>,
}

impl<'a> LoopNames<'a> {
    /// Those of a statement, as [`StatementStarted`](prose_vm::event::EventKind::StatementStarted) has its source.
    pub(crate) fn of(source: &'a str) -> Self {
        let source = source.strip_prefix("parallel ").unwrap_or(source).trim();
        if let Some(rest) = source.strip_prefix("for ") {
            let Some((names, collection)) = rest.split_once(" in ") else { return Self::default() };
            let mut names = names.split(',').map(str::trim).filter(|name| is_name(name));
            return Self { item: names.next(), index: names.next(), collection: Some(collection.trim()) };
        }
        let is_loop = ["repeat ", "loop"].iter().any(|word| source.starts_with(word));
        let index = source.rsplit_once(" as ").map(|(_, name)| name.trim());
        Self { index: index.filter(|name| is_loop && is_name(name)), ..Self::default() }
    }

    /// The items of a collection that is a list or a path; `None` of anything else, whose value only the interpreter has.
    pub(crate) fn items(collection: &str, look_up: impl Fn(&str) -> Option<Value>) -> Option<Vec<Value>> {
        if let Ok(list) = serde_json::from_str::<Vec<serde_json::Value>>(collection) {
            return Some(list.iter().map(Value::from_json).collect());
        }
        let path = Expression::path(collection)?;
        structure::items(&path.value(&look_up).ok()?)
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|letter| letter.is_alphanumeric() || letter == '_' || letter == '-')
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    #[track_caller]
    fn check(source: &str, expected: Expect) {
        let LoopNames { item, index, collection } = LoopNames::of(source);
        expected.assert_eq(&format!("{item:?} {index:?} {collection:?}"));
    }

    #[test]
    fn loops_name_their_items() {
        check("for topic in topics", expect![[r#"Some("topic") None Some("topics")"#]]);
        check("for topic, i in plan.topics", expect![[r#"Some("topic") Some("i") Some("plan.topics")"#]]);
        check(r#"parallel for x in ["a", "b"]"#, expect![[r#"Some("x") None Some("[\"a\", \"b\"]")"#]]);
        check("repeat 3 as i", expect![[r#"None Some("i") None"#]]);
        check("loop until **it is as good** (max: 3) as n", expect![[r#"None Some("n") None"#]]);
        check("loop until **it is as good as gold**", expect!["None None None"]);
        check(r#"session "as you like""#, expect!["None None None"]);
    }
}

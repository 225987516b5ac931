//! The element at an offset: the word that a cursor is on, and its role in the program.
//!
//! All features that answer a question about a position start here, so that they agree on its meaning.

use prose_analysis::model::*;
use prose_analysis::statements::{TopStatement, body, parse, statements};
use prose_analysis::{Db, SourceFile};
use prose_syntax::properties;
use prose_syntax::{SyntaxKind, SyntaxNode, SyntaxToken, TextRange, TextSize};
use smol_str::SmolStr;

/// An element of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Element<'db> {
    /// Its bytes.
    pub range: TextRange,
    /// What it is.
    pub kind: ElementKind<'db>,
}

/// The kind of an element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ElementKind<'db> {
    /// A word that refers to a named entity.
    Word(TopStatement<'db>, Word),
    /// The path of a `use`, with the import.
    Path(TopStatement<'db>, StmtId),
    /// The name of a property of an agent or a session.
    Property {
        /// The property that it is an entry of, as `read:` is one of `permissions:`.
        parent: Option<SmolStr>,
        /// The name.
        name: SmolStr,
    },
    /// The name of an option in parentheses, such as `max:`.
    Option {
        /// The kind of the statement.
        statement: SyntaxKind,
        /// The name.
        name: SmolStr,
    },
    /// The word that an option is set to, such as `"first"` or `"ignore"`.
    OptionValue {
        /// The kind of the statement.
        statement: SyntaxKind,
        /// The name of the option, if it has one.
        option: Option<SmolStr>,
        /// The word.
        value: SmolStr,
    },
    /// The value of a `model:`.
    Model(SmolStr),
    /// A word that another property is set to, such as `project` or `deny`.
    PropertyValue {
        /// The property that it is the value of an entry of, as in `permissions:`.
        parent: Option<SmolStr>,
        /// The name of the property or of the entry.
        name: SmolStr,
        /// The word.
        value: SmolStr,
    },
    /// A keyword.
    Keyword(SyntaxKind),
    /// The marker at either end of a discretion, with whether the text is the description of an input.
    DiscretionMark {
        /// Whether a user reads the text, and no model judges it.
        is_description: bool,
    },
    /// Text of a string or a discretion.
    Text,
}

/// A word that refers to a named entity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Word {
    /// A name where it is bound.
    Bound(NameId),
    /// A name where it is used.
    Used(RefId),
    /// The name of an argument.
    Argument {
        /// What is called: a program or a block.
        callee: RefId,
        /// The name.
        name: SmolStr,
    },
    /// The name after a dot.
    Field {
        /// What it is a field of.
        base: Base,
        /// The name.
        name: SmolStr,
    },
}

/// The base of a field access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Base {
    /// The entity of a name.
    Name(RefId),
    /// The result of a program.
    Call(RefId),
    /// Any other value.
    Other,
}

/// The element at an offset. An offset at the end of a word counts as on the word. None in whitespace, comments and
/// punctuation.
pub fn element_at(db: &dyn Db, file: SourceFile, offset: TextSize) -> Option<Element<'_>> {
    let root = parse(db, file).syntax();
    let token = token_at(&root, offset, weight).filter(|token| weight(token.kind()) > 0)?;
    let (statement, start) = statements(db, file).at(token.text_range().start())?;
    let range = token.text_range();
    let element = |kind| Some(Element { range, kind });
    if let Some((of, path)) = path_around(db, statement, &token, start) {
        return Some(Element { range: path, kind: ElementKind::Path(statement, of) });
    }
    let body = body(db, statement);
    let relative = range.checked_sub(start)?;
    if let Some((range, name)) = model_at(body, relative) {
        return Some(Element { range: range + start, kind: ElementKind::Model(name) });
    }
    if let Some((range, kind)) = option_value_at(body, relative).or_else(|| property_value_at(body, relative))
    {
        return Some(Element { range: range + start, kind });
    }
    match token.kind() {
        SyntaxKind::IDENT => {
            let word = words(body).find(|(range, _)| *range == relative).map(|(_, word)| word);
            let kind = match word {
                Some(word) => ElementKind::Word(statement, word),
                None => property_at(body, relative).or_else(|| option_at(body, relative))?,
            };
            element(kind)
        }
        SyntaxKind::DISCRETION_MARK => {
            let around = token.parent().and_then(|discretion| discretion.parent());
            let is_description = around.is_some_and(|around| around.kind() == SyntaxKind::INPUT);
            element(ElementKind::DiscretionMark { is_description })
        }
        SyntaxKind::TEXT | SyntaxKind::ESCAPE => element(ElementKind::Text),
        kind if kind.is_keyword() => element(ElementKind::Keyword(kind)),
        _ => None,
    }
}

/// The token that a cursor is about: of two that meet there the one that is more of a word, and the right one on a tie, since before
/// `**` the cursor is on what begins there.
pub(crate) fn token_at(
    root: &SyntaxNode,
    offset: TextSize,
    weight: fn(SyntaxKind) -> u8,
) -> Option<SyntaxToken> {
    let tokens = root.token_at_offset(offset.min(root.text_range().end()));
    tokens.max_by_key(|token| weight(token.kind()))
}

fn weight(kind: SyntaxKind) -> u8 {
    match kind {
        SyntaxKind::IDENT => 4,
        kind if kind.is_keyword() => 4,
        SyntaxKind::DISCRETION_MARK => 3,
        SyntaxKind::TEXT | SyntaxKind::ESCAPE => 2,
        // A path is one with its quotes.
        SyntaxKind::QUOTE | SyntaxKind::TRIPLE_QUOTE => 1,
        _ => 0,
    }
}

/// The path of a `use` around a token, and the import.
fn path_around(
    db: &dyn Db,
    statement: TopStatement<'_>,
    token: &SyntaxToken,
    start: TextSize,
) -> Option<(StmtId, TextRange)> {
    let string = token.parent().filter(|parent| parent.kind() == SyntaxKind::STRING)?;
    let import = string.parent().filter(|parent| parent.kind() == SyntaxKind::USE)?;
    let of = body(db, statement).stmt_at(SyntaxKind::USE, import.text_range().checked_sub(start)?)?;
    Some((of, string.text_range()))
}

/// Every word of a statement that stands for something with a name, with its bytes relative to the statement. Without names that
/// are not written, such as the `item` of a pipeline.
pub(crate) fn words(body: &Body) -> impl Iterator<Item = (TextRange, Word)> {
    let names =
        body.names().filter(|(id, _)| is_written(body, *id)).map(|(id, data)| (data.range, Word::Bound(id)));
    let refs = body.refs().map(|(id, data)| (data.range, Word::Used(id)));
    let in_exprs = body.exprs().flat_map(move |(_, data)| words_of_expr(body, &data.expr));
    let in_calls = body.stmts().flat_map(|(_, data)| match &data.stmt {
        Stmt::Call { block: Some(block), arguments } => argument_names(*block, arguments),
        _ => Vec::new(),
    });
    names.chain(refs).chain(in_exprs).chain(in_calls)
}

/// Whether a bound name is in the text.
pub(crate) fn is_written(body: &Body, name: NameId) -> bool {
    let data = &body[name];
    match (data.kind, &body[data.stmt].stmt) {
        (NameKind::ImplicitItem, _) => false,
        (NameKind::Import, Stmt::Use { has_alias, .. }) => *has_alias,
        _ => true,
    }
}

fn words_of_expr(body: &Body, expr: &Expr) -> Vec<(TextRange, Word)> {
    match expr {
        Expr::Call { callee: Some(callee), arguments } => {
            let callee = body.name_of(*callee);
            callee.map(|callee| argument_names(callee, arguments)).unwrap_or_default()
        }
        Expr::Field { base, field: Some(field) } => {
            let base = base.map_or(Base::Other, |base| base_of(body, base));
            vec![(field.range, Word::Field { base, name: field.text.clone() })]
        }
        Expr::Text(text) => text.interpolations.iter().flat_map(fields_of_path).collect(),
        _ => Vec::new(),
    }
}

fn argument_names(callee: RefId, arguments: &[Argument]) -> Vec<(TextRange, Word)> {
    let names = arguments.iter().filter_map(|argument| argument.name.as_ref());
    names.map(|name| (name.range, Word::Argument { callee, name: name.text.clone() })).collect()
}

fn fields_of_path(interpolation: &Interpolation) -> Vec<(TextRange, Word)> {
    let steps = interpolation.path.iter().enumerate();
    steps
        .filter_map(|(index, step)| match step {
            Step::Field(field) => {
                let base = if index == 0 { Base::Name(interpolation.root) } else { Base::Other };
                Some((field.range, Word::Field { base, name: field.text.clone() }))
            }
            Step::Number(_) | Step::Name(_) => None,
        })
        .collect()
}

fn base_of(body: &Body, base: ExprId) -> Base {
    match &body[base].expr {
        Expr::Name(name) => Base::Name(*name),
        Expr::Call { callee: Some(callee), .. } => body.name_of(*callee).map_or(Base::Other, Base::Call),
        _ => Base::Other,
    }
}

/// The properties of every agent and session of a statement.
fn all_properties(body: &Body) -> impl Iterator<Item = &Property> {
    body.stmts().filter_map(|(_, data)| data.stmt.properties()).flatten()
}

fn property_at<'db>(body: &Body, range: TextRange) -> Option<ElementKind<'db>> {
    let outer = all_properties(body).find(|property| property.range.contains_range(range))?;
    if outer.name.range == range {
        return Some(ElementKind::Property { parent: None, name: outer.name.text.clone() });
    }
    let entry = outer.entries.iter().flatten().find(|entry| entry.name.range == range)?;
    Some(ElementKind::Property { parent: Some(outer.name.text.clone()), name: entry.name.text.clone() })
}

/// The options of every header of a statement, with the kind of the statement that has them.
fn options(body: &Body) -> impl Iterator<Item = (SyntaxKind, &Modifier)> {
    body.stmts().flat_map(|(_, data)| {
        let options = match &data.stmt {
            Stmt::Block { options, .. } | Stmt::Parallel { options, .. } | Stmt::Loop { options, .. } => {
                options.as_slice()
            }
            _ => &[],
        };
        options.iter().map(|option| (data.syntax, option))
    })
}

fn option_at<'db>(body: &Body, range: TextRange) -> Option<ElementKind<'db>> {
    options(body).find_map(|(statement, option)| {
        let name = option.name.as_ref().filter(|name| name.range == range)?;
        Some(ElementKind::Option { statement, name: name.text.clone() })
    })
}

fn option_value_at<'db>(body: &Body, range: TextRange) -> Option<(TextRange, ElementKind<'db>)> {
    let (statement, option) = options(body).find(|(_, option)| option.range.contains_range(range))?;
    let value = option.value.filter(|value| body[*value].range.contains_range(range))?;
    let text = body.text(value).filter(|text| text.interpolations.is_empty())?;
    let name = option.name.as_ref().map(|name| name.text.clone());
    Some((
        body[value].range,
        ElementKind::OptionValue { statement, option: name, value: text.value.clone()? },
    ))
}

/// The model that a range is a part of, with its quotes.
fn model_at(body: &Body, range: TextRange) -> Option<(TextRange, SmolStr)> {
    let property = all_properties(body)
        .find(|property| property.name.text == "model" && property.range.contains_range(range))?;
    let value = property.value.filter(|value| body[*value].range.contains_range(range))?;
    let text = body.text(value)?;
    Some((body[value].range, text.value.clone()?))
}

/// The word that a property is set to, with its quotes. Other values are what they are anywhere.
fn property_value_at<'db>(body: &Body, range: TextRange) -> Option<(TextRange, ElementKind<'db>)> {
    let outer = all_properties(body).find(|property| property.range.contains_range(range))?;
    let entry = outer.entries.iter().flatten().find(|entry| entry.range.contains_range(range));
    let property = entry.unwrap_or(outer);
    let value = property.value.filter(|value| body[*value].range.contains_range(range))?;
    let word = match &body[value].expr {
        Expr::Bool(value) => SmolStr::new_static(if *value { "true" } else { "false" }),
        _ => body.text(value).filter(|text| text.interpolations.is_empty())?.value.clone()?,
    };
    let table = match entry {
        None => properties::find(&property.name.text),
        Some(_) if outer.name.text == "permissions" => properties::find_permission(&property.name.text),
        Some(_) => None,
    };
    let is_word = table.is_some_and(|table| table.word(&word).is_some());
    let parent = entry.map(|_| outer.name.text.clone());
    let kind = ElementKind::PropertyValue { parent, name: property.name.text.clone(), value: word };
    is_word.then_some((body[value].range, kind))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::testing::{analysed, expect_lines};

    #[track_caller]
    fn check(fixture: &str, expected: Expect) {
        let at = analysed(fixture);
        let db = at.host.db();
        let shown = match element_at(db, at.file, at.offset) {
            None => "nothing\n".to_owned(),
            Some(element) => {
                let kind = match &element.kind {
                    ElementKind::Word(statement, word) => of_word(body(db, *statement), word),
                    ElementKind::Path(..) => "path".to_owned(),
                    ElementKind::Property { parent: None, .. } => "property".to_owned(),
                    ElementKind::Property { parent: Some(parent), .. } => format!("entry of {parent}"),
                    ElementKind::Option { statement, .. } => format!("option of {statement:?}"),
                    ElementKind::OptionValue { option, value, .. } => format!("{option:?} is {value}"),
                    ElementKind::Model(name) => format!("model {name}"),
                    ElementKind::PropertyValue { name, value, .. } => format!("{name} is {value}"),
                    ElementKind::Keyword(keyword) => format!("{keyword:?}"),
                    ElementKind::DiscretionMark { is_description: false } => "mark".to_owned(),
                    ElementKind::DiscretionMark { is_description: true } => {
                        "mark of a description".to_owned()
                    }
                    ElementKind::Text => "text".to_owned(),
                };
                format!("{kind} {}\n", at.show(at.file, element.range))
            }
        };
        expect_lines(&shown, &expected);
    }

    fn of_word(body: &Body, word: &Word) -> String {
        match word {
            Word::Bound(name) => format!("bound {:?}", body[*name].kind),
            Word::Used(id) => format!("used {:?}", body[*id].kind),
            Word::Argument { callee, name } => format!("argument {name} of {}", body[*callee].text),
            Word::Field { base: Base::Name(base), name } => format!("field {name} of {}", body[*base].text),
            Word::Field { base: Base::Call(base), name } => format!("field {name} of {}()", body[*base].text),
            Word::Field { base: Base::Other, name } => format!("field {name}"),
        }
    }

    #[test]
    fn both_ends_of_a_word_are_on_it() {
        check("session: $0writer\n", expect!["used Agent /main.prose:1: session: «writer»"]);
        check("session: writer$0\n", expect!["used Agent /main.prose:1: session: «writer»"]);
        check("let x$0=1\n", expect!["bound Let /main.prose:1: let «x»=1"]);
        check("let x = f(a$0)\n", expect!["used Variable /main.prose:1: let x = f(«a»)"]);
        check("session$0 \"a\"\n", expect![[r#"SESSION_KW /main.prose:1: «session» "a""#]]);
        check("let x = 1$0\n", expect!["nothing"]);
        check("session: a$0", expect!["used Agent /main.prose:1: session: «a»"]);
        check("session \"{x$0}\"\n", expect![[r#"used Variable /main.prose:1: session "{«x»}""#]]);
        check("session \"{$0x}\"\n", expect![[r#"used Variable /main.prose:1: session "{«x»}""#]]);
        check("if **{x}$0 is**:\n  session \"a\"\n", expect!["text /main.prose:1: if **{x}« is»**:"]);
    }

    #[test]
    fn properties_and_options_are_distinguished() {
        check("agent a:\n  mod$0el: opus\n", expect!["property /main.prose:2: «model»: opus"]);
        check(
            "session \"a\"\n  context:\n    fi$0le: \"a.md\"\n",
            expect![[r#"entry of context /main.prose:3: «file»: "a.md""#]],
        );
        check(
            "agent a:\n  permissions:\n    net$0work: deny\n",
            expect!["entry of permissions /main.prose:3: «network»: deny"],
        );
        check(
            "loop (ma$0x: 3):\n  session \"a\"\n",
            expect!["option of LOOP /main.prose:1: loop («max»: 3):"],
        );
        check(
            "parallel (\"fir$0st\"):\n  session \"a\"\n",
            expect![[r#"None is first /main.prose:1: parallel («"first"»):"#]],
        );
        check(
            "parallel (on-fail: ign$0ore):\n  session \"a\"\n",
            expect![[r#"Some("on-fail") is ignore /main.prose:1: parallel (on-fail: «ignore»):"#]],
        );
        check(
            "block b() (max_d$0epth: 3):\n  session \"a\"\n",
            expect!["option of BLOCK_DEF /main.prose:1: block b() («max_depth»: 3):"],
        );
        check(
            "agent a:\n  model: \"$0vendor/x\"\n",
            expect![[r#"model vendor/x /main.prose:2: model: «"vendor/x"»"#]],
        );
        check(
            "agent a:\n  persist: pro$0ject\n",
            expect!["persist is project /main.prose:2: persist: «project»"],
        );
    }

    #[test]
    fn arguments_and_fields_have_their_owners() {
        check(
            "let r = research(top$0ic: 1)\n",
            expect!["argument topic of research /main.prose:1: let r = research(«topic»: 1)"],
        );
        check(
            "do review(te$0xt: 1)\n",
            expect!["argument text of review /main.prose:1: do review(«text»: 1)"],
        );
        check("let x = r.a$0.b\n", expect!["field a of r /main.prose:1: let x = r.«a».b"]);
        check("let x = r.a.b$0\n", expect!["field b /main.prose:1: let x = r.a.«b»"]);
        check(
            "let x = research().fi$0ndings\n",
            expect!["field findings of research() /main.prose:1: let x = research().«findings»"],
        );
        check(
            "session \"{r.a$0[0].b}\"\n",
            expect![[r#"field a of r /main.prose:1: session "{r.«a»[0].b}""#]],
        );
        check("session \"{r.a[0].b$0}\"\n", expect![[r#"field b /main.prose:1: session "{r.a[0].«b»}""#]]);
    }

    #[test]
    fn keywords_are_names_where_names_stand() {
        check("let inp$0ut = 1\n", expect!["bound Let /main.prose:1: let «input» = 1"]);
        check("$0input input: \"a\"\n", expect![[r#"INPUT_KW /main.prose:1: «input» input: "a""#]]);
        check("input inpu$0t: \"a\"\n", expect![[r#"bound Input /main.prose:1: input «input»: "a""#]]);
    }

    #[test]
    fn in_comments_and_space_is_nothing() {
        check("# a com$0ment\n", expect!["nothing"]);
        check("let  $0  x = 1\n", expect!["nothing"]);
        check("\n\n$0\n", expect!["nothing"]);
        check("session \"a\"\n$0", expect!["nothing"]);
        check("session \"te$0xt\"\n", expect![[r#"text /main.prose:1: session "«text»""#]]);
        check("use $0\"./a.prose\"\n", expect![[r#"path /main.prose:1: use «"./a.prose"»"#]]);
    }
}

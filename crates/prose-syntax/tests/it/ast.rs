//! The typed view of a program that uses everything.

use prose_syntax::ast::*;
use prose_syntax::{ast, parse};

/// The first node of that type in the program.
#[track_caller]
fn first<N: AstNode>(text: &str) -> N {
    parse(text).syntax().descendants().find_map(N::cast).expect("the program has such a node")
}

fn text(node: Option<impl AstNode>) -> Option<String> {
    node.map(|node| node.syntax().text().to_string())
}

#[test]
fn statements_are_distinguished() {
    let program = "use \"a\"\nlet x = 1\nx = 2\nsession \"y\"\nf()\nif **z**:\n  break\n";
    let kinds: Vec<_> = parse(program).tree().statements().map(|found| found.syntax().kind()).collect();
    use prose_syntax::SyntaxKind::*;
    assert_eq!(kinds, [USE, LET, ASSIGNMENT, SESSION, EXPR_STMT, IF]);
}

#[test]
fn definitions() {
    let path: Use = first("use \"alice/research\" as research\n");
    assert_eq!(path.path().map(|path| path.text()), Some("alice/research".into()));
    assert_eq!(path.alias().map(|name| name.text()), Some("research".into()));

    let block: BlockDef = first("block f(a, b) (max_depth: 5):\n  return a\n");
    assert_eq!(block.name().map(|name| name.text()), Some("f".into()));
    let params: Vec<_> = block.params().unwrap().params().filter_map(|param| text(param.name())).collect();
    assert_eq!(params, ["a", "b"]);
    assert_eq!(block.modifiers().filter_map(|found| text(found.value())).collect::<Vec<_>>(), ["5"]);
    assert_eq!(block.body().unwrap().statements().count(), 1);

    let binding: Let = first("const { a, b } = f(x: 1)\n");
    assert!(binding.is_const());
    assert_eq!(binding.destructuring().unwrap().names().count(), 2);
    assert_eq!(text(binding.value()), Some("f(x: 1)".into()));

    let assignment: Assignment = first("a = b\n");
    assert_eq!((text(assignment.target()), text(assignment.value())), (Some("a".into()), Some("b".into())));

    let import: Import = first("import \"a\" from \"b\"\n");
    assert_eq!((text(import.skill()), text(import.source())), (Some("\"a\"".into()), Some("\"b\"".into())));
}

#[test]
fn sessions() {
    let session: Session = first("session \"x\" (retry: 3)\n  context: [a, session \"y\"]\n");
    let names: Vec<_> = session.properties().filter_map(|property| text(property.name())).collect();
    assert_eq!(names, ["retry", "context"]);

    let named: Session = first("session report: writer\n");
    assert_eq!((text(named.name()), text(named.agent())), (Some("report".into()), Some("writer".into())));

    let array: Array = first("let a = [b, session \"y\", 3]\n");
    assert_eq!(array.items().count(), 3);
}

#[test]
fn control() {
    let each: ParallelFor = first("parallel for x, i in f(y):\n  session \"x\"\n");
    assert_eq!((text(each.item()), text(each.index())), (Some("x".into()), Some("i".into())));
    assert_eq!(text(each.collection()), Some("f(y)".into()));

    let repeat: Loop = first("loop until **done** (max: 5) as n:\n  break\n");
    assert_eq!(repeat.condition_keyword().map(|token| token.to_string()), Some("until".into()));
    assert_eq!((text(repeat.condition()), text(repeat.index())), (Some("**done**".into()), Some("n".into())));

    let tried: Try = first("try:\n  throw \"a\"\ncatch as e:\n  throw\nfinally:\n  do f\n");
    assert_eq!(tried.catches().filter_map(|clause| text(clause.error())).collect::<Vec<_>>(), ["e"]);
    assert!(tried.finally().is_some());

    let choice: Choice = first("choice **a**:\n  option \"b\":\n    do f\n  option \"c\":\n    do g\n");
    let labels: Vec<_> = choice.options().filter_map(|option| Some(option.label()?.text())).collect();
    assert_eq!(labels, ["b", "c"]);

    let test: Assert = first("assert a == \"b\": \"c\"\n");
    assert_eq!(
        (text(test.condition()), text(test.message())),
        (Some("a == \"b\"".into()), Some("\"c\"".into()))
    );
}

#[test]
fn expressions() {
    let object: Object = first("let x = { a, b: c, \"d e\": f.g }\n");
    let entries: Vec<_> = object
        .entries()
        .map(|entry| (text(entry.key()), text(entry.string_key()), text(entry.value())))
        .collect();
    assert_eq!(
        entries,
        [
            (None, None, Some("a".into())),
            (Some("b".into()), None, Some("c".into())),
            (None, Some("\"d e\"".into()), Some("f.g".into())),
        ]
    );

    let call: Call = first("let x = env(\"A\") from \".env\"\n");
    assert_eq!((text(call.callee()), text(call.source())), (Some("env".into()), Some("\".env\"".into())));

    let sum: Binary = first("let x = a + b - c\n");
    assert_eq!(sum.operands().count(), 3);
    assert_eq!(sum.operators().map(|token| token.to_string()).collect::<Vec<_>>(), ["+", "-"]);
}

#[test]
fn templates() {
    let string: Str = first("session \"a\\n{b.c[0]} { d }\"\n");
    assert_eq!(string.text(), "a\n{b.c[0]} { d }");
    let roots: Vec<_> = string
        .parts()
        .filter_map(|part| match part {
            ast::Part::Interpolation(node) => text(node.root()),
            _ => None,
        })
        .collect();
    assert_eq!(roots, ["b"]);
    let interpolation: Interpolation = first("session \"{b.c[0]}\"\n");
    assert_eq!(interpolation.path().map(|token| token.to_string()).collect::<String>(), ".c[0]");

    let empty: Str = first("session \"\"\n");
    assert!(empty.content_range().is_empty());
    let unterminated: Str = first("session \"ab\n");
    assert_eq!(u32::from(unterminated.content_range().len()), 2);
    let condition: Discretion = first("if ***a***:\n  break\n");
    assert!(condition.is_triple());
}

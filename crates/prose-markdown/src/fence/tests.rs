use expect_test::{Expect, expect};
use proptest::prelude::*;
use prose_syntax::{Code, Diagnostic, Fix, TextEdit, TextRange, TextSize};

use crate::{Fence, programs};

/// The lines of the programs of a document, each after the bar that stands where it starts in the document.
#[track_caller]
fn check(document: &str, expect: Expect) {
    let mut shown = String::new();
    for program in programs(document) {
        shown += &format!("program {}\n", program.number);
        let mut start = 0;
        for line in program.text.split_inclusive('\n') {
            let at = usize::from(program.in_document(size(start)));
            let before = document[..at].rfind('\n').map_or(0, |before| before + 1);
            shown += &format!("{}|{}\n", &document[before..at], line.escape_debug());
            start += line.len();
        }
    }
    expect.assert_eq(&shown);
}

#[test]
fn only_blocks_of_the_language_are_programs() {
    check(
        "
# Title, with `prose` and prose

```prose
session \"one\"
```

```rust
fn prose() {}
```

~~~~ openprose
session \"two\"
~~~
~~~~~

    ```prose
    not a fence
    ```

<!--
```prose
a comment
```
-->

``` Prose title=\"x\"
session \"three\"
```
",
        expect![[r#"
            program 1
            |session \"one\"\n
            program 2
            |session \"two\"\n
            |~~~\n
            program 3
            |session \"three\"\n
        "#]],
    );
}

#[test]
fn a_block_can_be_ignored_and_counts_nevertheless() {
    check(
        "```prose,ignore\nsession\n```\n``` prose ignore\n```\n```prose {.ignored}\nsession \"a\"\n```\n",
        expect![[r#"
            program 3
            |session \"a\"\n
        "#]],
    );
}

#[test]
fn the_marks_of_containers_are_no_part_of_a_program() {
    check(
        "
- item

  ```prose
  loop:
    session \"a\"

    session \"b\"
  ```
- 1. ```prose
     session \"c\"
     ```

> - quoted
>
>   ```prose
>   loop:
>     session \"d\"
>
>     session \"e\"
>   ```

  ```prose
  loop:
    session \"f\"
 session \"g\"
session \"h\"
   ```
",
        expect![[r#"
            program 1
              |loop:\n
              |  session \"a\"\n
            |\n
              |  session \"b\"\n
            program 2
                 |session \"c\"\n
            program 3
            >   |loop:\n
            >   |  session \"d\"\n
            >|\n
            >   |  session \"e\"\n
            program 4
              |loop:\n
              |  session \"f\"\n
             |session \"g\"\n
            |session \"h\"\n
        "#]],
    );
}

#[test]
fn a_block_without_an_end_ends_with_what_holds_it() {
    check(
        "> ```prose\n> session \"a\"\n\n- ```prose\n  session \"b\"\n\ntext\n\n```prose\nsession \"c\"",
        expect![[r#"
            program 1
            > |session \"a\"\n
            program 2
              |session \"b\"\n
            |\n
            program 3
            |session \"c\"
        "#]],
    );
    check("```prose", expect![""]);
    check("```prose\n", expect!["program 1\n"]);
}

#[test]
fn line_breaks_and_tabs_are_what_stands_in_the_document() {
    check(
        "1. ```prose\r\n   a\r\n\r\n   b\r\n   ```\r\n> ```prose\n>\ta\n>\t\tb\n> ```\n",
        expect![[r#"
            program 1
               |a\r\n
            |\r\n
               |b\r\n
            program 2
            >|\ta\n
            >|\t\tb\n
        "#]],
    );
}

#[test]
fn places_outside_of_the_lines_of_a_program_are_in_none() {
    let document = "a\n\n> ```prose\n> bc\n> ```\n\nd\n";
    let program = &programs(document)[0];
    let inside: Vec<(usize, u32)> = (0..=document.len())
        .filter_map(|offset| Some((offset, program.in_text(size(offset))?.into())))
        .collect();
    // The mark of the quote, and the line break.
    assert_eq!(inside, [(14, 0), (15, 0), (16, 0), (17, 1), (18, 2)]);
    let whole = TextRange::new(size(0), size(document.len()));
    assert_eq!(program.range_in_text(whole), Some(TextRange::new(size(0), size(3))));
    assert_eq!(program.range_in_text(TextRange::new(size(0), size(13))), None);
    assert_eq!(program.range_in_text(TextRange::new(size(19), size(28))), None);

    // After a block that is not closed yet one continues typing.
    assert_eq!(programs("```prose\n")[0].in_text(size(9)), Some(size(0)));
    assert_eq!(programs("```prose\na\n")[0].in_text(size(11)), Some(size(2)));
    assert_eq!(programs("```prose\n```")[0].in_text(size(9)), None);
}

#[test]
fn new_lines_start_as_the_others_do() {
    let document = "> - ```prose\n>   session \"a\"\n>\n>   ```\n";
    let program = &programs(document)[0];
    let edited = |range: std::ops::Range<usize>, new_text: &str| {
        let edit = TextEdit::replace(TextRange::new(size(range.start), size(range.end)), new_text);
        applied(document, &program.edit_in_document(&edit))
    };
    expect![[r#"
        > - ```prose
        >   agent x:
        >     model: sonnet
        >
        >   session "a"
        >
        >   ```
    "#]]
    .assert_eq(&edited(0..0, "agent x:\n  model: sonnet\n\n"));
    expect![[r#"
        > - ```prose
        >   session "a"
        >   session "b"
        >   ```
    "#]]
    .assert_eq(&edited(12..12, "session \"b\""));
    expect![[r#"
        > - ```prose
        >   session "a"
        >
        >   session "b"
        >   ```
    "#]]
    .assert_eq(&edited(13..13, "session \"b\"\n"));
    expect![[r#"
        > - ```prose
        >   session "a"
        >   ```
    "#]]
    .assert_eq(&edited(12..13, ""));
}

#[test]
fn diagnostics_move_with_their_fixes() {
    let document = "1. ```prose\n   session \"a\"\n   ```\n";
    let program = &programs(document)[0];
    let range = TextRange::new(size(8), size(11));
    let fix = Fix::safe("Split", vec![TextEdit::replace(range, "\"b\"\n\"c\"")]);
    let diagnostic = Diagnostic::new(Code::E001, range, "odd").with_related(range, "here").with_fix(fix);
    let moved = program.diagnostic_in_document(&diagnostic);
    let place = TextRange::new(size(23), size(26));
    assert_eq!((moved.range, moved.related[0].range), (place, place));
    let edits = moved.fix.unwrap().edits;
    assert_eq!(applied(document, &edits[0]), "1. ```prose\n   session \"b\"\n   \"c\"\n   ```\n");
}

fn applied(text: &str, edit: &TextEdit) -> String {
    let mut text = text.to_owned();
    text.replace_range(std::ops::Range::<usize>::from(edit.range), &edit.new_text);
    text
}

fn size(offset: usize) -> TextSize {
    TextSize::new(u32::try_from(offset).unwrap())
}

/// Documents of pieces that mean something in Markdown, in any order.
fn documents() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => Just("```prose\n"),
        4 => Just("```\n"),
        1 => Just("~~~~prose\n"),
        1 => Just("~~~~\n"),
        1 => Just("```prose,ignore\n"),
        3 => Just("session \"é😀\"\n"),
        1 => Just("  - x\n"),
        1 => Just("    y\n"),
        2 => Just("\n"),
        1 => Just("\r\n"),
        1 => Just("a\r\n"),
        1 => Just("b\rc\n"),
        3 => Just("> "),
        2 => Just(">"),
        3 => Just("- "),
        1 => Just("1. "),
        1 => Just("\t"),
        4 => Just("  "),
        1 => Just(" "),
        1 => Just("<!--\n"),
        1 => Just("-->\n"),
        1 => Just("text"),
    ];
    prop::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat())
}

/// What the parser itself says the texts are.
fn texts(document: &str) -> Vec<String> {
    use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};
    let mut texts = Vec::new();
    let mut current = None;
    for event in Parser::new_ext(document, Options::empty()) {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) if &*info == "prose" => {
                current = Some(String::new());
            }
            Event::Text(text) => {
                if let Some(current) = &mut current {
                    *current += &text;
                }
            }
            Event::End(TagEnd::CodeBlock) => texts.extend(current.take()),
            _ => {}
        }
    }
    texts
}

fn check_places(document: &str, program: &Fence) -> Result<(), TestCaseError> {
    let text = &program.text;
    for offset in 0..=text.len() {
        let there = usize::from(program.in_document(size(offset)));
        prop_assert!(there <= document.len());
        if offset < text.len() {
            prop_assert_eq!(text.as_bytes()[offset], document.as_bytes()[there]);
            prop_assert_eq!(program.in_text(size(there)), Some(size(offset)));
        }
    }
    let mut last = 0;
    for there in 0..=document.len() {
        let Some(here) = program.in_text(size(there)).map(usize::from) else { continue };
        prop_assert!(here >= last && here <= text.len(), "{} goes back", there);
        last = here;
        let back = usize::from(program.in_document(size(here)));
        // What comes before a line means its start.
        prop_assert!(back >= there && !document.as_bytes()[there..back].contains(&b'\n'));
        prop_assert_eq!(document.is_char_boundary(there), text.is_char_boundary(here));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn every_place_of_a_program_is_the_same_byte_of_the_document(document in documents()) {
        for program in programs(&document) {
            check_places(&document, &program)?;
        }
    }

    #[test]
    fn programs_are_what_the_parser_says(document in documents()) {
        // Of tabs and line breaks the parser makes others.
        let document = document.replace(['\r', '\t'], "");
        let ours: Vec<String> = programs(&document).iter().map(|program| program.text.to_string()).collect();
        let theirs = texts(&document);
        // A block that has no line yet is not a program.
        let theirs = &theirs[..ours.len().max(theirs.len().saturating_sub(1)).min(theirs.len())];
        prop_assert_eq!(ours, theirs);
    }

    #[test]
    fn an_edit_of_a_program_is_one_of_the_document(
        container in prop::collection::vec(prop_oneof![Just(("> ", "> ")), Just(("- ", "  ")), Just(("1. ", "   "))], 0..3),
        indentation in 0..4usize,
        lines in prop::collection::vec(prop_oneof![Just(""), Just("a b"), Just("  é"), Just("x:")], 0..5),
        at in (any::<usize>(), any::<usize>()),
        new_lines in prop::collection::vec(prop_oneof![Just(""), Just("n"), Just("  m")], 1..4),
    ) {
        let first: String = container.iter().map(|(first, _)| *first).collect();
        let other: String = container.iter().map(|(_, other)| *other).collect();
        let indentation = " ".repeat(indentation);
        let mut document = format!("{first}{indentation}```prose\n");
        for line in &lines {
            let written = if line.is_empty() { other.trim_end().to_owned() } else { format!("{other}{indentation}{line}") };
            document += &format!("{written}\n");
        }
        document += &format!("{other}{indentation}```\n");
        let program = &programs(&document)[0];
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        prop_assert_eq!(&*program.text, &text);

        let boundaries: Vec<usize> = (0..=text.len()).filter(|at| text.is_char_boundary(*at)).collect();
        let (a, b) = (boundaries[at.0 % boundaries.len()], boundaries[at.1 % boundaries.len()]);
        let mut new_text = new_lines.join("\n");
        // The closing fence has a line of its own.
        if a.max(b) == text.len() && !new_text.is_empty() {
            new_text.push('\n');
        } else if a.max(b) == text.len() && a.min(b) > 0 && !text[..a.min(b)].ends_with('\n') {
            new_text = "\n".to_owned();
        }
        // An empty program in a list is one line with a mark of its own.
        let edit = TextEdit::replace(TextRange::new(size(a.min(b)), size(a.max(b))), new_text);
        let edited = applied(&document, &program.edit_in_document(&edit));
        prop_assert_eq!(&*programs(&edited)[0].text, applied(&text, &edit), "{}", edited);
    }
}

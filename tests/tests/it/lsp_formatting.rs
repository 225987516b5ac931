//! Formatting, over the wire.

use expect_test::{Expect, expect};
use prose_tests::lsp::{LspClient, applied, range};
use serde_json::{Value, json};

const URI: &str = "file:///program.prose";
const GUIDE_URI: &str = "file:///guide.md";

const MESSY: &str = "agent  writer :
    model:opus
let a=session   \"😀  one\"   # why
if **it is   good**:
      session:writer
else :
      session \"two\"
";

const OPTIONS: fn() -> Value = || json!({ "tabSize": 8, "insertSpaces": false });

#[track_caller]
fn check(uri: &str, text: &str, method: &str, more: Value, expected: Expect) {
    let (mut client, _) = LspClient::initialized(json!({}));
    client.open(uri, 1, text);
    let mut params = json!({ "textDocument": { "uri": uri }, "options": OPTIONS() });
    params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let edits = client.ask(method, params);
    // Spaces alone on a line would not be seen.
    expected.assert_eq(&applied(text, &edits).replace("\n  \n", "\n··\n"));
    client.shut_down();
}

#[test]
fn a_file_is_formatted_in_the_one_style_whatever_the_client_is_set_to() {
    check(
        URI,
        MESSY,
        "textDocument/formatting",
        json!({}),
        expect![[r#"
        agent writer:
          model: opus
        let a = session "😀  one"  # why
        if **it is   good**:
          session: writer
        else:
          session "two"
    "#]],
    );
}

#[test]
fn what_is_formatted_needs_no_edits() {
    let (mut client, _) = LspClient::initialized(json!({}));
    client.open(URI, 1, "session \"one\"\r\nsession \"two\"\r\n");
    let params = json!({ "textDocument": { "uri": URI }, "options": OPTIONS() });
    assert_eq!(client.request("textDocument/formatting", params)["result"], json!([]));
    client.shut_down();
}

#[test]
fn line_endings_stay() {
    let (mut client, _) = LspClient::initialized(json!({}));
    let text = "if **a**:\r\n    session   \"one\"\r\n";
    client.open(URI, 1, text);
    let params = json!({ "textDocument": { "uri": URI }, "options": OPTIONS() });
    let edits = client.request("textDocument/formatting", params)["result"].clone();
    assert_eq!(applied(text, &edits), "if **a**:\r\n  session \"one\"\r\n");
    client.shut_down();
}

#[test]
fn broken_statements_stay_as_they_are() {
    check(
        URI,
        "session   \"one\"\nsession   \"two\nsession   \"three\"\n",
        "textDocument/formatting",
        json!({}),
        expect![[r#"
            session "one"
            session   "two
            session "three"
        "#]],
    );
}

#[test]
fn a_selection_is_formatted_alone() {
    check(
        URI,
        MESSY,
        "textDocument/rangeFormatting",
        json!({ "range": range((2, 5), (2, 6)) }),
        expect![[r#"
            agent  writer :
                model:opus
            let a = session "😀  one"   # why
            if **it is   good**:
                  session:writer
            else :
                  session "two"
        "#]],
    );
}

const GUIDE: &str = "# A   guide

```prose
session   \"one\"
if **a**:
    session   \"two\"
```

> - Another:
>
>   ```prose
>   do:
>       session   \"three\"
>   ```

```prose ignore
session   \"four\"
```
";

#[test]
fn the_programs_of_a_document_are_formatted_and_nothing_else_of_it() {
    check(
        GUIDE_URI,
        GUIDE,
        "textDocument/formatting",
        json!({}),
        expect![[r##"
        # A   guide

        ```prose
        session "one"
        if **a**:
          session "two"
        ```

        > - Another:
        >
        >   ```prose
        >   do:
        >     session "three"
        >   ```

        ```prose ignore
        session   "four"
        ```
    "##]],
    );
    check(
        GUIDE_URI,
        GUIDE,
        "textDocument/rangeFormatting",
        json!({ "range": range((7, 0), (12, 9)) }),
        expect![[r##"
            # A   guide

            ```prose
            session   "one"
            if **a**:
                session   "two"
            ```

            > - Another:
            >
            >   ```prose
            >   do:
            >     session "three"
            >   ```

            ```prose ignore
            session   "four"
            ```
        "##]],
    );
}

#[test]
fn a_line_below_a_colon_is_indented_and_a_clause_goes_back() {
    let typed = |ch: &str, line: usize, character: usize| json!({ "ch": ch, "position": { "line": line, "character": character } });
    check(
        URI,
        "if **a**:\n\n",
        "textDocument/onTypeFormatting",
        typed("\n", 1, 0),
        expect![[r#"
            if **a**:
            ··
        "#]],
    );
    check(
        URI,
        "if **a**:\n  session \"one\"\n  else:\n",
        "textDocument/onTypeFormatting",
        typed(":", 2, 7),
        expect![[r#"
            if **a**:
              session "one"
            else:
        "#]],
    );
    check(
        GUIDE_URI,
        "> ```prose\n> if **a**:\n>   session \"one\"\n>   else:\n> ```\n",
        "textDocument/onTypeFormatting",
        typed(":", 3, 9),
        expect![[r#"
            > ```prose
            > if **a**:
            >   session "one"
            > else:
            > ```
        "#]],
    );
    check(
        GUIDE_URI,
        "else:\n\n```prose\nsession \"one\"\n```\n",
        "textDocument/onTypeFormatting",
        typed(":", 0, 5),
        expect![[r#"
            else:

            ```prose
            session "one"
            ```
        "#]],
    );
}

#[test]
fn the_text_of_a_prompt_is_not_indented_as_one_types() {
    check(
        URI,
        "session \"\"\"\n  Note this:\n\n\"\"\"\n",
        "textDocument/onTypeFormatting",
        json!({ "ch": "\n", "position": { "line": 2, "character": 0 } }),
        expect![[r#"
            session """
              Note this:

            """
        "#]],
    );
}

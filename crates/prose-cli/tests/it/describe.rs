//! `prose describe`: a program explained on a page.

use expect_test::{Expect, expect};

use crate::common::Workspace;

#[track_caller]
fn check(files: &[(&str, &str)], expected: Expect) {
    let run = Workspace::new(files).prose(&["describe", "main.prose"]).ended(0);
    expected.assert_eq(&run.stdout);
}

#[test]
fn a_program_is_explained_on_a_page() {
    let main = r#"# Reviews a text.
use "./lib/style.prose" as style

input topic: "What to write about"
input tone: "Optional: the tone, such as *dry*"

agent writer:
  model: opus
  persist: project
  prompt: """
    You write clearly.
    And briefly.
  """
  skills: ["prose"]
  permissions:
    read: ["docs/"]
    write: ["drafts/"]
    bash: deny

agent critic:
  prompt: "You `check`"

block improve(text) (max_depth: 2):
  session: critic
    prompt: "Check {text}"
  if **it is good**:
    return text
  elif **it is hopeless**:
    throw "hopeless"
  else:
    return do improve(text)

let draft = session: writer
  prompt: "Write about {topic}"
parallel:
  a = do improve(draft)
  b = style(text: draft)
try:
  loop until **done** (max: 3):
    session "Polish {a} {b}"
catch as problem:
  session "Explain {problem}"
output result = draft
"#;
    let style = "input text: \"The text\"\noutput styled = session \"Style {text}\"\n";
    check(
        &[("main.prose", main), ("lib/style.prose", style)],
        expect![[r##"
            # main.prose

            ## Inputs

            - `topic`: What to write about
            - `tone` (may be left out): Optional: the tone, such as \*dry\*

            ## Outputs

            - `result`

            ## Agents

            ### writer (line 7)

            You write clearly.

            - model: `opus`
            - memory: kept with the project
            - rights: `read: ["docs/"]`, `write: ["drafts/"]`, `bash: deny`
            - skills: `prose`

            ### critic (line 20)

            You \`check\`

            - memory: none
            - rights: those of the backend; the program restricts nothing

            ## Flow

            - `let draft = session: writer` (line 33): Write about {topic}
            - `parallel` (line 35)
              - `a = do improve(draft)` (line 36)
              - `b = style(text: draft)` (line 37)
            - `try` (line 38)
              - `loop until **done** (max: 3)` (line 39)
                - `session "Polish {a} {b}"` (line 40)
            - `catch as problem` (line 41)
              - `session "Explain {problem}"` (line 42)
            - `output result = draft` (line 43)

            ### Block improve

            - `block improve(text) (max_depth: 2)` (line 23)
              - `session: critic` (line 24): Check {text}
              - `if **it is good**` (line 26)
                - `return text` (line 27)
              - `elif **it is hopeless**` (line 28)
                - `throw "hopeless"` (line 29)
              - `else` (line 30)
                - `return do improve(text)` (line 31)

            ## Worst case

            At most 8 sessions and at most 19 decisions (3–8 sessions).

            One call of a block:

            - `improve`: 1–2 sessions

            ## Imports

            - `./lib/style.prose` as `style`: takes `text`; local, with the rights of this program
        "##]],
    );
}

#[test]
fn what_has_no_limit_is_named() {
    check(
        &[("main.prose", "let xs = session \"List\"\nfor x in xs:\n  session \"Do {x}\"\n")],
        expect![[r##"
            # main.prose

            ## Inputs

            None.

            ## Outputs

            None.

            ## Agents

            None: sessions use the settings of the backend.

            ## Flow

            - `let xs = session "List"` (line 1)
            - `for x in xs` (line 2)
              - `session "Do {x}"` (line 3)

            ## Worst case

            Any number of sessions and any number of decisions (1 or more sessions · unbounded (line 2)).

            - nothing limits line 2 of main.prose: the number of items of `xs` is only known in the run

            ## Imports

            None.
        "##]],
    );
    check(
        &[("main.prose", "output a = 1\n")],
        expect![[r#"
        # main.prose

        ## Inputs

        None.

        ## Outputs

        - `a`

        ## Agents

        None: sessions use the settings of the backend.

        ## Flow

        - `output a = 1` (line 1)

        ## Worst case

        At most 0 sessions (0 sessions).

        ## Imports

        None.
    "#]],
    );
}

#[test]
fn a_program_with_errors_is_not_explained() {
    let workspace = Workspace::new(&[("main.prose", "session: nobody\n")]);
    let run = workspace.prose(&["describe", "main.prose"]).ended(2);
    assert!(run.stdout.is_empty() && run.stderr.contains("E007"), "{run:?}");
}

#[test]
fn options_are_listed_below_their_choice() {
    let program = "choice **what to do**:\n  option \"Ship\":\n    session \"Ship it\"\n    if **it is late**:\n      session \"Hurry\"\n  \
                   option \"Wait\":\n    session \"Sleep\"\nsession \"Report\"\n";
    let workspace = Workspace::new(&[("main.prose", program)]);
    let shown = workspace.prose(&["describe", "main.prose"]).stdout;
    let flow = shown.split("## Flow\n\n").nth(1).and_then(|rest| rest.split("\n\n## ").next());
    expect![[r#"
        - `choice **what to do**` (line 1)
          - `option "Ship"` (line 2)
            - `session "Ship it"` (line 3)
            - `if **it is late**` (line 4)
              - `session "Hurry"` (line 5)
          - `option "Wait"` (line 6)
            - `session "Sleep"` (line 7)
        - `session "Report"` (line 8)"#]]
    .assert_eq(flow.unwrap_or_default());
}

#[test]
fn agents_of_imported_programs_are_listed_with_their_program() {
    let files = [
        (
            "main.prose",
            "use \"./lib/style.prose\" as style\nuse \"./lib/words.prose\" as words\nlet a = style()\nlet b = words()\n",
        ),
        (
            "lib/style.prose",
            "use \"./words.prose\" as words\nlet w = words()\nagent editor:\n  model: opus\nsession: editor\n  prompt: \"Edit\"\n",
        ),
        (
            "lib/words.prose",
            "agent reader:\n  permissions:\n    bash: deny\nsession: reader\n  prompt: \"Count\"\n",
        ),
    ];
    let shown = Workspace::new(&files).prose(&["describe", "main.prose"]).ended(0).stdout;
    let agents = shown.split("## Agents\n\n").nth(1).and_then(|rest| rest.split("\n\n## ").next());
    expect![[r#"
        ### editor (lib/style.prose:3)

        - model: `opus`
        - memory: none
        - rights: those of the backend; the program restricts nothing

        ### reader (lib/words.prose:1)

        - memory: none
        - rights: `bash: deny`"#]]
    .assert_eq(agents.unwrap_or_default());
}

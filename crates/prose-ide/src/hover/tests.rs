//! What is shown for each kind of word.

use expect_test::{Expect, expect};

use super::*;
use crate::testing::{analysed, expect_lines};

#[track_caller]
fn check(fixture: &str, expected: Expect) {
    let at = analysed(fixture);
    let shown = match hover(at.host.db(), at.file, at.offset) {
        None => "nothing\n".to_owned(),
        Some(hover) => format!("{}\n\n{}\n", at.show(at.file, hover.range), hover.markdown),
    };
    expect_lines(&shown, &expected);
}

#[test]
fn a_code_that_is_switched_off_is_explained() {
    check(
        "session \"a\" # prose: ignore[W1$005] it is only an example\n",
        expect![[r#"
            /main.prose:1: session "a" # prose: ignore[«W105»] it is only an example

            **`W105`** — variable declared again in an inner body

            The name is already declared around this body, and bodies have no variables of their own: `let` gives the outer variable a new value. Write `name = …` instead.
        "#]],
    );
    check("session \"a\" # not about W1$005\n", expect!["nothing"]);
}

#[test]
fn a_block_that_calls_itself_has_a_limit() {
    check(
        "block dig$0(n):\n  do dig(n)\ndo dig(1)\n",
        expect![[r#"
        /main.prose:1: block «dig»(n):

        ```prose
        block dig(n):
        ```

        Recursive, without `max_depth:`: at most 100 nested calls.

        Called by block `dig` in line 2, the program in line 3
    "#]],
    );
    check(
        "block dig$0(n) (max_depth: 3):\n  do dig(n)\n",
        expect![[r#"
        /main.prose:1: block «dig»(n) (max_depth: 3):

        ```prose
        block dig(n) (max_depth: 3):
        ```

        Recursive, up to `max_depth:`.

        Called by block `dig` in line 2
    "#]],
    );
}

#[test]
fn an_agent_is_shown_with_what_it_may_do() {
    check(
        r#"
            # Finds sources, and <b>never</b> guesses.
            # ---------------------------------------
            # Needs `web-search`.
            agent scout:
              model: fast
              persist: project
              skills: ["web-search", "pdf"]
              permissions:
                read: ["notes/**"]
                bash: deny
              prompt: """
                You find sources on {topic}.
                  - name each
              """
            let topic = "tides"
            session: scou$0t
              prompt: "Go"
            "#,
        expect![[r#"
                /main.prose:16: session: «scout»

                ```prose
                agent scout:
                ```

                Finds sources, and \<b>never\</b> guesses.
                Needs `web-search`.

                - Model: `fast`
                - Memory: kept with the project, in `.prose/agents/scout/`
                - Skills: `["web-search", "pdf"]`
                - Permissions:
                  - `read`: `["notes/**"]`
                  - `bash`: `deny`

                ```text
                You find sources on {topic}.
                  - name each
                ```

                Used in line 16
            "#]],
    );
    check(
        "agent plain$0:\n  persist: \".memory/plain\"\n",
        expect![[r#"
            /main.prose:1: agent «plain»:

            ```prose
            agent plain:
            ```

            - Model: the default of the harness
            - Memory: kept at its own path, in `.memory/plain`
        "#]],
    );
    check(
        "agent a:\n  persist: user\nagent b:\n  persist: true\nresume: $0b\n",
        expect![[r#"
            /main.prose:5: resume: «b»

            ```prose
            agent b:
            ```

            - Model: the default of the harness
            - Memory: kept with the run, in `.prose/runs/…/agents/b/`

            Used in line 5
        "#]],
    );
}

#[test]
fn a_block_is_shown_with_its_calls() {
    check(
        r#"
            let x = 1 # not about the block
            # Judges a text.
            block review(text, depth) (max_depth: 5):
              output verdict = session "Judge {text}"
              output reason = session "Why?"
              do review(text, depth)
            do rev$0iew("a", 2)
            "#,
        expect![[r#"
            /main.prose:7: do «review»("a", 2)

            ```prose
            block review(text, depth) (max_depth: 5):
            ```

            Judges a text.

            Outputs: `verdict`, `reason`

            Recursive, up to `max_depth:`.

            Called by block `review` in line 6, the program in line 7
        "#]],
    );
    check(
        "block unused$0:\n  session \"a\"\n",
        expect![[r#"
                /main.prose:1: block «unused»:

                ```prose
                block unused:
                ```

                Never called
            "#]],
    );
}

#[test]
fn a_comment_at_the_start_of_a_program_is_not_about_its_first_input() {
    check(
        "# Writes an article.\n# In two rounds.\ninput topic$0: \"What about?\"\nsession \"{topic}\"\n",
        expect![[r#"
            /main.prose:3: input «topic»: "What about?"

            ```prose
            input topic: "What about?"
            ```

            input `topic`, line 3

            Read in line 4
        "#]],
    );
    check(
        "# Writes an article.\n\n# What it is about.\ninput topic$0: \"What about?\"\nsession \"{topic}\"\n",
        expect![[r#"
            /main.prose:4: input «topic»: "What about?"

            ```prose
            input topic: "What about?"
            ```

            input `topic`, line 4

            What it is about.

            Read in line 5
        "#]],
    );
}

#[test]
fn a_variable_is_shown_with_its_bindings() {
    check(
        r#"
            # The text that is worked on.
            let draft = session "Write"
              retry: 3
            repeat 3:
              draft = session "Improve"
            output text = draf$0t
            "#,
        expect![[r#"
            /main.prose:6: output text = «draft»

            ```prose
            let draft = session "Write"
            ```

            variable `draft`, line 2

            The text that is worked on.

            Assigned again in line 5

            Read in line 6
        "#]],
    );
    check(
        "for city, i in [\"Oslo\"]:\n  session \"{cit$0y}\"\n",
        expect![[r#"
            /main.prose:2: session "{«city»}"

            ```prose
            for city, i in ["Oslo"]:
            ```

            loop variable `city`, line 1

            Read in line 2
        "#]],
    );
    check(
        "block b(text):\n  let own = text\n  session \"{own$0}\"\n",
        expect![[r#"
            /main.prose:3: session "{«own»}"

            ```prose
            let own = text
            ```

            variable `own` of block `b`, line 2

            Read in line 3
        "#]],
    );
    check(
        "if **a**:\n  x = 1\nelse:\n  x = 2\nsession \"{$0x}\"\n",
        expect![[r#"
            /main.prose:5: session "{«x»}"

            ```prose
            x = 1
            x = 2
            ```

            variable `x`, line 2

            Read in line 5
        "#]],
    );
    check(
        "let all = [1] | map:\n  session \"{ite$0m}\"\n",
        expect![[r#"
            /main.prose:2: session "{«item»}"

            ```prose
            [1] | map:
            ```

            pipeline variable `item`, line 1

            Read in line 2
        "#]],
    );
}

#[test]
fn an_input_is_shown_with_its_description() {
    check(
        "input topic: \"What to read on\"\nsession \"{topic$0}\"\n",
        expect![[r#"
            /main.prose:2: session "{«topic»}"

            ```prose
            input topic: "What to read on"
            ```

            input `topic`, line 1

            Read in line 2
        "#]],
    );
    check(
        "input topic: ***\n  What to read on,\n    in detail\n***\nsession \"{topic$0}\"\n",
        expect![[r#"
            /main.prose:5: session "{«topic»}"

            ```prose
            input topic: ***
            ```

            input `topic`, line 1

            ```text
            What to read on,
              in detail
            ```

            Read in line 5
        "#]],
    );
}

const LIBRARY: &str = r#"
        //- /lib/research.prose
        # Reads what there is on a topic.

        input topic: "What to read on"
        input depth: "Optional: how deep to dig"
        output findings = session "Read on {topic}"
        output sources = session "Name the sources"
        //- /main.prose
"#;

#[track_caller]
fn check_import(main: &[&str], expected: Expect) {
    let main: String = main.iter().map(|line| format!("        {line}\n")).collect();
    check(&format!("{LIBRARY}{main}"), expected);
}

#[test]
fn an_import_is_shown_with_its_contract() {
    check_import(
        &["use \"./lib/rese$0arch.prose\" as read"],
        expect![[r#"
            /main.prose:1: use «"./lib/research.prose"» as read

            ```prose
            use "./lib/research.prose" as read
            ```

            `/lib/research.prose`

            Reads what there is on a topic.

            Inputs:
            - `topic`: What to read on
            - `depth` (optional): Optional: how deep to dig

            Outputs:
            - `findings`
            - `sources`
        "#]],
    );
    check_import(
        &["use \"./lib/research.prose\" as read", "let r = re$0ad(topic: \"x\")"],
        expect![[r#"
                /main.prose:2: let r = «read»(topic: "x")

                ```prose
                use "./lib/research.prose" as read
                ```

                `/lib/research.prose`

                Reads what there is on a topic.

                Inputs:
                - `topic`: What to read on
                - `depth` (optional): Optional: how deep to dig

                Outputs:
                - `findings`
                - `sources`
            "#]],
    );
    check(
        "use \"./miss$0ing.prose\"\n",
        expect![[r#"
            /main.prose:1: use «"./missing.prose"»

            ```prose
            use "./missing.prose"
            ```

            There is no program at this path.
        "#]],
    );
    check(
        "use \"alice/$0research\"\n",
        expect![[r#"
            /main.prose:1: use «"alice/research"»

            ```prose
            use "alice/research"
            ```

            A program in a registry
        "#]],
    );
    check(
        "use \"$0\"\n",
        expect![[r#"
            /main.prose:1: use «""»

            ```prose
            use ""
            ```
        "#]],
    );
}

#[test]
fn what_goes_in_and_comes_out_is_shown() {
    let import = "use \"./lib/research.prose\" as read";
    check_import(
        &[import, "let r = read(topic$0: \"x\")"],
        expect![[r#"
            /main.prose:2: let r = read(«topic»: "x")

            ```prose
            input topic: "What to read on"
            ```

            input `topic` of `/lib/research.prose`, line 3
        "#]],
    );
    check_import(
        &[import, "let r = read(topic: \"x\")", "session \"{r$0.findings}\""],
        expect![[r#"
            /main.prose:3: session "{«r».findings}"

            ```prose
            let r = read(topic: "x")
            ```

            variable `r`, line 2

            A result of `/lib/research.prose`, with `findings`, `sources`

            Read in line 3
        "#]],
    );
    check_import(
        &[import, "let r = read(topic: \"x\")", "session \"{r.findings$0}\""],
        expect![[r#"
                /main.prose:3: session "{r.«findings»}"

                ```prose
                output findings = session "Read on {topic}"
                ```

                output `findings` of `/lib/research.prose`, line 5
            "#]],
    );
    check_import(
        &[import, "let { sour$0ces } = read(topic: \"x\")"],
        expect![[r#"
                /main.prose:2: let { «sources» } = read(topic: "x")

                ```prose
                let { sources } = read(topic: "x")
                ```

                variable `sources`, line 2

                ---

                ```prose
                output sources = session "Name the sources"
                ```

                output `sources` of `/lib/research.prose`, line 6
            "#]],
    );
}

#[test]
fn words_of_the_language_are_explained() {
    check(
        "repea$0t 3:\n  session \"a\"\n",
        expect![[r#"
            /main.prose:1: «repeat» 3:

            **`repeat`** — Runs its body a number of times.

            The index after `as` counts from 0.

            ```prose
            repeat 3 as turn:
              session "Suggest a title that is unlike the {turn} before"
            ```
        "#]],
    );
    check(
        "session \"a\"\n  ret$0ry: 3\n",
        expect![[r#"
            /main.prose:2: «retry»: 3

            **`retry:`** — The number of retries of a failed session.

            The first attempt does not count: `retry: 2` makes at most three attempts. `backoff:` sets the delay between attempts.

            ```prose
            session "Fetch the weather report"
              retry: 3
              backoff: exponential
            ```
        "#]],
    );
    check(
        "agent a:\n  permissions:\n    ba$0sh: deny\n",
        expect![[r#"
            /main.prose:3: «bash»: deny

            **`bash:`** — Whether the agent may run shell commands: `allow`, `deny` or `prompt`, which asks first.

            ```prose
            agent clerk:
              permissions:
                bash: deny

            session: clerk
              prompt: "Sort the notes"
            ```
        "#]],
    );
    check(
        "parallel (on-fail$0: \"ignore\"):\n  session \"a\"\n",
        expect![[r#"
            /main.prose:1: parallel («on-fail»: "ignore"):

            **`on-fail:`** of `parallel` — What happens to the other branches when one fails: `"fail-fast"`, `"continue"` or `"ignore"`.

            - `"fail-fast"` — Cancels the other branches and fails. This is the default.
            - `"continue"` — Lets the other branches finish, and continues with the error as the value of the failed one.
            - `"ignore"` — Continues as if the branch had not failed; its value is `null`.
        "#]],
    );
    check(
        "loop until $0**done** (max: 3):\n  session \"a\"\n",
        expect![[r#"
            /main.prose:1: loop until «**»done** (max: 3):

            **`**…**`** — A condition that a model judges.

            It is judged by its meaning, with all results so far in view. If the model is not sure, the condition does not hold. Names in braces are interpolated. Between `***` the text may span several lines and contain `**`.

            ```prose
            if **the report names no sources**:
              session "Find sources for the report"
            ```
        "#]],
    );
    check(
        "agent a:\n  model: op$0us\n",
        expect![[r#"
            /main.prose:2: model: «opus»

            **`opus`** — a built-in model. The host chooses the version.
        "#]],
    );
    check(
        "agent a:\n  model: \"vendor/mod$0el-1\"\n",
        expect![[r#"
                /main.prose:2: model: «"vendor/model-1"»

                **`vendor/model-1`** — a model id, passed to the host unchanged
            "#]],
    );
}

#[test]
fn what_options_are_set_to_is_explained() {
    check(
        "parallel (\"an$0y\", count: 2):\n  session \"a\"\n",
        expect![[r#"
            /main.prose:1: parallel («"any"», count: 2):

            **`"any"`** — Waits for one branch that succeeds, or for `count` branches.
        "#]],
    );
    check(
        "parallel (on-fail: \"cont$0inue\"):\n  session \"a\"\n",
        expect![[r#"
            /main.prose:1: parallel (on-fail: «"continue"»):

            **`"continue"`** — Lets the other branches finish, and continues with the error as the value of the failed one.
        "#]],
    );
    check("parallel (\"so$0me\"):\n  session \"a\"\n", expect!["nothing"]);
}

#[test]
fn words_in_braces_are_names_or_text() {
    check(
        "let x = 1\nloop until **{x$0} is enough** (max: 3):\n  session \"a\"\n",
        expect![[r#"
            /main.prose:2: loop until **{«x»} is enough** (max: 3):

            ```prose
            let x = 1
            ```

            variable `x`, line 1

            Read in line 2
        "#]],
    );
    check(
        "session \"\"\"\n  Greet {na$0me}\n\"\"\"\n",
        expect![[r#"
            /main.prose:2: Greet {«name»}

            `{name}` is literal text: nothing in this file has this name.
        "#]],
    );
    check("session \"Greet {na$0me}\"\n", expect!["nothing"]);
}

#[test]
fn markup_in_programs_is_shown_as_it_is() {
    check(
        "# *a* [link](http://x) `co[d]e` \\\n# # title [`\nlet x$0 = \"```\"\n",
        expect![[r#"
                /main.prose:3: let «x» = "```"

                ````prose
                let x = "```"
                ````

                variable `x`, line 3

                \*a\* \[link](http://x) `co[d]e` \\
                \# title \[`
            "#]],
    );
}

#[test]
fn elsewhere_is_nothing() {
    check("$0", expect!["nothing"]);
    check("session \"wo$0rd\"\n", expect!["nothing"]);
    check("session \"a\" # com$0ment\n", expect!["nothing"]);
    check("session \"a\"\n\n$0\n", expect!["nothing"]);
    check("agent a:\n  unkn$0own: 3\n", expect!["nothing"]);
    check("wibble wob$0ble\n", expect!["nothing"]);
}

#[test]
fn what_properties_are_set_to_is_explained() {
    check(
        "agent a:\n  persist: pro$0ject\n",
        expect![[r#"
            /main.prose:2: persist: «project»

            **`project`** of `persist:` — The memory is kept in the project, across runs.
        "#]],
    );
    check(
        "agent a:\n  persist: tr$0ue\n",
        expect![[r#"
        /main.prose:2: persist: «true»

        **`true`** of `persist:` — The memory lasts as long as the run.
    "#]],
    );
    check(
        "agent a:\n  permissions:\n    bash: de$0ny\n",
        expect![[r#"
            /main.prose:3: bash: «deny»

            **`deny`** of `bash:` — Denied.
        "#]],
    );
    check(
        "session \"a\"\n  retry: 2\n  backoff: \"line$0ar\"\n",
        expect![[r#"
            /main.prose:3: backoff: «"linear"»

            **`linear`** of `backoff:` — The delay is the same before every retry.
        "#]],
    );
    check("session \"a\"\n  prompt: \"allo$0w\"\n", expect!["nothing"]);
}

#[test]
fn a_variable_of_a_clause_or_a_stage_is_shown_with_its_own_line() {
    check(
        "try:\n  session \"a\"\ncatch as problem:\n  throw \"{pro$0blem}\"\n",
        expect![[r#"
        /main.prose:4: throw "{«problem»}"

        ```prose
        catch as problem:
        ```

        error variable `problem`, line 3

        An error, with `message`, `kind`, `line`, `statement`, `attempts`

        Read in line 4
    "#]],
    );
    check(
        "let all = [1]\n  | filter:\n    session \"Is {item} odd?\"\n  | map:\n    session \"{ite$0m}\"\n",
        expect![[r#"
            /main.prose:5: session "{«item»}"

            ```prose
            | map:
            ```

            pipeline variable `item`, line 4

            Read in line 5
        "#]],
    );
}

#[test]
fn results_with_parts_name_them() {
    check(
        "block judge:\n  output verdict = 1\n  output reason = 2\nlet r$0 = do judge\n",
        expect![[r#"
            /main.prose:4: let «r» = do judge

            ```prose
            let r = do judge
            ```

            variable `r`, line 4

            A result of block `judge`, with `verdict`, `reason`
        "#]],
    );
    check(
        "let r$0 = parallel:\n  tides = session \"a\"\n  moon = session \"b\"\n",
        expect![[r#"
        /main.prose:1: let «r» = parallel:

        ```prose
        let r = parallel:
        ```

        variable `r`, line 1

        The results of the branches `tides`, `moon`
    "#]],
    );
}

#[test]
fn the_text_of_an_input_is_not_judged() {
    check(
        "input topic: $0**What to read on**\n",
        expect![[r#"
            /main.prose:1: input topic: «**»What to read on**

            **`**…**`** — A description of the input, which a model may rephrase.

            A text in quotes is shown to the user unchanged. Names in braces are interpolated.
        "#]],
    );
}

#[test]
fn inputs_of_several_lines_are_shown_with_their_first() {
    check(
        "//- /main.prose\nuse \"./l$0ib.prose\"\n//- /lib.prose\ninput depth: \"\"\"\n  Optional: how deep\n  to go\n\"\"\"\n",
        expect![[r#"
            /main.prose:1: use «"./lib.prose"»

            ```prose
            use "./lib.prose"
            ```

            `/lib.prose`

            Inputs:
            - `depth` (optional): Optional: how deep

            No outputs.
        "#]],
    );
}

#[test]
fn parts_of_objects_are_shown_as_they_are_written() {
    check(
        "const config = {\n  style: \"plain\",\n}\nsession \"{config.sty$0le}\"\n",
        expect![[r#"
            /main.prose:4: session "{config.«style»}"

            ```prose
            style: "plain",
            ```

            entry `style`, line 2
        "#]],
    );
}

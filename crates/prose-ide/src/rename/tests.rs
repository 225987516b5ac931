use expect_test::{Expect, expect};
use prose_syntax::{Fix, fix};

use super::*;
use crate::testing::{analysed, expect_lines};

/// The lines that change, in every file; or why nothing does.
#[track_caller]
fn check(fixture: &str, new_name: &str, expected: Expect) {
    let at = analysed(fixture);
    let db = at.host.db();
    let shown = match rename(db, &at.files, at.file, at.offset, new_name) {
        Err(refusal) => format!("{refusal}\n"),
        Ok(edits) => {
            let prepared = prepare_rename(db, at.file, at.offset).expect("what is renamed can be renamed");
            let mut shown = format!("{}\n", at.show(at.file, prepared.range));
            for FileEdits { file, edits } in edits {
                let before = file.text(db).as_str();
                let after = fix::apply(before, [&Fix::safe("Rename", edits)]).text;
                let path = file.path(db).display();
                for (index, (before, after)) in before.lines().zip(after.lines()).enumerate() {
                    if before != after {
                        shown += &format!("{path}:{}: {}\n", index + 1, after.trim_start());
                    }
                }
            }
            shown
        }
    };
    expect_lines(&shown, &expected);
}

/// Why the word at the cursor has no name that could be changed.
#[track_caller]
fn check_refused(fixture: &str, expected: Expect) {
    let at = analysed(fixture);
    let refusal = prepare_rename(at.host.db(), at.file, at.offset).expect_err("nothing can be renamed here");
    let renamed = rename(at.host.db(), &at.files, at.file, at.offset, "fresh");
    assert_eq!(renamed, Err(refusal.clone()));
    expected.assert_eq(&refusal.reason);
}

#[test]
fn variables_are_renamed_in_code_texts_and_conditions() {
    check(
        r#"
        input $0topic: "What about"
        session "Read on {topic}"
          context: topic
        loop until **{topic} is known** (max: 3):
          topic = session "Narrow {topic.part[0]} down, not {tonic}"
        agent writer:
          prompt: """
            On {topic}, not on topic.
          """
        "#,
        "subject",
        expect![[r#"
            /main.prose:1: input «topic»: "What about"
            /main.prose:1: input subject: "What about"
            /main.prose:2: session "Read on {subject}"
            /main.prose:3: context: subject
            /main.prose:4: loop until **{subject} is known** (max: 3):
            /main.prose:5: subject = session "Narrow {subject.part[0]} down, not {tonic}"
            /main.prose:8: On {subject}, not on topic.
        "#]],
    );
}

#[test]
fn agents_blocks_and_parameters_are_renamed() {
    check(
        r#"
        agent critic:
          persist: true
        let critic = session: critic
        resume: cri$0tic
          context: critic
        "#,
        "judge",
        expect![[r#"
            /main.prose:4: resume: «critic»
            /main.prose:1: agent judge:
            /main.prose:3: let critic = session: judge
            /main.prose:4: resume: judge
        "#]],
    );
    check(
        r#"
        do revi$0ew(text: "x")
        block review(text):
          session "{text}"
        "#,
        "judge",
        expect![[r#"
            /main.prose:1: do «review»(text: "x")
            /main.prose:1: do judge(text: "x")
            /main.prose:2: block judge(text):
        "#]],
    );
    check(
        r#"
        let text = "y"
        block review(te$0xt, depth):
          session "{text}"
          do review(text: text, depth: depth - 1)
        do review(text: text, depth: 2)
        "#,
        "draft",
        expect![[r#"
            /main.prose:2: block review(«text», depth):
            /main.prose:2: block review(draft, depth):
            /main.prose:3: session "{draft}"
            /main.prose:4: do review(draft: draft, depth: depth - 1)
            /main.prose:5: do review(draft: text, depth: 2)
        "#]],
    );
}

#[test]
fn names_of_bodies_are_renamed_in_their_bodies() {
    check(
        r#"
        let item = "a"
        for it$0em, i in ["b", item]:
          session "{item} {i}"
          item = session "next"
        session "{item}"
        "#,
        "part",
        expect![[r#"
            /main.prose:2: for «item», i in ["b", item]:
            /main.prose:2: for part, i in ["b", item]:
            /main.prose:3: session "{part} {i}"
            /main.prose:4: part = session "next"
        "#]],
    );
    check(
        "repeat 3 as turn:\n  session \"{tur$0n}\"\n",
        "round",
        expect![[r#"
        /main.prose:2: session "{«turn»}"
        /main.prose:1: repeat 3 as round:
        /main.prose:2: session "{round}"
    "#]],
    );
    check(
        "try:\n  session \"a\"\ncatch as problem:\n  session \"{problem$0.message}\"\n",
        "error",
        expect![[r#"
            /main.prose:4: session "{«problem».message}"
            /main.prose:3: catch as error:
            /main.prose:4: session "{error.message}"
        "#]],
    );
    check(
        "let x = [1] | reduce(s$0um, it):\n  session \"{sum} {it}\"\n",
        "total",
        expect![[r#"
            /main.prose:1: let x = [1] | reduce(«sum», it):
            /main.prose:1: let x = [1] | reduce(total, it):
            /main.prose:2: session "{total} {it}"
        "#]],
    );
    check(
        "for x, i$0 in [1]:\n  session \"{x} {i}\"\n",
        "index",
        expect![[r#"
        /main.prose:1: for x, «i» in [1]:
        /main.prose:1: for x, index in [1]:
        /main.prose:2: session "{x} {index}"
    "#]],
    );
}

const RESEARCH: &str = r#"
    //- /lib/research.prose
    input topic: "What to research"
    let found = session "Research {topic}"
    output findings = found
"#;

#[test]
fn inputs_are_renamed_where_programs_give_them() {
    check(
        &format!(
            r#"{RESEARCH}
    //- /main.prose
    use "./lib/research.prose"
    let topic = "x"
    let r = research(to$0pic: topic)
    //- /other.prose
    use "./lib/research.prose" as look
    output all = look(topic: "x").findings
    "#
        ),
        "subject",
        expect![[r#"
            /main.prose:3: let r = research(«topic»: topic)
            /lib/research.prose:1: input subject: "What to research"
            /lib/research.prose:2: let found = session "Research {subject}"
            /main.prose:3: let r = research(subject: topic)
            /other.prose:2: output all = look(subject: "x").findings
        "#]],
    );
}

#[test]
fn outputs_are_renamed_where_programs_take_them() {
    check(
        &format!(
            r#"{RESEARCH}
    //- /main.prose
    use "./lib/research.prose"
    let r = research(topic: "x")
    session "Sum up {{r.findi$0ngs}}"
      context: {{ r.findings }}
    let o = {{ r.findings }}
    output all = research(topic: "y").findings
    //- /other.prose
    use "./lib/research.prose" as look
    let {{ findings }} = look(topic: "x")
    session "Read {{findings}}"
      context: findings
    let o = {{ findings, key: findings }}
    "#
        ),
        "facts",
        expect![[r#"
            /main.prose:3: session "Sum up {r.«findings»}"
            /lib/research.prose:3: output facts = found
            /main.prose:3: session "Sum up {r.facts}"
            /main.prose:4: context: { r.facts }
            /main.prose:5: let o = { findings: r.facts }
            /main.prose:6: output all = research(topic: "y").facts
            /other.prose:2: let { facts } = look(topic: "x")
            /other.prose:3: session "Read {facts}"
            /other.prose:4: context: facts
            /other.prose:5: let o = { findings: facts, key: facts }
        "#]],
    );
}

#[test]
fn a_destructured_variable_is_called_like_its_output() {
    check(
        &format!(
            r#"{RESEARCH}
    //- /main.prose
    use "./lib/research.prose"
    let {{ findings }} = research(topic: "x")
    session "{{findin$0gs}}"
    //- /other.prose
    use "./main.prose" as main
    use "./lib/research.prose"
    output x = research(topic: "y").findings
    "#
        ),
        "facts",
        expect![[r#"
            /main.prose:3: session "{«findings»}"
            /main.prose:2: let { facts } = research(topic: "x")
            /main.prose:3: session "{facts}"
            /lib/research.prose:3: output facts = found
            /other.prose:3: output x = research(topic: "y").facts
        "#]],
    );
    check(
        r#"
        block review(text):
          output verdict = session "Judge {text}"
          output reason = session "Why"
        let { verdict, reason } = do review("x")
        let r = do review("y")
        session "{r.verdict} {ver$0dict}"
        "#,
        "sentence",
        expect![[r#"
            /main.prose:6: session "{r.verdict} {«verdict»}"
            /main.prose:2: output sentence = session "Judge {text}"
            /main.prose:4: let { sentence, reason } = do review("x")
            /main.prose:6: session "{r.sentence} {sentence}"
        "#]],
    );
}

#[test]
fn an_output_that_is_passed_on_by_its_name_is_renamed_all_the_way() {
    check(
        r#"
        //- /a.prose
        output repo$0rt = session "Write"
        //- /b.prose
        use "./a.prose" as a
        let { report } = a()
        output report = report
        //- /c.prose
        use "./b.prose" as b
        session "{r.report}"
        let r = b()
        "#,
        "paper",
        expect![[r#"
            /a.prose:1: output «report» = session "Write"
            /a.prose:1: output paper = session "Write"
            /b.prose:2: let { paper } = a()
            /b.prose:3: output paper = paper
            /c.prose:2: session "{r.paper}"
        "#]],
    );
}

#[test]
fn programs_are_renamed_with_their_alias() {
    check(
        r#"
        use "alice/research" as re$0ad
        let r = read(topic: "zero")
        let s = read(topic: r)
        "#,
        "study",
        expect![[r#"
            /main.prose:1: use "alice/research" as «read»
            /main.prose:1: use "alice/research" as study
            /main.prose:2: let r = study(topic: "zero")
            /main.prose:3: let s = study(topic: r)
        "#]],
    );
    check(
        r#"
        use "./lib/research.prose"  # for facts
        let r = rese$0arch(topic: "zero")
        "#,
        "study",
        expect![[r#"
            /main.prose:2: let r = «research»(topic: "zero")
            /main.prose:1: use "./lib/research.prose" as study  # for facts
            /main.prose:2: let r = study(topic: "zero")
        "#]],
    );
    check(
        "use \"./lib/rese$0arch.prose\"\nlet r = research()\n",
        "study",
        expect![[r#"
        /main.prose:1: use "./lib/«research».prose"
        /main.prose:1: use "./lib/research.prose" as study
        /main.prose:2: let r = study()
    "#]],
    );
}

#[test]
fn a_path_that_is_being_typed_gets_no_alias() {
    check(
        "let r = research()\nuse \"./lib/rese$0arch.prose",
        "study",
        expect![[r#"the path that names `research` is not closed; add a `"` after it first"#]],
    );
    check(
        "let r = research()\nuse \"./lib/rese$0arch.prose\nlet é = 1\n",
        "study",
        expect![[r#"the path that names `research` is not closed; add a `"` after it first"#]],
    );
}

#[test]
fn keys_of_objects_stay_and_labels_of_contexts_go_along() {
    check(
        r#"
        let dra$0ft = session "Write"
        let parts = { draft, essay: draft, other: draft }
        session "Judge {parts.draft}"
          context: { draft }
        "#,
        "essay",
        expect![[r#"
            /main.prose:1: let «draft» = session "Write"
            /main.prose:1: let essay = session "Write"
            /main.prose:2: let parts = { draft: essay, essay: essay, other: essay }
            /main.prose:4: context: { essay }
        "#]],
    );
}

#[test]
fn the_name_that_is_there_changes_nothing() {
    check("let x$0 = 1\n", "x", expect!["/main.prose:1: let «x» = 1"]);
}

#[test]
fn what_is_no_name_is_refused() {
    check(
        "let x$0 = 1\n",
        "2nd",
        expect!["`2nd` is not a valid name; use letters, digits, `_` and `-`, starting with a letter or `_`"],
    );
    check(
        "let x$0 = 1\n",
        "two words",
        expect![
            "`two words` is not a valid name; use letters, digits, `_` and `-`, starting with a letter or `_`"
        ],
    );
    check(
        "let x$0 = 1\n",
        "",
        expect!["`` is not a valid name; use letters, digits, `_` and `-`, starting with a letter or `_`"],
    );
}

#[test]
fn keywords_are_names_where_the_grammar_lets_them_be() {
    check(
        "input topi$0c: \"x\"\nsession \"{topic}\"\n",
        "context",
        expect![[r#"
        /main.prose:1: input «topic»: "x"
        /main.prose:1: input context: "x"
        /main.prose:2: session "{context}"
    "#]],
    );
    check(
        "let x$0 = 1\nlet y = [x]\n",
        "true",
        expect!["`true` is a keyword and would be parsed as one in place of `x`"],
    );
    check(
        "let x$0 = 1\noutput y = x\n",
        "session",
        expect!["`session` is a keyword and would be parsed as one in place of `x`"],
    );
}

#[test]
fn keys_of_objects_keep_their_names() {
    check(
        "const config = { depth: 1 }\nsession \"{config.dep$0th}\"\n",
        "level",
        expect!["`depth` is a key of an object, and other uses of the object are not known"],
    );
}

#[test]
fn hyphens_are_refused_where_no_name_has_them() {
    check(
        "let r = parallel:\n  a$0 = session \"x\"\n  b = session \"y\"\nsession \"{r.a}\"\n",
        "first-draft",
        expect!["`first-draft` has a hyphen, which is not allowed in some uses of `a`; use `first_draft`"],
    );
    check(
        "let a$0 = 1\nsession \"{a}\"\n",
        "first-draft",
        expect![[r#"
        /main.prose:1: let «a» = 1
        /main.prose:1: let first-draft = 1
        /main.prose:2: session "{first-draft}"
    "#]],
    );
}

#[test]
fn names_that_others_have_are_refused() {
    check(
        "let x$0 = 1\nlet y = 2\nsession \"{x} {y}\"\n",
        "y",
        expect!["`y` is the name of something else already, in line 2"],
    );
    check(
        "agent a$0:\n  model: opus\nagent b:\n  model: opus\nsession: a\n",
        "b",
        expect!["`b` is the name of something else already, in line 3"],
    );
    check(
        "block a$0:\n  session \"x\"\nagent b:\n  model: opus\ndo a\n",
        "b",
        expect![[r#"
        /main.prose:1: block «a»:
        /main.prose:1: block b:
        /main.prose:5: do b
    "#]],
    );
    check(
        "block a(x$0, y):\n  session \"{x} {y}\"\n",
        "y",
        expect!["`y` is the name of something else already, in line 1"],
    );
    check("let x$0 = 1\nsession \"{y}\"\n", "y", expect!["`y` in line 2 would then mean this variable"]);
    check(
        "let x$0 = 1\nsession \"\"\"\n  {x} {y}\n\"\"\"\n",
        "y",
        expect!["`y` in line 3 would then mean this variable"],
    );
}

#[test]
fn names_that_others_would_hide_are_refused() {
    check(
        "let x$0 = 1\nfor y in [1]:\n  session \"{x} {y}\"\n",
        "y",
        expect!["something else is called `y` in line 3 already, and would hide this variable there"],
    );
    check(
        "let x = 1\nfor y$0 in [1]:\n  session \"{x} {y}\"\n",
        "x",
        expect!["`x` in line 3 would then mean this loop variable"],
    );
    check(
        &format!(
            r#"{RESEARCH}
    //- /main.prose
    use "./lib/research.prose"
    let facts = 1
    let {{ findings }} = research(topic: "x")
    session "{{findings$0}} {{facts}}"
    "#
        ),
        "facts",
        expect!["`facts` is the name of something else already, in line 2"],
    );
}

#[test]
fn programs_of_the_network_keep_their_names() {
    let fixture = |main: &str| {
        format!(
            "//- /main.prose\nuse \"alice/research\"\n{main}\n//- alice/research\ninput topic: \"x\"\noutput findings = session \"{{topic}}\"\n"
        )
    };
    check(
        &fixture("let r = research(top$0ic: \"x\")"),
        "subject",
        expect!["`topic` is used in `alice/research`, which came from the network and cannot be changed"],
    );
    check(
        &fixture("let r = research(topic: \"x\").find$0ings"),
        "facts",
        expect!["`findings` is used in `alice/research`, which came from the network and cannot be changed"],
    );
    check(
        &fixture("let { findings } = research(topic: \"x\")\nsession \"{find$0ings}\""),
        "facts",
        expect!["`findings` is used in `alice/research`, which came from the network and cannot be changed"],
    );
    check(
        &fixture("let r = rese$0arch(topic: \"x\")"),
        "study",
        expect![[r#"
            /main.prose:2: let r = «research»(topic: "x")
            /main.prose:1: use "alice/research" as study
            /main.prose:2: let r = study(topic: "x")
        "#]],
    );
    check_refused(
        "//- /main.prose\nuse \"alice/research\"\n//- alice/research\noutput find$0ings = 1\n",
        expect!["cannot rename in a copy of a program from the network"],
    );
}

#[test]
fn names_from_programs_that_are_not_known_stay() {
    check(
        "use \"alice/research\"\nlet { find$0ings } = research(topic: \"x\")\n",
        "facts",
        expect![
            "`findings` is an output of `research`, which is not loaded; bind the result with `let` and use `result.findings`"
        ],
    );
    check_refused(
        "use \"alice/research\"\nlet r = research(top$0ic: \"x\")\n",
        expect!["`topic` is an input of `research`, which is not loaded or has no such input"],
    );
}

#[test]
fn where_nothing_has_a_name_nothing_is_renamed() {
    check_refused("sess$0ion \"x\"\n", expect!["keywords of the language cannot be renamed"]);
    check_refused("session \"some wo$0rds\"\n", expect!["text cannot be renamed; only names in braces can"]);
    check_refused("agent a:\n  mod$0el: opus\n", expect!["keywords of the language cannot be renamed"]);
    check_refused("agent a:\n  model: op$0us\n", expect!["names of models cannot be renamed"]);
    check_refused("let x = 1 # com$0ment\n", expect!["there is no name here to rename"]);
    check_refused("let x = nob$0ody\n", expect!["`nobody` is not defined in this program"]);
    check_refused(
        "let x = [1] | map:\n  session \"{ite$0m}\"\n",
        expect!["`item` is the fixed name in `map`, `filter` and `pmap` and cannot be renamed"],
    );
    check_refused(
        "use \"./a$0.prose\" as a\n",
        expect!["a path cannot be renamed; rename `a` after `as` instead"],
    );
}

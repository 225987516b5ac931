//! What can be written at the cursor.

use std::path::PathBuf;
use std::sync::Arc;

use crate::support::{expect_lines, load};
use expect_test::{Expect, expect};
use prose_analysis::host::Project;
use prose_fixture::Fixture;
use prose_ide::completion::{Completion, PathCandidates, completions};

fn at_cursor(fixture: &str) -> (String, Vec<Completion>) {
    let fixture = Fixture::parse(fixture);
    let (mut host, files) = load(&fixture);
    let (index, offset) = fixture.cursor.expect("the fixture has a cursor");
    let models = [("fast".into(), "vendor/fast-1".to_owned())];
    let models = Arc::new(models.into_iter().collect());
    let registry = files[index].project(host.db()).registry.clone();
    host.set_project(files[index], Project { models, registry, ..Project::default() });
    let paths: (Vec<&str>, Vec<&str>) =
        fixture.files.iter().map(|file| file.path.as_str()).partition(|path| path.starts_with('/'));
    let paths = PathCandidates {
        local: paths.0.into_iter().map(PathBuf::from).collect(),
        known: paths.1.into_iter().map(str::to_owned).collect(),
    };
    let items = completions(host.db(), files[index], offset, &paths);
    (fixture.files[index].text.clone(), items)
}

/// Each completion with all that is shown of it and written for it.
#[track_caller]
fn check(fixture: &str, expected: Expect) {
    let (_, items) = at_cursor(fixture);
    let mut shown = String::new();
    for item in &items {
        let kind = format!("{:?}", item.kind).to_lowercase();
        shown += &format!("{} ({kind}", item.label);
        if let Some(detail) = &item.detail {
            shown += &format!(", {detail}");
        }
        let written = item.snippet.as_ref().unwrap_or(&item.text);
        shown += &match *written == item.label {
            true => ")\n".to_owned(),
            false => format!(") {}\n", written.replace('\n', "⏎")),
        };
    }
    expect_lines(&shown, &expected);
}

/// The labels alone.
#[track_caller]
fn check_labels(fixture: &str, expected: Expect) {
    let (_, items) = at_cursor(fixture);
    let labels: Vec<&str> = items.iter().map(|item| item.label.as_str()).collect();
    expected.assert_eq(&labels.join(" | "));
}

/// The text once the completion of that label is accepted, without snippets.
#[track_caller]
fn check_accepted(fixture: &str, label: &str, expected: &str) {
    let (mut text, items) = at_cursor(fixture);
    let item = items.iter().find(|item| item.label == label).unwrap_or_else(|| panic!("{items:#?}"));
    text.replace_range(std::ops::Range::<usize>::from(item.range), &item.text);
    assert_eq!(text, expected);
}

#[test]
fn a_line_of_the_file_starts_with_any_statement() {
    check(
        r#"
        agent writer:
          model: opus
        agent tutor:
          persist: project
        block review(text, depth):
          session "Review {text}"
        s$0
        "#,
        expect![[r#"
            session (keyword) session "$1"
            resume (keyword) resume: $1
            let (keyword) let ${1:name} = $0
            const (keyword) const ${1:name} = $0
            output (keyword) output ${1:name} = $0
            input (keyword) input ${1:name}: "${2:what it is for}"
            use (keyword) use "$1"
            agent (keyword) agent ${1:name}:⏎  model: ${2:sonnet}⏎  prompt: "$0"
            block (keyword) block ${1:name}($2):⏎  $0
            do (keyword) do:⏎  $0
            parallel (keyword) parallel:⏎  $0
            parallel for (keyword) parallel for ${1:item} in ${2:items}:⏎  $0
            for (keyword) for ${1:item} in ${2:items}:⏎  $0
            repeat (keyword) repeat ${1:3}:⏎  $0
            loop (keyword) loop until **${1:it is done}** (max: ${2:5}):⏎  $0
            if (keyword) if **$1**:⏎  $0
            choice (keyword) choice **${1:which}**:⏎  option "${2:label}":⏎    $0
            try (keyword) try:⏎  $1⏎catch as ${2:error}:⏎  $0
            throw (keyword) throw "$1"
            return (keyword) return $0
            assert (keyword) assert ${1:condition}: "${2:message}"
            session: writer (agent, agent · opus) session: writer⏎  prompt: "$1"
            session: tutor (agent, agent · persistent) session: tutor⏎  prompt: "$1"
            resume: tutor (agent, agent · persistent) resume: tutor⏎  prompt: "$1"
            do review (block, block · (text, depth)) do review(${1:text}, ${2:depth})
            session, long prompt (keyword) session """⏎  $1⏎"""
            session, with retries (keyword) session "$1"⏎  retry: ${2:3}⏎  backoff: ${3|exponential,linear,none|}
            agent, with memory (keyword) agent ${1:name}:⏎  model: ${2:sonnet}⏎  persist: ${3|true,project,user|}⏎  prompt: "$0"
            agent, with permissions (keyword) agent ${1:name}:⏎  model: ${2:sonnet}⏎  prompt: "$3"⏎  permissions:⏎    read: ["${4:docs/**}"]⏎    bash: ${5|deny,prompt,allow|}
            parallel, first or any (keyword) parallel ("${1|first,any,all|}", on-fail: "${2|continue,ignore,fail-fast|}"):⏎  $0
            for, with index (keyword) for ${1:item}, ${2:index} in ${3:items}:⏎  $0
            loop while (keyword) loop while **${1:something is open}** (max: ${2:5}):⏎  $0
            loop, ends with break (keyword) loop (max: ${1:10}):⏎  $0
            if else (keyword) if **$1**:⏎  $2⏎else:⏎  $0
            if elif else (keyword) if **$1**:⏎  $2⏎elif **$3**:⏎  $4⏎else:⏎  $0
            try finally (keyword) try:⏎  $1⏎finally:⏎  $0
        "#]],
    );
}

#[test]
fn clauses_follow_what_they_belong_to_and_jumps_stand_in_loops() {
    check_labels(
        "if **so**:\n  session \"A\"\nel$0\n",
        expect![
            "elif | else | session | resume | let | const | output | input | use | agent | block | do | parallel | parallel for | for | repeat | loop | if | choice | try | throw | return | assert | session, long prompt | session, with retries | agent, with memory | agent, with permissions | parallel, first or any | for, with index | loop while | loop, ends with break | if else | if elif else | try finally"
        ],
    );
    check_labels(
        "try:\n  session \"A\"\n$0\n",
        expect![
            "catch | finally | session | resume | let | const | output | input | use | agent | block | do | parallel | parallel for | for | repeat | loop | if | choice | try | throw | return | assert | session, long prompt | session, with retries | agent, with memory | agent, with permissions | parallel, first or any | for, with index | loop while | loop, ends with break | if else | if elif else | try finally"
        ],
    );
    check_labels(
        "block b:\n  for x in [1]:\n    br$0\n",
        expect![
            "session | resume | let | const | output | input | do | parallel | parallel for | for | repeat | loop | if | choice | try | throw | return | assert | break | continue | do b | session, long prompt | session, with retries | parallel, first or any | for, with index | loop while | loop, ends with break | if else | if elif else | try finally | x"
        ],
    );
    check_labels("choice **which**:\n  o$0\n", expect!["option"]);
    check_labels("choice **which**:\n  option \"A\":\n    session \"A\"\n  $0\n", expect!["option"]);
}

#[test]
fn properties_that_are_missing_are_offered_where_they_are_of_use() {
    check(
        r#"
        agent writer:
          model: opus
          p$0
          prompt: "You write"
        "#,
        expect![[r#"
            skills (property, property) skills: ["$1"]
            permissions (property, property) permissions:⏎  ${1:read}: ["${2:**}"]
            persist (property, property) persist: 
        "#]],
    );
    check(
        r#"
        agent writer:
          model: opus
        session: writer
          context: []
          $0
        "#,
        expect![[r#"
            prompt (property, property) prompt: "$1"
            permissions (property, property) permissions:⏎  ${1:read}: ["${2:**}"]
            retry (property, property) retry: ${1:3}
            backoff (property, property) backoff: 
            timeout (property, property) timeout: ${1:120s}
            early_exit (property, property) early_exit: **$1**
            model (property, property) model: 
        "#]],
    );
    check_labels(
        "resume: writer\n  $0\n",
        expect!["prompt | context | permissions | retry | backoff | timeout | early_exit"],
    );
    check_labels(
        "let x = session \"A\"\n  $0",
        expect!["prompt | context | permissions | retry | backoff | timeout | early_exit | model"],
    );
    check_labels(
        "session \"A\" ($0)\n",
        expect!["prompt | context | permissions | retry | backoff | timeout | early_exit | model"],
    );
    check_labels(
        "session \"A\" (retry: 3, $0\n",
        expect!["prompt | context | permissions | backoff | timeout | early_exit | model"],
    );
    check_labels(
        "parallel:\n  a = session: writer\n    prompt: \"\"\"\n  x: y\n    \"\"\"\n    $0\n",
        expect!["context | permissions | retry | backoff | timeout | early_exit | model"],
    );
}

#[test]
fn a_property_that_has_its_colon_is_given_none() {
    check_accepted("session \"A\"\n  ret$0: 3\n", "retry", "session \"A\"\n  retry: 3\n");
    check_accepted("session \"A\"\n  ret$0\n", "retry", "session \"A\"\n  retry: \n");
    check_accepted("session \"A\"\n  con$0\n", "context", "session \"A\"\n  context: \n");
    check_accepted("agent a:\n  perm$0\n", "permissions", "agent a:\n  permissions:\n");
}

#[test]
fn what_stands_after_the_word_is_kept() {
    let agent = "agent writer:\n  model: opus\n";
    check_accepted(
        &format!("{agent}sess$0 \"Say hello\"\n"),
        "session",
        &format!("{agent}session \"Say hello\"\n"),
    );
    check_accepted("i$0f **so**:\n  session \"A\"\n", "for", "for **so**:\n  session \"A\"\n");
    check_accepted("session \"A\"\n  promp$0 \"text\"\n", "prompt", "session \"A\"\n  prompt: \"text\"\n");
    let (_, items) = at_cursor(&format!("{agent}ses$0: writer\n"));
    assert!(items.iter().all(|item| item.snippet.is_none() && item.label != "session: writer"), "{items:#?}");
    let (_, items) = at_cursor("session \"A\"\n  promp$0 \"text\"\n");
    assert!(items.iter().all(|item| item.snippet.is_none()), "{items:#?}");
    let (_, items) = at_cursor("session \"A\"\n  promp$0 # a comment\n");
    assert!(items.iter().any(|item| item.snippet.is_some()));
}

#[test]
fn values_of_properties_come_from_the_tables() {
    check(
        "agent writer:\n  model: $0\n",
        expect![[r#"
        sonnet (value)
        opus (value)
        haiku (value)
        fast (value, vendor/fast-1)
    "#]],
    );
    check_labels("agent writer:\n  persist: p$0\n", expect!["true | project | user | false"]);
    check_labels("session \"A\"\n  retry: 2\n  backoff: $0\n", expect!["none | linear | exponential"]);
    check_labels("session \"A\"\n  backoff: \"$0\"\n", expect!["none | linear | exponential"]);
    check_accepted("session \"A\"\n  backoff: \"li$0\n", "linear", "session \"A\"\n  backoff: \"linear\"\n");
    check(
        "agent writer:\n  permissions:\n    $0\n    read: [\"a\"]\n",
        expect![[r#"
        write (property, permission) write: 
        execute (property, permission) execute: 
        bash (property, permission) bash: 
        network (property, permission) network: 
        mcp (property, permission) mcp: 
    "#]],
    );
    check(
        "agent writer:\n  permissions:\n    bash: $0\n",
        expect![[r#"
            allow (value)
            deny (value)
            prompt (value)
            ["…"] (value, patterns that are allowed) ["${1:**}"]
        "#]],
    );
    check("session \"A\"\n  prompt: $0\n", expect![[r#""…" (value, prompt) "$1""#]]);
    check_labels("session \"A\"\n  retry: $0\n", expect![[""]]);
}

#[test]
fn a_value_can_be_written_around() {
    check(
        "let xs = [1]\nlet r = xs.m$0\n",
        expect![[r#"
            map (snippet, A session for each item, one after the other) xs | map:⏎  session "${1:Work on} {item}"
            pmap (snippet, A session for each item, concurrently) xs | pmap:⏎  session "${1:Work on} {item}"
            filter (snippet, The items for which a session answers yes) xs | filter:⏎  session "${1:Is} {item} ${2:good}? Answer true or false."
            reduce (snippet, One value from all items) xs | reduce(${1:result}, ${2:item}):⏎  session "${3:Combine} {${1:result}} and {${2:item}}"
            session (snippet, A session with the value as context) session "$1"⏎  context: xs
        "#]],
    );
    check_labels(
        "let xs = [1]\nxs.$0\n",
        expect!["map | pmap | filter | reduce | session | for | pfor | if | output"],
    );
    check_labels(
        "let xs = [1]\nif **{xs}**:\n  xs.$0\n",
        expect!["map | pmap | filter | reduce | session | for | pfor | if | output"],
    );
    check_labels("let xs = [1]\nsession \"a\"\n  context: xs.$0\n", expect![[""]]);
    check_accepted(
        "let found = { xs: [1] }\nlet r = found.xs.m$0\n",
        "map",
        "let found = { xs: [1] }\nlet r = found.xs | map:\n",
    );
    check_labels("let xs = [1]\nlet r = [xs].m$0\n", expect![[""]]);
    check_labels("let xs = [1]\nlet r = nobody.$0\n", expect![[""]]);
    check_labels("agent a:\n  model: opus\nlet r = a.$0\n", expect![[""]]);
}

#[test]
fn what_is_used_most_comes_first() {
    let agents = "agent a:\n  model: opus\nagent b:\n  model: opus\nblock c:\n  session: b\nblock d:\n  session: b\ndo d\n";
    check_labels(&format!("{agents}session: $0\n"), expect!["b | a"]);
    check_labels(&format!("{agents}do $0\n"), expect!["d | c"]);
    let programs = "use \"./a.prose\"\nuse \"./b.prose\"\nlet x = b()\n";
    check_labels(&format!("{programs}let y = x + $0\n"), expect!["x | b | a | true | false | null"]);
    // What a program gives it most often has by then.
    check_labels(
        "let x = 1\noutput y = $0\n",
        expect![
            "x | session | resume | do | parallel | parallel for | for | repeat | loop | if | choice | try | true | false | null"
        ],
    );
}

#[test]
fn an_agent_without_a_memory_is_not_resumed() {
    check_labels("agent writer:\n  model: opus\nresume: $0\n", expect![[""]]);
}

#[test]
fn parts_of_values_stand_after_a_dot() {
    let block = "block judge:\n  output verdict = 1\n  output reason = session \"Why?\"\n";
    check(
        &format!("{block}let r = do judge\nsession \"{{r.$0}}\"\n"),
        expect![[r#"
            verdict (field, output of `judge`)
            reason (field, output of `judge`)
        "#]],
    );
    check_labels(
        &format!("{block}let r = do judge\nsession \"A\"\n  context: r.$0\n"),
        expect!["verdict | reason"],
    );
    check_labels(&format!("{block}let {{ verdict, $0 }} = do judge\n"), expect!["reason"]);
    // The only output of a block is its result.
    check_labels("block b:\n  output only = 1\nlet r = do b\nsession \"{r.$0}\"\n", expect![""]);
    check(
        "let r = parallel:\n  tides = session \"A\"\n  moon = session \"B\"\nsession \"{r.$0}\"\n",
        expect![[r#"
            tides (field, branch)
            moon (field, branch)
        "#]],
    );
    check(
        "const config = { depth: 2, style: \"plain\" }\nif config.de$0 == 2:\n  session \"A\"\n",
        expect![[r#"
            depth (field, entry)
            style (field, entry)
        "#]],
    );
    check_labels(
        "try:\n  session \"A\"\ncatch as problem:\n  throw \"{problem.$0\"\n",
        expect!["message | kind | line | statement | attempts"],
    );
    check_labels("const o = { a: { b: 1 } }\nsession \"{o.a.$0}\"\n", expect![""]);
}

#[test]
fn what_is_bound_only_further_down_is_empty_here() {
    check_labels("let above = 1\nsession \"{$0}\"\nlet below = 2\n", expect!["above"]);
    check_labels(
        "repeat 2:\n  session \"{$0}\"\n  let below = session \"A\"\nlet behind = 1\n",
        expect!["below"],
    );
    // A block is called when it is bound already.
    check_labels("block b:\n  session \"{$0}\"\nlet below = 2\ndo b\n", expect!["below"]);
    check_labels("agent a:\n  prompt: \"{$0}\"\nlet below = 2\n", expect!["below"]);
}

#[test]
fn agents_stand_after_session_and_resume() {
    let agents = "agent writer:\n  model: opus\n  prompt: \"You write\"\nagent tutor:\n  persist: project\n";
    check(
        &format!("{agents}session: $0\n"),
        expect![[r#"
        writer (agent, agent · opus)
        tutor (agent, agent · persistent)
    "#]],
    );
    check(&format!("{agents}let x = resume: w$0\n"), expect!["tutor (agent, agent · persistent)"]);
    check_labels(&format!("{agents}let x = session first: $0\n"), expect!["writer | tutor"]);
    check_labels(
        &format!("{agents}session \"A\" -> $0\n"),
        expect!["session | resume | session: writer | session: tutor | resume: tutor"],
    );
    check_accepted(&format!("{agents}session: wri$0ter\n"), "tutor", &format!("{agents}session: tutor\n"));
}

#[test]
fn blocks_stand_after_do_with_gaps_for_their_parameters() {
    let blocks = "block review(text, depth):\n  session \"Review {text}\"\nblock done:\n  session \"Done\"\n";
    check(
        &format!("{blocks}do $0\n"),
        expect![[r#"
        review (block, block · (text, depth)) review(${1:text}, ${2:depth})
        done (block, block)
    "#]],
    );
    check(
        &format!("{blocks}let x = do re$0(\"a\")\n"),
        expect![[r#"
        review (block, block · (text, depth))
        done (block, block)
    "#]],
    );
    check_labels(&format!("{blocks}do review(text: \"a\", $0)\n"), expect!["depth | true | false | null"]);
}

#[test]
fn variables_are_those_that_can_be_seen() {
    check(
        r#"
        input topic: "What about"
        const limit = 3
        block review(text):
          let inner = session "Look at {text}"
          for line, n in inner:
            session "Look"
              context: $0
          let behind = session "More"
        block other(hidden):
          let unseen = session "No"
        let below = session "Later"
        "#,
        expect![[r#"
            line (variable, loop variable)
            n (variable, index)
            text (parameter, parameter)
            inner (variable, variable)
            behind (variable, variable)
            limit (constant, constant)
            topic (parameter, input)
            below (variable, variable)
            […] (value, several values) [$1]
            {…} (value, several named values) { $1 \}
        "#]],
    );
    check_labels(
        "let x = 1\nlet y = $0\nlet z = 2\n",
        expect![
            "session | resume | do | parallel | parallel for | for | repeat | loop | if | choice | try | x | true | false | null"
        ],
    );
    check_labels("let x = 1\nx = x + $0\n", expect!["x | true | false | null"]);
    check_labels("let größe = 1\nlet x = 1 + grö$0ß\n", expect!["größe | true | false | null"]);
    check_labels("let größe = 1\nsession \"Use {grö$0\"\n", expect!["größe"]);
    check_labels("let xs = []\nfor x in $0:\n  session \"A\"\n", expect!["xs | true | false | null"]);
    check_labels("let xs = []\nfor x in xs: session \"{$0}\"\n", expect!["x | xs"]);
    check_labels("loop until **{$0** (max: 3) as i:\n  session \"A\"\n", expect!["i"]);
    check_labels("try:\n  session \"A\"\ncatch as problem:\n  throw $0\n", expect!["problem"]);
    check_labels(
        "let r = xs | reduce(sum, one):\n  session \"Add\"\n    context: [sum, $0\n",
        expect!["one"],
    );
    check_labels("let xs = 1\nlet r = xs | map:\n  session \"Use {$0}\"\n", expect!["item | xs"]);
    check_labels("let a = 1\nlet b = 2\nsession \"A\"\n  context: { a, $0 }\n", expect!["b"]);
    check_labels("let a = 1\nsession \"A\"\n  context: { key: $0\n", expect!["a | true | false | null"]);
    check_labels("let a = 1\nlet b = 2\nsession \"A\"\n  context: [\n    a,\n    $0\n  ]\n", expect!["b"]);
}

#[test]
fn braces_in_texts_take_variables() {
    check("let found = session \"A\"\nsession \"Use {$0\n", expect!["found (variable, variable) found}"]);
    check_accepted(
        "let found = session \"A\"\nsession \"Use {f$0}\"\n",
        "found",
        "let found = session \"A\"\nsession \"Use {found}\"\n",
    );
    check_accepted(
        "let found = session \"A\"\nsession \"Use {f$0\"\n",
        "found",
        "let found = session \"A\"\nsession \"Use {found}\"\n",
    );
    check_accepted(
        "let found = 1\nif **{fo$0ee} holds**:\n  session \"A\"\n",
        "found",
        "let found = 1\nif **{found} holds**:\n  session \"A\"\n",
    );
    check_labels("let found = 1\nsession \"\"\"\n  Use {$0\n  and more\n\"\"\"\n", expect!["found"]);
    check_labels("let found = 1\nsession \"\"\"\n  Use {$0\n  and more\n", expect!["found"]);
    check_labels("let found = 1\nif **{$0\n", expect!["found"]);
    check_labels("let found = 1\nsession \"Not \\{$0\"\n", expect![[""]]);
    // An agent's text is interpolated where the agent is started.
    check(
        r#"
        agent writer:
          prompt: "Write about {$0}"
        block review(topic):
          session: writer
        let style = "plain"
        "#,
        expect![[r#"
            style (variable, variable)
            topic (parameter, parameter)
        "#]],
    );
}

#[test]
fn texts_and_comments_take_nothing() {
    check_labels("let found = 1\nsession \"Use $0\"\n", expect![[""]]);
    check_labels("let found = 1\nsession \"Use fou$0\n", expect![[""]]);
    check_labels("let found = 1\nsession \"Use $0\n", expect![[""]]);
    check_labels("let found = 1 # and fo$0\n", expect![[""]]);
    check_labels("# $0", expect![[""]]);
    check_labels("session \"\"\"\n  s$0\n\"\"\"\n", expect![[""]]);
    check_labels("if **it is s$0**:\n", expect![[""]]);
    check_labels("repeat 3$0:\n", expect![[""]]);
    check_labels("let $0", expect![[""]]);
    check_labels("agent $0", expect![[""]]);
    check_labels("session \"A\"\n  skills: [$0]\n", expect![[""]]);
}

#[test]
fn options_are_those_of_their_header() {
    check(
        "parallel ($0):\n",
        expect![[r#"
        "all" (value, strategy)
        "first" (value, strategy)
        "any" (value, strategy)
        on-fail (property, option) on-fail: 
        count (property, option) count: ${1:5}
    "#]],
    );
    check_labels("parallel (\"any\", $0", expect!["on-fail | count"]);
    check_labels("parallel (\"$0\"):\n", expect!["all | first | any"]);
    check_labels("parallel (\"any\", on-fail: $0):\n", expect![[r#""fail-fast" | "continue" | "ignore""#]]);
    check_labels("parallel (\"any\", on-fail: \"$0\"):\n", expect!["fail-fast | continue | ignore"]);
    check_labels("loop until **done** ($0):\n", expect!["max"]);
    check_labels("loop (m$0\n", expect!["max"]);
    check_labels("block b(x) ($0):\n", expect!["max_depth"]);
}

#[test]
fn headers_go_on_as_the_grammar_wants() {
    check(
        "loop $0\n",
        expect![[r#"
            until (keyword, repeats until the condition holds) until **$1**
            while (keyword, repeats while the condition holds) while **$1**
            (max: …) (keyword, the maximum number of iterations) (max: ${1:5})
            as (keyword, a name for the index) as ${1:i}
        "#]],
    );
    check(
        "loop until **done** $0\n",
        expect![[r#"
            (max: …) (keyword, the maximum number of iterations) (max: ${1:5})
            as (keyword, a name for the index) as ${1:i}
            and (keyword, both hold) and 
            or (keyword, at least one holds) or 
            is (keyword, the same as `==`) is 
        "#]],
    );
    check_labels("loop until **done** (max: 3) $0:\n", expect!["as"]);
    check_labels("loop until $0\n", expect!["**…** | not"]);
    check_labels("for x $0\n", expect!["in"]);
    check_labels("for x, i $0\n", expect!["in"]);
    check_labels("parallel $0\n", expect![[r#"for | ("first") | (on-fail: …)"#]]);
    check_labels("parallel for x $0\n", expect!["in"]);
    check_labels("repeat 3 $0\n", expect!["as"]);
    check_labels("try:\n  session \"A\"\ncatch $0\n", expect!["as"]);
    check(
        "use \"./research-flow.prose\" $0\n",
        expect!["as (keyword, a name for the program) as ${1:research-flow}"],
    );
    check_labels("import \"x\" $0\n", expect!["from"]);
    check_labels("let xs = []\nlet ys = xs | $0\n", expect!["map | filter | pmap | reduce"]);
    check_labels("let xs = []\nif xs $0\n", expect!["and | or | is"]);
    check_labels("let xs = []\nif xs and $0:\n", expect!["**…** | xs | not"]);
}

#[test]
fn values_may_be_statements() {
    check_labels(
        "agent a:\n  model: opus\nblock b:\n  session \"A\"\nlet x = $0\n",
        expect![
            "session | resume | do | parallel | parallel for | for | repeat | loop | if | choice | try | session: a | do b | true | false | null"
        ],
    );
    check_labels(
        "block b(text):\n  return $0\n",
        expect![
            "text | session | resume | do | parallel | parallel for | for | repeat | loop | if | choice | try | do b | true | false | null"
        ],
    );
}

const LIBRARY: &str = r#"
//- /lib/research.prose
input topic: "What to research"
input depth: "Optional: how deep"
output findings = session "Research {topic}"
output sources = session "List sources"
"#;

#[test]
fn imported_programs_are_known_by_their_contracts() {
    let program = |text: &str| format!("//- /main.prose\nuse \"./lib/research.prose\"\n{text}{LIBRARY}");
    check(
        &program("let x = res$0"),
        expect![[r#"
        session (keyword) session "$1"
        resume (keyword) resume: $1
        do (keyword) do:⏎  $0
        parallel (keyword) parallel:⏎  $0
        parallel for (keyword) parallel for ${1:item} in ${2:items}:⏎  $0
        for (keyword) for ${1:item} in ${2:items}:⏎  $0
        repeat (keyword) repeat ${1:3}:⏎  $0
        loop (keyword) loop until **${1:it is done}** (max: ${2:5}):⏎  $0
        if (keyword) if **$1**:⏎  $0
        choice (keyword) choice **${1:which}**:⏎  option "${2:label}":⏎    $0
        try (keyword) try:⏎  $1⏎catch as ${2:error}:⏎  $0
        research (program, program · (topic, depth) → findings, sources) research(topic: $1)
        true (keyword)
        false (keyword)
        null (keyword)
    "#]],
    );
    check(
        &program("let x = research($0)"),
        expect![[r#"
        topic (parameter, input) topic: 
        depth (parameter, optional input) depth: 
    "#]],
    );
    check_labels(&program("let x = research(topic: \"a\", $0"), expect!["depth"]);
    check_labels(
        &program("let y = 1\nlet x = research(topic: $0)"),
        expect!["y | research | true | false | null"],
    );
    check(
        &program("let x = research(topic: \"a\")\noutput y = x.$0"),
        expect![[r#"
            findings (field, output of `research`)
            sources (field, output of `research`)
            map (snippet, A session for each item, one after the other) x | map:⏎  session "${1:Work on} {item}"
            pmap (snippet, A session for each item, concurrently) x | pmap:⏎  session "${1:Work on} {item}"
            filter (snippet, The items for which a session answers yes) x | filter:⏎  session "${1:Is} {item} ${2:good}? Answer true or false."
            reduce (snippet, One value from all items) x | reduce(${1:result}, ${2:item}):⏎  session "${3:Combine} {${1:result}} and {${2:item}}"
            session (snippet, A session with the value as context) session "$1"⏎  context: x
        "#]],
    );
    check_labels(
        &program("let x = research(topic: \"a\")\nsession \"Use {x.$0\""),
        expect!["findings | sources"],
    );
    check_labels(&program("output y = research(topic: \"a\").f$0"), expect!["findings | sources"]);
    check_labels(&program("let { findings, $0 } = research(topic: \"a\")"), expect!["sources"]);
    check_labels(
        &program("block b:\n  let x = research(topic: \"a\")\n  return x.$0"),
        expect!["findings | sources"],
    );
    check_labels(&program("let x = 1\noutput y = x.$0"), expect!["map | pmap | filter | reduce | session"]);
}

#[test]
fn use_takes_the_paths_of_known_programs() {
    let program = |text: &str| {
        format!("//- /flows/main.prose\n{text}\n//- /flows/b.prose\n//- /flows/lib/a.prose\n//- /c.prose\n")
    };
    check_labels(&program("use \"$0\""), expect!["./b.prose | ./lib/a.prose | ../c.prose"]);
    check_accepted(&program("use \"./b$0"), "./lib/a.prose", "use \"./lib/a.prose\"\n");
    check_accepted(&program("use \"./b.pr$0ose\" as b"), "../c.prose", "use \"../c.prose\" as b\n");
    check_accepted(&program("use $0"), "./b.prose", "use \"./b.prose\"\n");
}

#[test]
fn use_takes_programs_of_elsewhere_after_those_that_are_near() {
    let known = r#"use "bob/review"
use "alice/research"
use "https://example.com/lib.prose"
use "github.com/owner/repo/flows/a.prose@v1"
"#;
    let program = |text: &str| {
        format!(
            r#"
//- /main.prose
{text}
{known}//- /near.prose
//- bob/review
//- alice/research
//- https://example.com/lib.prose
//- github.com/owner/repo/flows/a.prose@v1
"#
        )
    };
    check(
        &program("use \"al$0\""),
        expect![[r#"
            ./near.prose (file)
            alice/research (file, program in a registry)
            bob/review (file, program in a registry)
            github.com/owner/repo/flows/a.prose@v1 (file, program in a git repository)
            https://example.com/lib.prose (file, program at an address)
        "#]],
    );
    check_accepted(
        &program("use \"ali$0ce/res\" as look"),
        "alice/research",
        &format!("use \"alice/research\" as look\n{known}"),
    );
    check_accepted(
        &program("use \"https://exa$0"),
        "https://example.com/lib.prose",
        &format!("use \"https://example.com/lib.prose\"\n{known}"),
    );
    check_accepted(&program("use $0"), "bob/review", &format!("use \"bob/review\"\n{known}"));
}

#[test]
fn programs_of_the_network_are_known_by_their_contracts() {
    let library = LIBRARY.replace("/lib/research.prose", "alice/research");
    let program = |text: &str| format!("//- /main.prose\nuse \"alice/research\"\n{text}{library}");
    check(
        &program("let x = research($0)"),
        expect![[r#"
        topic (parameter, input) topic: 
        depth (parameter, optional input) depth: 
    "#]],
    );
    check(
        &program("let x = research(topic: \"a\")\noutput y = x.$0"),
        expect![[r#"
            findings (field, output of `research`)
            sources (field, output of `research`)
            map (snippet, A session for each item, one after the other) x | map:⏎  session "${1:Work on} {item}"
            pmap (snippet, A session for each item, concurrently) x | pmap:⏎  session "${1:Work on} {item}"
            filter (snippet, The items for which a session answers yes) x | filter:⏎  session "${1:Is} {item} ${2:good}? Answer true or false."
            reduce (snippet, One value from all items) x | reduce(${1:result}, ${2:item}):⏎  session "${3:Combine} {${1:result}} and {${2:item}}"
            session (snippet, A session with the value as context) session "$1"⏎  context: x
        "#]],
    );
    check_labels(
        &program("let x = research(topic: \"a\")\nsession \"Use {x.$0\""),
        expect!["findings | sources"],
    );
    check_labels(&program("let { findings, $0 } = research(topic: \"a\")"), expect!["sources"]);
}

#[test]
fn the_documentation_names_sources() {
    let (_, items) = at_cursor("agent writer:\n  model: opus\n  prompt: \"You write\"\nsession: $0\n");
    expect![[r#"
        ```prose
        agent writer:
          model: opus
          prompt: "You write"
        ```"#]]
    .assert_eq(items[0].documentation.as_deref().unwrap_or_default());
    let (_, items) = at_cursor("input topic: \"What about\"\nsession \"On {$0}\"\n");
    expect![[r#"
        ```prose
        input topic: "What about"
        ```"#]]
    .assert_eq(items[0].documentation.as_deref().unwrap_or_default());
    let (_, items) = at_cursor("session \"A\"\n  ret$0\n");
    let retry =
        items.iter().find(|item| item.label == "retry").and_then(|item| item.documentation.as_deref());
    expect![[r#"
        The number of retries of a failed session.

        The first attempt does not count: `retry: 2` makes at most three attempts. `backoff:` sets the delay between attempts."#]].assert_eq(retry.unwrap_or_default());
}

#[test]
fn directly_after_the_colon_of_a_header_nothing_is_in_the_way_of_enter() {
    check_labels("if **it rains**:\n  session \"Stay\"\nelse:$0\n", expect![""]);
    check_labels("repeat 3:$0", expect![""]);
    let (_, items) = at_cursor("repeat 3: $0\n");
    assert!(items.iter().any(|item| item.label == "session"));
    check_labels("agent writer:\n  model: opus\n\nsession:$0\n", expect!["writer"]);
}

/// Fills the gaps of a snippet with what they propose, and empty ones in prompts and bodies with something that is right there.
fn filled(snippet: &str) -> String {
    let mut text = String::new();
    let mut rest = snippet;
    while let Some(start) = rest.find('$') {
        text += &rest[..start];
        rest = &rest[start + 1..];
        let gap = match rest.strip_prefix('{') {
            Some(inner) => {
                let (gap, after) = inner.split_once('}').unwrap();
                rest = after;
                gap
            }
            None => {
                let (gap, after) = rest.split_at(1);
                rest = after;
                gap
            }
        };
        let proposed = gap.split_once(':').map(|(_, proposed)| proposed);
        let choice = gap.split_once('|').and_then(|(_, choices)| choices.split(['|', ',']).next());
        let stands_in_text = text.ends_with(['"', '*']) || text.ends_with("\"\"\"\n  ");
        let is_parameter = text.ends_with('(');
        let empty = if is_parameter {
            ""
        } else if stands_in_text {
            "what it says"
        } else {
            "session \"Do it\""
        };
        text += proposed.or(choice).unwrap_or(empty);
    }
    text + rest
}

#[test]
fn every_form_of_a_statement_is_right_once_its_gaps_are_filled() {
    let (_, items) = at_cursor("\n$0");
    let forms: Vec<_> = items.iter().filter(|item| item.snippet.is_some()).collect();
    assert!(forms.len() > 25, "{}", forms.len());
    for item in forms {
        let snippet = item.snippet.as_ref().unwrap();
        let statement = filled(snippet);
        let needed = match &*item.label {
            "resume" => {
                "agent tutor:\n  persist: true\n  prompt: \"You teach.\"\n\nsession: tutor\n  prompt: \"Begin\"\n\n"
            }
            _ => "",
        };
        // A value and the names that forms propose.
        let statement = match &*item.label {
            "use" => continue,
            "return" => format!("block test():\n  {statement}\n\ndo test()"),
            "resume" => statement.replace("session \"Do it\"", "tutor\n  prompt: \"Go on\""),
            "assert" => statement.replace("condition", "**it is done**"),
            _ => statement.replace("in items", "in [\"a\"]"),
        };
        let program = format!("{needed}{statement}\n");
        let mut host = prose_analysis::AnalysisHost::default();
        let file =
            host.set_text(std::path::Path::new("/a.prose"), prose_analysis::Text::new(program.clone()));
        let found = prose_analysis::diagnostics::diagnostics(host.db(), file);
        let errors: Vec<_> = found.iter().filter(|found| found.code.as_str().starts_with('E')).collect();
        assert!(errors.is_empty(), "{}:\n{program}{errors:#?}", item.label);
    }
}

#[test]
fn longer_forms_do_not_stand_where_no_statement_starts() {
    for fixture in
        ["agent a:\n  model: $0", "session \"a\"\n  context: $0", "agent a:\n  $0", "let x = session: $0"]
    {
        let (_, items) = at_cursor(fixture);
        assert!(
            items.iter().all(|item| !item.label.contains(", ") && item.label != "if else"),
            "{fixture}: {items:#?}"
        );
    }
}

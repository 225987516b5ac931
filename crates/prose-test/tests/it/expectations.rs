//! What cases expect of their runs.

use expect_test::expect;

use crate::support::check;

/// A program with an input, two agents, a condition and outputs.
const REVIEW: &str = r#"
//- /main.prose
input change: "What has changed"

agent critic:
  model: opus
  prompt: "You review changes"

let notes = session: critic
  prompt: "Review {change}"

if **the change is small**:
  output verdict = session "Approve it"
    context: notes
else:
  output verdict = "rejected"
output count = 2
"#;

fn review(tests: &str) -> String {
    format!("{REVIEW}//- /main.test.toml\n{}", tests.trim_start())
}

#[test]
fn outputs_are_compared() {
    check(
        &review(
            r#"
[[case]]
name = "approves"
inputs = { change = "a typo" }
[[case.session]]
agent = "critic"
reply = "It is fine."
[[case.session]]
reply = "approved\nwith thanks"
[[case.condition]]
met = true
[case.expect]
outputs.verdict = "approved\nwith thanks\n"
outputs.count = 2

[[case]]
name = "approves otherwise"
inputs.change = "a typo"
unmatched = "error"
[[case.session]]
reply = "approved\nwith care"
[[case.condition]]
met = true
[case.expect]
outputs.verdict = "approved\nwith thanks\n"
outputs.count = { equals = 3, matches = "^[3-9]$" }

[[case]]
name = "texts"
inputs.change = "a typo"
[[case.session]]
reply = "approved with care"
[[case.condition]]
met = true
[case.expect.outputs]
verdict = { contains = ["approved", "thanks"], excludes = "care", matches = "^approved" }
"#,
        ),
        expect![[r#"
            pass approves
            FAIL approves otherwise
              25:28: output `count` differs from the expected value
                -3
                +2
              25:41: output `count` does not match `^[3-9]$`
                +2
              24:19: output `verdict` differs from the expected value
                -approved
                -with thanks
                +approved
                +with care
            FAIL texts
              35:37: output `verdict` does not contain "thanks"
                +approved with care
              35:59: output `verdict` contains "care"
                +approved with care
        "#]],
    );
}

#[test]
fn a_schema_describes_an_output() {
    check(
        r#"
//- /main.prose
output plan = session "Plan it, as JSON"
//- /plan.json
{ "type": "object", "required": ["steps"], "properties": { "steps": { "type": "array" } } }
//- /main.test.toml
[[case]]
name = "a plan"
[[case.session]]
reply = """
```json
{ "steps": ["one"] }
```"""
[case.expect]
outputs.plan = { schema = "plan.json" }

[[case]]
name = "no plan"
[[case.session]]
reply = '{ "steps": "one" }'
[case.expect]
outputs.plan.schema = { type = "object", properties.steps.type = "array" }
outputs.plan.equals = { steps = "one" }
"#,
        expect![[r#"
            pass a plan
            FAIL no plan
              16:23: output `plan` does not fulfil the schema: `/steps`: "one" is not of type "array"
                +{ "steps": "one" }
        "#]],
    );
}

#[test]
fn sessions_are_counted_named_and_ordered() {
    check(
        &review(
            r#"
[[case]]
name = "as it is"
inputs.change = "a typo"
[[case.session]]
reply = "Good"
[[case.condition]]
met = true
[case.expect]
sessions = { count = 2, names = ["verdict", "notes"], order = ["critic", "Approve it"], never = ["writer"] }
[[case.expect.session]]
agent = "critic"
count = 1
model = "opus"
prompt = { contains = "Review a typo" }
system = { contains = "You review changes" }
[[case.expect.session]]
label = "Approve it"
context.notes = { contains = "Good" }

[[case]]
name = "in another way"
inputs.change = "a typo"
[[case.session]]
reply = "Good"
[[case.condition]]
met = true
[case.expect]
sessions = { names = ["notes", "thanks", "verdict"], order = ["verdict", "notes"], never = ["critic"] }
[[case.expect.session]]
agent = "writer"
[[case.expect.session]]
name = "notes"
model = "haiku"
prompt = { contains = "a mistake" }
context.change = "a typo"

[[case]]
name = "a number"
inputs.change = "a typo"
[[case.session]]
reply = "Good"
[[case.condition]]
met = true
[case.expect]
sessions = { count = { at-least = 3 } }

[[case]]
name = "a number alone"
inputs.change = "a typo"
[[case.session]]
reply = "Good"
[[case.condition]]
met = true
[case.expect]
sessions = { at-least = 1, at-most = 2 }
"#,
        ),
        expect![[r#"
            pass as it is
            FAIL in another way
              28:22: other sessions were asked
                -notes
                -thanks
                -verdict
                +notes
                +verdict
              28:62: session `notes` was asked in another order
                -verdict
                -notes
                +notes
                +verdict
              28:92: session `critic` was asked at line 7
              29:1: 0 sessions like this were asked, expected at least 1 (there: `notes`, `verdict`)
              34:23: the prompt of session `notes` (line 7) does not contain "a mistake"
                +Review a typo
              35:18: the context of session `notes` (line 7) has no `change`
              33:9: session `notes` (line 7) has the model opus, expected haiku
            FAIL a number
              45:22: 2 sessions were asked, expected at least 3 (there: `notes`, `verdict`)
            pass a number alone
        "#]],
    );
}

#[test]
fn branches_loops_and_errors() {
    check(
        r#"
//- /main.prose
let draft = "none"
loop until **it is good** (max: 5):
  draft = session "Improve it"

choice **what to do**:
  option "Ship":
    session "Ship it"
  option "Wait":
    session "Wait for it"

parallel:
  facts = session "Facts"
  risks = session "Risks"

try:
  session "Try it"
catch as problem:
  session "Repair {problem.message}"

if **it is done**:
  output done = "yes"
//- /main.test.toml
[[case]]
name = "as expected"
unmatched = "offline"
[[case.condition]]
label = "it is good"
met = [false, false, true]
[[case.condition]]
met = false
[[case.choice]]
choose = "Wait"
[[case.session]]
label = "Try it"
fail = "it broke"
[case.expect]
branches = { taken = ["Wait", "facts", "risks", "catch"], not-taken = ["Ship", "it is done"] }
iterations = 2
errors = ["it broke"]
warnings = []

[[case]]
name = "not as expected"
unmatched = "offline"
[[case.condition]]
label = "it is good"
met = true
[[case.condition]]
met = true
[[case.choice]]
choose = "Ship"
[[case.session]]
label = "Try it"
fail = "it broke"
[case.expect]
branches = { taken = ["**it is done**", "Wait"], not-taken = ["Ship", "line 7"] }
iterations = { "until **it is good**" = { at-least = 1 }, "line 40" = 2 }
errors = ["it burned", { matches = "^it" }]
"#,
        expect![[r#"
            pass as expected
            FAIL not as expected
              36:11: the run had no error like this (there: `it broke`)
              34:22: branch `Wait` was not taken (there: `Ship`, `facts`, `risks`, `catch`, `**it is done**`)
              34:62: branch `Ship` was taken (there: `Ship`, `facts`, `risks`, `catch`, `**it is done**`)
              34:62: branch `line 7` was taken (there: `Ship`, `facts`, `risks`, `catch`, `**it is done**`)
              35:71: no loop `line 40` was executed (there: `line 2: **it is good**`)
              35:41: the loop at line 2 had 0 iterations, expected at least 1
        "#]],
    );
}

#[test]
fn the_end_of_a_run_is_expected() {
    check(
        r#"
//- /main.prose
input topic: "What about"
let found = session "Search {topic}"
output result = found
//- /main.test.toml
[[case]]
name = "a failure"
inputs.topic = "tides"
[[case.session]]
fail = "no network"
[case.expect]
error = "network"

[[case]]
name = "an unexpected failure"
inputs.topic = "tides"
[[case.session]]
fail = "no network"

[[case]]
name = "another failure"
inputs.topic = "tides"
[[case.session]]
fail = "no network"
[case.expect]
status = "failed"
error = { equals = "no power" }

[[case]]
name = "no answer"
inputs.topic = "tides"

[[case]]
name = "an open question"
[case.expect]
status = "waiting"

[[case]]
name = "a run that takes too long"
inputs.topic = "tides"
timeout = "50ms"
[[case.session]]
reply = "…"
delay = "1h"
[case.expect]
status = "interrupted"
"#,
        expect![[r#"
            pass a failure
            FAIL an unexpected failure
              10:8: the run failed at line 2: no network
            FAIL another failure
              22:20: the error differs from the expected value
                -no power
                +no network
            FAIL no answer
              25:8: the run failed at line 2: main.test.toml has no reply for this session:
              place: s1/1
              label: Search tides
            Add an entry such as this one, or set `unmatched = "offline"` in the case for generated replies:

            [[case.session]]
            label = "Search tides"
            reply = "…"

            pass an open question
            pass a run that takes too long
        "#]],
    );
}

#[test]
fn tools_tokens_and_costs() {
    check(
        r#"
//- /main.prose
session "Write it"
  permissions:
    write: allow
//- /main.test.toml
[[case]]
name = "cheap"
[[case.session]]
reply = "Done"
tools = ["write: docs/a.md", "read: b.md"]
activity = [{ used = { input = 100, output = 20, cost = 0.02 } }]
[case.expect]
files = ["docs/a.md"]
max-cost = 0.02
max-tokens = 120

[[case]]
name = "dear"
[[case.session]]
reply = "Done"
activity = [{ used = { input = 100, output = 20, cost = 0.02 } }]
[case.expect]
files = ["docs/a.md"]
max-cost = 0.01
max-tokens = 100
"#,
        expect![[r#"
            pass cheap
            FAIL dear
              19:12: the run cost $0.0200, expected at most $0.01
              20:14: the run used 120 tokens, expected at most 100
              18:10: file `docs/a.md` was not written
        "#]],
    );
}

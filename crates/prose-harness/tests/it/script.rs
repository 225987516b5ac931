//! Answers from a file.

use std::time::Duration;

use expect_test::{Expect, expect};
use prose_harness::script::Script;
use prose_vm::activity::Reporter;
use prose_vm::effect::{Effect, SummaryLength};
use prose_vm::harness::Harness;
use tokio::time::Instant;

use crate::support::*;

fn script(text: &str) -> Script {
    Script::parse("answers.toml", text, 0).unwrap_or_else(|errors| panic!("{errors}"))
}

#[track_caller]
fn check_errors(text: &str, expected: Expect) {
    let errors = Script::parse("answers.toml", text, 0).expect_err("there is a mistake in it");
    expected.assert_eq(&errors.to_string());
}

#[tokio::test]
async fn the_first_entry_that_fits_answers() {
    let script = script(
        r#"
[[session]]
agent = "writer"
label = "Write it"
reply = "by agent and label"

[[session]]
agent = "writer"
reply = "by agent"

[[session]]
pattern = "(?i)\\bTIDES\\b"
reply = "by pattern"

[[session]]
place = "s7/i2/s0"
reply = "by place"

[[session]]
order = 6
reply = "by order"

[[session]]
reply = "any"
"#,
    );
    assert_eq!(
        said(&script, &session_of("writer", "s1", "\n  Write it\nwith care")).await,
        "by agent and label"
    );
    assert_eq!(said(&script, &session_of("writer", "s2", "Write it again")).await, "by agent");
    assert_eq!(said(&script, &session("s3", "Look into\nthe tides of Brittany")).await, "by pattern");
    assert_eq!(said(&script, &session("s7/i2/s0", "Whatever")).await, "by place");
    assert_eq!(said(&script, &session("s7/i2/s01", "Whatever")).await, "any");
    assert_eq!(said(&script, &session("s8", "Whatever")).await, "by order");
    assert_eq!(said(&script, &session("s9", "Whatever")).await, "any");
}

#[tokio::test]
async fn a_pattern_is_also_looked_for_in_the_whole_prompt() {
    let script = script("[[session]]\npattern = \"Context provided\"\nreply = \"yes\"");
    let prompt =
        prose_vm::effect::SessionTask { prompt: "Do it\n\nContext provided: …".into(), ..task("Do it") };
    assert_eq!(said(&script, &request("s1", Effect::Session(prompt.into()))).await, "yes");
}

#[tokio::test]
async fn entries_are_used_up() {
    let script = script(
        r#"
[[session]]
times = 2
fail = "connection lost"
kind = "timeout"

[[session]]
reply = ["first", "second"]

[[condition]]
met = [false, true]
reason = "the tests"
"#,
    );
    let asked = session("s1", "Go");
    assert_eq!(said(&script, &asked).await, "Timeout: connection lost");
    assert_eq!(said(&script, &asked).await, "Timeout: connection lost");
    assert_eq!(said(&script, &asked).await, "first");
    assert_eq!(said(&script, &asked).await, "second");
    assert!(said(&script, &asked).await.contains("answers.toml has no reply"));
    assert_eq!(said(&script, &condition("s1", "done")).await, "no: the tests");
    assert_eq!(said(&script, &condition("s1", "done")).await, "yes: the tests");
}

#[tokio::test]
async fn what_an_earlier_execution_recorded_counts_as_used() {
    let script =
        script("[[session]]\nreply = [\"first\", \"second\"]\n[[session]]\norder = 3\nreply = \"third\"");
    script.recalled(&session("s1", "Go"));
    script.recalled(&condition("s1", "Go"));
    assert_eq!(said(&script, &session("s2", "Go")).await, "second");
    assert_eq!(said(&script, &session("s3", "Go")).await, "third");
}

#[tokio::test]
async fn every_kind_of_effect_has_its_entries() {
    let script = script(
        r#"
[[condition]]
met = false
no-progress = true
reason = "nothing changes"

[[choice]]
label = "by number"
choose = 2

[[choice]]
choose = " WAIT "

[[extract]]
label = "date"
value = "in May"

[[extract]]
absent = true

[[summary]]
name = "report"
text = "In short."

[[input]]
name = "topic"
value = { title = "tides", pages = [1, 2.5], draft = true }

[[input]]
label = "Which harbour?"
json = '["Brest", null]'

[[input]]
name = "note"
absent = true

[[memory]]
agent = "writer"
text = "Knows the tides."
segments = 3

[[memory]]
agent = "critic"
absent = true
"#,
    );
    let labels = ["Ship", "Wait"];
    assert_eq!(said(&script, &condition("s1", "done")).await, "no (no progress): nothing changes");
    assert_eq!(said(&script, &choice("s1", "by number", &labels)).await, "Wait");
    assert_eq!(said(&script, &choice("s1", "by label", &labels)).await, "Wait");
    assert_eq!(said(&script, &extract("s1", "date", "…")).await, "in May");
    assert_eq!(said(&script, &extract("s1", "place", "…")).await, "null");
    assert_eq!(said(&script, &summary("s1", "report", "…", SummaryLength::KeyPoints)).await, "In short.");
    let value = said(&script, &input("s1", "topic", "What about?")).await;
    assert_eq!(value.replace(char::is_whitespace, ""), r#"{"draft":true,"pages":[1,2.5],"title":"tides"}"#);
    let value = said(&script, &input("s1", "", "Which harbour?")).await;
    assert_eq!(value.replace(char::is_whitespace, ""), r#"["Brest",null]"#);
    assert_eq!(said(&script, &input("s1", "note", "Optional note")).await, "null");
    assert_eq!(said(&script, &memory("s1", "writer")).await, "Knows the tides. (3 segments)");
    assert_eq!(said(&script, &memory("s1", "critic")).await, "nothing (0 segments)");
    // A person answers these, and the store knows these.
    assert_eq!(said(&script, &input("s1", "other", "Else?")).await, "(not known)");
    assert_eq!(said(&script, &memory("s1", "other")).await, "(not known)");
}

#[tokio::test]
async fn r067_a_choice_that_is_no_label_is_an_error() {
    let script = script("[[choice]]\nlabel = \"a\"\nchoose = \"Sink\"\n[[choice]]\nchoose = 3");
    let labels = ["Ship", "Wait"];
    expect![
        "Undecided: the entry in line 1 of answers.toml chooses `Sink`, but the labels are `Ship`, `Wait`"
    ]
    .assert_eq(&said(&script, &choice("s1", "a", &labels)).await);
    expect![
        "Undecided: the entry in line 4 of answers.toml chooses number 3, but the labels are `Ship`, `Wait`"
    ]
    .assert_eq(&said(&script, &choice("s1", "b", &labels)).await);
}

#[tokio::test]
async fn what_is_missing_is_said_in_a_form_to_paste() {
    let script = script("[[session]]\nlabel = \"Look into \\\"tides\\\"\"\ntimes = 1\nreply = \"…\"");
    let asked = session_of("writer", "s2/i1/s0", "Look into \"tides\"\nand more");
    said(&script, &asked).await;
    let message = said(&script, &asked).await;
    expect![[r#"
        Other: answers.toml has no reply for this session:
          agent: writer
          place: s2/i1/s0
          label: Look into "tides"
          The entry in line 1 matches, but it replies only once.
        Add an entry such as this one, or set `unmatched = "offline"` at the top for generated replies:

        [[session]]
        agent = "writer"
        label = 'Look into "tides"'
        reply = "…"
    "#]]
    .assert_eq(&message);

    // What is to be pasted works.
    let entry = &message[message.find("[[session]]").unwrap()..];
    let script = self::script(&entry.replace('…', "Found."));
    assert_eq!(said(&script, &asked).await, "Found.");
}

#[tokio::test]
async fn what_is_to_be_pasted_works_for_all_kinds() {
    let empty = script("");
    let labels = ["Ship", "Wait"];
    for asked in [
        session("s1", "Go"),
        condition("s1", "the 'draft' is \"good\""),
        choice("s1", "how to go on", &labels),
        extract("s1", "date", "…"),
        summary("s1", "report", "…", SummaryLength::Essentials),
    ] {
        let message = said(&empty, &asked).await;
        let entry = &message[message.find("[[").unwrap()..];
        let answer = said(&script(entry), &asked).await;
        assert!(["…", "yes", "Ship"].contains(&&*answer), "{answer}");
    }
}

#[tokio::test]
async fn what_is_missing_is_made_up_if_the_script_says_so() {
    let script = script("unmatched = \"offline\"\n[[session]]\nagent = \"writer\"\nreply = \"Written.\"");
    assert_eq!(said(&script, &session_of("writer", "s1", "Write")).await, "Written.");
    assert!(said(&script, &session("s2", "Research tidal power")).await.ends_with("[offline]"));
    assert!(said(&script, &condition("s3", "done")).await.ends_with("[offline]"));
    assert_eq!(said(&script, &choice("s4", "go on", &["Ship"])).await, "Ship");
    assert!(said(&script, &extract("s5", "date", "In May.")).await.ends_with("[offline]"));
    assert!(
        said(&script, &summary("s6", "x", "Long.", SummaryLength::KeyPoints)).await.ends_with("[offline]")
    );
}

#[tokio::test(start_paused = true)]
async fn delays_are_exact() {
    let script =
        script("[[session]]\ndelay = \"1m 30s\"\nreply = \"late\"\n[[input]]\ndelay = \"250ms\"\nvalue = 1");
    let start = Instant::now();
    said(&script, &session("s1", "Go")).await;
    assert_eq!(start.elapsed(), Duration::from_secs(90));
    said(&script, &input("s1", "x", "?")).await;
    assert_eq!(start.elapsed(), Duration::from_millis(90_250));
}

#[tokio::test(start_paused = true)]
async fn entries_are_taken_in_the_order_of_the_requests_whoever_is_done_first() {
    let script = script(
        "[[session]]\ntimes = 1\ndelay = \"2s\"\nreply = \"slow\"\n[[session]]\ndelay = \"1s\"\nreply = \"fast\"",
    );
    let (first, second) = (session("b1", "Go"), session("b2", "Go"));
    let silent = Reporter::silent();
    let (slow, fast) = (script.perform(&first, &silent), script.perform(&second, &silent));
    assert_eq!(reply(fast.await).unwrap().text.as_ref(), "fast");
    assert_eq!(reply(slow.await).unwrap().text.as_ref(), "slow");
}

#[test]
fn mistakes_in_activities_are_told_with_their_place() {
    let text = r#"
[[session]]
reply = "x"
activity = [
  { txt = "x" },
  { text = 3 },
  { tool = "edti" },
  { tool = "edit", titel = "x" },
  { retry = 42 },
  { used = { inptu = 3 } },
  { used = { cost = -1 } },
  { text = "x", after = "soon" },
]

[[session]]
reply = "y"
activity = "edit"

[[input]]
value = 3
activity = []
"#;
    let errors = Script::parse("answers.toml", text, 0).unwrap_err();
    expect![[r#"
        answers.toml:5:3: an activity must be a table with one of `text`, `reasoning`, `tool`, `ask`, `denied`, `retry`, `used`, `agent`
        answers.toml:6:12: `text` must be a text in quotes, not `3`
        answers.toml:7:12: `edti` is not a kind of tool: unknown variant `edti`, expected one of `read`, `edit`, `delete`, `move`, `search`, `execute`, `fetch`, `think`, `other`
        answers.toml:8:20: an activity with `tool` has no `titel`; did you mean `title`?
        answers.toml:9:13: `retry` must be an HTTP status such as 429, not `42`
        answers.toml:10:14: `used` has no `inptu`; did you mean `input`?
        answers.toml:11:21: `cost` must be an amount in US dollars such as 0.02, not `-1`
        answers.toml:12:25: `after` must be a duration such as "200ms", "3s" or "1m 30s", not `"soon"`
        answers.toml:17:12: `activity` must be a list of tables, such as `[{ text = "…" }]`
        answers.toml:21:1: a `[[input]]` has no `activity`; the keys are `name`, `label`, `pattern`, `place`, `order`, `value`, `json`, `absent`, `fail`, `kind`, `times`, `delay`
    "#]].assert_eq(&format!("{errors}\n"));
}

#[test]
fn mistakes_are_all_told_with_their_place_and_what_was_probably_meant() {
    check_errors(
        r#"unmatched = "ofline"
surprise = 1

[[sesion]]
reply = "a"

[[session]]
lable = "Go"
reply = "a"
delay = "soon"
times = 0
order = "first"

[[session]]
agent = 5
reply = "a"
fail = "b"

[[session]]
label = "no answer"

[[session]]
pattern = "("
reply = []

[[session]]
fail = "x"
kind = "timeot"

[[condition]]
met = "yes"

[[choice]]
choose = true

[[session]]
reply = ["a"]
times = 3

[condition2]

[[input]]
json = "{"

[[input]]
absent = false

[[memory]]
text = "x"
delay = "1s"

[[session]]
reply = "x"
kind = "timeout"
"#,
        expect![[r#"
            answers.toml:1:13: `unmatched` must be "error" or "offline"
            answers.toml:2:1: a script has no `surprise`; the keys are `session`, `condition`, `choice`, `extract`, `summary`, `input`, `memory`, `unmatched`
            answers.toml:4:3: a script has no `sesion`; did you mean `session`?
            answers.toml:8:1: a `[[session]]` has no `lable`; did you mean `label`?
            answers.toml:10:9: `delay` must be a duration such as "200ms", "3s" or "1m 30s", not `"soon"`
            answers.toml:11:9: `times` must be a whole number from 1, not `0`
            answers.toml:12:9: `order` must be a whole number from 1, not `"first"`
            answers.toml:15:9: `agent` must be a text in quotes, not `5`
            answers.toml:17:8: an entry must have one answer, but this one has `reply` and `fail`
            answers.toml:19:1: this entry has no answer; add `reply` or `fail`
            answers.toml:23:11: `pattern` is not a valid regular expression: regex parse error:
                (
                ^
            error: unclosed group
            answers.toml:24:9: the list `reply` must not be empty
            answers.toml:28:8: `timeot` is not a kind of error: unknown variant `timeot`, expected one of `thrown`, `session`, `timeout`, `unknown-name`, `type`, `constant`, `recursion-limit-exceeded`, `iteration-limit-exceeded`, `undecided`, `missing-input`, `import`, `permission`, `unsafe-path`, `out-of-resources`, `auth`, `rate-limit`, `provider`, `context-too-long`, `refused`, `budget`, `agent-crashed`, `approval-needed`, `not-recorded`, `assertion`, `conflict`, `other`
            answers.toml:31:7: `met` must be `true` or `false`, not `"yes"`
            answers.toml:34:10: `choose` must be a label in quotes, or its number from 1, not `true`
            answers.toml:38:9: `times` cannot be combined with a list of answers; remove `times`, or write one answer
            answers.toml:40:2: a script has no `condition2`; did you mean `condition`?
            answers.toml:43:8: this is not valid JSON: EOF while parsing an object at line 1 column 1
            answers.toml:46:10: `absent` must be `true` or left out
            answers.toml:50:1: a `[[memory]]` has no `delay`; the keys are `agent`, `place`, `order`, `text`, `absent`, `segments`, `times`
            answers.toml:54:8: `kind` is the kind of an error and needs `fail`"#]],
    );
    check_errors(
        "[session]\nreply = \"a\"",
        expect!["answers.toml:1:2: an entry must start with a header in double brackets: `[[session]]`"],
    );
    check_errors(
        "session = [1]",
        expect!["answers.toml:1:12: an entry must be a table with a header `[[session]]`"],
    );
    check_errors(
        "[[session]]\nreply = \"a",
        expect![[r#"answers.toml:2:11: invalid TOML: invalid basic string, expected `"`"#]],
    );
}

#[test]
fn a_broken_line_hides_no_other_mistake() {
    check_errors(
        r#"unmatched = error
[[session]]
reply = "a
[[session]
label = "b"
[[session]]
reply = "c"
times = 0
"#,
        expect![[r#"
            answers.toml:1:13: `error` is not a TOML value; strings need quotes
            answers.toml:3:11: invalid TOML: invalid basic string, expected `"`
            answers.toml:4:11: invalid TOML: unclosed array table, expected `]`
            answers.toml:8:9: `times` must be a whole number from 1, not `0`"#]],
    );
}

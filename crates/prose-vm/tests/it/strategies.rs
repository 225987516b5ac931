//! Which branches a `parallel` waits for, in every order in which three of them can end (R53, R54).

use std::fmt::Write;

use expect_test::expect;
use prose_vm::event::{EventKind, Status};
use prose_vm::value::Value;

use crate::support::{Ran, run};

const OK: &str = "[[session]]\nreply = \"ok\"";

/// Three branches that complete at 1, 2 and 3 seconds, each with success or failure. A branch has one more session behind the one that takes
/// time, so that a branch that was cancelled too late would show.
fn three_branches(order: &str, options: &str) -> Ran {
    let program = format!(
        r#"
block branch(n):
  let r = session "begin {{n}}"
  if r == "F":
    throw "failed {{n}}"
  let s = session "end {{n}}"
  output n
try:
  parallel{options}:
    a = do branch(1)
    b = do branch(2)
    c = do branch(3)
catch as e:
  session "caught {{e}}"
"#
    );
    let mut script = String::new();
    for (nth, letter) in order.chars().enumerate() {
        let nth = nth + 1;
        _ = write!(
            script,
            "[[session]]\nlabel = \"begin {nth}\"\nreply = \"{letter}\"\ndelay = \"{nth}s\"\n"
        );
    }
    run(&program, &(script + OK))
}

/// How the three branches are bound behind the join: a number for a value, `e` for an error, `.` for null; before it, which one was thrown.
fn outcome(ran: &Ran) -> String {
    let ended = ran.events.iter().find_map(|event| match &event.kind {
        EventKind::ParallelEnded { failures, status, .. } => Some((event.at, failures.len(), *status)),
        _ => None,
    });
    let (at, failures, status) = ended.unwrap_or_else(|| panic!("{}", ran.story()));
    let thrown = ran.tasks().iter().find_map(|task| task.strip_prefix("caught failed ").map(str::to_owned));
    assert_eq!(status == Status::Failed, thrown.is_some());
    // Nothing starts in a branch behind the moment at which it was cancelled.
    for event in &ran.events {
        if let EventKind::SessionStarted { task, .. } = &event.kind {
            assert!(event.at <= at || task.task.starts_with("caught"), "{}", ran.story());
        }
    }
    let mut out = thrown.map_or(String::new(), |nth| format!("!{nth} "));
    for (nth, name) in ["a", "b", "c"].into_iter().enumerate() {
        let ended = ran.events.iter().find_map(|event| match &event.kind {
            EventKind::BranchEnded { name: ended, status, value, .. } if ended == name => {
                Some((*status, value.clone()))
            }
            _ => None,
        });
        let bound = bound_behind(ran, name);
        let (status, value) = ended.unwrap();
        // What was cancelled has no value, and its sessions are not heard of again.
        match status {
            Status::Skipped => assert_eq!(bound, Value::Null),
            Status::Complete => assert_eq!(bound, value),
            _ => {}
        }
        out.push_str(&match bound {
            Value::Null => ".".to_owned(),
            Value::Error(error) => {
                assert_eq!(error.message, format!("failed {}", nth + 1));
                "e".to_owned()
            }
            value => value.to_string(),
        });
    }
    _ = write!(out, " {at}");
    let warned = ran.events.iter().any(
        |event| matches!(&event.kind, EventKind::Warning { message } if message.contains("branches failed")),
    );
    if warned {
        _ = write!(out, " warns of {failures}");
    }
    out
}

/// The value of a name at the end of a run: the last one it was bound to; `null` if it was not bound.
fn bound_behind(ran: &Ran, name: &str) -> Value {
    let bound = ran.events.iter().rev().find_map(|event| match &event.kind {
        EventKind::Bound { binding, value, .. } if binding.name == name && binding.frame == 0 => {
            Some(value.clone())
        }
        _ => None,
    });
    bound.unwrap_or_default()
}

#[test]
fn r054_all_orders_of_three_branches() {
    let columns = [
        ("all fail-fast", ""),
        ("all continue", " (on-fail: \"continue\")"),
        ("all ignore", " (on-fail: \"ignore\")"),
        ("first fail-fast", " (\"first\")"),
        ("first continue", " (\"first\", on-fail: \"continue\")"),
        ("first ignore", " (\"first\", on-fail: \"ignore\")"),
        ("any 1 fail-fast", " (\"any\")"),
        ("any 1 continue", " (\"any\", on-fail: \"continue\")"),
        ("any 1 ignore", " (\"any\", on-fail: \"ignore\")"),
        ("any 2 fail-fast", " (\"any\", count: 2)"),
        ("any 2 continue", " (\"any\", count: 2, on-fail: \"continue\")"),
        ("any 2 ignore", " (\"any\", count: 2, on-fail: \"ignore\")"),
    ];
    let mut table = String::new();
    for (name, options) in columns {
        _ = writeln!(table, "{name}");
        for order in ["SSS", "SSF", "SFS", "SFF", "FSS", "FSF", "FFS", "FFF"] {
            _ = writeln!(table, "  {order} {}", outcome(&three_branches(order, options)));
        }
    }
    expect![[r#"
        all fail-fast
          SSS 123 3000
          SSF !3 12. 3000
          SFS !2 1.. 2000
          SFF !2 1.. 2000
          FSS !1 ... 1000
          FSF !1 ... 1000
          FFS !1 ... 1000
          FFF !1 ... 1000
        all continue
          SSS 123 3000
          SSF 12e 3000 warns of 1
          SFS 1e3 3000 warns of 1
          SFF 1ee 3000 warns of 2
          FSS e23 3000 warns of 1
          FSF e2e 3000 warns of 2
          FFS ee3 3000 warns of 2
          FFF eee 3000 warns of 3
        all ignore
          SSS 123 3000
          SSF 12. 3000
          SFS 1.3 3000
          SFF 1.. 3000
          FSS .23 3000
          FSF .2. 3000
          FFS ..3 3000
          FFF ... 3000
        first fail-fast
          SSS 1.. 1000
          SSF 1.. 1000
          SFS 1.. 1000
          SFF 1.. 1000
          FSS !1 ... 1000
          FSF !1 ... 1000
          FFS !1 ... 1000
          FFF !1 ... 1000
        first continue
          SSS 1.. 1000
          SSF 1.. 1000
          SFS 1.. 1000
          SFF 1.. 1000
          FSS e.. 1000 warns of 1
          FSF e.. 1000 warns of 1
          FFS e.. 1000 warns of 1
          FFF e.. 1000 warns of 1
        first ignore
          SSS 1.. 1000
          SSF 1.. 1000
          SFS 1.. 1000
          SFF 1.. 1000
          FSS ... 1000
          FSF ... 1000
          FFS ... 1000
          FFF ... 1000
        any 1 fail-fast
          SSS 1.. 1000
          SSF 1.. 1000
          SFS 1.. 1000
          SFF 1.. 1000
          FSS !1 ... 1000
          FSF !1 ... 1000
          FFS !1 ... 1000
          FFF !1 ... 1000
        any 1 continue
          SSS 1.. 1000
          SSF 1.. 1000
          SFS 1.. 1000
          SFF 1.. 1000
          FSS e2. 2000 warns of 1
          FSF e2. 2000 warns of 1
          FFS ee3 3000 warns of 2
          FFF eee 3000 warns of 3
        any 1 ignore
          SSS 1.. 1000
          SSF 1.. 1000
          SFS 1.. 1000
          SFF 1.. 1000
          FSS .2. 2000
          FSF .2. 2000
          FFS ..3 3000
          FFF ... 3000
        any 2 fail-fast
          SSS 12. 2000
          SSF 12. 2000
          SFS !2 1.. 2000
          SFF !2 1.. 2000
          FSS !1 ... 1000
          FSF !1 ... 1000
          FFS !1 ... 1000
          FFF !1 ... 1000
        any 2 continue
          SSS 12. 2000
          SSF 12. 2000
          SFS 1e3 3000 warns of 1
          SFF 1ee 3000 warns of 2
          FSS e23 3000 warns of 1
          FSF e2e 3000 warns of 2
          FFS ee3 3000 warns of 2
          FFF eee 3000 warns of 3
        any 2 ignore
          SSS 12. 2000
          SSF 12. 2000
          SFS 1.3 3000
          SFF 1.. 3000
          FSS .23 3000
          FSF .2. 3000
          FFS ..3 3000
          FFF ... 3000
    "#]]
    .assert_eq(&table);
}

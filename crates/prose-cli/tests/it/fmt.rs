//! `prose fmt`.

use crate::common::Workspace;
use expect_test::expect;

const UGLY: &str = "let  x=1\nif **so**:\n    session   \"{x}\"\n";
const NICE: &str = "let x = 1\nif **so**:\n  session \"{x}\"\n";

#[test]
fn programs_below_a_folder_are_formatted() {
    let workspace = Workspace::new(&[("a.prose", UGLY), ("flows/b.prose", NICE), ("c.txt", UGLY)]);
    workspace.prose(&["fmt"]).remarked(expect!["1 program formatted, 1 already formatted."]);
    assert_eq!(workspace.read("a.prose"), NICE);
    assert_eq!(workspace.read("flows/b.prose"), NICE);
    assert_eq!(workspace.read("c.txt"), UGLY);
    workspace.prose(&["fmt"]).remarked(expect!["2 programs already formatted."]);
}

#[test]
fn checking_changes_nothing_and_fails_where_something_would_be() {
    let workspace = Workspace::new(&[("a.prose", UGLY), ("b.prose", NICE)]);
    workspace.prose(&["fmt", "--check"]).check(expect![[r#"
        status: 1
        ---- stdout
        a.prose
        ---- stderr
        1 program would be formatted, 1 already formatted.
    "#]]);
    workspace.prose(&["fmt", "--diff", "a.prose"]).check(expect![[r#"
        status: 1
        ---- stdout
        --- a.prose
        +++ a.prose
        @@ -1,3 +1,3 @@
        -let  x=1
        +let x = 1
         if **so**:
        -    session   "{x}"
        +  session "{x}"
        ---- stderr
        1 program would be formatted.
    "#]]);
    assert_eq!(workspace.read("a.prose"), UGLY);
    workspace.prose(&["fmt", "--check", "b.prose"]).remarked(expect!["1 program already formatted."]);
}

#[test]
fn standard_input_goes_to_standard_output() {
    let workspace = Workspace::new(&[]);
    workspace.prose_with_input(&["fmt", "-"], UGLY.as_bytes()).check(expect![[r#"
        status: 0
        ---- stdout
        let x = 1
        if **so**:
          session "{x}"
    "#]]);
    workspace.prose_with_input(&["fmt", "-", "--lines", "1"], UGLY.as_bytes()).check(expect![[r#"
        status: 0
        ---- stdout
        let x = 1
        if **so**:
            session   "{x}"
    "#]]);
    workspace.prose_with_input(&["fmt", "-", "--check"], UGLY.as_bytes()).check(expect![[r#"
        status: 1
        ---- stdout
        <stdin>
        ---- stderr
        1 program would be formatted.
    "#]]);
    workspace.prose_with_input(&["fmt", "-"], b"session \xff").check(expect![[r#"
        status: 2
        ---- stderr
        error: `<stdin>` is not valid UTF-8: byte 0xff at offset 8, in line 1
    "#]]);
}

#[test]
fn what_has_mistakes_stays() {
    let workspace = Workspace::new(&[("a.prose", "let  x=\nlet  y=1\n")]);
    workspace.prose(&["fmt"]).check(expect![[r#"
        status: 0
        ---- stderr
        warning: `a.prose` has errors, and statements with errors are not formatted; run `prose check` for details
        1 program formatted.
    "#]]);
    assert_eq!(workspace.read("a.prose"), "let  x=\nlet y = 1\n");
}

#[test]
fn wrong_usage_is_told() {
    let workspace = Workspace::new(&[("a.prose", UGLY), ("b.prose", UGLY)]);
    workspace.prose(&["fmt", "--lines", "5-2"]).check(expect![[r#"
        status: 2
        ---- stderr
        error: invalid value '5-2' for '--lines <FIRST-LAST>': line 2 is before line 5

        For more information, try '--help'.
    "#]]);
    workspace
        .prose(&["fmt", "--lines", "1-2"])
        .refused(expect!["`--lines` is about one program, and here are several"]);
    workspace.prose(&["fmt", "nowhere.prose"]).refused(expect!["`nowhere.prose` does not exist"]);
}

//! `prose estimate`

use expect_test::expect;

use crate::common::Workspace;

const PROGRAM: &str = "input topics: \"What about\"\nagent critic:\n  model: opus\n  retry: 1\nfor topic in topics:\n  session: critic\n    prompt: \"Write about {topic}\"\nloop until **good** (max: 3):\n  session \"Improve\"\n";

#[test]
fn a_program_is_estimated_before_it_runs() {
    let workspace = Workspace::new(&[("main.prose", PROGRAM)]);
    workspace.check(
        &["estimate", "main.prose"],
        expect![[r#"
            status: 0
            ---- stdout
            0 or more sessions · unbounded (line 5)
                             least    expected        most
            sessions             0           9   unbounded
            decisions            1           4   unbounded
            unbounded: main.prose:5: the number of items of `topics` is only known in the run
        "#]],
    );
    workspace.check(
        &["estimate", "main.prose", "--input", "topics=[\"tides\", \"winds\"]"],
        expect![[r#"
        status: 0
        ---- stdout
        2–7 sessions
                         least    expected        most
        sessions             2           5           7
        decisions            1           4           6
    "#]],
    );
}

#[test]
fn costs_are_those_of_the_models() {
    let prices = "[prices.opus]\ninput = 10\noutput = 50\n[prices.sonnet]\ninput = 1\noutput = 5\n";
    let workspace = Workspace::new(&[("main.prose", PROGRAM), ("prose.toml", prices)]);
    let topics = "topics=[\"tides\", \"winds\"]";
    workspace.check(
        &["estimate", "main.prose", "--harness", "claude", "--input", topics],
        expect![[r#"
            status: 0
            ---- stdout
            2–7 sessions · $0.0002–$27.98
                             least    expected        most
            sessions             2           5           7
            decisions            1           4           4
            tokens              14     236,061   3,958,000
            cost           $0.0002       $1.19      $27.98
        "#]],
    );
    let json =
        workspace.prose(&["estimate", "main.prose", "--harness", "claude", "--input", topics, "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json.stdout).expect("it is JSON");
    assert_eq!(json["sessions"], serde_json::json!({ "least": 2.0, "expected": 5.2, "most": 7.0 }));
    assert_eq!(json["unbounded"], serde_json::json!([]));
}

#[test]
fn earlier_runs_refine_an_estimate() {
    let program = "let xs = session \"List\"\nfor x in xs:\n  session \"{x}\"\n";
    let script = "[[session]]\nlabel = \"List\"\nreply = \"- a\\n- b\"\n[[session]]\nreply = \"ok\"\n";
    let workspace = Workspace::new(&[("main.prose", program), ("answers.toml", script)]);
    workspace.prose(&["run", "main.prose", "-q", "--script", "answers.toml"]).ended(0);
    workspace.check(
        &["estimate", "main.prose"],
        expect![[r#"
        status: 0
        ---- stdout
        1 or more sessions · unbounded (line 2)
                         least    expected        most
        sessions             1           3   unbounded
        decisions            0           0   unbounded
        unbounded: main.prose:2: the number of items of `xs` is only known in the run
        Based on 1 earlier run.
    "#]],
    );
}

#[test]
fn a_number_of_iterations_is_taken_from_an_input() {
    let program = "input n: \"How often?\"\nrepeat n:\n  session \"Work\"\n";
    let workspace = Workspace::new(&[("main.prose", program)]);
    workspace.check(
        &["estimate", "main.prose", "--input", "n=3"],
        expect![[r#"
        status: 0
        ---- stdout
        3 sessions
                         least    expected        most
        sessions             3           3           3
        decisions            0           0           0
    "#]],
    );
    workspace.check(
        &["estimate", "main.prose", "--input", "n=many"],
        expect![[r#"
        status: 0
        ---- stdout
        1 or more sessions · unbounded (line 2)
                         least    expected        most
        sessions             1           3   unbounded
        decisions            0           0           0
        unbounded: main.prose:2: the number of iterations `n` is only known in the run
    "#]],
    );
}

#[test]
fn loops_that_only_the_settings_limit_are_listed() {
    let program = "loop:\n  session \"Work\"\n  if **it is done**:\n    break\n";
    let workspace = Workspace::new(&[("main.prose", program)]);
    workspace.check(
        &["estimate", "main.prose"],
        expect![[r#"
            status: 0
            ---- stdout
            1–1,000 sessions
                             least    expected        most
            sessions             1           3       1,000
            decisions            1           3       1,000
            note: main.prose:1: nothing but `run.max-iterations` (1,000) limits the loop; `(max: 5)` would
        "#]],
    );
}

#[test]
fn retries_are_expected_as_often_as_earlier_runs_needed_them() {
    let script = "[[session]]\npattern = \"Work\"\ntimes = 2\nfail = \"connection lost\"\n[[session]]\nreply = \"done\"\n";
    let program = "session \"Work\"\n  retry: 3\n";
    let workspace = Workspace::new(&[("main.prose", program), ("answers.toml", script)]);
    let expected = |workspace: &Workspace| {
        let json = workspace.prose(&["estimate", "main.prose", "--json"]).stdout;
        serde_json::from_str::<serde_json::Value>(&json).expect("it is JSON")["sessions"]["expected"].clone()
    };
    assert_eq!(expected(&workspace), serde_json::json!(1.111));
    workspace.prose(&["run", "main.prose", "--script", "answers.toml"]);
    assert_eq!(expected(&workspace), serde_json::json!(3.0));
}

#[test]
fn a_harness_that_does_not_exist_is_refused() {
    let workspace = Workspace::new(&[("main.prose", PROGRAM)]);
    workspace.refuses(
        &["estimate", "main.prose", "--harness", "cluade"],
        expect!["harness `cluade` does not exist; did you mean `claude`?"],
    );
}

use expect_test::{Expect, expect};

use crate::support::run;

#[track_caller]
fn check(program: &str, script: &str, expected: Expect) {
    expected.assert_eq(&run(program, script).story());
}

#[test]
fn r005_statements_run_in_order() {
    check(
        r#"
let a = session "First"
let b = session "Second {a}"
session "Third"
"#,
        r#"
[[session]]
label = "First"
reply = "one"
[[session]]
reply = "more"
"#,
        expect![[r#"
            session: First
            let a = one
            session: Second one
            let b = more
            session: Third
            let anon_001 = more
            value: more
        "#]],
    );
}

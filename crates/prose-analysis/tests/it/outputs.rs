//! Outputs and the variables that have their names.

use crate::support::{check, check_strict};

const OF_BLOCK: &str = r#"
block write():
  let report = session "Write"
  output text = report
let final = do write()
output report = final
"#;

#[test]
fn a_variable_of_a_block_is_not_replaced() {
    check(OF_BLOCK);
}

#[test]
fn the_strict_profile_wants_one_name_for_one_thing() {
    check_strict(&format!("{OF_BLOCK}#      ^^^^^^ error[E128]\n"));
}

#[test]
fn a_variable_of_the_file_is_replaced() {
    check(
        r#"
        let report = session "Write"
        output report = session "Write again"
        #      ^^^^^^ warning[E128]
        "#,
    );
}

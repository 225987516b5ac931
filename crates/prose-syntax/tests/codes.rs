//! Each row of the table of codes shows what it says it shows.

use prose_syntax::{Code, parse};

#[test]
fn the_wrong_program_has_the_diagnostic_and_no_other() {
    for &code in Code::ALL {
        let found: Vec<Code> =
            parse(code.info().wrong).diagnostics().iter().map(|found| found.code).collect();
        assert_eq!(found, [code], "in the wrong program of {code}:\n{}", code.info().wrong);
    }
}

#[test]
fn the_right_program_has_none() {
    for &code in Code::ALL {
        let found = parse(code.info().right).diagnostics().to_vec();
        assert_eq!(found, [], "in the right program of {code}:\n{}", code.info().right);
    }
}

#[test]
fn codes_are_read_in_any_case_and_unknown_ones_are_refused() {
    assert_eq!("e001".parse(), Ok(Code::E001));
    assert_eq!(Code::E001.to_string(), "E001");
    assert_eq!("E999".parse::<Code>().unwrap_err().to_string(), "`E999` is not a diagnostic code");
}

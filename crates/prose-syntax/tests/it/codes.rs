//! Each row of the table of codes shows what it says it shows.

use prose_fixture::wording;
use prose_syntax::{Code, parse};

// Most codes are reported by the analysis, whose tests run these programs too.

#[test]
fn the_parser_finds_nothing_else_in_the_wrong_program() {
    for &code in Code::ALL {
        let found: Vec<Code> =
            parse(&program(code.info().wrong)).diagnostics().iter().map(|found| found.code).collect();
        let only_itself = found.iter().all(|found| *found == code || *found == Code::W103);
        assert!(only_itself && found.len() < 2, "{found:?} in the wrong program of {code}");
    }
}

#[test]
fn the_parser_finds_nothing_in_the_right_program() {
    for &code in Code::ALL {
        let found = parse(&program(code.info().right)).diagnostics().to_vec();
        let only_itself = found.iter().all(|diagnostic| diagnostic.code == Code::W103);
        assert!(only_itself, "{found:?} in the right program of {code}");
    }
}

#[test]
fn titles_and_explanations_are_worded_alike() {
    for &code in Code::ALL {
        let info = code.info();
        wording::check_message(info.title);
        wording::check_explanation(info.explanation);
        assert!(info.title.len() <= 50, "a long title: {}", info.title);
    }
}

/// The programs of an example of several files, one after the other.
fn program(example: &str) -> String {
    let mut is_program = true;
    let mut program = String::new();
    for line in example.lines() {
        if line.starts_with("//- ") {
            is_program = line.ends_with(".prose");
        } else if is_program {
            program.push_str(line);
            program.push('\n');
        }
    }
    program
}

#[test]
fn codes_are_read_in_any_case_and_unknown_ones_are_refused() {
    assert_eq!("e001".parse(), Ok(Code::E001));
    assert_eq!(Code::E001.to_string(), "E001");
    assert_eq!("E999".parse::<Code>().unwrap_err().to_string(), "`E999` is not a diagnostic code");
}

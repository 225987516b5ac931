//! Each row of the table of codes shows what it says it shows.

use crate::support::codes;
use prose_syntax::{Code, Level, Profile};

/// The codes of the settings file, which is not analysed here, of what depends on it, and of what only a network can tell. The tests of settings, of
/// permissions and of imports from elsewhere run their programs.
const OF_ELSEWHERE: &[Code] = &[
    Code::E141,
    Code::E142,
    Code::W141,
    Code::E143,
    Code::E144,
    Code::E146,
    Code::E151,
    Code::W143,
    Code::W144,
    Code::W150,
    Code::W151,
    Code::W152,
    Code::W153,
];

#[test]
fn the_wrong_program_has_the_diagnostic_and_no_other() {
    let mut wrong = Vec::new();
    for &code in Code::ALL.iter().filter(|code| !OF_ELSEWHERE.contains(code)) {
        let profile = profile(code);
        let found = codes(code.info().wrong, profile, code);
        if found != [code] {
            wrong.push(format!("{code}: {found:?} in\n{}", code.info().wrong));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_right_program_has_none() {
    let mut wrong = Vec::new();
    for &code in Code::ALL.iter().filter(|code| !OF_ELSEWHERE.contains(code)) {
        let found = codes(code.info().right, profile(code), code);
        if !found.is_empty() {
            wrong.push(format!("{code}: {found:?} in\n{}", code.info().right));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The profile in which the code is reported.
fn profile(code: Code) -> Profile {
    if code.info().default == Level::Off { Profile::Strict } else { Profile::Default }
}

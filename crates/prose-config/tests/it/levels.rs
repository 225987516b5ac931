//! Which level a code has where.

use std::path::Path;

use prose_config::Config;
use prose_syntax::{Code, Level, Profile, Severity};

#[track_caller]
fn config(text: &str) -> Config {
    let (config, problems) = Config::parse(text);
    assert_eq!(problems, []);
    config
}

#[test]
fn without_settings_the_table_of_codes_says() {
    let check = config("").check;
    for code in Code::ALL {
        assert_eq!(check.level(*code, false, None), code.info().default.severity());
        assert_eq!(check.level(*code, true, None), code.info().lenient.severity());
    }
}

#[test]
fn the_strict_profile_knows_no_lenience() {
    let check = config("check.profile = 'strict'").check;
    for code in Code::ALL {
        assert_eq!(check.level(*code, false, None), code.info().strict.severity());
        assert_eq!(check.level(*code, true, None), code.info().strict.severity());
    }
    assert!(Code::ALL.iter().any(|code| code.info().level(Profile::Default, true) != code.info().strict));
}

#[test]
fn a_level_of_ones_own_comes_before_the_profile() {
    for level in Level::ALL {
        let check = config(&format!("check.profile = 'strict'\ncheck.levels.W101 = '{level}'")).check;
        assert_eq!(check.level(Code::W101, false, None), level.severity());
        assert_eq!(check.level(Code::W101, true, None), level.severity());
        assert_eq!(check.level(Code::W102, false, None), Code::W102.info().strict.severity());
    }
}

#[test]
fn the_ignores_of_a_file_come_before_all() {
    let check = config(
        r#"
        [check.levels]
        W101 = "error"
        [check.per-file-ignores]
        "examples/**" = ["W101"]
        "#,
    )
    .check;
    let level = |path: &str| check.level(Code::W101, false, Some(Path::new(path)));
    assert_eq!(level("examples/hello.prose"), None);
    assert_eq!(level("hello.prose"), Some(Severity::Error));
    assert_eq!(check.level(Code::W101, false, None), Some(Severity::Error));
    assert_eq!(
        check.level(Code::W102, false, Some(Path::new("examples/hello.prose"))),
        Some(Severity::Warning)
    );
}

#[track_caller]
fn check_glob(glob: &str, matching: &[&str], others: &[&str]) {
    let ignores = config(&format!("check.per-file-ignores.'{glob}' = ['W101']")).check.per_file_ignores;
    for path in matching {
        assert!(ignores.ignores(Path::new(path), Code::W101), "`{glob}` should describe {path}");
    }
    for path in others {
        assert!(!ignores.ignores(Path::new(path), Code::W101), "`{glob}` should not describe {path}");
    }
}

#[test]
fn globs_are_those_of_gitignore() {
    check_glob("*.prose", &["a.prose", "x/y/a.prose", "./a.prose"], &["a.prose.txt", "prose"]);
    check_glob("x/*.prose", &["x/a.prose", "./x/a.prose"], &["a.prose", "x/y/a.prose", "z/x/a.prose"]);
    check_glob("./x/*.prose", &["x/a.prose"], &["z/x/a.prose"]);
    check_glob("/a.prose", &["a.prose"], &["x/a.prose"]);
    check_glob("x/**", &["x/a.prose", "x/y/a.prose"], &["xx/a.prose", "y/x/a.prose"]);
    check_glob("**/x/*.prose", &["x/a.prose", "y/x/a.prose"], &["x/y/a.prose"]);
    check_glob("old", &["old/a.prose", "x/old/y/a.prose"], &["old.prose", "older/a.prose"]);
    check_glob("x/old/", &["x/old/a.prose", "x/old/y/a.prose"], &["old/a.prose"]);
    check_glob("{a,b}.prose", &["a.prose", "b.prose"], &["c.prose"]);
    check_glob("?[0-9].prose", &["a1.prose"], &["a.prose", "ab.prose", "/1.prose"]);
}

#[test]
fn a_star_stands_for_the_rest_of_a_code() {
    let ignored = |pattern: &str| {
        let ignores = config(&format!("check.per-file-ignores.'*' = ['{pattern}']")).check.per_file_ignores;
        Code::ALL.iter().filter(|code| ignores.ignores(Path::new("a.prose"), **code)).count()
    };
    let starting = |start: &str| Code::ALL.iter().filter(|code| code.as_str().starts_with(start)).count();
    assert_eq!(ignored("*"), Code::ALL.len());
    assert_eq!(ignored("W*"), starting("W"));
    assert_eq!(ignored("E10*"), starting("E10"));
    assert_eq!(ignored("E101*"), 1);
    assert_eq!(ignored("E101"), 1);
}

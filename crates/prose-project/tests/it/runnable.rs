//! Which programs can be run.

use std::fs;

use expect_test::{Expect, expect};
use prose_project::imports::ImportOptions;
use prose_project::load::load_file;
use tempfile::TempDir;

/// Loads `main.prose`, and shows why it is not run.
#[track_caller]
fn check(files: &[(&str, &str)], expected: Expect) {
    let folder = TempDir::new().unwrap();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    let loaded = load_file(&folder.path().join("main.prose"), ImportOptions::default()).unwrap();
    let shown = match loaded.program {
        Ok(program) => format!("{} runs", program.name),
        Err(refusal) => format!("main.prose {refusal}"),
    };
    expected.assert_eq(&shown.replace(folder.path().to_str().unwrap(), "FOLDER"));
}

#[test]
fn a_program_without_errors_runs() {
    check(&[("main.prose", "session \"x\"\n")], expect!["main.prose runs"]);
    check(
        &[("main.prose", "use \"./other.prose\" as other\nother()\n"), ("other.prose", "session \"x\"\n")],
        expect!["main.prose runs"],
    );
}

#[test]
fn errors_and_imports_with_errors_are_refused() {
    check(&[("main.prose", "session: nobody\n")], expect!["main.prose has 1 error and is not run"]);
    check(
        &[("main.prose", "session: nobody\nsession: none\n")],
        expect!["main.prose has 2 errors and is not run"],
    );
    check(
        &[("main.prose", "use \"./other.prose\" as other\nother()\n")],
        expect!["main.prose has 1 error and is not run"],
    );
}

#[test]
fn settings_are_refused_at_the_place_of_their_first_error() {
    let program = ("main.prose", "session \"x\"\n");
    check(
        &[program, ("prose.toml", "\u{feff}# é\r\n[run]\r\nmax-parallel = 0\r\n")],
        expect![
            "main.prose is not run: fix FOLDER/prose.toml:3:16: `run.max-parallel` must be a whole number from 1 to 4294967295, not `0`"
        ],
    );
    check(
        &[program, ("prose.toml", "# é\nrun = { max-parallel = 0 }\n")],
        expect![
            "main.prose is not run: fix FOLDER/prose.toml:2:24: `run.max-parallel` must be a whole number from 1 to 4294967295, not `0`"
        ],
    );
    check(&[program, ("prose.toml", "[check]\nprofile = \"x\"\n")], expect!["main.prose runs"]);
}

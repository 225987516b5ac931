//! Finding and reading the file.

use std::fs;
use std::path::Path;

use expect_test::expect;
use prose_config::{Config, Project, find};
use prose_syntax::{Code, Profile};

#[test]
fn the_nearest_file_upward_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let at = |path: &str| folder.path().join(path);
    fs::create_dir_all(at("project/deep/er")).unwrap();
    fs::create_dir_all(at("other")).unwrap();
    fs::write(at("project/prose.toml"), "").unwrap();
    fs::write(at("project/deep/main.prose"), "").unwrap();
    let project = Some(at("project/prose.toml"));
    assert_eq!(find(&at("project")), project);
    assert_eq!(find(&at("project/deep/main.prose")), project);
    assert_eq!(find(&at("project/deep/er")), project);
    assert_eq!(find(&at("project/not/there/yet.prose")), project);
    assert_eq!(find(&at("other/../project/deep")), project);
    assert_eq!(find(&at("project/../other")).filter(|path| path.starts_with(folder.path())), None);
    // A folder of that name is not a file with settings.
    fs::create_dir(at("project/deep/prose.toml")).unwrap();
    assert_eq!(find(&at("project/deep")), project);
    fs::write(at("project/deep/er/prose.toml"), "").unwrap();
    assert_eq!(find(&at("project/deep/er/main.prose")), Some(at("project/deep/er/prose.toml")));
}

#[test]
fn a_relative_path_is_one_from_the_working_folder() {
    let here = std::env::current_dir().unwrap();
    assert_eq!(find(Path::new("a.prose")), find(&here));
    assert_eq!(find(Path::new("")), None);
}

#[test]
fn a_file_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("prose.toml");
    assert!(Project::load(path.clone()).1.unwrap().is_missing());
    fs::write(&path, "[check]\nprofile = 'strict'\nx = 1\n").unwrap();
    let (loaded, None) = Project::load(path) else { panic!("the file is there") };
    assert_eq!(loaded.config.check.profile, Profile::Strict);
    assert_eq!(loaded.problems[0].code, Code::W141);
    assert_eq!((loaded.config, loaded.problems), Config::parse(&loaded.text));
}

#[test]
fn bytes_that_are_not_utf_8_are_one_problem() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("prose.toml");
    fs::write(&path, b"[check]\nprofile = 'strict' # caf\xe9\n[run]\nmax-parallel = 0\n").unwrap();
    let (loaded, None) = Project::load(path) else { panic!("the file is there") };
    assert_eq!(loaded.config.check.profile, Profile::Strict);
    let problems: Vec<_> =
        loaded.problems.iter().map(|problem| (&loaded.text[problem.range], &*problem.message)).collect();
    expect![[r#"
        [
            (
                "�",
                "the file is not valid UTF-8; save it as UTF-8",
            ),
            (
                "0",
                "`run.max-parallel` must be a whole number from 1 to 4294967295, not `0`",
            ),
        ]
    "#]]
    .assert_debug_eq(&problems);
}

#[test]
fn the_programs_in_a_folder_are_listed() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.prose", "b.prose", "notes.md"] {
        std::fs::write(folder.path().join(name), "").unwrap();
    }
    let mut names = prose_config::programs_in(folder.path());
    names.sort();
    assert_eq!(names, ["a.prose", "b.prose"]);
    assert!(prose_config::programs_in(&folder.path().join("gone")).is_empty());
}

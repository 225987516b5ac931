//! The examples of `docs/testing.md`, and the tests that `prose init` writes.

use std::path::Path;

use prose_test::TestFile;

use crate::support::{World, shown};

const DOCS: &str = include_str!("../../../../docs/testing.md");

/// The blocks of the page in a language.
fn blocks(language: &str) -> Vec<&'static str> {
    let blocks = DOCS.split("\n```").skip(1).step_by(2).filter_map(|block| block.split_once('\n'));
    blocks.filter(|(of, _)| *of == language).map(|(_, text)| text).collect()
}

#[test]
fn every_example_is_right() {
    let examples = blocks("toml");
    assert!(examples.len() >= 3, "{examples:?}");
    for example in examples {
        assert_eq!(TestFile::read(Path::new("/main.test.toml"), example).problems, [], "{example}");
    }
}

#[test]
fn the_first_example_passes_as_shown() {
    let (program, tests) = (blocks("prose")[0], blocks("toml")[0]);
    let world = World::new(&format!("//- /main.prose\n{program}\n//- /main.test.toml\n{tests}\n"));
    let results = shown(&world.run());
    let console = blocks("console")[0];
    for line in results.lines() {
        assert!(console.contains(&format!("\n  {line}\n")), "{line}");
    }
    assert_eq!(results.lines().count(), 2);
}

#[test]
fn every_key_is_described() {
    let schema = prose_test::schema();
    let case = &schema["properties"]["case"]["items"]["properties"];
    let keys = case["expect"]["properties"].as_object().into_iter().flatten();
    for (key, _) in keys.chain(case.as_object().into_iter().flatten()) {
        // The kinds of entries are on the page about scripts.
        let is_of_script = prose_harness::script::keys().any(|known| known == key);
        assert!(is_of_script || DOCS.contains(key.as_str()), "`{key}` is not described");
    }
}

#[test]
fn a_new_project_has_tests_that_pass() {
    let program = include_str!("../../../prose-cli/templates/main.prose");
    let tests = include_str!("../../../prose-cli/templates/main.test.toml");
    let world = World::new(&format!("//- /main.prose\n{program}\n//- /main.test.toml\n{tests}\n"));
    let summary = world.run();
    assert_eq!((summary.passed(), summary.failed()), (2, 0), "{}", shown(&summary));
}

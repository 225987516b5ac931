//! Files that are no TOML, and no settings at all.

use std::fmt::Write as _;
use std::num::NonZeroU32;
use std::time::{Duration, Instant};

use crate::support::{check, check_text, mended};
use expect_test::expect;
use proptest::prelude::*;
use prose_config::Config;
use prose_syntax::{Code, Profile};

#[test]
fn one_broken_line_leaves_the_others_in_effect() {
    let config = check(expect![[r#"
        hello world
        #     | error[E141] invalid TOML: key with no value, expected `=`
        {}
        #<| error[E141] invalid TOML: invalid key-value pair, expected key
        = 1
        #<| error[E141] invalid TOML: unquoted keys cannot be empty, expected letters, numbers, `-`, `_`
        [check]
        profile
        #      | error[E141] invalid TOML: key with no value, expected `=`
        profile = strict
        #         ^^^^^^ error[E141] `strict` is not a TOML value; strings need quotes (fix: Put into quotes)
        profile =
        #        | error[E141] missing value after `=`
        profile = "strict
        #                | error[E141] invalid TOML: invalid basic string, expected `"`
        profile = "strict" yes
        #                  | error[E141] invalid TOML: unexpected key or value, expected newline, `#`
        profile = "stri\qct"
        #               | error[E141] invalid TOML: missing escaped value, expected `b`, `e`, `f`, `n`, `r`, `\`, `"`, `x`, `u`, `U`
        profile = "strict"
        [run]
        max-parallel = 2 # right
        max-iterations = 3 4
        #                ^^^ error[E141] `3 4` is not a TOML value; strings need quotes
    "#]]);
    assert_eq!(config.check.profile, Profile::Strict);
    assert_eq!(config.run.max_parallel.map(NonZeroU32::get), Some(2));
    assert_eq!(config.run.max_iterations.get(), 1000);
}

#[test]
fn a_header_without_bracket_is_a_header_all_the_same() {
    let text = "[models]\nfast = \"a/b\"\n[check\nprofile = \"strict\"\n  [run  \nmax-parallel = 0\n";
    let config = check_text(
        text,
        expect![[r#"
            [models]
            fast = "a/b"
            [check
            #     | error[E141] missing `]` after the table name (fix: Insert `]`)
            profile = "strict"
              [run  
            #     | error[E141] missing `]` after the table name (fix: Insert `]`)
            max-parallel = 0
            #              ^ error[E142] `run.max-parallel` must be a whole number from 1 to 4294967295, not `0`
        "#]],
    );
    assert_eq!(config.check.profile, Profile::Strict);
    assert_eq!(config.models.len(), 1);
    let (mended, problems) = Config::parse(&mended("[check\nprofile = strict\n[run\nmax-parallel = \"2\"\n"));
    assert_eq!(problems, []);
    assert_eq!(mended.check.profile, Profile::Strict);
    assert_eq!(mended.run.max_parallel.map(NonZeroU32::get), Some(2));
}

#[test]
fn other_broken_headers_keep_what_is_below_them() {
    check(expect![[r#"
        []
        #| error[E141] invalid TOML: unquoted keys cannot be empty, expected letters, numbers, `-`, `_`
        profile = "strict"
        [check.]
        #      | error[E141] invalid TOML: unquoted keys cannot be empty, expected letters, numbers, `-`, `_`
        profile = "strict"
        [check] profile = "strict"
        #       | error[E141] invalid TOML: unexpected key or value, expected newline, `#`
        levels = {}
        [run]]
        #    | error[E141] invalid TOML: unexpected key or value, expected newline, `#`
        max-parallel = 2
    "#]]);
}

#[test]
fn a_bracket_without_key_swallows_nothing() {
    let (config, _) =
        Config::parse("[models]\n==[\n[run]\nmax-parallel = 2\n[check]\nprofile = \"strict\"\n");
    assert_eq!(config.check.profile, Profile::Strict);
    assert_eq!(config.run.max_parallel.map(NonZeroU32::get), Some(2));
}

#[test]
fn the_first_of_two_counts() {
    let config = check(expect![[r#"
        [check]
        profile = "strict"
        profile = "default"
        #<^^^^^^^ error[E141] `profile` is already defined; only the first one is used
        [run]
        max-parallel = 2
        [check]
        #^^^^^ error[E141] `check` is already defined; write its keys in one place
        levels = { W101 = "off" }
        [run.max-parallel]
        #    ^^^^^^^^^^^^ error[E141] `max-parallel` is already defined; write its keys in one place
        x = 1
    "#]]);
    assert_eq!(config.check.profile, Profile::Strict);
    assert_eq!(config.check.levels.len(), 1);
}

#[test]
fn what_is_never_closed_ends_before_the_next_statement() {
    let config = check(expect![[r#"
        [check.per-file-ignores]
        "a.prose" = [
        #           ^ error[E141] unclosed `[`
          "W101",
        "b.prose" = ["W102"]
        [models]
        fast = """provider/
        #      ^^^ error[E141] unclosed `"""`
        slow = "provider/large"
        small = { x = 1,
        #       ^ error[E141] unclosed `{`
          y = 2
        [run]
        max-parallel = 2
    "#]]);
    assert_eq!(config.check.per_file_ignores.entries().len(), 1);
    assert_eq!(config.models.keys().collect::<Vec<_>>(), ["slow"]);
    assert_eq!(config.run.max_parallel.map(NonZeroU32::get), Some(2));
}

#[test]
fn an_error_inside_of_a_long_value_takes_the_value_with_it() {
    let config = check(expect![[r#"
        [check.per-file-ignores]
        "a.prose" = [
          "W101"
          "W102"
        # | error[E141] invalid TOML: missing comma between array elements, expected `,`
        ]
        "b.prose" = [
          W103,
        # ^^^^ error[E141] `W103` is not a TOML value; strings need quotes (fix: Put into quotes)
        ]
        [check]
        profile = "strict"
    "#]]);
    assert_eq!(config.check.profile, Profile::Strict);
    assert!(config.check.per_file_ignores.entries().is_empty());
}

#[test]
fn line_ends_and_marks_of_other_systems_are_fine() {
    let (config, problems) =
        Config::parse("\u{feff}[check]\r\nprofile = \"strict\"\r\n[run]\r\nmax-parallel = 2");
    assert_eq!(problems, []);
    assert_eq!(config.check.profile, Profile::Strict);
    assert_eq!(config.run.max_parallel.map(NonZeroU32::get), Some(2));
    let text = "[check]\r\nprofile = 3\r\nhello\r\n[run]\r\nmax-parallel = 0\r\n";
    let seen: Vec<_> =
        Config::parse(text).1.iter().map(|problem| (problem.code, &text[problem.range])).collect();
    assert_eq!(seen, [(Code::E142, "3"), (Code::E141, ""), (Code::E142, "0")]);
}

#[test]
fn characters_that_have_no_place() {
    let (config, problems) =
        Config::parse("[check]\nprofile = \"str\0ict\"\n\0\n[run]\nmax-parallel = 2\0\nmax-iterations = 3\n");
    let seen: Vec<_> =
        problems.iter().map(|problem| (problem.code, problem.range, &*problem.message)).collect();
    expect![[r#"
        [
            (
                E141,
                22..23,
                "the character U+0000 is not allowed in TOML",
            ),
            (
                E141,
                28..29,
                "the character U+0000 is not allowed in TOML",
            ),
            (
                E141,
                51..53,
                "the character U+0000 is not allowed in TOML",
            ),
        ]
    "#]]
    .assert_debug_eq(&seen);
    assert_eq!(config.run.max_iterations.get(), 3);
}

/// The time is far above what it takes; what would take longer has the wrong order of growth.
#[track_caller]
fn parse_in_time(text: &str) -> (Config, Vec<prose_syntax::Diagnostic>) {
    let start = Instant::now();
    let parsed = Config::parse(text);
    let start_of_text = &text[..text.floor_char_boundary(20)];
    assert!(start.elapsed() < Duration::from_secs(10), "{start_of_text:?} took {:?}", start.elapsed());
    parsed
}

#[test]
fn large_files_are_read() {
    let mut text = String::from("[models]\n");
    for i in 0..40_000 {
        _ = writeln!(text, "model_{i} = \"provider/{i}\"");
    }
    assert!(text.len() > 1_000_000);
    let (config, problems) = parse_in_time(&text);
    assert_eq!(problems, []);
    assert_eq!(config.models.len(), 40_000);
}

#[test]
fn large_files_of_rubbish_end() {
    for rubbish in [
        "x y\n",
        "[",
        "{",
        "a=[",
        "a=[\n",
        "a={a=",
        "\"\"\"\n",
        "'''",
        "a.",
        "[a.",
        "[[x]]\n",
        "\0",
        "é\n",
        "a = b\n",
        "[check]\n",
        "[check\n",
    ] {
        let (_, problems) = parse_in_time(&rubbish.repeat(200_000 / rubbish.len()));
        assert!(!problems.is_empty(), "{rubbish:?}");
        assert!(problems.len() <= 100, "{rubbish:?}");
    }
}

#[test]
fn enormous_files_are_refused() {
    let (config, problems) = Config::parse(&" ".repeat((16 << 20) + 1));
    assert_eq!(config.registry.url.as_str(), "");
    assert_eq!(problems[0].code, Code::E141);
}

const WORDS: &[&str] = &[
    "[",
    "]",
    "[[",
    "]]",
    "{",
    "}",
    "=",
    ",",
    ".",
    "\"",
    "'",
    "\"\"\"",
    "'''",
    "#",
    "\n",
    "\r\n",
    "\r",
    " ",
    "\0",
    "\\",
    "é",
    "\u{feff}",
    "check",
    "[check]\n",
    "[run]\n",
    "[models]\n",
    "profile",
    "levels",
    "per-file-ignores",
    "max-parallel",
    "profile = \"strict\"\n",
    "W101",
    "\"W101\"",
    "\"off\"",
    "8",
    "-1",
    "1e3",
    "0x",
    "true",
    "2020-01-01",
    "nan",
];

fn toml_like() -> impl Strategy<Value = String> {
    let word = prop::sample::select(WORDS).prop_map(str::to_owned);
    let words = prop_oneof![4 => word, 1 => any::<char>().prop_map(String::from)];
    prop::collection::vec(words, 0..40).prop_map(|words| words.concat())
}

proptest! {
    #[test]
    fn any_text_is_read(text in toml_like()) {
        let (_, problems) = Config::parse(&text);
        for problem in problems {
            prop_assert!(text.get(std::ops::Range::<usize>::from(problem.range)).is_some());
            prop_assert!(!problem.message.is_empty());
        }
    }

    /// A broken line above changes nothing about the settings below the next header.
    #[test]
    fn rubbish_stays_in_its_place(rubbish in "[a-z =\"'\\[\\]{},.#]{0,12}") {
        prop_assume!(!rubbish.contains("\"\"\"") && !rubbish.contains("'''"));
        let text = format!("[models]\n{rubbish}\n[run]\nmax-parallel = 2\n[check]\nprofile = \"strict\"\n");
        let (config, _) = Config::parse(&text);
        prop_assert_eq!(config.check.profile, Profile::Strict, "{}", text);
        prop_assert_eq!(config.run.max_parallel.map(NonZeroU32::get), Some(2), "{}", text);
    }
}

//! Right and wrong values and keys.

use std::num::NonZeroU32;
use std::time::Duration;

use crate::support::{check, check_text, mended};
use expect_test::expect;
use prose_config::{Config, FetchMode, Isolation, WhenWaiting};
use prose_syntax::{Code, Level, Profile};

#[test]
fn every_setting_is_read() {
    let (config, problems) = Config::parse(
        r#"
        [check]
        profile = "strict"
        levels = { E101 = "warning", W101 = "off" }
        [check.per-file-ignores]
        "examples/**" = ["W101", "E0*"]
        [models]
        fast = "provider/small"
        [markdown]
        enabled = false
        check = true
        [registry]
        url = "https://prose.example.com/programs"
        fetch = "manual"
        [run]
        max-parallel = 3
        max-iterations = 0x20
        isolation = "worktree"
        stalled-after = "90s"
        when-waiting = "stay"
        "#,
    );
    assert_eq!(problems, []);
    assert_eq!(config.check.profile, Profile::Strict);
    assert_eq!(config.check.levels[&Code::E101], Level::Warning);
    assert_eq!(config.check.levels[&Code::W101], Level::Off);
    let ignores = config.check.per_file_ignores.entries();
    assert_eq!(ignores[0].glob(), "examples/**");
    assert_eq!(ignores[0].codes().iter().map(ToString::to_string).collect::<Vec<_>>(), ["W101", "E0*"]);
    assert_eq!(config.models["fast"], "provider/small");
    assert_eq!((config.markdown.enabled, config.markdown.check), (false, true));
    assert_eq!(config.registry.url.as_str(), "https://prose.example.com/programs/");
    assert_eq!(config.registry.fetch, FetchMode::Manual);
    assert_eq!(config.run.max_parallel.map(NonZeroU32::get), Some(3));
    assert_eq!(config.run.max_iterations.get(), 32);
    assert_eq!(config.run.isolation, Isolation::Worktree);
    assert_eq!(config.run.stalled_after.duration(), Some(Duration::from_secs(90)));
    assert_eq!(config.run.when_waiting, WhenWaiting::Stay);
}

#[test]
fn times_have_units() {
    check(expect![[r#"
        [run]
        stalled-after = "10"
        #               ^^^^ error[E142] `run.stalled-after` must be a time such as "90s", "10m" or "1h", or "off", not the string "10"
    "#]]);
    check(expect![[r#"
        [run]
        stalled-after = "0m"
        #               ^^^^ error[E142] `run.stalled-after` must be a time such as "90s", "10m" or "1h", or "off", not the string "0m"
    "#]]);
    for (text, seconds) in [("off", None), ("2h", Some(7200)), ("30m", Some(1800))] {
        let (config, problems) = Config::parse(&format!("[run]\nstalled-after = \"{text}\"\n"));
        assert_eq!(problems, []);
        assert_eq!(config.run.stalled_after.duration(), seconds.map(Duration::from_secs));
    }
}

#[test]
fn rights_of_fetched_programs_are_told_from_other_words() {
    let config = check(expect![[r#"
        [imports."@alice/research"]
        allow = ["files:docs/**", "file:src/**", "memory:project", "everything", 3]
        #                         ^^^^^^^^^^^^^ error[E142] `imports."@alice/research".allow`: `file:` is not a kind of right; did you mean `files:src/**`?
        #                                                          ^^^^^^^^^^^^ error[E142] `imports."@alice/research".allow`: `everything` is not a right; expected `files:docs/**`, `memory:project`, `memory:user`, `memory:PATH`, `skills:PATH`, `execute:git log*`, `network:*`, `mcp:tracker`, `read:../notes/**` or `write:../notes/**`
        #                                                                        ^ error[E142] `imports."@alice/research".allow` must be a right such as "files:docs/**", not `3`
        alow = []
        #<^^^^ warning[W141] `imports."@alice/research".alow` is not a setting; did you mean `allow`?
        [imports]
        "./local.prose" = { allow = [] }
        #<^^^^^^^^^^^^^^^ error[E142] `./local.prose` is a local program, and local programs need no rights
        alice = {}
        #<^^^^^ error[E142] `alice` has no `/`; a program in a registry is `handle/slug`
        "bob/deep" = ["files:docs/**"]
        #            ^^^^^^^^^^^^^^^^^ error[E142] `imports."bob/deep"` must be a table, not an array
    "#]]);
    let grants = config.imports.grants();
    assert!(grants.cover("alice/research", &"files:docs/a.md".parse().unwrap()));
    assert!(!grants.cover("alice/research", &"files:src/a.rs".parse().unwrap()));
    assert!(!grants.cover("bob/deep", &"files:docs/a.md".parse().unwrap()));
}

#[test]
fn nothing_is_needed() {
    let config = Config::default();
    assert_eq!(Config::parse(""), (config.clone(), vec![]));
    assert_eq!(Config::parse("[check]\n[check.levels]\n[models]\n# Nothing.\n"), (config.clone(), vec![]));
    assert_eq!(config.check.profile, Profile::Default);
    assert_eq!((config.markdown.enabled, config.markdown.check), (true, false));
    assert_eq!(config.run.max_parallel, None);
    assert_eq!(config.run.max_iterations.get(), 1000);
    assert_eq!(config.registry.url.as_str(), "https://p.prose.md/");
    assert_eq!(config.registry.fetch, FetchMode::Automatic);
}

#[test]
fn keys_may_be_dotted_or_quoted() {
    let (config, problems) = Config::parse("check.profile = 'strict'\n\"run\".\"max-parallel\" = 2\n");
    assert_eq!(problems, []);
    assert_eq!(config.check.profile, Profile::Strict);
    assert_eq!(config.run.max_parallel.map(NonZeroU32::get), Some(2));
}

#[test]
fn a_wrong_type_is_reported_at_every_key() {
    let config = check(expect![[r#"
        [check]
        profile = 3
        #         ^ error[E142] `check.profile` must be `"default"` or `"strict"`, not `3`
        levels = ["W101"]
        #        ^^^^^^^^ error[E142] `check.levels` must be a table of codes and levels, such as `W101 = "off"`, not an array
        per-file-ignores = "examples/**"
        #                  ^^^^^^^^^^^^^ error[E142] `check.per-file-ignores` must be a table of globs and lists of codes, such as `"examples/**" = ["W101"]`, not the string "examples/**"
        [models]
        fast = 1.5
        #      ^^^ error[E142] `models.fast` must be the id of a model in quotes, without spaces, such as "provider/model", not `1.5`
        [markdown]
        enabled = "false"
        #         ^^^^^^^ error[E142] `markdown.enabled` must be `true` or `false`, not the string "false" (fix: Remove the quotes)
        check = "yes"
        #       ^^^^^ error[E142] `markdown.check` must be `true` or `false`, not the string "yes"
        [registry]
        url = true
        #     ^^^^ error[E142] `registry.url` must be a URL such as "https://prose.example.com/", without credentials and query, not `true`
        fetch = 2020-01-01
        #       ^^^^^^^^^^ error[E142] `registry.fetch` must be `"automatic"`, `"manual"` or `"off"`, not a date
        [run]
        max-parallel = "8"
        #              ^^^ error[E142] `run.max-parallel` must be a whole number from 1 to 4294967295, not the string "8" (fix: Remove the quotes)
        max-iterations = {}
        #                ^^ error[E142] `run.max-iterations` must be a whole number from 1 to 4294967295, not a table
    "#]]);
    // The name of a model is declared all the same.
    let mut expected = Config::default();
    expected.models.insert("fast".to_owned(), String::new());
    assert_eq!(config.registry.url.as_str(), "");
    expected.registry.url = config.registry.url.clone();
    assert_eq!(config, expected);
}

#[test]
fn tables_are_no_values() {
    check(expect![[r#"
        check = "strict"
        #       ^^^^^^^^ error[E142] `check` must be a table, not the string "strict"
        models = []
        #        ^^ error[E142] `models` must be a table of names and ids of models, such as `fast = "provider/model"`, not an array
        registry = "https://prose.example.com/"
        #          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error[E142] `registry` must be a table, not the string "https://prose.example.com/"
        [[run]]
        #<^^^^^^^ error[E142] `run` must be a table, not an array
        max-parallel = 2
    "#]]);
    check(expect![[r#"
        [check.profile]
        #<^^^^^^^^^^^^^^^ error[E142] `check.profile` must be `"default"` or `"strict"`, not a table
        x = 1
        [check.levels.W101]
        #<^^^^^^^^^^^^^^^^^^^ error[E142] `check.levels.W101` must be `"error"`, `"warning"`, `"info"`, `"hint"` or `"off"`, not a table
        level = "off"
        [run.max-parallel]
        #<^^^^^^^^^^^^^^^^^^ error[E142] `run.max-parallel` must be a whole number from 1 to 4294967295, not a table
    "#]]);
}

#[test]
fn words_that_are_meant_are_named() {
    let text = r#"
        [check]
        profile = "Strict"
        [check.levels]
        W101 = "warn"
        W102 = "information"
        W103 = "eror"
        E101 = "deny"
        E102 = ""
        [registry]
        fetch = "auto"
    "#;
    check_text(
        text,
        expect![[r#"
            [check]
            profile = "Strict"
            #         ^^^^^^^^ error[E142] `check.profile` must be `"default"` or `"strict"`, not the string "Strict"; did you mean "strict"? (fix: Change to "strict")
            [check.levels]
            W101 = "warn"
            #      ^^^^^^ error[E142] `check.levels.W101` must be `"error"`, `"warning"`, `"info"`, `"hint"` or `"off"`, not the string "warn"; did you mean "warning"? (guess: Change to "warning")
            W102 = "information"
            #      ^^^^^^^^^^^^^ error[E142] `check.levels.W102` must be `"error"`, `"warning"`, `"info"`, `"hint"` or `"off"`, not the string "information"; did you mean "info"? (guess: Change to "info")
            W103 = "eror"
            #      ^^^^^^ error[E142] `check.levels.W103` must be `"error"`, `"warning"`, `"info"`, `"hint"` or `"off"`, not the string "eror"; did you mean "error"? (guess: Change to "error")
            E101 = "deny"
            #      ^^^^^^ error[E142] `check.levels.E101` must be `"error"`, `"warning"`, `"info"`, `"hint"` or `"off"`, not the string "deny"
            E102 = ""
            #      ^^ error[E142] `check.levels.E102` must be `"error"`, `"warning"`, `"info"`, `"hint"` or `"off"`, not an empty string
            [registry]
            fetch = "auto"
            #       ^^^^^^ error[E142] `registry.fetch` must be `"automatic"`, `"manual"` or `"off"`, not the string "auto"; did you mean "automatic"? (guess: Change to "automatic")
        "#]],
    );
    let (config, _) = Config::parse(&mended(text));
    assert_eq!(config.check.profile, Profile::Strict);
    assert_eq!(config.check.levels[&Code::W102], Level::Information);
    assert_eq!(config.check.levels[&Code::W103], Level::Error);
    assert_eq!(config.registry.fetch, FetchMode::Automatic);
}

#[test]
fn numbers_have_bounds() {
    check(expect![[r#"
        [run]
        max-parallel = 0
        #              ^ error[E142] `run.max-parallel` must be a whole number from 1 to 4294967295, not `0`
        max-iterations = -1
        #                ^^ error[E142] `run.max-iterations` must be a whole number from 1 to 4294967295, not `-1`
    "#]]);
    check(expect![[r#"
        [run]
        max-parallel = 99999999999999999999
        #              ^^^^^^^^^^^^^^^^^^^^ error[E142] `run.max-parallel` must be a whole number from 1 to 4294967295, not `99999999999999999999`
        max-iterations = 1e3
        #                ^^^ error[E142] `run.max-iterations` must be a whole number from 1 to 4294967295, not `1e3`
    "#]]);
    check(expect![[r#"
        [run]
        max-parallel = 4294967296
        #              ^^^^^^^^^^ error[E142] `run.max-parallel` must be a whole number from 1 to 4294967295, not `4294967296`
        max-iterations = 4_294_967_295
    "#]]);
}

#[test]
fn unknown_keys_are_reported_at_every_level() {
    let config = check(expect![[r#"
        chek = 1
        #<^^^^ warning[W141] `chek` is not a setting; did you mean `check`?
        profile = "strict"
        #<^^^^^^^ warning[W141] `profile` is not a setting; move it to `[check]`
        [check]
        profil = "strict"
        #<^^^^^^ warning[W141] `check.profil` is not a setting; did you mean `profile`?
        max_parallel = 3
        #<^^^^^^^^^^^^ warning[W141] `check.max_parallel` is not a setting; move it to `[run]`
        profile = "strict"
        [check.levels]
        E999 = "off"
        #<^^^^ warning[W141] `E999` is not a diagnostic code; list all codes with `prose explain`
        e101 = "off"
        #<^^^^ warning[W141] `e101` is not a diagnostic code; did you mean `E101`? (fix: Change to `E101`)
        W1O1 = "off"
        #<^^^^ warning[W141] `W1O1` is not a diagnostic code; did you mean `W101`? (guess: Change to `W101`)
        nonsense = "off"
        #<^^^^^^^^ warning[W141] `nonsense` is not a diagnostic code; list all codes with `prose explain`
        W102 = "off"
        [registry]
        url = "https://prose.example.com/"
        token = "secret"
        #<^^^^^ warning[W141] `registry.token` is not a setting; the keys of `[registry]` are `fetch`, `url` and `vendor`
        [run]
        max_parallel = 3
        #<^^^^^^^^^^^^ error[E142] `run.max_parallel` is not a setting; did you mean `max-parallel`? (fix: Change to `max-parallel`)
        max-iterations = 5
        [format]
        #^^^^^^ warning[W141] `format` is not a setting; the keys of `prose.toml` are `agents`, `check`, `imports`, `limits`, `markdown`, `mcp`, `models`, `prices`, `registry` and `run`
        width = 80
    "#]]);
    assert_eq!(config.check.profile, Profile::Strict);
    assert_eq!(config.check.levels.len(), 1);
    assert_eq!(config.registry.url.as_str(), "https://prose.example.com/");
    assert_eq!(config.run.max_iterations.get(), 5);
}

#[test]
fn no_fix_makes_a_second_key_of_one_name() {
    check(expect![[r#"
        [run]
        max_parallel = 3
        #<^^^^^^^^^^^^ error[E142] `run.max_parallel` is not a setting; did you mean `max-parallel`?
        max-parallel = 4
        [check.levels]
        w101 = "off"
        #<^^^^ warning[W141] `w101` is not a diagnostic code; did you mean `W101`?
        W101 = "error"
    "#]]);
}

#[test]
fn ignores_are_lists_of_codes() {
    let config = check(expect![[r#"
        [check.per-file-ignores]
        "a.prose" = "W101"
        #           ^^^^^^ error[E142] `check.per-file-ignores."a.prose"` must be a list of codes, such as `["W101", "W0*"]`, not the string "W101" (fix: Put into brackets)
        "b.prose" = ["W101", "w102", "E999", "X*", 3, "E101"]
        #                    ^^^^^^ warning[W141] `w102` is not a diagnostic code; did you mean `W102`? (fix: Change to "W102")
        #                            ^^^^^^ warning[W141] `E999` is not a diagnostic code; list all codes with `prose explain`
        #                                    ^^^^ warning[W141] no code starts with `X`
        #                                          ^ error[E142] `check.per-file-ignores."b.prose"` must be a code or a prefix, such as "W101" or "W0*", not `3`
        "c[.prose" = ["W101"]
        #<^^^^^^^^^^ error[E142] `c[.prose` is not a valid glob: unclosed character class; missing ']'
        "" = []
        #<^^ error[E142] an empty glob matches no file
        "!d.prose" = ["W101"]
        #<^^^^^^^^^^ error[E142] a glob cannot be negated with `!`
        "e.prose" = ["*"]
    "#]]);
    let ignores = config.check.per_file_ignores.entries();
    let seen: Vec<_> = ignores.iter().map(|entry| (entry.glob(), entry.codes().len())).collect();
    assert_eq!(seen, [("a.prose", 0), ("b.prose", 2), ("e.prose", 1)]);
}

#[test]
fn names_of_models_can_be_written_in_programs() {
    let config = check(expect![[r#"
        [models]
        fast = "provider/small"
        2fast = "provider/small"
        #<^^^^^ error[E142] `2fast` cannot be used in a program; a name is made of the letters a–z and A–Z, digits, `_` and `-`, and starts with a letter or `_`
        "so fast" = "provider/small"
        #<^^^^^^^^^ error[E142] `so fast` cannot be used in a program; a name is made of the letters a–z and A–Z, digits, `_` and `-`, and starts with a letter or `_`
        "" = "provider/small"
        #<^^ error[E142] `` cannot be used in a program; a name is made of the letters a–z and A–Z, digits, `_` and `-`, and starts with a letter or `_`
        slow = ""
        #      ^^ error[E142] `models.slow` must be the id of a model in quotes, without spaces, such as "provider/model", not an empty string
        large = "provider / large"
        #       ^^^^^^^^^^^^^^^^^^ error[E142] `models.large` must be the id of a model in quotes, without spaces, such as "provider/model", not the string "provider / large"
        best-one_2 = "large"
    "#]]);
    assert_eq!(config.models.keys().collect::<Vec<_>>(), ["best-one_2", "fast", "large", "slow"]);
}

#[test]
fn the_address_of_a_registry_is_one() {
    for right in ["https://prose.example.com", "http://127.0.0.1:8080/programs/", "https://[::1]/"] {
        let (config, problems) = Config::parse(&format!("registry.url = \"{right}\""));
        assert_eq!(problems, [], "{right}");
        assert_eq!(config.registry.url.as_str().trim_end_matches('/'), right.trim_end_matches('/'));
    }
    for wrong in [
        "",
        "prose.example.com",
        "ftp://x.org/",
        "https://",
        "https:///x",
        "https://a b/",
        "https://x/?q",
        "https://u:p@x/",
    ] {
        let (config, problems) = Config::parse(&format!("registry.url = \"{wrong}\""));
        assert_eq!(problems.len(), 1, "{wrong}");
        assert_eq!(problems[0].code, Code::E142);
        assert_eq!(config.registry.url.as_str(), "");
    }
}

#[test]
fn the_examples_of_the_codes_are_right() {
    for code in [Code::E141, Code::E142, Code::W141] {
        let text = |example: &str| example.strip_prefix("//- /prose.toml\n").unwrap_or(example).to_owned();
        let codes = |text: &str| Config::parse(text).1.iter().map(|problem| problem.code).collect::<Vec<_>>();
        assert_eq!(codes(&text(code.info().wrong)), [code]);
        assert_eq!(codes(&text(code.info().right)), []);
    }
}

#[test]
fn an_address_that_is_not_understood_is_not_replaced_by_the_public_one() {
    for lost in [
        "registry.url = 'https://user:secret@prose.example.com/'",
        "registry.url = https://prose.example.com/",
        "registry.ulr = 'https://prose.example.com/'",
        "registry = 'https://prose.example.com/'",
        "[registery]\nurl = 'https://prose.example.com/'",
    ] {
        assert_eq!(Config::parse(lost).0.registry.url.as_str(), "", "{lost}");
    }
    let elsewhere = "registry.url = 'https://prose.example.com/'\n[chek\n";
    assert_eq!(Config::parse(elsewhere).0.registry.url.as_str(), "https://prose.example.com/");
    let other = "later = 1\n[registry]\nfetch = 'never'\n";
    assert_eq!(Config::parse(other).0.registry.url.as_str(), "https://p.prose.md/");
}

#[test]
fn a_model_is_never_an_option() {
    check(expect![[r#"
        [models]
        fast = "--dangerously-skip-permissions"
        #      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error[E142] `models.fast` must be the id of a model in quotes, without spaces, such as "provider/model", not the string "--dangerously-skip-permissions"
    "#]]);
}

#[test]
fn servers_are_programs_or_addresses_and_have_no_keys_in_the_file() {
    let config = check(expect![[r#"
        [agents.writer]
        mcp = ["tracker", "docs", "trakcer", "search", 3]
        #                         ^^^^^^^^^ error[E142] server `trakcer` is not configured; did you mean `tracker`? (guess: Change to "tracker")
        #                                    ^^^^^^^^ error[E142] server `search` is not configured; add `[mcp.servers.search]`
        #                                              ^ error[E142] `agents.writer.mcp` must be the name of a server in `[mcp.servers]`, not `3`
        skills = ["house-style", "./skills/tables"]
        [mcp.servers.tracker]
        command = "npx"
        args = ["-y", "tracker-mcp"]
        environment = ["TRACKER_TOKEN", "key-1234"]
        #                               ^^^^^^^^^^ error[E142] `mcp.servers.tracker.environment` must be the name of an environment variable, such as "MY_API_KEY"
        [mcp.servers.docs]
        url = "https://docs.example.com/mcp?v=2"
        headers = { Authorization = "Bearer ${DOCS_TOKEN}", X-Region = "eu" }
        [mcp.servers.secret]
        url = "https://user@example.com/"
        #     ^^^^^^^^^^^^^^^^^^^^^^^^^^^ error[E142] `mcp.servers.secret.url` must be a URL such as "https://mcp.example.com/mcp", without credentials
        headers = { Authorization = "Bearer abc123", X-Api-Key = "${KEY" }
        #                           ^^^^^^^^^^^^^^^ error[E142] `mcp.servers.secret.headers.Authorization` must take its key from the environment, such as "Bearer ${TRACKER_TOKEN}"
        #                                                        ^^^^^^^ error[E142] `mcp.servers.secret.headers.X-Api-Key` has `${` without the name of an environment variable and `}`
        [mcp.servers.both]
        #            ^^^^ error[E142] `mcp.servers.both` has both `command` and `url`; remove one of them
        command = "x"
        url = "https://a.example/"
        [mcp.servers.none]
        #            ^^^^ error[E142] `mcp.servers.none` needs `command` or `url`
        [mcp.servers."a b"]
        #            ^^^^^ error[E142] `a b` cannot be the name of a server; use letters, digits, `-` and single `_`
        [mcp.servers.mixed]
        #            ^^^^^ error[E142] `mcp.servers.mixed` has `headers`, which only a server with `url` receives
        command = "x"
        headers = { X-Region = "eu" }
    "#]]);
    let tracker = &config.mcp.servers.0["tracker"];
    assert_eq!(tracker.command.as_ref().map(|it| it.as_str()), Some("npx"));
    assert_eq!(config.agents["writer"].mcp[0].as_str(), "tracker");
    assert_eq!(config.agents["writer"].skills.as_ref().map(Vec::len), Some(2));
    let variables = prose_config::variables("${A}-${B_2} $C");
    assert_eq!(variables, Some(vec!["A", "B_2"]));
}

#[test]
fn limits_that_are_not_understood_prevent_runs() {
    check(expect![[r#"
        [limits.run]
        max-cost = "0.1"
        #          ^^^^^ error[E142] `limits.run.max-cost` must be an amount of US dollars, such as `2.5`, not the string "0.1"
        max_tokens = 1000
        #<^^^^^^^^^^ error[E142] `limits.run.max_tokens` is not a setting; did you mean `max-tokens`? (fix: Change to `max-tokens`)
        ask-cost = -1
        #          ^^ error[E142] `limits.run.ask-cost` must be an amount of US dollars, such as `2.5`, not `-1`
        [limits.agents.writer]
        max-costs = 2
        #<^^^^^^^^^ error[E142] `limits.agents.writer.max-costs` is not a setting; did you mean `max-cost`? (guess: Change to `max-cost`)
        [limits.runs]
        #       ^^^^ error[E142] `limits.runs` is not a setting; did you mean `run`?
        max-cost = 1
        [limits]
        day = 3
        #     ^ error[E142] `limits.day` must be a table, not `3`
        [limit.day]
        #^^^^^ error[E142] `limit` is not a setting; did you mean `limits`?
        max-cost = 10
        [run]
        max-cost = 2
        #<^^^^^^^^ error[E142] `run.max-cost` is not a setting; move it to `[limits.run]`
        [prices."local/llama"]
        inputs = 3
        #<^^^^^^ error[E142] `prices."local/llama".inputs` is not a setting; did you mean `input`? (guess: Change to `input`)
        output = "1"
        #        ^^^ error[E142] `prices."local/llama".output` must be an amount of US dollars, such as `2.5`, not the string "1"
    "#]]);
}

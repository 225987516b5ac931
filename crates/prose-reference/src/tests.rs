use expect_test::{Expect, expect};
use proptest::prelude::*;
use url::Url;

use crate::{Invalid, Reference};

#[track_caller]
fn check(path: &str, expected: Expect) {
    let registry = Url::parse("https://p.prose.md/").unwrap();
    expected.assert_eq(&describe(Reference::parse(path), &registry));
}

#[track_caller]
fn check_in(base: &str, path: &str, expected: Expect) {
    let base = Reference::parse(base).unwrap();
    let found = Reference::parse_in(path, &base);
    expected.assert_eq(&found.map_or_else(|error| error.to_string(), |found| found.to_string()));
}

fn describe(found: Result<Reference, Invalid>, registry: &Url) -> String {
    match found {
        Ok(found) => {
            let urls: Vec<String> = found.urls(registry).iter().map(Url::to_string).collect();
            format!("{found} ({}) <- {}", found.name(), urls.join(" then "))
        }
        Err(error) if error.is_incomplete() => format!("{error} (incomplete)"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn programs_of_a_registry_are_asked_for_in_both_spellings() {
    check(
        "alice/research",
        expect![
            "alice/research (research) <- https://p.prose.md/alice/research then https://p.prose.md/@alice/research"
        ],
    );
    check(
        "@alice/research",
        expect![
            "@alice/research (research) <- https://p.prose.md/@alice/research then https://p.prose.md/alice/research"
        ],
    );
    check(
        "élise/été.v2",
        expect![
            "élise/été.v2 (été.v2) <- https://p.prose.md/%C3%A9lise/%C3%A9t%C3%A9.v2 then https://p.prose.md/@%C3%A9lise/%C3%A9t%C3%A9.v2"
        ],
    );
}

#[test]
fn the_address_of_a_registry_may_have_a_path() {
    let registry = Url::parse("https://corp.example/prose/").unwrap();
    let urls = Reference::parse("a/b").unwrap().urls(&registry);
    assert_eq!(urls[0].as_str(), "https://corp.example/prose/a/b");
}

#[test]
fn addresses_have_one_spelling() {
    check(
        "HTTPS://Example.COM:443/x/../a.prose#L3",
        expect!["https://example.com/a.prose (a.prose) <- https://example.com/a.prose"],
    );
    check(
        "http://localhost:8080/a?b=c",
        expect!["http://localhost:8080/a?b=c (a) <- http://localhost:8080/a?b=c"],
    );
    // Other spellings of an address in numbers are that address, so that nothing gets around the check of it.
    check("http://0x7f.1/a", expect!["http://127.0.0.1/a (a) <- http://127.0.0.1/a"]);
    check("http://2130706433/a", expect!["http://127.0.0.1/a (a) <- http://127.0.0.1/a"]);
}

#[test]
fn programs_of_git_hosts_are_read_through_their_raw_files() {
    check(
        "github.com/owner/repo/flows/a.prose",
        expect![
            "github.com/owner/repo/flows/a.prose (a.prose) <- https://raw.githubusercontent.com/owner/repo/HEAD/flows/a.prose"
        ],
    );
    check(
        "github.com/owner/repo/@scope/a.prose@feature/x",
        expect![
            "github.com/owner/repo/@scope/a.prose@feature/x (a.prose) <- https://raw.githubusercontent.com/owner/repo/feature/x/@scope/a.prose"
        ],
    );
    check(
        "gitlab.com/owner/repo/a.prose@v1",
        expect![
            "gitlab.com/owner/repo/a.prose@v1 (a.prose) <- https://gitlab.com/owner/repo/-/raw/v1/a.prose"
        ],
    );
    check(
        "codeberg.org/owner/repo/a.prose@v1.0+2",
        expect![
            "codeberg.org/owner/repo/a.prose@v1.0+2 (a.prose) <- https://codeberg.org/api/v1/repos/owner/repo/raw/a.prose?ref=v1.0%2B2"
        ],
    );
}

#[test]
fn git_hosts_report_commits() {
    let commit = |path: &str| match Reference::parse(path).unwrap() {
        Reference::Git(program) => program.commit_url().to_string(),
        other => panic!("{other} is of no git host"),
    };
    assert_eq!(commit("github.com/o/r/a.prose"), "https://api.github.com/repos/o/r/commits/HEAD");
    assert_eq!(
        commit("gitlab.com/o/r/a.prose@b/c"),
        "https://gitlab.com/api/v4/projects/o%2Fr/repository/commits/b%2Fc"
    );
    assert_eq!(commit("codeberg.org/o/r/a.prose@v1"), "https://codeberg.org/api/v1/repos/o/r/git/commits/v1");
}

#[test]
fn a_path_that_is_being_typed_is_incomplete() {
    check("", expect!["is empty (incomplete)"]);
    check("al", expect!["has no `/`; a program in a registry is `handle/slug` (incomplete)"]);
    check("@", expect!["has no `/`; a program in a registry is `handle/slug` (incomplete)"]);
    check(
        "@alice/",
        expect!["is not a valid `handle/slug`; use letters, digits, `-`, `_` and `.` (incomplete)"],
    );
    check("https://", expect!["has no host (incomplete)"]);
    check(
        "https://exam",
        expect!["has no path to a program: `https://exam/path/program.prose` (incomplete)"],
    );
    check(
        "github.com",
        expect![
            "needs an owner, a repository and a file: `github.com/owner/repo/program.prose` (incomplete)"
        ],
    );
    check(
        "github.com/owner/repo/",
        expect![
            "needs an owner, a repository and a file: `github.com/owner/repo/program.prose` (incomplete)"
        ],
    );
    check(
        "github.com/owner/repo/flows/",
        expect![
            "must end in `.prose`, or in `.prose@v1` for a tag, a branch or a commit: `github.com/owner/repo/program.prose` (incomplete)"
        ],
    );
    check(
        "github.com/owner/repo/a.pro",
        expect![
            "must end in `.prose`, or in `.prose@v1` for a tag, a branch or a commit: `github.com/owner/repo/program.prose` (incomplete)"
        ],
    );
    check(
        "github.com/owner/repo/a.prose@",
        expect!["ends with `@`; add a tag, a branch or a commit after it (incomplete)"],
    );
}

#[test]
fn a_path_that_names_no_program_is_rejected_with_a_reason() {
    check("alice research", expect!["contains a space"]);
    check("alice/re\u{7}", expect!["contains a control character"]);
    check(
        "ftp://example.com/a",
        expect!["starts with `ftp://`; only `https://` and `http://` are supported"],
    );
    check("https:///a", expect!["has no host (incomplete)"]);
    check("https://[::1/a", expect!["is not a valid address: invalid IPv6 address"]);
    check("alice/a/b", expect!["has more than one `/`; use `handle/slug`, or `./` for a local file"]);
    check("alice/a?b", expect!["is not a valid `handle/slug`; use letters, digits, `-`, `_` and `.`"]);
    check("/alice/..", expect!["/alice/.. (..) <- "]);
    check("alice/..", expect!["is not a valid `handle/slug`; use letters, digits, `-`, `_` and `.`"]);
    check("@/a", expect!["is not a valid `handle/slug`; use letters, digits, `-`, `_` and `.`"]);
    check(
        "github.com/o/r/../a.prose",
        expect!["contains `..`; the path starts at the root of the repository"],
    );
    check("github.com/o/r/a//b.prose", expect!["has an empty segment in its path"]);
    check(
        "github.com/o/r/a.prose@v1..v2",
        expect!["has `v1..v2` after `@`, which is not a valid tag, branch or commit"],
    );
}

#[test]
fn credentials_are_refused_and_not_repeated() {
    for path in
        ["https://me:secret@example.com/a", "https://secret@example.com/a", "https://:secret@example.com/a"]
    {
        let error = Reference::parse(path).unwrap_err();
        assert_eq!(error, Invalid::Credentials);
        assert!(!format!("{error} {error:?}").contains("secret"));
    }
}

#[test]
fn local_paths_are_kept_as_they_are_written() {
    check("./a.prose", expect!["./a.prose (a.prose) <- "]);
    check("../lib/a.prose", expect!["../lib/a.prose (a.prose) <- "]);
    check("/lib/a.prose", expect!["/lib/a.prose (a.prose) <- "]);
    check("flows/a.prose", expect!["flows/a.prose (a.prose) <- "]);
}

#[test]
fn local_paths_in_a_program_of_the_web_start_from_its_address() {
    let base = "https://example.com/flows/main.prose";
    check_in(base, "./a.prose", expect!["https://example.com/flows/a.prose"]);
    check_in(base, "a.prose", expect!["https://example.com/flows/a.prose"]);
    check_in(base, "../a.prose", expect!["https://example.com/a.prose"]);
    check_in(base, "../../../../etc/a.prose", expect!["https://example.com/etc/a.prose"]);
    check_in(base, "/etc/passwd", expect!["https://example.com/etc/passwd"]);
    check_in(base, "alice/a", expect!["alice/a"]);
    check_in(base, "https://other.example/a", expect!["https://other.example/a"]);
}

#[test]
fn local_paths_in_a_program_of_the_web_reach_no_other_host() {
    let base = "https://example.com/flows/main.prose";
    let other = "leads to another host; use a full address that starts with `https://`";
    for path in
        ["//evil.example/a.prose", "/\\evil.example/a.prose", "/\\/evil.example/a.prose", "http:evil.prose"]
    {
        let found = Reference::parse_in(path, &Reference::parse(base).unwrap());
        assert_eq!(
            found.map(|found| found.to_string()).map_err(|error| error.to_string()),
            Err(other.to_owned()),
            "{path}"
        );
    }
    for path in ["file:/etc/a.prose", "file:///etc/a.prose", "data:,a.prose", "c:\\a.prose"] {
        assert!(Reference::parse_in(path, &Reference::parse(base).unwrap()).is_err(), "{path}");
    }
}

#[test]
fn local_paths_in_a_program_of_a_repository_stay_in_it_and_at_its_revision() {
    let base = "github.com/owner/repo/flows/main.prose@v1";
    check_in(base, "./a.prose", expect!["github.com/owner/repo/flows/a.prose@v1"]);
    check_in(base, "../lib/a.prose", expect!["github.com/owner/repo/lib/a.prose@v1"]);
    check_in(base, "/a.prose", expect!["github.com/owner/repo/a.prose@v1"]);
    check_in(base, "../../a.prose", expect!["leads out of the repository of the program"]);
    check_in(base, "alice/a", expect!["alice/a"]);
}

#[test]
fn a_local_path_in_a_program_of_unknown_address_is_no_file() {
    check_in("alice/a", "./b.prose", expect!["is relative to the address of the program, which is unknown"]);
    check_in(
        "./a.prose",
        "./b.prose",
        expect!["is relative to the address of the program, which is unknown"],
    );
}

/// What looks like a path, and everything else.
fn paths() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        Just("github.com"),
        Just("codeberg.org"),
        Just("https://"),
        Just("http:"),
        Just("alice"),
        Just("é"),
        Just(".prose"),
        Just("/"),
        Just("/"),
        Just("\\"),
        Just("@"),
        Just("."),
        Just(".."),
        Just("%2e"),
        Just("%2F"),
        Just(":"),
        Just("?"),
        Just("#"),
        Just("[::1]"),
        Just("127.1"),
        Just("\u{0}"),
        Just(" "),
    ];
    prop_oneof![proptest::collection::vec(part, 0..10).prop_map(|parts| parts.concat()), any::<String>()]
}

proptest! {
    #[test]
    fn every_path_is_read_and_the_canonical_spelling_is_canonical(path in paths()) {
        let registry = Url::parse("https://p.prose.md/sub/").unwrap();
        match Reference::parse(&path) {
            Ok(found) => {
                prop_assert_eq!(Reference::parse(&found.to_string()), Ok(found.clone()));
                for url in found.urls(&registry) {
                    prop_assert!(url.username().is_empty() && url.password().is_none() && url.fragment().is_none());
                    if matches!(found, Reference::Registry(_)) {
                        prop_assert_eq!(url.origin(), registry.origin());
                        prop_assert!(url.path().starts_with("/sub/"));
                        prop_assert_eq!(url.path_segments().unwrap().count(), 3);
                    }
                }
                let _ = found.name();
            }
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
    }

    #[test]
    fn no_local_path_leaves_its_host_or_repository(start in "|/|\\./|\\.\\./", path in paths(), end in "|\\.prose") {
        let path = format!("{start}{path}{end}");
        let web = Reference::parse("https://example.com/flows/main.prose").unwrap();
        let git = Reference::parse("github.com/owner/repo/flows/main.prose@v1").unwrap();
        if !Reference::parse(&path).is_ok_and(|found| found.is_local()) {
            return Ok(());
        }
        if let Ok(found) = Reference::parse_in(&path, &web) {
            prop_assert!(found.to_string().starts_with("https://example.com/"), "{found}");
        }
        if let Ok(found) = Reference::parse_in(&path, &git) {
            prop_assert!(found.urls(&Url::parse("https://x.example").unwrap())[0].as_str().starts_with("https://raw.githubusercontent.com/owner/repo/v1/"), "{found}");
        }
    }
}

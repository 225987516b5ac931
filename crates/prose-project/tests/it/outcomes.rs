//! What becomes of each outcome of a look-up.

use expect_test::{Expect, expect};
use prose_registry::{Cache, Client, Settings};
use url::Url;

use crate::support::{Page, REGISTRY, RESEARCH, Web};

#[track_caller]
fn check(page: Option<Page>, program: &str, expected: Expect) {
    let address = "https://registry.example.com/alice/research";
    let web = Web::new(&page.map(|page| (address, page)).into_iter().collect::<Vec<_>>());
    expected.assert_eq(&web.check(program).shown());
}

const MAIN: &str = "use \"alice/research\"\noutput found = research(topic: \"tides\")\n";
const WRONG: &str = "use \"alice/research\"\noutput found = research(topik: \"tides\")\n";

#[test]
fn a_program_that_is_found_is_known() {
    check(Some(Page::Text(RESEARCH)), MAIN, expect![""]);
    check(
        Some(Page::Text(RESEARCH)),
        WRONG,
        expect![[r#"
        warning[E027]: `research` has no input `topik`; did you mean `topic`? [Change to `topic`]
    "#]],
    );
}

#[test]
fn a_program_with_errors_is_told() {
    check(
        Some(Page::Text("output found = nothing\n")),
        MAIN,
        expect![[r#"
        error[E145]: `alice/research` has an error, so this program cannot run
        warning[E027]: `research` has no input `topic`; it has none [Remove the argument]
    "#]],
    );
}

#[test]
fn a_program_that_is_not_there_is_an_error() {
    check(
        None,
        WRONG,
        expect![[r#"
        error[E139]: `alice/research` was not found at https://registry.example.com/alice/research or https://registry.example.com/@alice/research
    "#]],
    );
}

#[test]
fn a_program_that_is_none_is_an_error() {
    check(
        Some(Page::Text("<html></html>")),
        WRONG,
        expect![[r#"
            error[E143]: `alice/research` is not a program: https://registry.example.com/alice/research is a web page; use the address of the raw text
        "#]],
    );
    check(
        Some(Page::Bytes(b"\0\x01\x02")),
        WRONG,
        expect![[r#"
            error[E143]: `alice/research` is not a program: https://registry.example.com/alice/research is not text
        "#]],
    );
    check(
        Some(Page::Bytes(b"session \"\xff\"\n")),
        WRONG,
        expect![[r#"
            error[E143]: `alice/research` is not a program: https://registry.example.com/alice/research is not valid UTF-8 at byte 9; save the program as UTF-8
        "#]],
    );
}

#[test]
fn a_program_that_has_moved_is_known() {
    let web = Web::new(&[
        (
            "https://registry.example.com/alice/research",
            Page::Moved("https://registry.example.com/bob/research"),
        ),
        ("https://registry.example.com/bob/research", Page::Text(RESEARCH)),
    ]);
    expect![[r#"
        info[W144]: `alice/research` has moved permanently to https://registry.example.com/bob/research [Change to `https://registry.example.com/bob/research`]
        warning[E027]: `research` has no input `topik`; did you mean `topic`? [Change to `topic`]
    "#]].assert_eq(&web.check(WRONG).shown());
}

#[test]
fn what_is_not_encrypted_is_refused() {
    check(
        None,
        "use \"http://example.com/research.prose\"\noutput found = research()\n",
        expect![[r#"
            error[E144]: `http://example.com/research.prose` is not fetched: http://example.com/research.prose is not encrypted; use `https://`, or allow `http://` by setting PROSE_ALLOW_HTTP=1 [Change to `https://example.com/research.prose`]
        "#]],
    );
}

#[test]
fn what_cannot_be_reached_is_information() {
    check(
        None,
        "use \"https://unreachable.example.com/x.prose\"\noutput found = x(topik: 1)\n",
        expect![[r#"
        info[W143]: `https://unreachable.example.com/x.prose` could not be fetched: unreachable.example.com cannot be resolved (no such host); check the name and the network
    "#]],
    );
}

#[test]
fn the_nearest_name_that_is_known_is_proposed() {
    let web = Web::new(&[("https://registry.example.com/alice/research", Page::Text(RESEARCH))]);
    let client = web.client(None);
    web.check_with(MAIN, &client);
    let found = web.check_with("use \"alice/reserch\" as research\noutput found = research()\n", &client);
    expect![[r#"
        error[E139]: `alice/reserch` was not found at https://registry.example.com/alice/reserch or https://registry.example.com/@alice/reserch; did you mean `alice/research`? [Change to `alice/research`]
    "#]].assert_eq(&found.shown());
}

#[test]
fn without_a_network_the_last_text_is_used() {
    let web = Web::new(&[("https://registry.example.com/alice/research", Page::Text(RESEARCH))]);
    web.check(MAIN);
    let settings = Settings { offline: true, ..Settings::new(Url::parse(REGISTRY).unwrap()) };
    let client = Client::new(settings, Cache::at(web.dir.path().join("cache")));
    expect![[r#"
        warning[E027]: `research` has no input `topik`; did you mean `topic`? [Change to `topic`]
    "#]]
    .assert_eq(&web.check_with(WRONG, &client).shown());
    let other = "use \"alice/other\"\noutput found = other(topik: 1)\n";
    expect![[r#"
        info[W143]: `alice/other` is not in the cache, and fetching is disabled; run `prose fetch` with a network
    "#]].assert_eq(&web.check_with(other, &client).shown());
    assert_eq!(web.asked().len(), 1);
}

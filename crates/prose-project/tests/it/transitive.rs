//! Programs that were fetched and import others.

use std::path::PathBuf;

use expect_test::expect;

use crate::support::{Page, RESEARCH, Web};

const MAIN: &str = "use \"alice/main\" as first\noutput found = first()\n";

#[test]
fn what_a_fetched_program_imports_is_fetched() {
    let web = Web::new(&[
        (
            "https://registry.example.com/alice/main",
            Page::Text("use \"alice/middle\"\noutput found = middle(topic: 1)\n"),
        ),
        (
            "https://registry.example.com/alice/middle",
            Page::Text("use \"bob/last\"\ninput topic: \"What\"\noutput findings = last(topik: topic)\n"),
        ),
        ("https://registry.example.com/bob/last", Page::Text(RESEARCH)),
    ]);
    let checked = web.check(MAIN);
    expect![""].assert_eq(&checked.shown());
    let remotes: Vec<String> =
        checked.host.remotes().into_iter().map(|remote| remote.reference.to_string()).collect();
    assert_eq!(remotes, ["alice/main", "alice/middle", "bob/last"]);
    assert_eq!(web.asked().len(), 3);
}

#[test]
fn a_local_path_in_a_fetched_program_is_no_file_of_this_machine() {
    for path in
        ["./other.prose", "../other.prose", "/etc/passwd", "other.prose", "../../../../../../etc/passwd"]
    {
        let text: &'static str = format!("use \"{path}\" as other\noutput found = other()\n").leak();
        let web = Web::new(&[("https://registry.example.com/alice/main", Page::Text(text))]);
        let checked = web.check(MAIN);
        assert_eq!(checked.read, <[PathBuf; 0]>::default(), "{path}");
        let asked = web.asked();
        assert_eq!(asked.len(), 2, "{path}: {asked:?}");
        assert!(asked.iter().all(|url| url.starts_with("https://registry.example.com/")), "{asked:?}");
    }
}

#[test]
fn a_fetched_program_cannot_reach_this_machine() {
    // The names of all hosts lead to this machine here, and only the registry was chosen by the user.
    let web = Web::new(&[
        (
            "https://registry.example.com/alice/main",
            Page::Text("use \"https://example.com/secret\" as secret\noutput found = secret()\n"),
        ),
        ("https://example.com/secret", Page::Text(RESEARCH)),
    ]);
    expect![[r#"
        error[E145]: `alice/main` has an error, so this program cannot run
    "#]]
    .assert_eq(&web.check(MAIN).shown());
    assert_eq!(web.asked(), ["https://registry.example.com/alice/main"]);
}

#[test]
fn programs_of_the_network_that_import_each_other_end() {
    let web = Web::new(&[
        (
            "https://registry.example.com/alice/main",
            Page::Text("use \"alice/back\"\noutput found = back()\n"),
        ),
        (
            "https://registry.example.com/alice/back",
            Page::Text("use \"alice/main\" as first\noutput found = first()\n"),
        ),
    ]);
    expect![[r#"
        error[E145]: `alice/main` has a circular import, so this program cannot run: alice/main -> alice/back -> alice/main
    "#]].assert_eq(&web.check(MAIN).shown());
    assert_eq!(web.asked().len(), 2);
}

#[test]
fn imports_are_followed_sixteen_programs_deep() {
    let pages: Vec<(&str, Page)> = (0..20)
        .map(|number| {
            let address: &'static str = match number {
                0 => "https://registry.example.com/alice/main",
                _ => format!("https://registry.example.com/deep/n{number}").leak(),
            };
            let text = format!("use \"deep/n{}\" as next\noutput found = next()\n", number + 1);
            (address, Page::Text(text.leak()))
        })
        .collect();
    let web = Web::new(&pages);
    expect![[r#"
        error[E145]: `alice/main` imports `deep/n15`, which has an error, so this program cannot run
    "#]]
    .assert_eq(&web.check(MAIN).shown());
    assert_eq!(web.asked().len(), prose_registry::MAX_DEPTH);
}

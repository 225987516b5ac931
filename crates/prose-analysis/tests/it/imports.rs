//! Imports: paths of programs, cycles, and sources of skills.

use std::path::Path;

use crate::support::{check, check_fixes_of, check_related_of};
use expect_test::expect;
use prose_analysis::diagnostics::diagnostics;
use prose_analysis::{AnalysisHost, Text};
use prose_syntax::Code;
use prose_syntax::fix::apply;

#[test]
fn every_form_of_a_path_is_accepted() {
    check(
        r#"
        use "@alice/research" as a
        use "alice/draft" as b
        use "https://example.com/c.prose" as c
        use "github.com/alice/flows/d.prose@v1" as d

        output e = [a(), b(), c(), d()]
        "#,
    );
}

#[test]
fn what_is_wrong_with_a_path_is_reported() {
    check(
        r#"
        use "alice research" as a
        #    ^^^^^^^^^^^^^^ error[E012] the path `alice research` contains a space
        use "research" as b
        #    ^^^^^^^^ error[E012] the path `research` has no `/`; a program in a registry is `handle/slug`
        use "ftp://example.com/c.prose" as c
        #    ^^^^^^^^^^^^^^^^^^^^^^^^^ error[E012] the path `ftp://example.com/c.prose` starts with `ftp://`; only `https://` and `http://` are supported
        use "alice/flows/d" as d
        #    ^^^^^^^^^^^^^ error[E012] the path `alice/flows/d` has more than one `/`; use `handle/slug`, or `./` for a local file
        use "github.com/alice" as e
        #    ^^^^^^^^^^^^^^^^ error[E012] the path `github.com/alice` needs an owner, a repository and a file: `github.com/owner/repo/program.prose`
        use "  " as f
        #   ^^^^ error[E011] the path is empty; use `handle/slug`, or a file such as `./program.prose`

        output g = [a(), b(), c(), d(), e(), f()]
        "#,
    );
}

#[test]
fn a_path_holds_no_values() {
    check(
        r#"
        input name: "Which program to run"
        use "alice/{name}" as program
        #          ^^^^^^ error[E012] the path of a program cannot contain interpolations

        output found = program()
        "#,
    );
}

#[test]
fn a_path_with_an_unknown_name_in_braces_is_one_mistake() {
    check(
        r#"
        use "alice/{name}" as program
        #           ^^^^ error[E120] variable `name` is not defined

        output found = program()
        "#,
    );
}

#[test]
fn a_program_that_is_not_there() {
    check(
        r#"
        //- /flows/main.prose
        use "./missing.prose"
        #    ^^^^^^^^^^^^^^^ error[E139] file `./missing.prose` not found
        use "../lib/other"
        #    ^^^^^^^^^^^^ error[E139] file `../lib/other` not found

        output found = missing()
        output more = other()
        "#,
    );
}

#[test]
fn a_program_next_to_the_path_is_suggested() {
    let text = "use \"./flows/reserch.prose\" as a\nuse \"summary.prose\" as b\n\noutput c = [a(), b()]\n";
    let mut host = AnalysisHost::default().with_listing(|folder| match folder.to_str() {
        Some("/flows") => vec!["research.prose".to_owned(), "review.prose".to_owned()],
        _ => vec!["main.prose".to_owned()],
    });
    let file = host.set_text(Path::new("/main.prose"), Text::new(text));
    host.load_imports(file, |_| None);
    let found = diagnostics(host.db(), file);
    let shown: Vec<String> =
        found.iter().map(|found| format!("{}\n{}", found.message, apply(text, &found.fix).text)).collect();
    expect![[r#"
        file `./flows/reserch.prose` not found; did you mean `./flows/research.prose`?
        use "./flows/research.prose" as a
        use "summary.prose" as b

        output c = [a(), b()]

        file `summary.prose` not found
        use "./flows/reserch.prose" as a
        use "summary.prose" as b

        output c = [a(), b()]
    "#]]
    .assert_eq(&shown.join("\n"));
}

#[test]
fn a_program_that_imports_itself() {
    check(
        r#"
        //- /main.prose
        use "./main.prose" as again
        #    ^^^^^^^^^^^^ error[E138] circular import: `main.prose` imports itself

        output found = again()
        "#,
    );
}

#[test]
fn a_cycle_over_three_programs() {
    check(
        r#"
        //- /a.prose
        use "./b.prose"
        #    ^^^^^^^^^ error[E138] circular import: a.prose -> b.prose -> lib/c.prose -> a.prose

        output x = b()
        //- /b.prose
        use "./lib/c.prose"
        #    ^^^^^^^^^^^^^ error[E138] circular import: b.prose -> lib/c.prose -> a.prose -> b.prose

        output x = c()
        //- /lib/c.prose
        use "../a.prose"
        #    ^^^^^^^^^^ error[E138] circular import: c.prose -> ../a.prose -> ../b.prose -> c.prose

        output x = a()
        "#,
    );
}

#[test]
fn a_cycle_elsewhere_is_reported_in_programs_that_lead_into_it() {
    check(
        r#"
        //- /main.prose
        use "./plan.prose"
        #    ^^^^^^^^^^^^ error[E145] `./plan.prose` has a circular import, so this program cannot run: b.prose -> c.prose -> b.prose

        output x = plan()
        //- /plan.prose
        use "./b.prose"
        #    ^^^^^^^^^ error[E145] `./b.prose` has a circular import, so this program cannot run: b.prose -> c.prose -> b.prose

        output x = b()
        //- /b.prose
        use "./c.prose"
        #    ^^^^^^^^^ error[E138] circular import: b.prose -> c.prose -> b.prose

        output x = c()
        //- /c.prose
        use "./b.prose"
        #    ^^^^^^^^^ error[E138] circular import: c.prose -> b.prose -> c.prose

        output x = b()
        "#,
    );
}

#[test]
fn a_program_that_imports_itself_is_reported_in_its_importer() {
    check(
        r#"
        //- /main.prose
        use "./b.prose"
        #    ^^^^^^^^^ error[E145] `./b.prose` has a circular import, so this program cannot run: b.prose -> b.prose

        output x = b()
        //- /b.prose
        use "./b.prose"
        #    ^^^^^^^^^ error[E138] circular import: `b.prose` imports itself

        output x = b()
        "#,
    );
}

#[test]
fn sources_of_skills() {
    check(
        r#"
        import "a" from "github:alice/a"
        #<^^^^^^ info[W103]
        import "b" from "npm:b"
        #<^^^^^^ info[W103]
        import "c" from "./c"
        #<^^^^^^ info[W103]
        import "d" from "https://github.com/alice/d"
        #<^^^^^^ info[W103]
        #                ^^^^^^^^^^^^^^^^^^^^^^^^^^ warning[W006] unknown skill source `https://github.com/alice/d`; start it with `github:`, `npm:` or `./`
        import "e" from "gihub:alice/e"
        #<^^^^^^ info[W103]
        #                ^^^^^^^^^^^^^ warning[W006] unknown skill source `gihub:alice/e`; start it with `github:`, `npm:` or `./`
        import "f" from ""
        #<^^^^^^ info[W103]
        #               ^^ warning[W006] the source of the skill is empty; start it with `github:`, `npm:` or `./`
        "#,
    );
}

#[test]
fn paths_are_changed_to_what_was_probably_meant() {
    check_fixes_of(
        Code::E012,
        r#"
        use "alice research" as a

        output b = a()
        "#,
        expect![[r#"
            Change to `alice/research` (guess)
            | use "alice/research" as a
        "#]],
    );
}

#[test]
fn a_path_without_an_owner_may_be_a_local_file() {
    check_fixes_of(
        Code::E012,
        r#"
        use "research" as a

        output b = a()
        "#,
        expect![[r#"
            Change to `./research.prose` (guess)
            | use "./research.prose" as a
        "#]],
    );
}

#[test]
fn a_path_without_an_ending_gets_one() {
    check_fixes_of(
        Code::E139,
        r#"
        use "./research"

        output b = research()
        "#,
        expect![[r#"
            Add `.prose` (guess)
            | use "./research.prose"
        "#]],
    );
}

#[test]
fn an_address_becomes_a_source() {
    check_fixes_of(
        Code::W006,
        r#"
        import "d" from "https://github.com/alice/d"
        "#,
        expect![[r#"
            Change to `github:alice/d` (guess)
            | import "d" from "github:alice/d"
        "#]],
    );
}

#[test]
fn a_cycle_shows_the_imports_it_is_made_of() {
    check_related_of(
        Code::E138,
        r#"
        //- /a.prose
        use "./b.prose"

        output x = b()
        //- /b.prose
        use "./lib/c.prose"

        output x = c()
        //- /lib/c.prose
        use "../a.prose"

        output x = a()
        "#,
        expect![[r#"
            /b.prose:1 `./lib/c.prose`: this imports `lib/c.prose`
            /lib/c.prose:1 `../a.prose`: this imports `a.prose`
        "#]],
    );
}

#[test]
fn errors_of_imported_programs_are_reported_where_they_are_imported() {
    check(
        r#"
        //- /main.prose
        use "./plan.prose"
        #    ^^^^^^^^^^^^ error[E145] `./plan.prose` imports `research.prose`, which has an error, so this program cannot run
        output steps = plan()
        //- /plan.prose
        use "./research.prose"
        #    ^^^^^^^^^^^^^^^^ error[E145] `./research.prose` has an error, so this program cannot run
        output found = research()
        //- /research.prose
        output found = findings
        #              ^^^^^^^^ error[E119] variable `findings` is not defined
        "#,
    );
}

//! Manual pages.

use expect_test::expect;

use crate::common::{Run, Workspace};

#[test]
fn a_page_has_the_sections_of_the_help() {
    let workspace = Workspace::new(&[]);
    let page = workspace.prose(&["man", "runs", "list"]).ended(0).stdout;
    assert!(page.contains(".TH prose-runs-list 1"), "{page}");
    for section in ["NAME", "SYNOPSIS", "OPTIONS"] {
        assert!(page.contains(&format!(".SH {section}\n")), "{page}");
    }
    let page = workspace.prose(&["man", "check"]).ended(0).stdout;
    assert!(page.contains(".SH \"EXIT STATUS\"\n.nf\n0  no errors (there may be warnings)\n"), "{page}");
    let page = workspace.prose(&["man"]).ended(0).stdout;
    assert!(page.contains("prose\\-check(1)") && !page.contains('┌'), "{page}");
}

#[test]
fn all_commands_have_a_page() {
    let workspace = Workspace::new(&[]);
    workspace.prose(&["man", "--output-dir", "share/man1"]).ended(0);
    for page in ["prose.1", "prose-run.1", "prose-runs-set-limit.1", "prose-man.1"] {
        assert!(workspace.path("share/man1").join(page).exists(), "{page}");
    }
}

#[test]
fn mistakes_are_explained() {
    let workspace = Workspace::new(&[("file", "")]);
    workspace.prose(&["man", "chekc"]).check(expect![[r#"
        status: 2
        ---- stderr
        error: `chekc` is not a command of `prose`; did you mean `check`?
    "#]]);
    workspace.prose(&["man", "runs", "list", "x"]).check(expect![[r#"
        status: 2
        ---- stderr
        error: `x` is not a command of `prose runs list`; it has no commands
    "#]]);
    workspace.prose(&["man", "-o", "file"]).check(expect![[r#"
        status: 2
        ---- stderr
        error: cannot write file: file exists
    "#]]);
}

#[test]
#[ignore = "needs man"]
fn pages_are_read_without_warnings() {
    let workspace = Workspace::new(&[]);
    workspace.prose(&["man", "--output-dir", "man1"]).ended(0);
    for entry in std::fs::read_dir(workspace.path("man1")).unwrap() {
        let path = entry.unwrap().path();
        let mut command = workspace.command_of("man");
        command.args(["--warnings", "-E", "UTF-8", "-Tutf8", "-Z", "-l"]).arg(&path).env("LC_ALL", "C.UTF-8");
        let run = Run::of(&mut command);
        assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{}", path.display());
    }
    let mut command = workspace.command_of("man");
    command.args(["-l", "man1/prose-explain.1"]).env("LC_ALL", "C.UTF-8").env("MANWIDTH", "80");
    expect![[r#"
        prose-explain(1)            General Commands Manual           prose-explain(1)

        NAME
               prose-explain - Explain a diagnostic code

        SYNOPSIS
               prose  explain  [--output-format]  [--color] [-h|--help] [-V|--version]
               [CODE]

        DESCRIPTION
               Explain a diagnostic code

        OPTIONS
               --output-format <FORMAT> [default: text]
                      The format of the output

                      Possible values:

                             • text: For people

                             • json: For programs

               --color <WHEN> [default: auto]
                      When to use colours

                      `auto` uses colours on a terminal unless `NO_COLOR` is set,  and
                      elsewhere only if `CLICOLOR_FORCE` is set.

                      Possible values:

                             • auto: On terminals that can show them

                             • always: Everywhere

                             • never: Nowhere

               -h, --help
                      Print help (see a summary with '-h')

               -V, --version
                      Print version

               [CODE] The code, such as `E001`; without it, all codes are listed

        EXAMPLES
               prose explain          list all codes
               prose explain E001     explain one code
               prose explain --output-format json

        OpenProse                         prose 0.1.0                 prose-explain(1)
    "#]]
    .assert_eq(&Run::of(&mut command).stdout);
}

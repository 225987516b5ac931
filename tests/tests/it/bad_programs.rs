//! Programs that nobody would write by hand, through `prose check` and through the server: both say the same, at its place.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use prose_tests::lsp::LspClient;
use prose_tests::prose_binary;
use serde_json::{Value, json};

/// What both report, as `file:line:column: code`, in the order of files and lines.
#[track_caller]
fn reported(files: &[(&str, &str)]) -> Vec<String> {
    let folder = prose_fixture::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    for (name, text) in files {
        std::fs::write(root.join(name), text).unwrap();
    }
    let of_check = of_check(&root);
    let of_server = of_server(&root, files);
    assert!(
        of_check == of_server,
        "check says {:#?}\nthe server says {:#?}",
        head(&of_check),
        head(&of_server)
    );
    of_check
}

fn head(found: &[String]) -> &[String] {
    &found[..found.len().min(20)]
}

fn of_check(root: &Path) -> Vec<String> {
    let output = Command::new(prose_binary())
        .args(["check", "--output-format", "concise"])
        .current_dir(root)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let place_and_code = |line: &str| {
        let (place, rest) = line.split_once(": ")?;
        let code = rest.split_once('[')?.1.split_once(']')?.0;
        Some(format!("{place}: {code}"))
    };
    let mut found: Vec<String> =
        text.lines().filter(|line| !line.starts_with("prose.toml")).filter_map(place_and_code).collect();
    found.sort();
    found
}

fn of_server(root: &Path, files: &[(&str, &str)]) -> Vec<String> {
    let (mut client, _) = LspClient::initialized(json!({ "general": { "positionEncodings": ["utf-32"] } }));
    let programs = files.iter().filter(|(name, _)| name.ends_with(".prose"));
    let uri = |name: &str| format!("file://{}/{name}", root.display());
    for (name, text) in programs.clone() {
        client.open(&uri(name), 1, text);
    }
    let mut found = Vec::new();
    for (name, _) in programs {
        for diagnostic in client.diagnostics(&uri(name), 1).as_array().unwrap() {
            let start = &diagnostic["range"]["start"];
            let one_based = |value: &Value| value.as_u64().unwrap() + 1;
            let (line, column) = (one_based(&start["line"]), one_based(&start["character"]));
            found.push(format!("{name}:{line}:{column}: {}", diagnostic["code"].as_str().unwrap()));
        }
    }
    found.sort();
    client.shut_down();
    found
}

fn numbered(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).fold(String::new(), |mut text, number| {
        writeln!(text, "{}", line(number)).unwrap();
        text
    })
}

const MISTAKE: &str = "session \"{nothing}\"\n";

#[test]
fn a_program_that_imports_itself() {
    let text = format!("use \"./a.prose\" as a\n\na()\n{MISTAKE}");
    assert_eq!(reported(&[("a.prose", &text)]), ["a.prose:1:6: E138", "a.prose:4:11: E120"]);
}

#[test]
fn three_programs_that_import_each_other() {
    let program = |next: &str| format!("use \"./{next}.prose\" as next\n\nnext()\n{MISTAKE}");
    let (a, b, c) = (program("b"), program("c"), program("a"));
    assert_eq!(
        reported(&[("a.prose", &a), ("b.prose", &b), ("c.prose", &c), ("d.prose", &program("a"))]),
        [
            "a.prose:1:6: E138",
            "a.prose:4:11: E120",
            "b.prose:1:6: E138",
            "b.prose:4:11: E120",
            "c.prose:1:6: E138",
            "c.prose:4:11: E120",
            // This one only looks on, and imports a program that has an error.
            "d.prose:1:6: E145",
            "d.prose:4:11: E120",
        ]
    );
}

#[test]
fn a_long_chain_of_imports_that_closes() {
    let names: Vec<String> = (0..300).map(|number| format!("p{number:03}.prose")).collect();
    let texts: Vec<String> = (0..300)
        .map(|number| format!("use \"./{}\" as next\n\nnext()\n", names[(number + 1) % 300]))
        .collect();
    let files: Vec<(&str, &str)> =
        names.iter().zip(&texts).map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let expected: Vec<String> = names.iter().map(|name| format!("{name}:1:6: E138")).collect();
    assert_eq!(reported(&files), expected);
}

#[test]
fn a_block_that_calls_itself() {
    let text = format!("block again:\n  do again\n\ndo again\n{MISTAKE}");
    assert_eq!(reported(&[("a.prose", &text)]), ["a.prose:2:6: W121", "a.prose:5:11: E120"]);
}

#[test]
fn five_thousand_agents_of_one_name() {
    let agents = numbered(5_000, |_| "agent same:\n  model: opus\n".to_owned());
    let text = format!("{agents}session: same\n{MISTAKE}");
    let found = reported(&[("a.prose", &text)]);
    assert_eq!(found.iter().filter(|found| found.ends_with("E006")).count(), 4_999);
    assert!(found.contains(&"a.prose:15002:11: E120".to_owned()), "{:#?}", head(&found));
    assert_eq!(found.len(), 5_001, "{:#?}", head(&found));
}

#[test]
fn a_prompt_of_a_megabyte() {
    let text = format!(
        "session \"\"\"\n{}\"\"\"\n{MISTAKE}",
        numbered(40_000, |_| "Look at all of the text.".into())
    );
    assert_eq!(reported(&[("a.prose", &text)]), ["a.prose:1:9: W003", "a.prose:40003:11: E120"]);
    let text = format!("session \"{}\"\n{MISTAKE}", "word ".repeat(200_000));
    assert!(reported(&[("a.prose", &text)]).contains(&"a.prose:2:11: E120".to_owned()));
}

#[test]
fn a_name_of_a_hundred_kilobytes() {
    let name = "n".repeat(100_000);
    let text = format!("let {name} = \"1\"\nsession \"{{{name}x}} {{{name}}}\"\n{MISTAKE}");
    assert_eq!(
        reported(&[("a.prose", &text)]),
        ["a.prose:2:11: E120", "a.prose:2:9: W003", "a.prose:3:11: E120"]
    );
}

#[test]
fn two_thousand_imports() {
    let uses = numbered(2_000, |number| format!("use \"./missing{number}.prose\" as p{number}"));
    let calls = numbered(2_000, |number| format!("p{number}()"));
    let found = reported(&[("a.prose", &format!("{uses}{calls}{MISTAKE}"))]);
    assert_eq!(found.iter().filter(|found| found.ends_with("E139")).count(), 2_000);
    assert!(found.contains(&"a.prose:4001:11: E120".to_owned()));
    assert_eq!(found.len(), 2_001);

    let uses = numbered(2_000, |number| format!("use \"./lib.prose\" as p{number}"));
    let found =
        reported(&[("a.prose", &format!("{uses}{calls}{MISTAKE}")), ("lib.prose", "session \"Hello\"\n")]);
    assert!(found.contains(&"a.prose:4001:11: E120".to_owned()), "{:#?}", head(&found));
}

#[test]
fn ten_thousand_variables_each_misspelt_once() {
    let declared = numbered(10_000, |number| format!("let variable_{number} = \"1\""));
    let used = numbered(10_000, |number| format!("session \"{{variabel_{number}}}\""));
    let found = reported(&[("a.prose", &format!("{declared}{used}"))]);
    assert_eq!(found.iter().filter(|found| found.ends_with("E120")).count(), 10_000);
}

#[test]
fn thousands_of_variables_of_a_block_each_misspelt_once() {
    let declared = numbered(3_000, |number| format!("  let variable_{number} = \"1\""));
    let used =
        numbered(3_000, |number| format!("  variabel_{number} = \"2\"\n  session \"{{varable_{number}}}\""));
    let found = reported(&[("a.prose", &format!("block b:\n{declared}{used}\ndo b\n"))]);
    assert_eq!(found.iter().filter(|found| found.ends_with("E120")).count(), 3_000);
    assert_eq!(found.iter().filter(|found| found.ends_with("W138")).count(), 3_000);
}

#[test]
fn settings_that_cannot_be_read_leave_the_programs_analysed() {
    for settings in
        ["[check\n", "[check]\nprofile = 3\n", "check = \"strict\"\n", "[models]\nlocal = []\n", "\u{0}"]
    {
        assert_eq!(reported(&[("a.prose", MISTAKE), ("prose.toml", settings)]), ["a.prose:1:11: E120"]);
    }
}

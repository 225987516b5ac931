//! The HTML page.
//!
//! Texts of runs come from models and files that the user may not have read. They are data in elements that no browser executes, and the policy of the page
//! allows one script and one style, by their hashes, and no network.

use std::io::{self, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::run::ReportedRun;

/// The script of reports, built from `editors/vscode/panel/report.ts`.
const SCRIPT: &str = include_str!("../assets/report.js");
/// Their style.
const STYLE: &str = include_str!("../assets/report.css");

/// Writes the page.
pub(crate) fn write(runs: &[ReportedRun], comparisons: &[Value], out: &mut dyn Write) -> io::Result<()> {
    let title = title(runs);
    write!(
        out,
        r#"<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src {}; script-src {}; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta name="generator" content="prose {}">
<link rel="icon" href="data:,">
<title>{}</title>
<style>{STYLE}</style>
</head>
<body class="report">
<noscript>This report shows its content with a script that is part of the file. Allow scripts to read it.</noscript>
"#,
        source(STYLE),
        source(SCRIPT),
        env!("CARGO_PKG_VERSION"),
        escaped(&title),
    )?;
    let heads: Vec<&Value> = runs.iter().map(|run| &run.head).collect();
    data(out, "report", &json!({ "runs": heads, "comparisons": comparisons }).to_string())?;
    for (index, run) in runs.iter().enumerate() {
        for (number, part) in run.parts.iter().enumerate() {
            data(out, &format!("part-{index}-{number}"), part)?;
        }
    }
    write!(out, "<script>{SCRIPT}</script>\n</body>\n</html>\n")?;
    out.flush()
}

fn title(runs: &[ReportedRun]) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    match runs {
        [run] => format!("{}: run {}", text(&run.head["program"]), text(&run.head["run"])),
        runs => {
            let ids: Vec<String> = runs.iter().map(|run| text(&run.head["run"])).collect();
            format!("Runs {}", ids.join(", "))
        }
    }
}

/// Data that the script reads. In JSON, `<` occurs in texts only, so that its escape ends no element and starts none.
fn data(out: &mut dyn Write, id: &str, json: &str) -> io::Result<()> {
    writeln!(out, r#"<script type="application/json" id="{id}">{}</script>"#, json.replace('<', "\\u003c"))
}

/// The name of a script or style in a policy.
fn source(text: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(head: Value, part: &str) -> String {
        let run = ReportedRun { head, sessions: 0, parts: vec![part.to_owned()] };
        let mut out = Vec::new();
        write(&[run], &[], &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn no_text_of_a_run_ends_the_element_that_it_is_in() {
        let hostile = "</script><script>alert(1)</script><!--<script><img src=x onerror=alert(1)>";
        let head = json!({ "program": hostile, "run": hostile, "text": hostile });
        let page = page(head, &json!([{ "reply": hostile }]).to_string());
        // The data, the script, and nothing else.
        assert_eq!(page.matches("<script").count(), 3, "{page}");
        assert_eq!(page.matches("</script").count(), 3);
        assert_eq!(page.matches("<img").count(), 0);
        assert!(page.contains(r#"{"reply":"\u003c/script>\u003cscript>alert(1)"#), "{page}");
    }

    #[test]
    fn the_script_and_the_style_end_no_element() {
        for text in [SCRIPT, STYLE] {
            let text = text.to_lowercase();
            assert!(!text.contains("</script") && !text.contains("</style") && !text.contains("<!--"));
        }
    }

    #[test]
    fn a_page_names_nothing_of_the_network() {
        let page = page(json!({ "program": "a.prose", "run": "1" }), "[]");
        for address in ["http://", "https://"] {
            // The namespace of SVG is a name, not an address that is fetched.
            let found = page.replace("http://www.w3.org/2000/svg", "").matches(address).count();
            assert_eq!(found, 0, "{address}");
        }
    }
}

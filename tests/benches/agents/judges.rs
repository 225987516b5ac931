//! What a decision sends to its model, and its time over a bare call of the same server.

use std::time::{Duration, Instant};

use prose_tests::drivers::Driver;

use crate::bare::Http;
use crate::median;
use crate::mock::{Mock, project, run};

/// How long the provider takes.
const ANSWER: Duration = Duration::from_millis(100);

/// The number of decisions.
const DECISIONS: usize = 20;

const ROUNDS: usize = 5;

/// Both forms of an answer are in it: models see one of them.
const VERDICT: &str = "VERDICT: no\nREASON: the sand is wet";
const OBJECT: &str = r#"{"answer":"no","progress":"some","reason":"the sand is wet"}"#;

/// English text and JSON have at least as many bytes for each token.
const BYTES_OF_TOKEN: usize = 4;

pub(crate) fn measure() {
    println!("| a judge | bytes of its request | tokens, 4 bytes each | over a bare call |");
    println!("|---|--:|--:|--:|");
    for title in ["provider, Anthropic", "provider, OpenAI", "provider, Gemini", "codex", "claude"] {
        let driver = Driver::named(title);
        let answer = if title == "claude" { VERDICT } else { OBJECT };
        let mock = Mock::answering(answer, ANSWER);
        let project = project();
        run(driver, &project, &mock, &program(1), &[]);
        let asked = mock.asked();
        let bytes = asked.last().unwrap().body.to_string().len();
        let over = (driver.name == "provider").then(|| {
            let last = asked.last().unwrap();
            let mut http = Http::connect(mock.url());
            let times = (0..ROUNDS).map(|_| {
                let begin = Instant::now();
                (0..DECISIONS).for_each(|_| _ = http.post(&last.path, &last.body));
                let bare = begin.elapsed().as_secs_f64() / DECISIONS as f64;
                // The start of `prose` is in both.
                let one = run(driver, &project, &mock, &program(1), &[]);
                let all = run(driver, &project, &mock, &program(DECISIONS + 1), &[]);
                (all - one) / DECISIONS as f64 - bare
            });
            format!("{:.1} ms", median(times.collect()) * 1000.0)
        });
        println!("| {title} | {bytes} | {} | {} |", bytes.div_ceil(BYTES_OF_TOKEN), over.unwrap_or_default());
        if std::env::var_os("PROSE_SHOW_REQUESTS").is_some() {
            println!("\n{}\n", asked.last().unwrap().body);
        }
    }
}

/// A loop whose condition is never met, of as many iterations.
fn program(decisions: usize) -> String {
    format!(
        "let sea = \"The sand is wet.\"\nloop until **the tide is out** (max: {decisions}):\n  sea = sea\n"
    )
}

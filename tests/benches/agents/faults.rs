//! A thousand sessions through a provider with faults.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use prose_tests::drivers::Driver;

use crate::mock::{Mock, answer, project, run};
use crate::server::Does;

const SESSIONS: usize = 1_000;

/// How long the provider takes for an answer.
const ANSWER: Duration = Duration::from_millis(500);

/// The delay that it asks for.
const DELAY: Duration = Duration::from_millis(50);

pub(crate) fn measure() {
    println!("| 1,000 sessions, 64 at a time | requests | answered | time | delays asked for | limit |");
    println!("|---|--:|--:|--:|--:|--:|");
    let (_, without) = sessions(false);
    println!("| without faults | {SESSIONS} | {SESSIONS} | {without:.1} s | | |");
    let (counts, with) = sessions(true);
    let delays = counts.turned_away as f64 * DELAY.as_secs_f64();
    println!(
        "| every tenth turned away, every fiftieth reset | {} | {} | {with:.1} s | {delays:.1} s | {:.1} s |",
        counts.asked,
        counts.answered,
        1.5 * without + delays
    );
}

struct Counts {
    asked: usize,
    answered: usize,
    turned_away: usize,
}

fn sessions(has_faults: bool) -> (Counts, f64) {
    let turned_away = Arc::new(AtomicUsize::new(0));
    let answered = Arc::new(AtomicUsize::new(0));
    let (counted, counted_answers) = (Arc::clone(&turned_away), Arc::clone(&answered));
    let mock = Mock::start(move |number, asked| match number {
        number if has_faults && number % 50 == 0 => Does::Resets,
        number if has_faults && number % 10 == 0 => {
            counted.fetch_add(1, Ordering::Relaxed);
            Does::Answers(
                429,
                "retry-after-ms: 50\r\n",
                "{\"error\":{\"message\":\"Rate limit reached\"}}".to_owned(),
            )
        }
        _ => {
            counted_answers.fetch_add(1, Ordering::Relaxed);
            Does::Later(ANSWER, Box::new(answer(asked, "Tides come and go.")))
        }
    });
    let project = project();
    let items: Vec<String> = (0..SESSIONS).map(|item| item.to_string()).collect();
    let program =
        format!("parallel for item in [{}]:\n  session \"Count wave {{item}}\"\n", items.join(", "));
    let driver = Driver::named("provider, OpenAI");
    let time = run(driver, &project, &mock, &program, &["--max-parallel", "64", "-q"]);
    let turned_away = turned_away.load(Ordering::Relaxed);
    (Counts { asked: mock.asked().len(), answered: answered.load(Ordering::Relaxed), turned_away }, time)
}

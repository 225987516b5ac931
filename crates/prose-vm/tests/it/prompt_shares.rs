//! How much of what sessions are told is not the program's own text.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use expect_test::expect;
use prose_vm::effect::{InputRequest, SessionTask};
use prose_vm::harness::HarnessFuture;
use prose_vm::runner::Inputs;
use prose_vm::value::Value;

use crate::support::run_with;

struct Tides;

impl Inputs for Tides {
    fn give<'a>(&'a self, _: &'a InputRequest) -> HarnessFuture<'a, Value> {
        Box::pin(async { Ok("tides".into()) })
    }
}

/// The part of a text of that many bytes that is no text of the program, its values or their paths, in percent.
fn share(of: usize, own: usize) -> usize {
    (of - own) * 100 / of
}

/// The text of the program in the prompt of a session, with the lines of its context.
fn own(task: &SessionTask) -> usize {
    let context = task.prompt.split_once("Context (by reference):").map_or(0, |(_, rest)| {
        rest.lines().skip(1).take_while(|line| line.starts_with("- ")).map(str::len).sum()
    });
    task.task.trim_end().len() + context
}

#[test]
fn most_of_what_a_session_is_told_is_its_task() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut table = String::new();
    let mut names: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.sort();
    for path in names.iter().filter(|path| path.extension().is_some_and(|end| end == "prose")) {
        let text = fs::read_to_string(path).unwrap();
        // Imports are other files, and one example has mistakes.
        if text.contains("\nuse ") || path.ends_with("mistakes.prose") {
            continue;
        }
        let ran = run_with(&text, "[[session]]\nreply = \"A reply\\nof two lines.\"", |setup| {
            setup.with_files();
            setup.settings.root = Some("/home/ann/work/newsletter".into());
            setup.inputs = Arc::new(Tides);
        });
        let tasks = ran.sessions();
        let sum = |part: &dyn Fn(&SessionTask) -> usize| tasks.iter().map(|task| part(task)).sum::<usize>();
        let prompts = sum(&|task| task.prompt.len());
        let systems = sum(&|task| task.system_part().map_or(0, |part| part.len()));
        let roles = sum(&|task| task.system.as_deref().map_or(0, |role| role.trim_end().len()));
        let own = sum(&own);
        let name = path.file_name().unwrap().to_string_lossy();
        writeln!(
            table,
            "{name}: {} sessions, {prompts} bytes of prompts, {} % of them instructions, {} % with the system part",
            tasks.len(),
            share(prompts, own),
            share(prompts + systems, own + roles),
        )
        .unwrap();
    }
    expect![[r#"
        code-review.prose: 5 sessions, 1204 bytes of prompts, 31 % of them instructions, 69 % with the system part
        hello.prose: 2 sessions, 537 bytes of prompts, 57 % of them instructions, 70 % with the system part
        incident.prose: 4 sessions, 1793 bytes of prompts, 72 % of them instructions, 83 % with the system part
        localise.prose: 10 sessions, 3666 bytes of prompts, 59 % of them instructions, 77 % with the system part
        newsletter.prose: 2 sessions, 469 bytes of prompts, 69 % of them instructions, 69 % with the system part
        release-notes.prose: 2 sessions, 546 bytes of prompts, 63 % of them instructions, 84 % with the system part
    "#]].assert_eq(&table);
}

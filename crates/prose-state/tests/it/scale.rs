//! What large runs cost. The limits are wide, so that they hold on a busy machine without optimisation; what they find is work that grows with the run.

use std::time::Duration;

use prose_fixture::time::processor_time;

use prose_vm::event::{EventKind, RunStatus};
use prose_vm::store::Store;

use crate::support::{Driver, project_in_memory};

#[test]
fn the_time_per_statement_does_not_grow_with_the_run() {
    let (_folder, project) = project_in_memory();
    let count = 10_000;
    let text: String = (1..=count).map(|number| format!("let x{number} = {number}\n")).collect();
    let mut run = Driver::start(&project, "long.prose", &text);
    let lines: Vec<&str> = text.lines().collect();
    let mut times = Vec::new();
    for (index, source) in lines.iter().enumerate() {
        let line = index as u32 + 1;
        let at = format!("s{line}");
        let site = prose_vm::place::Site { program: 0, start: 0, end: 0, line, last_line: line };
        let binding = prose_vm::effect::Binding {
            name: "x".into(),
            kind: prose_vm::effect::BindingKind::Let,
            frame: 0,
            path: "bindings/x.md".into(),
            source: (*source).into(),
        };
        times.push(processor_time(|| {
            for kind in [
                EventKind::StatementStarted {
                    number: Some(line),
                    source: (*source).into(),
                    kind: prose_vm::event::StatementKind::Binding,
                },
                crate::support::bound(binding, "x".into(), None),
                EventKind::StatementEnded { status: prose_vm::event::Status::Complete, error: None },
            ] {
                let mut event = run.event(&at, 0, kind);
                event.site = Some(site);
                run.store.record(&event, true).unwrap();
            }
            run.store.commit().unwrap();
        }));
    }
    let sum = |part: &[Duration]| part.iter().sum::<Duration>();
    let first = sum(&times[1000..3000]);
    let last = sum(&times[times.len() - 2000..]);
    assert!(last < first * 3 + Duration::from_millis(200), "{first:?} became {last:?}");
    run.end(RunStatus::Completed);
    let state = run.read("state.md");
    assert_eq!(state.matches("(complete)").count(), count);
}

#[test]
fn ten_thousand_parallel_sessions() {
    let (_folder, project) = project_in_memory();
    let text = "parallel for x in xs:\n  session \"One\"\n";
    let mut run = Driver::start(&project, "wide.prose", text);
    let count = 10_000;
    let took = processor_time(|| {
        run.enter("s1", 1);
        let branches = (0..count).map(|index| format!("{index}").into()).collect();
        let (strategy, policy) = ("all".into(), "fail-fast".into());
        run.tell("s1", 1, EventKind::ParallelStarted { branches, strategy, policy, count, is_loop: true });
        let mut asked = Vec::new();
        for index in 0..count {
            let at = format!("s1/b{index}");
            run.tell(&at, 1, EventKind::BranchStarted { index, name: index.to_string().into() });
            run.enter(&format!("{at}/s1"), 2);
            asked.push(run.ask(&format!("{at}/s1"), 2, &format!("anon_{index:03}"), 0));
        }
        run.store.commit().unwrap();
        let state = run.state();
        assert!(state.contains("- 10000 of 10000: executing\n"), "{state}");
        for request in &asked {
            run.reply(request, "Done.");
            let at = request.place.to_string();
            run.leave(&at, 2);
            run.store.commit().unwrap();
        }
        run.tell(
            "s1",
            1,
            EventKind::ParallelEnded {
                bound: vec![],
                failures: vec![],
                status: prose_vm::event::Status::Complete,
            },
        );
        run.leave("s1", 1);
        run.end(RunStatus::Completed);
    });
    let per_session = took / count;
    assert!(per_session < Duration::from_millis(1), "{per_session:?} per session");
    assert_eq!(std::fs::read_dir(run.store.folder().join("bindings")).unwrap().count(), count as usize);
}

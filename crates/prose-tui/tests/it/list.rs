//! The list of runs.

use expect_test::expect;
use prose_tui::ratatui::Terminal;
use prose_tui::ratatui::backend::TestBackend;
use prose_tui::ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use prose_tui::{Palette, Top, TopAction, TopRun};

fn top_run(id: &str, status: &'static str, about: &str) -> TopRun {
    TopRun {
        id: id.into(),
        program: "review.prose".to_owned(),
        status,
        is_executed: ["running", "paused"].contains(&status),
        is_paused: status == "paused",
        needs_attention: ["waiting", "failed"].contains(&status),
        took: "3.0 s".to_owned(),
        sessions: "4 sessions".to_owned(),
        usage: String::new(),
        about: about.to_owned(),
    }
}

fn drawn(top: &mut Top, (width, height): (u16, u16)) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| top.draw(frame)).unwrap();
    let buffer = terminal.backend().buffer();
    let line = |y| (0..width).map(|x| buffer[(x, y)].symbol()).collect::<String>().trim_end().to_owned();
    (0..height).map(|y| line(y) + "\n").collect()
}

fn press(top: &mut Top, code: KeyCode) -> Option<TopAction> {
    top.key(KeyEvent::new(code, KeyModifiers::NONE))
}

fn three_runs() -> Top {
    let mut top = Top::new(Palette { has_colors: false }, "/p/flows");
    top.update(vec![
        top_run("20260115-143052-a7b3c9", "running", "writer: Find a title"),
        top_run("20260115-120000-k3x9d2", "waiting", "go: Ship it?"),
        top_run("20260114-090000-zz00aa", "completed", ""),
    ]);
    top
}

#[test]
fn runs_are_listed_with_what_they_do() {
    let mut top = three_runs();
    expect![[r#"
        /p/flows                                                                    1 of 3 at work

        20260115-143052-a7b3c9  running    3.0 s  4 sessions  review.prose  writer: Find a title
        20260115-120000-k3x9d2  waiting    3.0 s  4 sessions  review.prose  go: Ship it?
        20260114-090000-zz00aa  completed  3.0 s  4 sessions  review.prose

        Enter show  p pause  x stop  h hide ended  q leave
    "#]]
    .assert_eq(&drawn(&mut top, (90, 7)));
    press(&mut top, KeyCode::Char('h'));
    expect![[r#"
        /p/flows                  1 of 3 at work

        20260115-143052-a7b3c9  running  3.0 s …
        20260115-120000-k3x9d2  waiting  3.0 s …

        Enter show  p pause  x stop
    "#]]
    .assert_eq(&drawn(&mut top, (40, 6)));
    top.update(vec![top_run("20260114-090000-zz00aa", "completed", "")]);
    expect![[r#"
        /p/flows                                                    0 of 1 at work

        All runs have ended, and those are hidden; `h` shows them.


        Enter show  p pause  x stop  h show ended  q leave
    "#]]
    .assert_eq(&drawn(&mut top, (74, 6)));
    top.update(Vec::new());
    assert!(drawn(&mut top, (60, 6)).contains("There are no runs"));
}

#[test]
fn the_selected_run_is_commanded() {
    let mut top = three_runs();
    assert_eq!(press(&mut top, KeyCode::Enter), Some(TopAction::Show("20260115-143052-a7b3c9".into())));
    assert_eq!(press(&mut top, KeyCode::Char('p')), Some(TopAction::Pause("20260115-143052-a7b3c9".into())));
    assert_eq!(press(&mut top, KeyCode::Char('x')), None);
    assert!(drawn(&mut top, (60, 6)).contains("Stop the run?"));
    assert_eq!(press(&mut top, KeyCode::Char('y')), Some(TopAction::Stop("20260115-143052-a7b3c9".into())));
    press(&mut top, KeyCode::End);
    assert_eq!(press(&mut top, KeyCode::Char('p')), None);
    assert!(drawn(&mut top, (80, 6)).contains("20260114-090000-zz00aa is not being executed (completed)"));
    assert_eq!(press(&mut top, KeyCode::Char('q')), Some(TopAction::Leave));
}

#[test]
fn the_selection_stays_with_its_run_when_others_start() {
    let mut top = three_runs();
    press(&mut top, KeyCode::Down);
    let mut runs = vec![top_run("20260116-000000-new000", "running", "")];
    runs.push(top_run("20260115-120000-k3x9d2", "waiting", "go: Ship it?"));
    top.update(runs);
    assert_eq!(press(&mut top, KeyCode::Enter), Some(TopAction::Show("20260115-120000-k3x9d2".into())));
}

#[test]
fn lists_of_every_size_are_drawn() {
    let mut top = three_runs();
    for width in (0..8).chain([20, 80, 500]) {
        for height in (0..8).chain([24, 200]) {
            drawn(&mut top, (width, height));
        }
    }
}

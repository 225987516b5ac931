//! The screen of a run.

use expect_test::expect;
use prose_tui::Action;
use prose_tui::ratatui::crossterm::event::{KeyCode, KeyModifiers};
use prose_vm::effect::RequestId;
use prose_vm::questions::{OpenQuestion, QuestionId};
use serde_json::json;

use crate::events::{branch, ended, parallel, recorded, replied, run, session, text, tool};
use crate::support::Shown;

/// Two branches, one of which is at work.
fn two_branches() -> Shown {
    let events = run(vec![
        ("s1", session(1, "writer", "Make an outline")),
        ("s1", replied(1, "1. High\n2. Low")),
        ("s1", ended(1, "complete")),
        ("s2", parallel(&["facts", "title"])),
        ("s2/b0", branch(0, "facts")),
        ("s2/b0/0", session(2, "checker", "Check the facts")),
        ("s2/b1", branch(1, "title")),
        ("s2/b1/0", session(3, "writer", "Find a title")),
        ("s2/b0/0", text(2, "I look at the tables.\n")),
        ("s2/b0/0", tool(2, "t1", "curl tides", "running")),
        ("s2/b1/0", replied(3, "Water on the move")),
        ("s2/b1/0", ended(3, "complete")),
    ]);
    Shown::of(&events, (80, 20))
}

fn question(id: u64, prompt: &str) -> OpenQuestion {
    serde_json::from_value(json!({
        "id": id, "about": "input", "name": "go", "prompt": prompt, "since": 0, "line": 3, "asked_at": "s3"
    }))
    .unwrap()
}

#[test]
fn what_runs_is_selected_with_what_it_writes() {
    two_branches().check(&expect![[r#"
        tides.prose  run 20260115-143052-a7b3c9 with claude             running · 12.3 s
        1 running · 2 complete · 2.4k tokens, $0.10 · at most $5
          ✓ writer: Make an outline                                        $0.05 · 2.0 s
        ▾ ⠸ parallel (2 branches)                                    1/2 · $0.05 · 8.3 s
            ⠸ facts: checker: Check the facts  curl tides                          6.3 s
            ✓ title: writer: Find a title                                  $0.05 · 4.0 s






        session line 6 ─────────────────────────────────────────────────────────────────
        I look at the tables.
        · curl tides




        p pause  s skip  r retry  x stop  f stay here  h hide complete  q leave  ? help
    "#]]);
}

#[test]
fn a_wide_screen_has_the_text_next_to_the_tree() {
    let mut shown = two_branches();
    shown.resize(120, 9);
    shown.check(&expect![[r#"
        tides.prose  run 20260115-143052-a7b3c9 with claude                                                     running · 12.3 s
        1 running · 2 complete · 2.4k tokens, $0.10 · at most $5
          ✓ writer: Make an outline                   $0.05 · 2.0 s │ session line 6 ───────────────────────────────────────────
        ▾ ⠸ parallel (2 branches)               1/2 · $0.05 · 8.3 s │ I look at the tables.
            ⠸ facts: checker: Check the facts  curl tides     6.3 s │ · curl tides
            ✓ title: writer: Find a title             $0.05 · 4.0 s │
                                                                    │
                                                                    │
        p pause  s skip  r retry  x stop  f stay here  h hide complete  q leave  ? help
    "#]]);
}

#[test]
fn a_real_run_is_shown_at_each_of_its_moments() {
    let events = recorded();
    let mut shown = Shown::of(&events[..60], (80, 24));
    shown.check(&expect![[r#"
        review.prose  run 20261121-220115-x7nhhi with script             running · 1.3 s
        4 complete · at most $5
          ✓ writer: Write about tides                                              86 ms
        ▸ ✓ parallel (3 branches)                                            3/3 · 1.2 s
        ▾ ⠸ loop until **the draft is good** (at most 3)                            1 ms
            ⠸ condition the draft is good                                           1 ms









        condition line 28 ──────────────────────────────────────────────────────────────
        condition the draft is good






        p pause  x stop  f stay here  h hide complete  q leave  ? help
    "#]]);
    events[60..].iter().for_each(|event| shown.observe(event));
    shown.check(&expect![[r#"
        review.prose  run 20261121-220115-x7nhhi with script           completed · 2.4 s
        15 complete · 1 failed · at most $5
          ✓ writer: Write about tides                                              86 ms
        ▸ ✓ parallel (3 branches)                                            3/3 · 1.2 s
        ▸ ✓ loop until **the draft is good** (at most 3)  condition met            0.2 s
          ✓ condition the draft is long  yes                                       35 ms
          ✓ Shorten it                                                             0.1 s
        ▸ ✓ parallel for (3 branches)                                        3/3 · 0.2 s
        ▸ ✓ try                                                              2/3 · 0.2 s
        ▸ ✓ pipeline (map, 3 items)                                          3/3 · 0.3 s
          ✓ Sum up                                                                 95 ms




        loop line 28 ───────────────────────────────────────────────────────────────────
        loop until **the draft is good** (at most 3)
        condition met





        p pause  x stop  f stay here  h hide complete  q leave  ? help
    "#]]);
}

#[test]
fn parts_are_selected_folded_and_opened() {
    let mut shown = two_branches();
    for key in [KeyCode::Home, KeyCode::Down] {
        assert_eq!(shown.press(key), None);
    }
    shown.press(KeyCode::Left);
    shown.check(&expect![[r#"
        tides.prose  run 20260115-143052-a7b3c9 with claude             running · 12.3 s
        1 running · 2 complete · 2.4k tokens, $0.10 · at most $5
          ✓ writer: Make an outline                                        $0.05 · 2.0 s
        ▸ ⠸ parallel (2 branches)                                    1/2 · $0.05 · 8.3 s








        parallel line 4 ────────────────────────────────────────────────────────────────
        parallel (2 branches)





        p pause  x stop  f follow  h hide complete  q leave  ? help
    "#]]);
    shown.press(KeyCode::Right);
    shown.press(KeyCode::Right);
    shown.press(KeyCode::End);
    shown.check(&expect![[r#"
        tides.prose  run 20260115-143052-a7b3c9 with claude             running · 12.3 s
        1 running · 2 complete · 2.4k tokens, $0.10 · at most $5
          ✓ writer: Make an outline                                        $0.05 · 2.0 s
        ▾ ⠸ parallel (2 branches)                                    1/2 · $0.05 · 8.3 s
            ⠸ facts: checker: Check the facts  curl tides                          6.3 s
            ✓ title: writer: Find a title                                  $0.05 · 4.0 s






        session line 8 ─────────────────────────────────────────────────────────────────
        Water on the move





        p pause  x stop  f follow  h hide complete  q leave  ? help
    "#]]);
    shown.press(KeyCode::Char('h'));
    shown.check(&expect![[r#"
        tides.prose  run 20260115-143052-a7b3c9 with claude             running · 12.3 s
        1 running · 2 complete · 2.4k tokens, $0.10 · at most $5
        ▾ ⠸ parallel (2 branches)                                    1/2 · $0.05 · 8.3 s
            ⠸ facts: checker: Check the facts  curl tides                          6.3 s
            ✓ title: writer: Find a title                                  $0.05 · 4.0 s







        session line 8 ─────────────────────────────────────────────────────────────────
        Water on the move





        p pause  x stop  f follow  h show complete  q leave  ? help
    "#]]);
}

#[test]
fn keys_command_the_selected_session_and_the_run() {
    let mut shown = two_branches();
    assert_eq!(shown.press(KeyCode::Char('s')), Some(Action::Skip(RequestId(2))));
    assert_eq!(shown.press(KeyCode::Char('r')), Some(Action::Retry(RequestId(2))));
    assert_eq!(shown.press(KeyCode::Char('p')), Some(Action::Pause));
    assert_eq!(shown.press(KeyCode::Char('q')), Some(Action::Leave));
    assert_eq!(shown.press_with(KeyCode::Char('c'), KeyModifiers::CONTROL), Some(Action::Interrupt));
    assert_eq!(shown.press_with(KeyCode::Char('z'), KeyModifiers::CONTROL), Some(Action::Suspend));
    // Only what is confirmed stops the run.
    assert_eq!(shown.press(KeyCode::Char('x')), None);
    assert!(shown.draw().contains("Stop the run?"));
    assert_eq!(shown.press(KeyCode::Char('n')), None);
    assert_eq!(shown.press(KeyCode::Char('x')), None);
    assert_eq!(shown.press(KeyCode::Char('y')), Some(Action::Stop));
    // A session that has ended is not skipped.
    shown.press(KeyCode::Home);
    assert_eq!(shown.press(KeyCode::Char('s')), None);
    assert!(shown.draw().ends_with("select a session at work first\n"));
}

#[test]
fn a_question_is_answered_in_a_line() {
    let mut shown = two_branches();
    shown.questions = vec![question(4, "Ship it?"), question(5, "To whom?")];
    shown.check(&expect![[r#"
        tides.prose  run 20260115-143052-a7b3c9 with claude     waiting for you · 12.3 s
        1 running · 2 complete · 2.4k tokens, $0.10 · at most $5
          ✓ writer: Make an outline                                        $0.05 · 2.0 s
        ▾ ⠸ parallel (2 branches)                                    1/2 · $0.05 · 8.3 s
            ⠸ facts: checker: Check the facts  curl tides                          6.3 s
            ✓ title: writer: Find a title                                  $0.05 · 4.0 s






        session line 6 ─────────────────────────────────────────────────────────────────
        I look at the tables.
        · curl tides



        waiting (1 of 2): go: Ship it?
        a answer  p pause  s skip  r retry  x stop  f stay here  h hide complete
    "#]]);
    shown.press(KeyCode::Char('a'));
    // Keys are the answer now, and an empty one is none.
    assert_eq!(shown.press(KeyCode::Enter), None);
    shown.types("quick");
    shown.press(KeyCode::Backspace);
    shown.check(&expect![[r#"
        tides.prose  run 20260115-143052-a7b3c9 with claude     waiting for you · 12.3 s
        1 running · 2 complete · 2.4k tokens, $0.10 · at most $5
          ✓ writer: Make an outline                                        $0.05 · 2.0 s
        ▾ ⠸ parallel (2 branches)                                    1/2 · $0.05 · 8.3 s
            ⠸ facts: checker: Check the facts  curl tides                          6.3 s
            ✓ title: writer: Find a title                                  $0.05 · 4.0 s





        session line 6 ─────────────────────────────────────────────────────────────────
        I look at the tables.
        · curl tides



        waiting (1 of 2): go: Ship it?
        > quic
        Enter answers · Esc goes back
    "#]]);
    assert_eq!(shown.press(KeyCode::Enter), Some(Action::Answer(QuestionId(4), "quic".to_owned())));
    // One that is refused is typed on.
    shown.screen.report("answer `quick` or `slow`");
    assert!(shown.draw().ends_with("> quic\nanswer `quick` or `slow`\n"), "{}", shown.draw());
    shown.types("k");
    assert_eq!(shown.press(KeyCode::Enter), Some(Action::Answer(QuestionId(4), "quick".to_owned())));
    shown.screen.say("answered");
    // One that was answered elsewhere meanwhile takes no answer.
    shown.press(KeyCode::Char('a'));
    shown.types("no");
    shown.questions.remove(0);
    assert_eq!(shown.press(KeyCode::Enter), None);
    assert!(shown.draw().ends_with("the question was answered elsewhere\n"));
}

#[test]
fn a_long_answer_shows_where_it_is_typed() {
    let mut shown = two_branches();
    shown.resize(30, 8);
    shown.questions = vec![question(4, "Ship it?")];
    shown.press(KeyCode::Char('a'));
    shown.types("when the tide is high, and not before");
    shown.check(&expect![[r#"
        tide… waiting for you · 12.3 s
        1 running · 2 complete · 2.4k…
          ✓ writer: Mak… $0.05 · 2.0 s
        ▾ ⠸ paral… 1/2 · $0.05 · 8.3 s
            ⠸ facts: checker: C… 6.3 s
        waiting: go: Ship it?
         tide is high, and not before
        Enter answers · Esc goes back
    "#]]);
}

#[test]
fn failures_and_their_reasons_are_shown() {
    let events = run(vec![
        ("s1", session(1, "writer", "Make an outline")),
        ("s1", text(1, "I begin")),
        ("s1", ended(1, "failed")),
    ]);
    let mut shown = Shown::of(&events, (60, 16));
    shown.press(KeyCode::Home);
    shown.check(&expect![[r#"
        tides.prose  run 20260115-143052-a7b3c9 wit… running · 3.0 s
        1 failed · at most $5
          ✗ writer: Make an outline  the provider is away      2.0 s







        session line 1 ─────────────────────────────────────────────
        I begin
        error: the provider is away
        for long

        p pause  x stop  f follow  h hide complete  q leave  ? help
    "#]]);
}

#[test]
fn texts_of_programs_and_agents_do_not_steer_the_terminal() {
    let events = run(vec![
        ("s1", session(1, "a\u{1b}[31m", "Say\u{1b}[2J \u{202e}hi")),
        ("s1", text(1, "\u{1b}]0;title\u{7}all\r\nof it")),
    ]);
    let shown = Shown::of(&events, (80, 20)).draw();
    assert!(!shown.contains(['\u{1b}', '\u{7}', '\u{202e}', '\r']), "{shown}");
    assert!(shown.contains("\\u{1b}]0;title\\u{7}all"), "{shown}");
}

#[test]
fn the_text_of_a_session_is_scrolled() {
    let reply: Vec<String> = (1..=30).map(|number| format!("line {number}")).collect();
    let events = run(vec![("s1", session(1, "writer", "Count")), ("s1", text(1, &reply.join("\n")))]);
    let mut shown = Shown::of(&events, (40, 16));
    assert!(shown.draw().contains("line 30"));
    (0..100).for_each(|_| assert_eq!(shown.press(KeyCode::Char('K')), None));
    assert!(shown.draw().contains("line 1\n"));
    shown.press(KeyCode::Char('J'));
    assert!(!shown.draw().contains("line 1\n"));
}

#[test]
fn help_has_every_key() {
    let mut shown = two_branches();
    shown.press(KeyCode::Char('?'));
    shown.check(&expect![[r#"
        tides.prose  run 20260115-143052-a7b3c9 with claude             running · 12.3 s
        1 running · 2 complete · 2.4k tokens, $0.10 · at most $5
          a          answer the question that the run waits for
          p          pause the run: no new session starts; or continue it
          s          skip the selected session: its result is empty
          r          cancel the selected session, and start it again
          x          stop the run after a confirmation; `prose resume` continues it
          f          select what runs, as the run continues
          h          hide or show what has ended well
          q          leave the screen; the run continues
          ?          show or hide this list
          ↑ ↓        select another part of the run
          ← →        fold or open the selected part
          PgUp PgDn  select a part a page away
          Home End   select the first or the last part
          J K        scroll the text of the selected session
          Ctrl-C     stop the run; that of another process continues
          Ctrl-Z     go back to the shell; `fg` returns

        any key goes back
    "#]]);
    shown.press(KeyCode::Esc);
    assert!(shown.draw().contains("Check the facts"));
}

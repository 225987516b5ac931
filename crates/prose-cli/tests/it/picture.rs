//! The pictures of the command line are what it really writes and draws. Where that changes, a test fails and
//! `UPDATE_EXPECT=1 cargo test -p prose-cli --test it picture` draws them anew.

use std::process::Command;

use anstyle_svg::{Palette, Term};
use expect_test::expect_file;
use prose_tui::ratatui::Terminal;
use prose_tui::ratatui::backend::TestBackend;
use prose_tui::ratatui::buffer::Buffer;
use prose_tui::ratatui::style::{Color, Modifier};
use prose_tui::{Now, Outputs, RunScreen};
use prose_view::View;
use prose_vm::event::Event;

const TITLE_BAR: u32 = 36;

#[test]
fn the_picture_shows_what_is_written() {
    let arguments = ["check", "examples/mistakes.prose"];
    let output = Command::new(env!("CARGO_BIN_EXE_prose"))
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .args(arguments)
        .args(["--color", "always"])
        .output()
        .unwrap();
    let findings = String::from_utf8(output.stdout).unwrap();
    let summary = String::from_utf8(output.stderr).unwrap();
    let prompt = format!("\u{1b}[1;32m$\u{1b}[0m \u{1b}[1mprose {}\u{1b}[0m", arguments.join(" "));
    let svg = window(&format!("{prompt}\n\n{findings}{summary}"));
    expect_file![concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/pictures/check.svg")].assert_eq(&svg);
}

/// The text in a window with a title bar.
fn window(ansi: &str) -> String {
    let terminal = Term::new()
        .palette(palette())
        .fg_color(anstyle::RgbColor(0xd8, 0xde, 0xe9).into())
        .background(false)
        .render_svg(ansi.trim_end());
    let size = |name: &str| -> u32 {
        let value = terminal.split(&format!("{name}=\"")).nth(1).and_then(|rest| rest.split("px").next());
        value.and_then(|value| value.parse().ok()).expect("the picture has a size")
    };
    let (width, height) = (size("width") + 12, size("height") + TITLE_BAR + 8);
    let inner = terminal.replacen("<svg ", &format!("<svg x=\"6\" y=\"{TITLE_BAR}\" "), 1);
    format!(
        r##"<svg width="{width}" height="{height}" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<rect width="{width}" height="{height}" rx="10" fill="#1f2430" />
<circle cx="22" cy="20" r="6" fill="#ff5f57" />
<circle cx="42" cy="20" r="6" fill="#febc2e" />
<circle cx="62" cy="20" r="6" fill="#28c840" />
{inner}</svg>
"##
    )
}

/// Colours that can be told apart on the dark background.
fn palette() -> Palette {
    let rgb = |hex: u32| anstyle::RgbColor((hex >> 16) as u8, (hex >> 8) as u8, hex as u8);
    [
        0x2e3440, 0xf07178, 0xa6cc70, 0xffcc66, 0x73b8ff, 0xd4bfff, 0x5ccfe6, 0xd8dee9, 0x5c6773, 0xff7b82,
        0xbae67e, 0xffd580, 0x7cc4ff, 0xdfbfff, 0x82e0f0, 0xffffff,
    ]
    .map(rgb)
    .into()
}

/// The screen of a run that was recorded, at a moment at which its branches are at work.
#[test]
fn the_picture_of_the_screen_shows_what_is_drawn() {
    let text = include_str!("../../../../editors/vscode/test/recorded/review.jsonl");
    let events = text.lines().map(|line| serde_json::from_str::<Event>(line).unwrap()).take(MOMENT);
    let (mut view, mut outputs) = (View::default(), Outputs::default());
    for event in events {
        view.apply(&event);
        outputs.observe(&event);
    }
    let mut screen = RunScreen::new(prose_tui::Palette { has_colors: true });
    screen.update(&view);
    let output = screen.selected_request(&view).and_then(|request| outputs.of(request));
    let now = Now { view: &view, output, questions: &[], limits: "", late: 0 };
    let mut terminal = Terminal::new(TestBackend::new(96, 22)).unwrap();
    terminal.draw(|frame| screen.draw(frame, &now)).unwrap();
    let svg = window(&ansi(terminal.backend().buffer()));
    expect_file![concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/pictures/screen.svg")].assert_eq(&svg);
}

/// How many events of the recorded run are drawn.
const MOMENT: usize = 46;

/// What a buffer holds, with escape sequences for its styles.
fn ansi(buffer: &Buffer) -> String {
    let mut text = String::new();
    for y in 0..buffer.area.height {
        for x in 0..buffer.area.width {
            let cell = &buffer[(x, y)];
            let mut style = anstyle::Style::new();
            style = match cell.fg {
                Color::Red => style.fg_color(Some(anstyle::AnsiColor::Red.into())),
                Color::Green => style.fg_color(Some(anstyle::AnsiColor::Green.into())),
                Color::Yellow => style.fg_color(Some(anstyle::AnsiColor::Yellow.into())),
                Color::Cyan => style.fg_color(Some(anstyle::AnsiColor::Cyan.into())),
                _ => style,
            };
            for (modifier, effect) in [
                (Modifier::BOLD, anstyle::Effects::BOLD),
                (Modifier::DIM, anstyle::Effects::DIMMED),
                (Modifier::REVERSED, anstyle::Effects::INVERT),
            ] {
                if cell.modifier.contains(modifier) {
                    style = style.effects(style.get_effects() | effect);
                }
            }
            text += &format!("{style}{}{style:#}", cell.symbol());
        }
        text.push('\n');
    }
    text
}

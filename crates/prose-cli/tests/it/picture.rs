//! The picture in the README is what `prose check` really writes. Where that changes, this test fails and
//! `UPDATE_EXPECT=1 cargo test -p prose-cli --test it picture` draws it anew.

use std::process::Command;

use anstyle_svg::{Palette, Term};
use expect_test::expect_file;

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

//! Programs of random statements, for properties of replays, forks and the debugger.

use std::fmt::Write as _;

use fastrand::Rng;

/// The number of programs to try: few, unless the environment has another number.
pub(crate) fn count_of_programs(few: u64) -> u64 {
    prose_fixture::number("PROSE_GENERATED_PROGRAMS").unwrap_or(few)
}

/// A program of random statements.
pub(crate) fn program(random: &mut Rng) -> String {
    fn body(random: &mut Rng, text: &mut String, depth: usize, names: &mut u32) {
        for _ in 0..random.usize(1..4) {
            *names += 1;
            let (pad, name) = ("  ".repeat(depth), *names);
            let kind = if depth > 2 { random.u32(0..3) } else { random.u32(0..9) };
            let _ = match kind {
                0 => writeln!(text, "{pad}session \"Do {name}\""),
                1 => writeln!(text, "{pad}let v{name} = session \"Find {name}\""),
                2 => writeln!(text, "{pad}let w{name} = \"value {name}\"\n{pad}session \"Use {{w{name}}}\""),
                3 => writeln!(text, "{pad}if **{name} holds**:"),
                4 => writeln!(text, "{pad}loop until **{name} is done** (max: 3):"),
                5 => writeln!(text, "{pad}parallel for x{name} in [\"p\", \"q\"]:"),
                6 => writeln!(text, "{pad}repeat 2:"),
                7 => {
                    let _ = writeln!(text, "{pad}try:");
                    body(random, text, depth + 1, names);
                    writeln!(text, "{pad}catch:")
                }
                _ => {
                    let _ = writeln!(text, "{pad}choice **which {name}**:\n{pad}  option \"A\":");
                    body(random, text, depth + 2, names);
                    let _ = writeln!(text, "{pad}  option \"B\":");
                    body(random, text, depth + 2, names);
                    Ok(())
                }
            };
            if (3..8).contains(&kind) {
                body(random, text, depth + 1, names);
            }
        }
    }
    let mut text = String::new();
    body(random, &mut text, 0, &mut 0);
    text + "output result = session \"End\"\n"
}

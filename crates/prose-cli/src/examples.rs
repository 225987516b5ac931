//! `prose examples`: built-in programs to start from.

use std::io::{self, Write};

use prose_syntax::suggest::nearest;

use crate::cli::run::ExamplesArgs;
use crate::example::EXAMPLES;
use crate::status::Status;
use crate::terminal::{BOLD, ERROR, Terminal, one_line};

/// Lists the examples, or prints one.
pub(crate) fn run(args: &ExamplesArgs, terminal: &Terminal) -> io::Result<Status> {
    let mut out = terminal.stdout();
    let Some(name) = &args.name else {
        for example in EXAMPLES {
            writeln!(out, "{BOLD}{:14}{BOLD:#} {}", example.name, example.summary())?;
        }
        return Ok(Status::Clean);
    };
    let name = name.strip_suffix(".prose").unwrap_or(name);
    // A unique prefix of a name is enough.
    let named = |example: &&crate::example::Example| example.name.starts_with(name);
    let mut starting = EXAMPLES.iter().filter(named);
    let exact = EXAMPLES.iter().find(|example| example.name == name);
    match (exact, starting.next(), starting.next()) {
        (Some(example), ..) | (None, Some(example), None) => out.write_all(example.text.as_bytes())?,
        _ => {
            let near = nearest(name, EXAMPLES, |example| example.name);
            let hint = near.map_or("list the examples with `prose examples`".to_owned(), |near| {
                format!("did you mean `{}`?", near.name)
            });
            writeln!(
                terminal.stderr(),
                "{ERROR}error{ERROR:#}: example `{}` does not exist; {hint}",
                one_line(name)
            )?;
            return Ok(Status::Trouble);
        }
    }
    Ok(Status::Clean)
}

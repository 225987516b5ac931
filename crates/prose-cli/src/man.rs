//! `prose man`: manual pages, made of the definition of the command line.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use clap::{Command, CommandFactory};
use clap_mangen::Man;
use prose_syntax::suggest::nearest;

use crate::cli::Cli;
use crate::cli::shell::ManArgs;
use crate::command_error::CommandError;
use crate::status::Status;
use crate::terminal::{Terminal, counted, one_line, raw_stdout};

/// Writes one page to standard output, or all into a folder.
pub(crate) fn run(args: &ManArgs, terminal: &Terminal) -> io::Result<Status> {
    let mut root = Cli::command().disable_help_subcommand(true);
    root.build();
    let done = match &args.output_dir {
        Some(folder) => write_all(&root, folder, terminal),
        None => find(&root, &args.command).and_then(|command| Ok(raw_stdout().write_all(&page(command)?)?)),
    };
    CommandError::status(done, terminal)
}

/// The command with a name of several words.
fn find<'a>(root: &'a Command, words: &[String]) -> Result<&'a Command, CommandError> {
    words.iter().try_fold(root, |command, word| {
        command.find_subcommand(word).ok_or_else(|| {
            let names: Vec<&str> = visible(command).map(Command::get_name).collect();
            let hint = match (nearest(word, &names, |name| name), names.is_empty()) {
                (Some(near), _) => format!("did you mean `{near}`?"),
                (None, true) => "it has no commands".to_owned(),
                (None, false) => format!("the commands are `{}`", names.join("`, `")),
            };
            let within = command.get_bin_name().unwrap_or("prose");
            CommandError::Message(format!("`{}` is not a command of `{within}`; {hint}", one_line(word)))
        })
    })
}

fn visible(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|command| !command.is_hide_set())
}

fn write_all(root: &Command, folder: &Path, terminal: &Terminal) -> Result<(), CommandError> {
    let failed = |path: &Path, error: io::Error| {
        CommandError::Message(format!("cannot write {}: {}", path.display(), prose_files::reason(&error)))
    };
    fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
    let mut count = 0;
    let mut left = vec![root];
    while let Some(command) = left.pop() {
        left.extend(visible(command));
        let path = folder.join(format!("{}.1", command.get_display_name().unwrap_or("prose")));
        fs::write(&path, page(command)?).map_err(|error| failed(&path, error))?;
        count += 1;
    }
    let shown = folder.to_string_lossy();
    writeln!(terminal.stderr(), "Wrote {} to {}.", counted(count, "page"), one_line(&shown))?;
    Ok(())
}

/// The page of a command.
fn page(command: &Command) -> io::Result<Vec<u8>> {
    // The banner is made for terminals.
    let man = Man::new(command.clone().before_help(None::<&str>))
        .source(format!("prose {}", env!("CARGO_PKG_VERSION")))
        .manual("OpenProse");
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if visible(command).next().is_some() {
        man.render_subcommands_section(&mut page)?;
    }
    if let Some(after) = command.get_after_help() {
        write_sections(&after.to_string(), &mut page)?;
    }
    Ok(page)
}

/// Writes what follows the options in a help: each paragraph with a heading is a section, in which the lines stay as they are.
fn write_sections(text: &str, page: &mut Vec<u8>) -> io::Result<()> {
    for paragraph in text.split("\n\n") {
        let mut lines = paragraph.lines();
        let first = lines.next().unwrap_or_default();
        let heading = first.strip_suffix(':').filter(|heading| !heading.contains(':'));
        match heading {
            Some(heading) => {
                writeln!(page, ".SH \"{}\"\n.nf", escaped(&heading.to_uppercase()))?;
                lines.try_for_each(|line| {
                    writeln!(page, "{}", escaped(line.strip_prefix("  ").unwrap_or(line)))
                })?;
                writeln!(page, ".fi")?;
            }
            None => {
                writeln!(page, ".SH NOTES")?;
                std::iter::once(first)
                    .chain(lines)
                    .try_for_each(|line| writeln!(page, "{}", escaped(line)))?;
            }
        }
    }
    Ok(())
}

/// A line of text in the language of manual pages.
fn escaped(line: &str) -> String {
    let line = line.replace('\\', r"\e").replace('-', r"\-");
    // These would start a request.
    if line.starts_with(['.', '\'']) { format!(r"\&{line}") } else { line }
}

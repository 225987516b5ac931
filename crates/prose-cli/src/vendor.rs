//! `prose vendor`: copies of imported programs in a folder.

use std::io::{self, Write};
use std::path::Path;

use prose_project::files::{identity, shown};
use prose_project::imports::{ImportOptions, LockUse, Update};
use prose_registry::Vendor;

use crate::cli::VendorArgs;
use crate::gather::{Gathered, Walked};
use crate::status::Status;
use crate::terminal::{ERROR, Terminal, counted, one_line};

/// Writes the copies and reports how they are used.
pub(crate) fn run(args: &VendorArgs, terminal: &Terminal) -> io::Result<Status> {
    let options =
        ImportOptions { past_vendor: true, lock: LockUse::Kept(Update::Nothing), ..ImportOptions::default() };
    let mut gathered = Gathered::new(&args.paths, Vec::new(), options);
    let walked = gathered.walk();
    if gathered.report(terminal)? {
        return Ok(Status::Trouble);
    }
    let mut programs = Vec::new();
    let mut is_wrong = false;
    let mut folders = Vec::new();
    for Walked { project, programs: visited } in walked {
        if !visited.is_empty() {
            folders.extend(project.lock_path.parent().map(Path::to_owned));
        }
        for (_, visited) in visited {
            match visited.into_copy() {
                Ok(program) => programs.push(program),
                Err(reason) => {
                    is_wrong = true;
                    writeln!(terminal.stderr(), "{ERROR}error{ERROR:#}: {}", one_line(&reason))?;
                }
            }
        }
    }
    if is_wrong {
        writeln!(terminal.stderr(), "Nothing was copied, since some programs are missing.")?;
        return Ok(Status::ErrorsFound);
    }
    if let Err(error) = Vendor::write(&args.dir, &programs) {
        writeln!(terminal.stderr(), "{ERROR}error{ERROR:#}: {}", one_line(&error.to_string()))?;
        return Ok(Status::Trouble);
    }
    let mut stdout = terminal.stdout();
    let dir = identity(&args.dir);
    let copied = counted(programs.len(), "program");
    writeln!(stdout, "Copied {copied} into {}.", one_line(&args.dir.to_string_lossy()))?;
    for folder in folders {
        let relative = dir.strip_prefix(&folder).unwrap_or(&dir).to_string_lossy().replace('\\', "/");
        let path = folder.join(prose_config::FILE_NAME);
        let path = shown(&path).to_string_lossy().into_owned();
        writeln!(
            stdout,
            "To use them, add to {}:\n\n[registry]\nvendor = {}",
            one_line(&path),
            toml::Value::String(relative)
        )?;
    }
    stdout.flush()?;
    Ok(Status::Clean)
}

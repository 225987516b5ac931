//! `prose cache`: the folder with fetched programs.

use std::io::{self, Write};

use prose_registry::{CACHE_DIR, Cache};

use crate::cli::{CacheArgs, CacheCommand};
use crate::status::Status;
use crate::terminal::{ERROR, Terminal, counted, one_line};

/// Shows the cache, or empties it.
pub(crate) fn run(args: &CacheArgs, terminal: &Terminal) -> io::Result<Status> {
    let cache = Cache::of_user();
    let Some(dir) = cache.dir() else {
        let message = format!("there is no cache folder on this system; set {CACHE_DIR} to one");
        writeln!(terminal.stderr(), "{ERROR}error{ERROR:#}: {message}")?;
        return Ok(Status::Trouble);
    };
    let mut stdout = terminal.stdout();
    match args.command {
        CacheCommand::Dir => writeln!(stdout, "{}", dir.display())?,
        CacheCommand::List => {
            for source in cache.list() {
                let (reference, url) = (&source.reference, &source.final_url);
                let place = if reference == url.as_str() { String::new() } else { format!("  {url}") };
                let line =
                    format!("{reference}  {}  {:.12}{place}", source.fetched, source.sha256.to_string());
                writeln!(stdout, "{}", one_line(&line))?;
            }
        }
        CacheCommand::Clean => match cache.clean() {
            Ok(cleaned) => {
                let kilobytes = cleaned.bytes.div_ceil(1024);
                writeln!(stdout, "Removed {} ({kilobytes} KB).", counted(cleaned.programs, "program"))?;
            }
            Err(error) => {
                let message = format!("cannot clear {}: {error}", dir.display());
                writeln!(terminal.stderr(), "{ERROR}error{ERROR:#}: {}", one_line(&message))?;
                return Ok(Status::Trouble);
            }
        },
    }
    stdout.flush()?;
    Ok(Status::Clean)
}

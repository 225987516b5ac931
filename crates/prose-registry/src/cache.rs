//! Texts of programs that were fetched, in the user's cache folder.
//!
//! A text is stored in `texts` under its hash; the facts about a reference are in `entries`, one small file per address. Every
//! file is written next to its place and then moved there, so that several processes never see half of one. What a crash or another program
//! else leaves after is found by the hash when it is read, dropped, and fetched again.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::{env, fmt};

use dashmap::DashMap;
use etcetera::BaseStrategy;
use prose_files::{Limit, private};
use serde::{Deserialize, Serialize};
use url::Url;

use crate::program::{Hash, Program, Source};

/// The environment variable with the path of another cache folder.
pub const CACHE_DIR: &str = "PROSE_CACHE_DIR";

/// The largest text that is kept or read; also that of what is fetched.
pub const MAX_BYTES: usize = 1024 * 1024;

/// The largest description of an entry: addresses may have a few kilobytes.
const MAX_ENTRY_BYTES: usize = 64 * 1024;

/// The form of the entries. Those of another form are fetched again.
const VERSION: u32 = 1;

/// The cache. It never fails: what cannot be written to disk is kept in memory, and [`Cache::take_problem`] reports why.
#[derive(Debug, Default)]
pub struct Cache {
    dir: Option<PathBuf>,
    /// What could not be written.
    memory: DashMap<Url, Program>,
    problem: Mutex<Option<CacheProblem>>,
    has_complained: AtomicBool,
}

/// Why programs are not written to disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CacheProblem {
    /// The system has no cache folder.
    NoFolder,
    /// The folder cannot be written to.
    Unwritable {
        /// The folder.
        dir: PathBuf,
        /// The error of the system.
        error: String,
    },
}

/// An entry as its file has it.
#[derive(Serialize, Deserialize)]
struct Entry {
    version: u32,
    #[serde(flatten)]
    source: Source,
}

impl Cache {
    /// The cache of the user: in the folder that `PROSE_CACHE_DIR` names, or where the system keeps caches.
    pub fn of_user() -> Self {
        match user_dir(env::var_os(CACHE_DIR)) {
            Some(dir) => Self::at(dir),
            None => {
                let cache = Self::default();
                cache.complain(CacheProblem::NoFolder);
                cache
            }
        }
    }

    /// The cache in a folder, which is made when there is something to write.
    pub fn at(dir: impl Into<PathBuf>) -> Self {
        Self { dir: Some(dir.into()), ..Self::default() }
    }

    /// A cache without a folder, which is gone when it is dropped.
    pub fn in_memory() -> Self {
        Self::default()
    }

    /// The folder, if there is one.
    pub fn dir(&self) -> Option<&Path> {
        self.dir.as_deref()
    }

    /// Why programs are not written to disk, reported once.
    pub fn take_problem(&self) -> Option<CacheProblem> {
        self.problem.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take()
    }

    /// The cached program of an address, which is the first one requested. A damaged entry is dropped.
    pub fn get(&self, url: &Url) -> Option<Program> {
        if let Some(program) = self.memory.get(url) {
            return Some(program.clone());
        }
        let dir = self.dir()?;
        let path = entry_path(dir, url);
        let entry = read(&path, MAX_ENTRY_BYTES)?;
        let program = parse_entry(&entry)
            .filter(|source| source.url == *url)
            .and_then(|source| Some(Program { text: self.text(source.sha256)?.into(), source }));
        if program.is_none() {
            tracing::warn!(%url, "dropped a damaged entry of the cache");
            remove(&path);
        }
        program
    }

    /// The text with a hash, for whatever reference it was fetched. A text of another hash is dropped.
    pub fn text(&self, sha256: Hash) -> Option<String> {
        if let Some(found) = self.memory.iter().find(|program| program.source.sha256 == sha256) {
            return Some(found.text.to_string());
        }
        let path = text_path(self.dir()?, sha256);
        let bytes = read(&path, MAX_BYTES)?;
        let text = String::from_utf8(bytes).ok().filter(|text| Hash::of(text) == sha256);
        if text.is_none() {
            remove(&path);
        }
        text
    }

    /// Keeps a program under the address that was asked for it first.
    pub fn put(&self, program: &Program) {
        let url = &program.source.url;
        let written = match self.dir() {
            Some(dir) => write_program(dir, program)
                .map_err(|error| CacheProblem::Unwritable { dir: dir.to_owned(), error: error.to_string() }),
            None => Err(CacheProblem::NoFolder),
        };
        match written {
            Ok(()) => {
                self.memory.remove(url);
            }
            Err(problem) => {
                self.memory.insert(url.clone(), program.clone());
                if self.dir.is_some() {
                    self.complain(problem);
                }
            }
        }
    }

    /// A file that shows the text of a program under the name that a person knows it by, for reading alone. None if the cache has no folder, or
    /// none that can be written to.
    pub fn show(&self, program: &Program) -> Option<PathBuf> {
        let path = shown_path(self.dir()?, &program.source);
        if read(&path, MAX_BYTES).is_some_and(|shown| shown == program.text.as_bytes()) {
            return Some(path);
        }
        write_atomically(&path, program.text.as_bytes()).ok()?;
        // What is written there by hand would be lost with the next text. Windows replaces no file that is for reading alone.
        if cfg!(unix)
            && let Ok(metadata) = path.metadata()
        {
            let mut permissions = metadata.permissions();
            permissions.set_readonly(true);
            let _ = fs::set_permissions(&path, permissions);
        }
        Some(path)
    }

    /// The program that a file of the cache shows.
    pub fn shown_at(&self, path: &Path) -> Option<Program> {
        let dir = self.dir()?;
        if !path.starts_with(dir.join(SHOWN)) {
            return None;
        }
        let source = self.list().into_iter().find(|source| shown_path(dir, source) == path)?;
        self.get(&source.url)
    }

    /// The sources of all programs, in the order of their references. Texts are not read.
    pub fn list(&self) -> Vec<Source> {
        let mut sources: Vec<Source> = self.memory.iter().map(|program| program.source.clone()).collect();
        let entries = self.dir().and_then(|dir| fs::read_dir(dir.join(ENTRIES)).ok());
        for entry in entries.into_iter().flatten().flatten() {
            let source = read(&entry.path(), MAX_ENTRY_BYTES).and_then(|bytes| parse_entry(&bytes));
            sources.extend(source.filter(|source| !self.memory.contains_key(&source.url)));
        }
        sources.sort_by(|a, b| (&a.reference, &a.url).cmp(&(&b.reference, &b.url)));
        sources
    }

    /// Removes everything that this crate keeps in the folder, and nothing else.
    pub fn clean(&self) -> io::Result<Cleaned> {
        let mut cleaned = Cleaned::default();
        self.memory.clear();
        let Some(dir) = self.dir() else { return Ok(cleaned) };
        match fs::remove_dir_all(dir.join(SHOWN)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        for folder in [ENTRIES, TEXTS] {
            let files = match fs::read_dir(dir.join(folder)) {
                Ok(files) => files,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            };
            for file in files {
                let file = file?;
                let bytes = file.metadata().map_or(0, |metadata| metadata.len());
                match fs::remove_file(file.path()) {
                    Ok(()) => {
                        cleaned.bytes += bytes;
                        cleaned.programs += usize::from(folder == ENTRIES);
                    }
                    // Another process cleans, too.
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(cleaned)
    }

    /// The references known that are nearest to one that was not found, at most `count`, the nearest first.
    pub fn near(&self, reference: &str, count: usize) -> Vec<String> {
        let wanted = reference.trim_start_matches('@');
        let (_, wanted_slug) = wanted.rsplit_once('/').unwrap_or(("", wanted));
        let mut near: Vec<(usize, String, bool, String)> = Vec::new();
        for source in self.list() {
            let known = source.reference.trim_start_matches('@');
            let (_, slug) = known.rsplit_once('/').unwrap_or(("", known));
            let distance = strsim::osa_distance(wanted, known);
            // One slip for every four letters; or the same program of another handle.
            let is_near = distance <= (wanted.chars().count() / 4).clamp(1, 3) || slug == wanted_slug;
            if is_near && source.reference != reference {
                // Of the two spellings of one handle, the one that looks like the requested one is suggested.
                let other_spelling = source.reference.starts_with('@') != reference.starts_with('@');
                near.push((distance, known.to_owned(), other_spelling, source.reference));
            }
        }
        near.sort();
        near.dedup_by(|(_, known, ..), (_, before, ..)| known == before);
        near.into_iter().map(|(.., reference)| reference).take(count).collect()
    }

    fn complain(&self, problem: CacheProblem) {
        if !self.has_complained.swap(true, Ordering::Relaxed) {
            tracing::warn!("{problem}");
            *self.problem.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = Some(problem);
        }
    }
}

/// What [`Cache::clean`] removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cleaned {
    /// The number of removed references.
    pub programs: usize,
    /// The number of freed bytes.
    pub bytes: u64,
}

impl fmt::Display for CacheProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CacheProblem::NoFolder => write!(
                f,
                "imported programs are not cached, since the system has no cache folder; set {CACHE_DIR}"
            ),
            CacheProblem::Unwritable { dir, error } => write!(
                f,
                "imported programs are not cached, since {} is not writable ({error}); free space, change its permissions, \
                 or set {CACHE_DIR} to another folder",
                dir.display()
            ),
        }
    }
}

impl std::error::Error for CacheProblem {}

const ENTRIES: &str = "entries";
const TEXTS: &str = "texts";
const SHOWN: &str = "programs";

fn user_dir(named: Option<OsString>) -> Option<PathBuf> {
    match named {
        // A folder relative to that of each process would be another cache for each.
        Some(dir) if !dir.is_empty() => std::path::absolute(dir).ok(),
        _ => Some(etcetera::choose_base_strategy().ok()?.cache_dir().join("prose")),
    }
}

fn entry_path(dir: &Path, url: &Url) -> PathBuf {
    dir.join(ENTRIES).join(format!("{}.json", Hash::of(url.as_str())))
}

fn text_path(dir: &Path, sha256: Hash) -> PathBuf {
    dir.join(TEXTS).join(format!("{sha256}.prose"))
}

/// `programs/HOST/path/to/program.prose`. Different addresses have different files, since the analysis identifies programs by their files.
fn shown_path(dir: &Path, source: &Source) -> PathBuf {
    // No name of a system has other characters in it, and none is a folder such as `..`. The marks below have one that no name has.
    // Some systems take capitals and small letters for the same.
    let name = |part: &str| -> String {
        let part = part.trim_start_matches('.');
        part.chars()
            .map(|c| if c.is_alphanumeric() || "-_.@".contains(c) { c } else { '_' })
            .take(100)
            .collect()
    };
    let url = &source.url;
    let host = name(url.host_str().unwrap_or_default());
    let port = url.port_or_known_default().filter(|_| url.port().is_some() || url.scheme() != "https");
    let host = port.map_or(host.clone(), |port| format!("{host}_{port}"));
    let segments: Vec<&str> = url.path_segments().into_iter().flatten().collect();
    let names: Vec<String> = segments.iter().copied().map(name).collect();
    let is_odd = |name: &String| name.is_empty() || name.contains(char::is_uppercase);
    let is_told_by_names = names == segments && !names.iter().any(is_odd) && url.query().is_none();
    let mut names: Vec<String> = names.into_iter().filter(|name| !name.is_empty()).collect();
    let last = names.pop().unwrap_or_else(|| "index".to_owned());
    let (stem, mark) = match last.strip_suffix(".prose").filter(|stem| !stem.is_empty()) {
        // `alice/research` and `alice/research.prose` of a host may be two programs.
        Some(stem) => (stem, "~files"),
        None => (&*last, ""),
    };
    let mut path = dir.join(SHOWN).join(format!("{host}{mark}"));
    path.extend(names);
    if !is_told_by_names {
        path.push(format!("~{:.16}", Hash::of(url.as_str()).to_string()));
    }
    path.push(format!("{stem}.prose"));
    path
}

fn parse_entry(bytes: &[u8]) -> Option<Source> {
    let entry: Entry = serde_json::from_slice(bytes).ok()?;
    let is_web = |url: &Url| matches!(url.scheme(), "http" | "https");
    let source = entry.source;
    (entry.version == VERSION && is_web(&source.url) && is_web(&source.final_url)).then_some(source)
}

fn write_program(dir: &Path, program: &Program) -> io::Result<()> {
    // The text comes first: an entry without its text would be dropped by a reader in between.
    let text = text_path(dir, program.source.sha256);
    if read(&text, MAX_BYTES).is_none_or(|bytes| bytes != program.text.as_bytes()) {
        write_atomically(&text, program.text.as_bytes())?;
    }
    let entry = Entry { version: VERSION, source: program.source.clone() };
    let json = serde_json::to_vec_pretty(&entry)?;
    write_atomically(&entry_path(dir, &program.source.url), &json)
}

/// Writes a file atomically, private to the user. Of several writers the last one wins.
fn write_atomically(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // Programs of private registries must not be readable by others.
    private::create_dir_all(path.parent().unwrap_or(Path::new(".")))?;
    write_with(path, bytes, &tempfile::Builder::new())
}

/// The same for a file that belongs to a project: others may read it as they may read those that the user makes by other means.
pub(crate) fn write_for_all(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // The umask of the system removes what the user forbids.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    write_with(path, bytes, &builder)
}

fn write_with(path: &Path, bytes: &[u8], builder: &tempfile::Builder<'_, '_>) -> io::Result<()> {
    let dir = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(dir)?;
    let mut file = builder.clone().prefix(".prose-").tempfile_in(dir)?;
    file.write_all(bytes)?;
    match file.persist(path) {
        Ok(_) => Ok(()),
        // Windows does not replace a file that another process reads. If that one has put the same there, all is well.
        Err(_) if read(path, bytes.len()).is_some_and(|found| found == bytes) => Ok(()),
        Err(error) => Err(error.error),
    }
}

/// The content of a file that has at most `most` bytes; a larger one is none of ours.
fn read(path: &Path, most: usize) -> Option<Vec<u8>> {
    prose_files::read(path, Limit { what: "a file of the cache", bytes: most as u64 }).ok()
}

/// Removes what is damaged. In a cache that cannot be written to it stays, and is found damaged again.
fn remove(path: &Path) {
    if let Err(error) = fs::remove_file(path) {
        tracing::debug!(path = %path.display(), %error, "a damaged file of the cache stays");
    }
}

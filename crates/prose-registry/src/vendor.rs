//! Copies of programs in a folder, for machines without network.
//!
//! The texts have readable names, `index.toml` maps references to them, and the hash of each is checked when it is
//! read. The folder can be kept in a repository.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use prose_files::{Limit, ReadError, read_text};
use prose_reference::Reference;
use serde::{Deserialize, Serialize};

use crate::cache::write_for_all;
use crate::malformed;
use crate::program::{Hash, Program, Source};

/// The name of the file that maps references to texts.
const INDEX: &str = "index.toml";

/// The file that keeps tools which look through folders, such as `prose check`, from taking the copies for programs of the project.
const IGNORE: &str = ".ignore";

/// The first line of that file. A file that starts in another way was not written by `prose vendor`.
const IGNORE_HEADING: &str = "# Copies of imported programs, written by `prose vendor`.\n";

/// Copies of programs in a folder.
#[derive(Debug, Clone)]
pub struct Vendor {
    dir: PathBuf,
    /// By the canonical spelling of the reference.
    copies: BTreeMap<String, Copied>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Copied {
    /// The file, within the folder.
    file: String,
    #[serde(flatten)]
    source: Source,
}

#[derive(Serialize, Deserialize)]
struct Index {
    #[serde(default, rename = "program")]
    programs: Vec<Copied>,
}

/// Why a folder of vendored copies cannot be read or written.
#[derive(Debug)]
pub enum VendorError {
    /// A file cannot be read.
    Unreadable(PathBuf, ReadError),
    /// The system reports an error about a file.
    Io(PathBuf, io::Error),
    /// The index is malformed.
    Malformed(PathBuf, String),
}

impl Vendor {
    /// The copies in a folder. `None` if it has no index.
    pub fn load(dir: impl Into<PathBuf>) -> Result<Option<Self>, VendorError> {
        let dir = dir.into();
        let path = dir.join(INDEX);
        let text = match read_text(&path, Limit::LOCK) {
            Ok(text) => text,
            Err(error) if error.is_missing() => return Ok(None),
            Err(error) => return Err(VendorError::Unreadable(path, error)),
        };
        let index: Index = toml::from_str(&text)
            .map_err(|error| VendorError::Malformed(path, malformed::reason(&text, &error)))?;
        let copies = index.programs.into_iter().map(|copy| (copy.source.reference.clone(), copy));
        Ok(Some(Self { dir, copies: copies.collect() }))
    }

    /// Writes copies of programs into a folder, in place of those that an index there names.
    pub fn write(dir: impl Into<PathBuf>, programs: &[Program]) -> Result<Self, VendorError> {
        let dir = dir.into();
        let before = Self::load(&dir)?.map(|vendor| vendor.files()).unwrap_or_default();
        let mut taken = BTreeSet::new();
        let mut copies = BTreeMap::new();
        for program in programs {
            let file = file_name(&program.source.reference, &mut taken);
            let path = dir.join(&file);
            write_for_all(&path, program.text.as_bytes()).map_err(|error| VendorError::Io(path, error))?;
            copies.insert(program.source.reference.clone(), Copied { file, source: program.source.clone() });
        }
        let index = Index { programs: copies.values().cloned().collect() };
        let path = dir.join(INDEX);
        let text = toml::to_string(&index)
            .map_err(|error| VendorError::Malformed(path.clone(), error.to_string()))?;
        write_for_all(&path, text.as_bytes()).map_err(|error| VendorError::Io(path, error))?;
        let path = dir.join(IGNORE);
        if read_text(&path, Limit::LOCK).map_or(true, |text| text.starts_with(IGNORE_HEADING)) {
            let names = copies.values().map(|copy| format!("/{}\n", copy.file));
            let text = IGNORE_HEADING.to_owned() + &names.collect::<String>();
            write_for_all(&path, text.as_bytes()).map_err(|error| VendorError::Io(path, error))?;
        }
        let vendor = Self { dir, copies };
        for left_over in before.difference(&vendor.files()) {
            // That it is gone already is what is wanted.
            let _ = fs::remove_file(vendor.dir.join(left_over));
        }
        Ok(vendor)
    }

    /// The folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The references there are copies of, in their order.
    pub fn references(&self) -> impl Iterator<Item = &str> {
        self.copies.keys().map(String::as_str)
    }

    /// The files that were changed since they were written, or are gone, so that they are not used.
    pub fn damaged(&self) -> impl Iterator<Item = PathBuf> {
        let is_whole = |copy: &Copied, path: &Path| {
            is_plain(&copy.file)
                && read_text(path, Limit::PROGRAM).is_ok_and(|text| Hash::of(&text) == copy.source.sha256)
        };
        let files = self.copies.values().map(|copy| (copy, self.dir.join(&copy.file)));
        files.filter(move |(copy, path)| !is_whole(copy, path)).map(|(_, path)| path)
    }

    /// The program that a file is a copy of, according to an index next to it. A copy that was changed since it was written still has
    /// the source in the index.
    pub fn source_of_copy(path: &Path) -> Option<Program> {
        let vendor = Self::load(path.parent()?).ok()??;
        let file = path.file_name()?.to_str()?;
        let copy = vendor.copies.into_values().find(|copy| copy.file == file)?;
        Some(Program { text: read_text(path, Limit::PROGRAM).ok()?.into(), source: copy.source })
    }

    /// The file that has the copy of a program.
    pub(crate) fn path(&self, program: &Program) -> Option<PathBuf> {
        let copy = self.copies.get(&program.source.reference).filter(|copy| is_plain(&copy.file))?;
        Some(self.dir.join(&copy.file))
    }

    /// The copy of a program; `None` if it was changed since it was written.
    pub fn get(&self, reference: &Reference) -> Option<Program> {
        let copy = self.copies.get(&reference.to_string()).filter(|copy| is_plain(&copy.file))?;
        let text = read_text(&self.dir.join(&copy.file), Limit::PROGRAM).ok()?;
        if Hash::of(&text) != copy.source.sha256 {
            tracing::warn!(file = copy.file, "a vendored copy was changed and is not used");
            return None;
        }
        Some(Program { text: text.into(), source: copy.source.clone() })
    }

    fn files(&self) -> BTreeSet<String> {
        self.copies.values().map(|copy| copy.file.clone()).filter(|file| is_plain(file)).collect()
    }
}

/// Whether a name in an index, which is untrusted, is that of a file in its folder.
fn is_plain(file: &str) -> bool {
    file.ends_with(".prose") && !file.contains(['/', '\\', ':'])
}

/// A name for the copy of a program: its reference with `--` for slashes, as `handle--slug` in the language's run folders.
fn file_name(reference: &str, taken: &mut BTreeSet<String>) -> String {
    const MAX_CHARS: usize = 100;
    let plain: String = reference
        .trim_start_matches("https://")
        .trim_start_matches('@')
        .trim_end_matches(".prose")
        .replace('/', "--")
        .chars()
        // No system has special ideas about these.
        .map(|c| if c.is_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '-' })
        .take(MAX_CHARS)
        .collect();
    let mut name = format!("{plain}.prose");
    let mut count = 1;
    // Some systems take capitals and small letters for the same.
    while !taken.insert(name.to_lowercase()) {
        count += 1;
        name = format!("{plain}-{count}.prose");
    }
    name
}

impl VendorError {
    /// The file that it is about.
    pub fn path(&self) -> &Path {
        match self {
            VendorError::Unreadable(path, _) | VendorError::Io(path, _) | VendorError::Malformed(path, _) => {
                path
            }
        }
    }
}

impl fmt::Display for VendorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            VendorError::Unreadable(path, error) => write!(f, "`{}` {error}", path.display()),
            VendorError::Io(path, error) => write!(f, "{}: {error}", path.display()),
            VendorError::Malformed(path, error) => {
                write!(
                    f,
                    "{} is not an index of vendored programs; recreate it with `prose vendor`: {error}",
                    path.display()
                )
            }
        }
    }
}

impl std::error::Error for VendorError {}

//! The values of a run as they are stored: in files, or in the rows of a database.

use std::path::{Path, PathBuf};

use prose_files::{Folder, Limit};
use rusqlite::{OptionalExtension, Row};

use crate::binding_file;
use crate::database::{failed, reader};
use crate::error::StateError;
use crate::postgres::{self, BindingRow};
use crate::row_writer::{DatabaseKind, database_of};
use crate::source::journal_of;

/// A binding as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BindingFile {
    /// The name of the file without its ending, such as `result__43`; in a database, the number is that of the row in `execution`.
    pub name: String,
    /// What kind of binding it is, such as `let`, if its head says so.
    pub kind: Option<String>,
    /// The file: its own, or the database.
    pub path: PathBuf,
    /// Its bytes.
    pub bytes: u64,
}

/// The bindings in the database of a run, in the order of their names; those of imported programs are not among them.
pub(crate) fn database_bindings(folder: &Path) -> Result<Vec<BindingFile>, StateError> {
    let path = journal_of(folder);
    if database_of(&path) == Some(DatabaseKind::Postgres) {
        let rows = postgres::bindings(&path, None)?;
        return Ok(rows.into_iter().map(|row| binding(row, folder, &path)).collect());
    }
    let (connection, content) = reader(&path)?;
    if content.is_none() {
        return Ok(Vec::new());
    }
    let read = || {
        let sql = "SELECT name, execution_id, kind, octet_length(value), attachment_path FROM bindings
            WHERE instr(name, '.') = 0 ORDER BY name, execution_id";
        let mut statement = connection.prepare(sql)?;
        let bindings = statement.query_map((), |row| Ok(binding(row_of(row)?, folder, &path)))?;
        bindings.collect::<rusqlite::Result<Vec<_>>>()
    };
    read().map_err(failed("read", &path))
}

fn row_of(row: &Row<'_>) -> rusqlite::Result<BindingRow> {
    Ok(BindingRow {
        name: row.get(0)?,
        frame: row.get(1)?,
        kind: row.get(2)?,
        bytes: row.get(3)?,
        value: None,
        attachment: row.get(4)?,
    })
}

fn binding(row: BindingRow, folder: &Path, database: &Path) -> BindingFile {
    let BindingRow { name, frame, kind, bytes, attachment, .. } = row;
    let attached = attachment.map(|attachment| folder.join(attachment));
    let bytes = match &attached {
        Some(path) => path.symlink_metadata().map_or(0, |metadata| metadata.len()),
        None => bytes.unwrap_or_default().max(0) as u64,
    };
    BindingFile {
        name: frame.map_or(name.clone(), |frame| format!("{name}__{frame}")),
        kind,
        path: attached.unwrap_or_else(|| database.to_owned()),
        bytes,
    }
}

/// The value of a binding of the run in a folder, by the name that [`BindingFile`] gives; `None` if there is none.
pub fn read_value(folder: &Path, name: &str) -> Result<Option<String>, StateError> {
    let path = journal_of(folder);
    // Agents write these files, so that no link is followed.
    let file = |below: &str, file: &str| -> Result<Option<Vec<u8>>, StateError> {
        let folder = Folder::open(folder)?.folder(Path::new(below))?;
        Ok(folder.map_or(Ok(None), |folder| folder.read(file, Limit::STATE))?)
    };
    let found = match database_of(&path) {
        None => {
            let bytes = file("bindings", &format!("{name}.md"))?;
            return Ok(bytes.map(|bytes| binding_file::read_bytes(&bytes)));
        }
        Some(DatabaseKind::Sqlite) => sqlite_value(&path, name)?,
        Some(DatabaseKind::Postgres) => {
            let rows = postgres::bindings(&path, Some(name))?;
            rows.into_iter().next().map(|row| StoredValue { value: row.value, attachment: row.attachment })
        }
    };
    match found {
        None => Ok(None),
        Some(StoredValue { value, attachment: None }) => Ok(value),
        Some(StoredValue { value, attachment: Some(attachment) }) => {
            let bytes =
                attachment.rsplit_once('/').map(|(below, name)| file(below, name)).transpose()?.flatten();
            Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).or(value))
        }
    }
}

/// The value of a row, or where it is if it is large.
struct StoredValue {
    value: Option<String>,
    attachment: Option<String>,
}

fn sqlite_value(path: &Path, name: &str) -> Result<Option<StoredValue>, StateError> {
    let (connection, content) = reader(path)?;
    if content.is_none() {
        return Ok(None);
    }
    let sql = "SELECT value, attachment_path FROM bindings
        WHERE iif(execution_id IS NULL, name, name || '__' || execution_id) = ?1";
    let found = connection
        .query_row(sql, [name], |row| Ok(StoredValue { value: row.get(0)?, attachment: row.get(1)? }));
    found.optional().map_err(failed("read", path))
}

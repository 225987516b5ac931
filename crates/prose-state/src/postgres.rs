//! The state of a run on a PostgreSQL server (R118 to R122).
//!
//! The folder of the run has a file that says which schema its rows are in, and no more than that of the server: who can read the folder must not learn
//! a password. The table `journal` has the lines of the journal as those of SQLite have them ([`crate::database`]). What is committed is on the disk of
//! the server. A connection has the lock of its run, so that only one process executes it, on whatever machine.

mod address;
mod batch;
mod link;
mod link_error;
mod missing;
mod roles;
mod schema;
mod server;
mod status;

use std::fs::File;
use std::io;
use std::mem;
use std::path::{Path, PathBuf};

use bytes::BytesMut;
use prose_files::Limit;
use prose_syntax::text::{enumerated, quoted};
use prose_vm::effect::RequestId;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};

use self::address::Address;
pub use self::address::{SCHEMA_VARIABLE, URL_VARIABLES};
use self::link::{CHANGED, Command, Commit, Lines, Link, Parameter, Purpose};
pub use self::link::{Notice, end_waits_by_signals};
use self::link_error::{LinkError, is_about_network, is_about_tls};
use self::missing::{lost_tables, missing_tables};
pub use self::roles::{Access, Role, call_of, grant};
use self::schema::{MIGRATIONS, PREPARE, VERSION};
pub use self::server::{Lead, Server, ServerConnection, Stored};
pub use self::status::{ServerStatus, prepare_server, server_status};
use crate::disk::OwnFile;
use crate::error::StateError;
use crate::protocol;
use crate::rows::{RowSource, Wanted};
use crate::statements::{Column, Write};

/// The file in the folder of a run that says where its state is.
pub(crate) const MARKER_FILE: &str = "postgres.json";

/// The version of that file.
const MARKER_VERSION: u32 = 1;

/// What the file says.
#[derive(Debug, Serialize, Deserialize)]
struct Marker {
    version: u32,
    /// The id of the run in its tables.
    run: String,
    schema: String,
    /// The server, for people.
    server: String,
}

impl Marker {
    fn new(run: &str, address: &Address) -> Self {
        let (schema, server) = (address.schema.clone(), address.to_string());
        Self { version: MARKER_VERSION, run: run.to_owned(), schema, server }
    }

    fn write(&self, path: &Path) -> Result<(), StateError> {
        let mut file = OwnFile(path).create_new()?;
        serde_json::to_writer(&mut file, self)
            .map_err(io::Error::from)
            .and_then(|()| io::Write::write_all(&mut file, b"\n"))
            .and_then(|()| file.sync_all())
            .map_err(StateError::io("write", path))
    }
}

/// Where the rows of a run are.
#[derive(Debug)]
struct Place {
    address: Address,
    run: String,
    /// The server that it was made on, for people.
    earlier: String,
}

impl Address {
    /// What a server says.
    fn failed(&self, doing: &'static str) -> impl FnOnce(LinkError) -> StateError {
        let (server, schema) = (self.to_string(), self.schema.clone());
        move |error| {
            let advice = advice(&error, &schema);
            StateError::Server { doing, server, error: error.into_io(), advice }
        }
    }
}

impl Place {
    /// That of a new run, whose folder the path is in.
    fn new(path: &Path) -> Result<Self, StateError> {
        let folder = path.parent().unwrap_or(Path::new(""));
        let run = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let address = server::address_of(project_of(path), None)?;
        Ok(Self { earlier: address.to_string(), address, run })
    }

    /// That of a run whose folder has the file.
    fn read(path: &Path) -> Result<Self, StateError> {
        let bytes = OwnFile(path).read(Limit::SETTINGS)?;
        let folder = path.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
        let marker: Marker = serde_json::from_slice(&bytes).map_err(|_| {
            let why = "it does not name a schema and a run; remove the run, or restore the file";
            StateError::refused(path.display().to_string(), why)
        })?;
        if marker.version > MARKER_VERSION {
            let why = format!(
                "it has version {}, but this `prose` supports versions up to {MARKER_VERSION}; use a newer `prose`",
                marker.version
            );
            return Err(StateError::refused(path.display().to_string(), why));
        }
        if marker.run != folder {
            let why = format!(
                "it names the run {}: the folder was copied or renamed; give it that name, or fork the run instead of copying it",
                marker.run
            );
            return Err(StateError::refused(path.display().to_string(), why));
        }
        let address = server::address_of(project_of(path), Some(&marker.schema))?;
        Ok(Self { address, run: marker.run, earlier: marker.server })
    }

    fn failed(&self, doing: &'static str) -> impl FnOnce(LinkError) -> StateError {
        self.address.failed(doing)
    }

    /// Makes sure that the server has the run: it may be another server than that on which the run was made.
    fn find(&self, link: &Link) -> Result<(), StateError> {
        let sql = "SELECT 1 FROM run WHERE id = $1::text";
        let found = match link.query(sql, vec![Box::new(self.run.clone())]) {
            Err(error) if error.code() == Some(&SqlState::UNDEFINED_TABLE) => Vec::new(),
            found => found.map_err(self.failed("read from"))?,
        };
        if !found.is_empty() {
            return Ok(());
        }
        let Self { address, run, earlier } = self;
        Err(StateError::Server {
            doing: "use",
            server: address.to_string(),
            error: io::Error::new(
                io::ErrorKind::NotFound,
                format!(
                    "its schema `{}` does not have the run {run}, which was made on `{earlier}`",
                    address.schema
                ),
            ),
            advice: Some(format!(
                "correct `{}`; if the rows were removed, remove the folder of the run as well",
                URL_VARIABLES[0]
            )),
        })
    }
}

/// The folder of the project of a run, whose folder the path is in: `.prose/runs/<id>/postgres.json`.
fn project_of(path: &Path) -> &Path {
    path.ancestors().nth(4).unwrap_or(Path::new(""))
}

/// What helps.
fn advice(error: &LinkError, schema: &str) -> Option<String> {
    if let LinkError::Unreachable(error) = error {
        return advice(error, schema);
    }
    let url = URL_VARIABLES[0];
    let Some(code) = error.code() else {
        return match error {
            LinkError::Server(error) if is_about_tls(error) => Some(format!(
                "name the root certificate with `sslrootcert=FILE` in `{url}`, or use `sslmode=require` without it, which checks no certificate"
            )),
            LinkError::Server(error) if !is_about_network(error) => Some(format!("correct `{url}`")),
            LinkError::Server(_) | LinkError::Silent(_) | LinkError::Unreachable(_) => {
                Some(format!("start the server, or correct `{url}`"))
            }
            LinkError::Lost(..) => Some(
                "resume the run when the server can be reached, recorded results are not lost".to_owned(),
            ),
            LinkError::Refused(_) | LinkError::Interrupted => None,
        };
    };
    let advice = match code {
        code if *code == SqlState::INVALID_PASSWORD
            || *code == SqlState::INVALID_AUTHORIZATION_SPECIFICATION =>
        {
            format!("correct the user and the password in `{url}`")
        }
        code if *code == SqlState::INVALID_CATALOG_NAME => {
            format!("create the database with `createdb`, or correct its name in `{url}`")
        }
        // Without the right to use the schema, it is as if there were none.
        code if *code == SqlState::INSUFFICIENT_PRIVILEGE || *code == SqlState::INVALID_SCHEMA_NAME => {
            format!(
                "let the owner of the schema `{schema}` run `prose cluster grant coordinator USER`, or `worker`, or `reader`; `prose cluster init` makes a schema that is not there"
            )
        }
        code if *code == SqlState::UNDEFINED_TABLE => {
            "the schema is not complete; `prose cluster status` lists the tables that are missing".to_owned()
        }
        code if *code == SqlState::DUPLICATE_TABLE => format!(
            "the schema `{schema}` has a table of another program, or lost its table `migration`; use another schema with `{SCHEMA_VARIABLE}`, or restore it from a copy"
        ),
        code if *code == SqlState::UNIQUE_VIOLATION => format!(
            "the server has a run with this id already; remove its rows from `{schema}.run`, or use another schema with `{SCHEMA_VARIABLE}`"
        ),
        code if *code == SqlState::DISK_FULL => {
            "free disk space on the server and resume the run, recorded results are not lost".to_owned()
        }
        _ => return None,
    };
    Some(advice)
}

/// The rows of a run, which are written to.
#[derive(Debug)]
pub(crate) struct PostgresDatabase {
    path: PathBuf,
    place: Place,
    link: Link,
    /// By what this process leads the run, if it is one of a cluster.
    lead: Option<Lead>,
    /// Rows that wait for the next lines.
    waiting: Vec<Write>,
    /// The requests whose outcomes are among the next lines.
    settled: Vec<i64>,
    /// Whether the next lines have something of a run that is led here which is nowhere else.
    has_news: bool,
}

impl PostgresDatabase {
    /// Makes the rows of a new run, and the file that names them.
    pub(crate) fn create(path: &Path) -> Result<Self, StateError> {
        let database = Self::connect(path, Place::new(path)?)?;
        let Place { address, run, .. } = &database.place;
        let marker = Marker::new(run, address);
        // That of a cluster was made when it was submitted.
        let sql = match database.lead {
            None => "INSERT INTO run (id) VALUES ($1::text)",
            Some(_) => "INSERT INTO run (id) VALUES ($1::text) ON CONFLICT DO NOTHING",
        };
        let made = database.link.transaction(vec![Command::new(sql, vec![Box::new(run.clone())])]);
        made.map_err(database.place.failed("start a run on"))?;
        marker.write(path)?;
        Ok(database)
    }

    /// Opens the rows of a run.
    pub(crate) fn open(path: &Path) -> Result<Self, StateError> {
        let database = Self::connect(path, Place::read(path)?)?;
        database.place.find(&database.link)?;
        Ok(database)
    }

    fn connect(path: &Path, place: Place) -> Result<Self, StateError> {
        let lead = server::lead_of(project_of(path));
        let link = match lead {
            None => {
                let link = Link::new(place.address.clone(), Purpose::Run(place.run.clone()));
                prepare(&link, &place.address)?;
                link
            }
            // Its worker has prepared the schema.
            Some(_) => Link::of_leader(place.address.clone()),
        };
        Ok(Self {
            path: path.to_owned(),
            place,
            link,
            lead,
            waiting: Vec::new(),
            settled: Vec::new(),
            has_news: false,
        })
    }

    /// What writes, if this process still leads the run. Takes what waits before it.
    fn led(&mut self, more: Vec<Command>) -> Vec<Command> {
        let fence = self.lead.as_ref().map(|lead| Command {
            sql: protocol::FENCE,
            parameters: vec![
                Box::new(self.place.run.clone()),
                Box::new(lead.epoch),
                Box::new(lead.holder.clone()),
            ],
            rows: Some((1, NO_LEADER)),
        });
        let settled = (!self.settled.is_empty()).then(|| {
            let run = Box::new(self.place.run.clone());
            Command::new(protocol::SETTLE, vec![run, Box::new(mem::take(&mut self.settled))])
        });
        let waiting = batch::commands(&self.place.run, mem::take(&mut self.waiting));
        fence.into_iter().chain(settled).chain(waiting).chain(more).collect()
    }

    /// Whether this process leads the run, which is one of a cluster.
    pub(crate) fn is_led(&self) -> bool {
        self.lead.is_some()
    }

    /// The outcome of a request of a run that is led here is in the journal with the next lines: it is no effect of a cluster any more.
    pub(crate) fn settle(&mut self, request: RequestId) {
        self.settled.push(request.0 as i64);
    }

    /// The next lines have something of a run that is led here which is nowhere else.
    pub(crate) fn has_news(&mut self) {
        self.has_news = true;
    }

    /// What the end of the next transaction waits for. Of a run that is led here, what follows from the outcomes of agents need not wait for the disk: a server that
    /// crashes loses the end of what was committed, so that the journal then ends earlier, the outcomes stand where their workers have put them, and whoever leads
    /// the run next does the same again.
    fn commit_of_lines(&mut self) -> Commit {
        match self.is_led() && !mem::take(&mut self.has_news) {
            true => Commit::Quick,
            false => Commit::Sure,
        }
    }

    /// From now on, somebody is told where the run waits for the server.
    pub(crate) fn tell(&self, notice: Notice) {
        // A worker says so itself, once for all runs.
        if !self.is_led() {
            self.link.tell(notice);
        }
    }

    /// The file that names the rows. It is deleted with the folder of the run.
    pub(crate) fn marker(&self) -> Result<File, StateError> {
        OwnFile(&self.path).writer()
    }

    /// Writes rows of the documented tables with the next lines.
    pub(crate) fn write_rows(&mut self, rows: Vec<Write>) {
        self.waiting.extend(rows);
    }

    /// Writes lines of the journal that start at an offset, and the rows that wait.
    pub(crate) fn write_lines(&mut self, start: u64, lines: &[u8]) -> io::Result<()> {
        let mut rows = JournalRows::at(start);
        for line in lines.split_inclusive(|byte| *byte == b'\n') {
            rows.push(line, str::from_utf8(without_break(line)).map_err(io::Error::other)?.to_owned());
        }
        let JournalRows { starts, texts, end } = rows;
        let run = self.place.run.clone();
        let rows = Some((starts.len() as u64, CHANGED));
        let parameters: Vec<Parameter> =
            vec![Box::new(run.clone()), Box::new(starts), Box::new(texts), Box::new(start as i64)];
        let commands = self.led(vec![Command { sql: APPEND, parameters, rows }]);
        let commit = self.commit_of_lines();
        let written = self.link.write(commands, Some(Lines { run, end }), commit);
        written.map_err(|error| self.place.failed("write to")(error).into())
    }

    /// Writes the rows that wait.
    pub(crate) fn commit(&mut self) -> io::Result<()> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let commands = self.led(Vec::new());
        let commit = self.commit_of_lines();
        self.link.write(commands, None, commit).map_err(|error| self.place.failed("write to")(error).into())
    }

    /// Removes what the journal has after so many bytes.
    pub(crate) fn truncate(&mut self, length: u64) -> Result<(), StateError> {
        let parameters =
            || -> Vec<Parameter> { vec![Box::new(self.place.run.clone()), Box::new(length as i64)] };
        let cut = [CUT_ROWS, CUT_LINE].map(|sql| Command::new(sql, parameters()));
        let cut = self.led(cut.into());
        self.link.transaction(cut).map_err(self.place.failed("cut the journal on"))
    }

    /// Replaces all lines of the journal.
    pub(crate) fn replace_lines(
        &mut self,
        lines: impl Iterator<Item = io::Result<Vec<u8>>>,
    ) -> Result<(), StateError> {
        let run = || Box::new(self.place.run.clone()) as Parameter;
        let mut commands = vec![Command::new("DELETE FROM journal WHERE run_id = $1::text", vec![run()])];
        let mut rows = JournalRows::at(0);
        for line in lines {
            let line = line.map_err(StateError::io("repair the journal", &self.path))?;
            // Where somebody has put other bytes into a row, the line was left out.
            rows.push(&line, String::from_utf8_lossy(without_break(&line)).into_owned());
        }
        let JournalRows { starts, texts, .. } = rows;
        commands.push(Command::new(INSERT, vec![run(), Box::new(starts), Box::new(texts)]));
        let commands = self.led(commands);
        self.link.transaction(commands).map_err(self.place.failed("repair the journal on"))
    }
}

/// Rows of a journal as they are inserted: the start of each and its text, and where the last one ends.
struct JournalRows {
    starts: Vec<i64>,
    texts: Vec<String>,
    end: u64,
}

impl JournalRows {
    /// None yet, the first of which is to start at an offset.
    fn at(start: u64) -> Self {
        Self { starts: Vec::new(), texts: Vec::new(), end: start }
    }

    /// Adds a line with its end, whose text is without it.
    fn push(&mut self, line: &[u8], text: String) {
        self.starts.push(self.end as i64);
        self.texts.push(text);
        self.end += line.len() as u64;
    }
}

fn without_break(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\n").unwrap_or(line)
}

/// Makes the tables that a schema does not have yet. Returns the version that it had, if it had any.
fn prepare(link: &Link, address: &Address) -> Result<Option<i32>, StateError> {
    let failed = || address.failed("use");
    let found = version(link).map_err(failed())?;
    let schema = &address.schema;
    if let Some(later) = found.filter(|found| *found > VERSION) {
        return Err(StateError::Server {
            doing: "use",
            server: address.to_string(),
            error: io::Error::other(format!(
                "the schema `{schema}` has version {later}, but this `prose` supports versions up to {VERSION}"
            )),
            advice: Some("use the `prose` that wrote it, or a newer one".to_owned()),
        });
    }
    if found == Some(VERSION) {
        let missing = missing_tables(link, VERSION).map_err(failed())?;
        return if missing.is_empty() { Ok(found) } else { Err(incomplete(address, &missing)) };
    }
    // Others may do the same at the same time: who comes second finds that nothing is left to do.
    let there =
        link.query("SELECT to_regnamespace($1::text) IS NOT NULL", vec![Box::new(format!("\"{schema}\""))]);
    let there = there.map_err(failed())?;
    // Who may not make a schema may be allowed to make tables in one that is there.
    let make = match there.first().is_some_and(|row| row.get(0)) {
        true => String::new(),
        false => format!("CREATE SCHEMA IF NOT EXISTS \"{schema}\"; "),
    };
    let mut script =
        format!("BEGIN; SELECT pg_advisory_xact_lock(hashtextextended('{schema}', 1)); {make}{PREPARE}");
    let first = found.unwrap_or_default() as usize;
    for (version, tables) in MIGRATIONS.iter().enumerate().skip(first).map(|(at, sql)| (at + 1, sql)) {
        script.push_str(&format!("INSERT INTO migration (version) VALUES ({version}); {tables}"));
    }
    script.push_str(&roles::functions(schema));
    script.push_str("COMMIT");
    match link.script(script) {
        Ok(()) => Ok(found),
        Err(error) => {
            // A transaction that failed is still open.
            let _ = link.script("ROLLBACK".to_owned());
            match error.code() {
                Some(code) if *code == SqlState::UNIQUE_VIOLATION => prepare(link, address),
                _ => Err(failed()(error)),
            }
        }
    }
}

/// The error of a schema without some of its tables.
fn incomplete(address: &Address, missing: &[String]) -> StateError {
    let schema = &address.schema;
    let tables = |names: &[&str]| {
        let noun = if names.len() == 1 { "table" } else { "tables" };
        format!("the {noun} {}", enumerated(names.iter().map(quoted), "and"))
    };
    let lost = lost_tables(missing);
    let (what, advice) = if lost.is_empty() {
        let missing: Vec<&str> = missing.iter().map(String::as_str).collect();
        (tables(&missing), "`prose cluster migrate` makes what is missing again".to_owned())
    } else {
        let advice = format!(
            "restore the schema from a copy, or remove it with all of its runs: `DROP SCHEMA {schema} CASCADE`"
        );
        (tables(&lost), advice)
    };
    StateError::Server {
        doing: "use",
        server: address.to_string(),
        error: io::Error::new(
            io::ErrorKind::InvalidData,
            format!("the schema `{schema}` does not have {what} any more"),
        ),
        advice: Some(advice),
    }
}

/// The version of the tables of a schema; `None` if it has none.
fn version(link: &Link) -> Result<Option<i32>, LinkError> {
    let there = link.query("SELECT to_regclass('migration') IS NOT NULL", Vec::new())?;
    if !there.first().is_some_and(|row| row.get(0)) {
        return Ok(None);
    }
    let rows = link.query("SELECT max(version) FROM migration", Vec::new())?;
    Ok(rows.first().and_then(|row| row.get(0)))
}

/// Why the leader of a run of a cluster cannot write.
const NO_LEADER: &str =
    "this process does not lead the run any more: its lease was over, and another one has taken the run over";

/// Where the journal of a run ends, as a part of statements.
macro_rules! end_of_journal {
    () => {
        "coalesce((SELECT start + octet_length(line) + 1 FROM journal WHERE run_id = $1::text ORDER BY start DESC LIMIT 1), 0)"
    };
}

/// Rows of a journal.
macro_rules! insert {
    () => {
        "INSERT INTO journal (run_id, start, line) SELECT $1::text, * FROM unnest($2::bigint[], $3::text[])"
    };
}

const INSERT: &str = insert!();

/// The same, where the journal ends where the lines start: what was committed before may be lost with a server that another one has replaced.
const APPEND: &str = concat!(insert!(), " WHERE $4::bigint = ", end_of_journal!());

/// Where the journal of a run ends.
const END: &str = concat!("SELECT ", end_of_journal!());

const CUT_ROWS: &str = "DELETE FROM journal WHERE run_id = $1::text AND start >= $2::bigint";

/// Where somebody has put several lines into one row, the end may be in the middle of it.
const CUT_LINE: &str = "UPDATE journal
    SET line = convert_from(substring(convert_to(line, 'UTF8') FROM 1 FOR ($2::bigint - start - 1)::int), 'UTF8')
    WHERE run_id = $1::text AND start = (SELECT max(start) FROM journal WHERE run_id = $1::text)
    AND start + octet_length(line) + 1 > $2::bigint";

/// The rows from that on which has an offset in it, up to another offset, and at least one more.
const FROM: &str = "SELECT start, line FROM journal WHERE run_id = $1::text
    AND start >= coalesce((SELECT max(start) FROM journal WHERE run_id = $1::text AND start <= $2::bigint), 0)
    AND start <= greatest($3::bigint, (SELECT min(start) FROM journal WHERE run_id = $1::text AND start > $2::bigint))
    ORDER BY start";

/// The journal of a run on a server.
#[derive(Debug)]
pub(crate) struct PostgresRows {
    place: Place,
    link: Link,
}

impl PostgresRows {
    pub(crate) fn open(path: &Path) -> Result<Self, StateError> {
        let place = Place::read(path)?;
        let link = Link::shared(place.address.clone());
        place.find(&link)?;
        Ok(Self { place, link })
    }

    fn query(&self, sql: &'static str, more: Vec<Parameter>) -> io::Result<Vec<tokio_postgres::Row>> {
        let run = Box::new(self.place.run.clone()) as Parameter;
        let rows = self.link.query(sql, std::iter::once(run).chain(more).collect());
        rows.map_err(|error| self.place.failed("read from")(error).into())
    }
}

impl RowSource for PostgresRows {
    fn length(&self) -> io::Result<u64> {
        let rows = self.query(END, Vec::new())?;
        Ok(rows.first().map_or(0, |row| row.get::<_, i64>(0).max(0) as u64))
    }

    fn each_from(
        &mut self,
        position: u64,
        size: usize,
        take: &mut dyn FnMut(u64, &[u8]) -> io::Result<Wanted>,
    ) -> io::Result<()> {
        let to = position.saturating_add(size as u64);
        for row in self.query(FROM, vec![Box::new(position as i64), Box::new(to as i64)])? {
            let (start, line): (i64, &str) = (row.get(0), row.get(1));
            if take(start.max(0) as u64, line.as_bytes())? == Wanted::Enough {
                break;
            }
        }
        Ok(())
    }
}

/// A binding of a run as its row has it: the name, the row that it is in, its kind, its bytes, its value where that is wanted, and where a large one is.
pub(crate) struct BindingRow {
    pub(crate) name: String,
    pub(crate) frame: Option<i64>,
    pub(crate) kind: Option<String>,
    pub(crate) bytes: Option<i64>,
    pub(crate) value: Option<String>,
    pub(crate) attachment: Option<String>,
}

/// The bindings of a run, in the order of their names, or one of them by the name of its file, with its value.
pub(crate) fn bindings(path: &Path, only: Option<&str>) -> Result<Vec<BindingRow>, StateError> {
    const SQL: &str = "SELECT name, execution_id, kind, octet_length(value)::bigint,
        CASE WHEN $2::text IS NULL THEN NULL ELSE value END, attachment_path
        FROM bindings WHERE run_id = $1::text AND CASE WHEN $2::text IS NULL THEN strpos(name, '.') = 0
        ELSE name || coalesce('__' || execution_id, '') = $2::text END ORDER BY name COLLATE \"C\", execution_id NULLS FIRST";
    let rows = PostgresRows::open(path)?;
    let only = Box::new(only.map(str::to_owned)) as Parameter;
    let run = Box::new(rows.place.run.clone()) as Parameter;
    let found = rows.link.query(SQL, vec![run, only]).map_err(rows.place.failed("read from"))?;
    let row = |row: &tokio_postgres::Row| BindingRow {
        name: row.get(0),
        frame: row.get(1),
        kind: row.get(2),
        bytes: row.get(3),
        value: row.get(4),
        attachment: row.get(5),
    };
    Ok(found.iter().map(row).collect())
}

/// Removes all rows of a run. A leader that could not start a run leaves its rows to those who submitted it, and to another leader.
pub(crate) fn remove(path: &Path) -> Result<(), StateError> {
    if server::lead_of(project_of(path)).is_some() {
        return Ok(());
    }
    let place = Place::read(path)?;
    let link = Link::new(place.address.clone(), Purpose::Run(place.run.clone()));
    place.find(&link)?;
    let sql = "DELETE FROM run WHERE id = $1::text";
    let command = Command::new(sql, vec![Box::new(place.run.clone())]);
    link.transaction(vec![command]).map_err(place.failed("remove the run on"))
}

/// Texts of PostgreSQL have no NUL: another character stands for it.
fn without_nul(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

/// The same in all texts of JSON.
fn json_without_nul(json: &Json) -> Json {
    match json {
        Json::String(text) => Json::String(without_nul(text)),
        Json::Array(items) => items.iter().map(json_without_nul).collect(),
        Json::Object(entries) => {
            entries.iter().map(|(name, value)| (without_nul(name), json_without_nul(value))).collect()
        }
        other => other.clone(),
    }
}

impl ToSql for Column {
    fn to_sql(
        &self,
        kind: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Text(text) if text.contains('\0') => without_nul(text).to_sql(kind, out),
            Self::Text(text) => text.to_sql(kind, out),
            Self::Number(number) => number.to_sql(kind, out),
            Self::Json(json) => json_without_nul(json).to_string().to_sql(kind, out),
        }
    }

    fn accepts(kind: &Type) -> bool {
        *kind == Type::TEXT || *kind == Type::INT8
    }

    to_sql_checked!();
}

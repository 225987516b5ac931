//! Servers that are named by hand, and projects that are stored on them whatever their settings say.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio_postgres::{Client, Notification};

use super::address::Address;
use super::link::{Link, Purpose, set_up};
use super::{Marker, prepare};
use crate::disk::resolved;
use crate::error::StateError;
use crate::folder::Project;

/// A PostgreSQL server with the schema for the state of runs.
#[derive(Debug, Clone)]
pub struct Server {
    address: Address,
}

/// The server as messages name it, without the user and the password: `localhost:5432/prose`.
impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.address.fmt(f)
    }
}

/// By what a process leads a run of a cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lead {
    /// The name of the process.
    pub holder: String,
    /// How often the run has been taken over, with this time.
    pub epoch: i64,
}

/// A connection to a server.
pub struct ServerConnection {
    /// What statements are sent with.
    pub client: Client,
    /// What it listens to. It is closed when the connection is lost.
    pub notifications: UnboundedReceiver<Notification>,
}

impl Server {
    /// The server of an address, or that of the project in a folder if none is given (R118), with a schema, or that of the project.
    pub fn new(url: Option<&str>, root: &Path, schema: Option<&str>) -> Result<Self, StateError> {
        let address = match url {
            Some(url) => Address::given(url, root, schema)?,
            None => Address::of_project(root, schema)?,
        };
        Ok(Self { address })
    }

    /// Its address, with the schema.
    pub(super) fn address(&self) -> &Address {
        &self.address
    }

    /// The schema with the tables.
    pub fn schema(&self) -> &str {
        &self.address.schema
    }

    /// Makes the tables that it does not have yet.
    pub fn prepare(&self) -> Result<(), StateError> {
        prepare(&Link::new(self.address.clone(), Purpose::Reading), &self.address).map(drop)
    }

    /// Opens a connection.
    pub async fn connect(&self) -> Result<ServerConnection, StateError> {
        let (listener, notifications) = unbounded_channel();
        let client = set_up(&self.address, Some(listener)).await;
        let client = client.map_err(self.address.failed("use"))?;
        Ok(ServerConnection { client, notifications })
    }

    /// Until the returned value is dropped, this process stores the runs of the project in a folder on this server, and leads them if it is said by what.
    pub fn stores(&self, root: &Path, lead: Option<Lead>) -> Stored {
        let root = resolved(root);
        stored().insert(root.clone(), (self.clone(), lead));
        Stored(root)
    }

    /// Makes the folder of a run that the server has, in a project that is stored there.
    pub fn make_folder(&self, project: &Project, run: &str) -> Result<PathBuf, StateError> {
        let folder = project.run(run)?;
        let made = project.make_prose_folder()?.folder().make_folder(Path::new("runs"))?;
        made.make_new_folder(run)?;
        Marker::new(run, &self.address).write(&folder.join(super::MARKER_FILE))?;
        Ok(folder)
    }
}

type Projects = HashMap<PathBuf, (Server, Option<Lead>)>;

fn stored() -> MutexGuard<'static, Projects> {
    static STORED: LazyLock<Mutex<Projects>> = LazyLock::new(Mutex::default);
    STORED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A project that is stored on a server. Dropping it ends that.
#[derive(Debug)]
pub struct Stored(PathBuf);

impl Drop for Stored {
    fn drop(&mut self) {
        stored().remove(&self.0);
    }
}

/// The server that a project is stored on, by this process or by its settings.
pub(super) fn address_of(root: &Path, schema: Option<&str>) -> Result<Address, StateError> {
    let named = stored().get(&resolved(root)).map(|(server, _)| server.address.clone());
    named.map_or_else(|| Address::of_project(root, schema), Ok)
}

/// By what this process leads the runs of a project.
pub(super) fn lead_of(root: &Path) -> Option<Lead> {
    stored().get(&resolved(root))?.1.clone()
}

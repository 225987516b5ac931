//! A PostgreSQL server of a test, on the loopback interface of this machine.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::tempdir;

/// How long the server may take to start.
const START: Duration = Duration::from_secs(60);

/// A server with a database of its own, which ends with this value. Its connections are encrypted, with a certificate of its own.
#[derive(Debug)]
pub struct PostgresServer {
    folder: TempDir,
    programs: PathBuf,
    port: u16,
}

impl PostgresServer {
    /// Starts a server, with the programs of Debian's package `postgresql`.
    ///
    /// # Panics
    ///
    /// Panics if it is not installed.
    #[track_caller]
    pub fn start() -> Self {
        let folder = tempdir().expect("the temporary folder is writable");
        let port = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
        let server = Self { folder, programs: programs(), port: port.expect("a port is free").port() };
        let data = server.folder.path();
        match template(&server.programs) {
            Some(template) if template.is_dir() => copy(&template, data),
            template => {
                server.init();
                if let Some(template) = template {
                    keep(data, &template);
                }
            }
        }
        let settings = format!(
            "listen_addresses = '127.0.0.1'\nport = {}\nunix_socket_directories = '{data}'\nssl = on\nssl_cert_file = '{data}/server.crt'\n\
             ssl_key_file = '{data}/server.key'\nmax_connections = 200\n",
            server.port,
            data = data.display()
        );
        let file = data.join("data/postgresql.auto.conf");
        fs::write(&file, settings).expect("the folder is writable");
        server.up();
        server
    }

    /// Makes the files of the database, and a certificate.
    fn init(&self) {
        let data = self.folder.path();
        let password = data.join("password");
        fs::write(&password, PASSWORD).expect("the folder is writable");
        // It refuses to be executed by root.
        if is_root() {
            run(Command::new("chown").args(["-R", "postgres"]).arg(data));
        }
        let mut init = self.command("initdb");
        init.args(["--username=prose", "--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-sync"]);
        init.arg("--pwfile").arg(password).arg("--pgdata").arg(self.data());
        run(&mut init);
        fs::write(data.join("openssl.cnf"), CERTIFICATE).expect("the folder is writable");
        let mut openssl = self.as_user("openssl");
        openssl.args(["req", "-new", "-x509", "-days", "3650", "-nodes", "-config", "openssl.cnf"]);
        run(openssl.args(["-out", "server.crt", "-keyout", "server.key"]).current_dir(data));
    }

    /// The address of the database, with the password of its owner.
    pub fn url(&self) -> String {
        self.url_of("prose", PASSWORD, "postgres")
    }

    /// The address of a database for a user.
    pub fn url_of(&self, user: &str, password: &str, database: &str) -> String {
        format!("postgresql://{user}:{password}@127.0.0.1:{}/{database}", self.port)
    }

    /// The certificate of the server.
    pub fn certificate(&self) -> PathBuf {
        self.folder.path().join("server.crt")
    }

    /// The folder of its socket.
    pub fn socket(&self) -> &Path {
        self.folder.path()
    }

    /// Its port, also of the socket.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// What `psql` prints for a statement, without alignment.
    #[track_caller]
    pub fn query(&self, sql: &str) -> String {
        self.try_query(&self.url(), sql).unwrap_or_else(|error| panic!("{sql}: {error}"))
    }

    /// The same at an address, or what is wrong. Names of commands, such as `SET`, are left out.
    pub fn try_query(&self, url: &str, sql: &str) -> Result<String, String> {
        let mut psql = Command::new(self.programs.join("psql"));
        psql.args(["--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--set=ON_ERROR_STOP=1"]);
        let output = psql.args(["--command", sql, url]).stdin(Stdio::null()).output();
        let output = output.map_err(|error| error.to_string())?;
        match output.status.success() {
            true => Ok(String::from_utf8(output.stdout).expect("it prints UTF-8")),
            false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        }
    }

    /// Ends the server in a moment, as a crash does; what was committed stays.
    pub fn down(&self) {
        run(self
            .command("pg_ctl")
            .args(["stop", "--mode=immediate", "--silent", "--pgdata"])
            .arg(self.data()));
    }

    /// Starts it again.
    pub fn up(&self) {
        let log = self.folder.path().join("log");
        run(self
            .command("pg_ctl")
            .args(["start", "--silent", "--wait", "--log"])
            .arg(log)
            .arg("--pgdata")
            .arg(self.data()));
        let begin = Instant::now();
        let mut ready = self.command("pg_isready");
        ready.args(["--quiet", "--host=127.0.0.1", &format!("--port={}", self.port)]);
        while !ready.status().is_ok_and(|status| status.success()) {
            assert!(begin.elapsed() < START, "the server does not start");
            thread::sleep(Duration::from_millis(20));
        }
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn command(&self, program: &str) -> Command {
        let mut command = self.as_user(&self.programs.join(program).display().to_string());
        // It would be told that it cannot change to the present folder.
        command.current_dir("/").stdout(Stdio::null());
        command
    }

    fn as_user(&self, program: &str) -> Command {
        if !is_root() {
            return Command::new(program);
        }
        let mut command = Command::new("setpriv");
        command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups", program]);
        command
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        let mut stop = self.command("pg_ctl");
        stop.args(["stop", "--mode=immediate", "--silent", "--pgdata"]).arg(self.data());
        // Nothing is left that an error could be told.
        let _ = stop.stderr(Stdio::null()).status();
    }
}

const PASSWORD: &str = "tide";

/// A certificate that is no authority, which clients refuse as one of a server.
const CERTIFICATE: &str = "\
[req]
prompt = no
distinguished_name = name
x509_extensions = extensions
[name]
CN = tides
[extensions]
basicConstraints = critical, CA:FALSE
subjectAltName = DNS:localhost, IP:127.0.0.1
";

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// The folder with the programs of the latest version.
#[track_caller]
fn programs() -> PathBuf {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = versions.map(|version| version.path().join("bin")).collect();
    folders.retain(|folder| folder.join("initdb").is_file());
    folders.sort_by_key(|folder| version_of(folder));
    folders.pop().expect("PostgreSQL is installed; `tests/install/postgresql` does it on Debian")
}

/// The files of a new database that the first server of a version leaves for the others, since they take seconds to make; `None` outside of a clone.
fn template(programs: &Path) -> Option<PathBuf> {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests");
    let version = version_of(programs)?;
    tests.is_dir().then(|| tests.join(format!(".cache/postgresql-{version}")))
}

/// Copies what is in a folder into another one, with its owners.
#[track_caller]
fn copy(from: &Path, to: &Path) {
    run(Command::new("cp").arg("-a").arg(from.join(".")).arg(to));
}

/// Keeps the files of a database that was not started yet.
fn keep(files: &Path, template: &Path) {
    let cache = template.parent().expect("it is in a folder");
    fs::create_dir_all(cache).expect("the folder of the tests is writable");
    let copied = tempfile::tempdir_in(cache).expect("the folder of the tests is writable").keep();
    copy(files, &copied);
    // Another test may have done the same meanwhile.
    if fs::rename(&copied, template).is_err() {
        fs::remove_dir_all(&copied).expect("it was made here");
    }
}

fn version_of(folder: &Path) -> Option<u32> {
    folder.parent()?.file_name()?.to_str()?.parse().ok()
}

#[track_caller]
fn run(command: &mut Command) -> Output {
    let output = command.stdin(Stdio::null()).output();
    let output = output.unwrap_or_else(|error| panic!("cannot start {command:?}: {error}"));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {errors}");
    output
}

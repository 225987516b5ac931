//! A web of a few hosts on this machine, and programs that are checked with it.

use std::collections::{HashMap, HashSet};
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::BoxFuture;
use prose_analysis::diagnostics::diagnostics;
use prose_analysis::host::{LoadError, Loader, Project};
use prose_analysis::{AnalysisHost, SourceFile, Text};
use prose_fixture::Authority;
use prose_project::imports::{fetched, importer};
use prose_registry::{Cache, Client, Freshness, Limits, Lock, Locked, Resolver, Settings};
use prose_syntax::{Diagnostic, Profile, Severity};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use url::Url;

/// The registry of the programs that are checked.
pub(crate) const REGISTRY: &str = "https://registry.example.com/";

/// The hosts that the server proves to be.
const HOSTS: [&str; 3] = ["example.com", "*.example.com", "raw.githubusercontent.com"];

/// A program that takes a topic.
pub(crate) const RESEARCH: &str =
    "input topic: \"What to look into\"\noutput findings = session \"Look into {topic}\"\n";

/// What an address answers.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Page {
    Text(&'static str),
    Moved(&'static str),
    Bytes(&'static [u8]),
}

/// The hosts, and a client that reaches them alone.
pub(crate) struct Web {
    runtime: Runtime,
    pub(crate) dir: TempDir,
    authority: Authority,
    asked: Arc<Mutex<Vec<String>>>,
    address: SocketAddr,
}

/// Resolver that lead to one server, apart from those that lead nowhere.
struct Hosts(SocketAddr);

impl Resolver for Hosts {
    fn lookup(&self, host: &str) -> BoxFuture<'static, io::Result<Vec<SocketAddr>>> {
        let found = match host.starts_with("unreachable.") {
            true => Err(io::Error::other("no such host")),
            false => Ok(vec![self.0]),
        };
        Box::pin(async move { found })
    }
}

impl Web {
    /// What lies at which addresses.
    pub(crate) fn new(pages: &[(&str, Page)]) -> Self {
        let pages: HashMap<String, Page> =
            pages.iter().map(|(address, page)| ((*address).to_owned(), *page)).collect();
        let runtime = Runtime::new().unwrap();
        let dir = tempfile::tempdir().unwrap();
        let authority = Authority::new();
        let acceptor = authority.acceptor(&HOSTS, &[]);
        let listener = runtime.block_on(TcpListener::bind(("127.0.0.1", 0))).unwrap();
        let address = listener.local_addr().unwrap();
        let asked: Arc<Mutex<Vec<String>>> = Arc::default();
        let (pages, seen) = (Arc::new(pages), asked.clone());
        runtime.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (acceptor, pages, seen) = (acceptor.clone(), pages.clone(), seen.clone());
                tokio::spawn(async move {
                    let Ok(mut stream) = acceptor.accept(stream).await else { return };
                    let mut head = Vec::new();
                    while !head.ends_with(b"\r\n\r\n") {
                        let Ok(byte) = stream.read_u8().await else { return };
                        head.push(byte);
                    }
                    let head = String::from_utf8_lossy(&head).into_owned();
                    let path = head.split(' ').nth(1).unwrap_or_default();
                    let host = head.lines().find_map(|line| line.strip_prefix("host: ")).unwrap_or_default();
                    let url = format!("https://{host}{path}");
                    seen.lock().unwrap().push(url.clone());
                    let _ = stream.write_all(&answer(pages.get(&url))).await;
                    let _ = stream.shutdown().await;
                });
            }
        });
        Self { runtime, dir, authority, asked, address }
    }

    /// The addresses that were asked for so far, in order.
    pub(crate) fn asked(&self) -> Vec<String> {
        let mut asked = self.asked.lock().unwrap().clone();
        asked.sort();
        asked
    }

    /// The client of somebody who believes the hosts.
    pub(crate) fn client(&self, lock: Option<Lock>) -> Client {
        let limits = Limits { retries: 0, idle: Duration::from_secs(120), ..Limits::default() };
        let settings = Settings {
            limits,
            lock: lock.map(|lock| Locked::Pins { lock: Arc::new(lock), is_complete: true }),
            names: Arc::new(Hosts(self.address)),
            extra_ca: Some(self.authority.certificate()),
            ..Settings::new(Url::parse(REGISTRY).unwrap())
        };
        Client::new(settings, Cache::at(self.dir.path().join("cache")))
    }

    /// Checks a program of this machine with all that it imports.
    pub(crate) fn check(&self, text: &str) -> Checked {
        self.check_with(text, &self.client(None))
    }

    pub(crate) fn check_with(&self, text: &str, client: &Client) -> Checked {
        let mut host = AnalysisHost::default();
        let main = Path::new(if cfg!(windows) { "C:\\main.prose" } else { "/main.prose" });
        let file = host.set_text(main, Text::new(text));
        host.set_project(file, Project { registry: REGISTRY.into(), ..Project::default() });
        let mut files = Files::default();
        host.load_imports_with(file, &mut files);
        let mut known = HashSet::new();
        while let Some(remote) = host.remotes().into_iter().find(|remote| known.insert(remote.clone())) {
            let asker = host.importer_origin(&remote).unwrap();
            let outcome =
                self.runtime.block_on(client.get(&remote.reference, &importer(&asker), Freshness::Recent));
            host.set_fetched(&remote, fetched(&remote, &asker, &outcome, client), &mut files);
        }
        Checked { host, file, read: files.0 }
    }
}

/// A program that was checked.
pub(crate) struct Checked {
    pub(crate) host: AnalysisHost,
    file: SourceFile,
    /// The files of this machine that were looked at for it.
    pub(crate) read: Vec<PathBuf>,
}

impl Checked {
    pub(crate) fn found(&self) -> Vec<(Severity, Diagnostic)> {
        let all = diagnostics(self.host.db(), self.file).iter();
        all.filter_map(|diagnostic| {
            Some((diagnostic.level(Profile::Default).severity()?, diagnostic.clone()))
        })
        .collect()
    }

    /// What is found, a line each, with the first fix.
    pub(crate) fn shown(&self) -> String {
        let shown = self.found().into_iter().map(|(severity, diagnostic)| {
            let fix = diagnostic.fix.map(|fix| format!(" [{}]", fix.title)).unwrap_or_default();
            format!("{severity}[{}]: {}{fix}\n", diagnostic.code, diagnostic.message)
        });
        shown.collect()
    }
}

/// Files of this machine: there are none, but who looks is noted.
#[derive(Default)]
struct Files(Vec<PathBuf>);

impl Loader for Files {
    fn file(&mut self, path: &Path) -> Result<String, LoadError> {
        self.0.push(path.to_owned());
        Err(LoadError::Missing)
    }
}

fn answer(page: Option<&Page>) -> Vec<u8> {
    let (status, header, body): (u16, String, &[u8]) = match page {
        None => (404, String::new(), b""),
        Some(Page::Text(text)) => (200, String::new(), text.as_bytes()),
        Some(Page::Bytes(bytes)) => (200, String::new(), bytes),
        Some(Page::Moved(to)) => (301, format!("Location: {to}\r\n"), b""),
    };
    let head =
        format!("HTTP/1.1 {status} X\r\nConnection: close\r\n{header}Content-Length: {}\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

//! Web servers that behave as a test wants, and clients of them.

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::BoxFuture;
use prose_registry::{
    Cache, Client, Freshness, Importer, Limits, Outcome, Problem, Reference, Refusal, Resolver, Settings,
    Unreachable,
};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_rustls::TlsAcceptor;
use url::Url;

pub(crate) const PROGRAM: &str = "session \"Look\"\n";

/// A request as a server saw it.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) path: String,
    pub(crate) headers: HashMap<String, String>,
}

/// What a server does with a connection.
#[derive(Debug, Clone)]
pub(crate) enum Act {
    Send(Vec<u8>),
    /// So many bytes, which are not kept.
    Flood(usize),
    Wait(Duration),
    /// Waits until the test lets the answer through.
    Pass(Arc<Semaphore>),
    /// Ends the connection by a reset.
    Reset,
}

/// What a server answers.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    /// What comes before the answer.
    first: Vec<Act>,
    /// In place of all of the above.
    raw: Option<Vec<Act>>,
}

impl Reply {
    pub(crate) fn status(status: u16) -> Self {
        Self { status, headers: Vec::new(), body: Vec::new(), first: Vec::new(), raw: None }
    }

    pub(crate) fn text(text: impl AsRef<[u8]>) -> Self {
        Self { body: text.as_ref().to_vec(), ..Self::status(200) }
    }

    pub(crate) fn with_status(self, status: u16) -> Self {
        Self { status, ..self }
    }

    pub(crate) fn redirect(status: u16, to: impl ToString) -> Self {
        Self::status(status).header("Location", to)
    }

    pub(crate) fn raw(acts: Vec<Act>) -> Self {
        Self { raw: Some(acts), ..Self::status(0) }
    }

    pub(crate) fn header(mut self, name: &str, value: impl ToString) -> Self {
        self.headers.push((name.to_owned(), value.to_string()));
        self
    }

    pub(crate) fn after(mut self, delay: Duration) -> Self {
        self.first.push(Act::Wait(delay));
        self
    }

    /// Holds the answer back until the gate has a permit for it.
    pub(crate) fn held(mut self, gate: &Arc<Semaphore>) -> Self {
        self.first.push(Act::Pass(Arc::clone(gate)));
        self
    }

    fn acts(mut self) -> Vec<Act> {
        if let Some(raw) = self.raw {
            return raw;
        }
        let mut head = format!("HTTP/1.1 {} X\r\nConnection: close\r\n", self.status);
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        if self.status != 304 {
            head.push_str(&format!("Content-Length: {}\r\n", self.body.len()));
        }
        head.push_str("\r\n");
        self.first.push(Act::Send([head.into_bytes(), self.body].concat()));
        self.first
    }
}

/// A web server on loopback. It ends with its runtime.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    is_tls: bool,
    seen: Arc<Mutex<Vec<Seen>>>,
    sent: Arc<AtomicUsize>,
}

impl Server {
    pub(crate) async fn start(answer: impl Fn(&Seen) -> Reply + Send + Sync + 'static) -> Self {
        Self::serve(answer, None).await
    }

    pub(crate) async fn start_tls(
        acceptor: TlsAcceptor,
        answer: impl Fn(&Seen) -> Reply + Send + Sync + 'static,
    ) -> Self {
        Self::serve(answer, Some(acceptor)).await
    }

    async fn serve(
        answer: impl Fn(&Seen) -> Reply + Send + Sync + 'static,
        acceptor: Option<TlsAcceptor>,
    ) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let server = Self {
            address: listener.local_addr().unwrap(),
            is_tls: acceptor.is_some(),
            seen: Arc::default(),
            sent: Arc::default(),
        };
        let (seen, sent, answer) = (server.seen.clone(), server.sent.clone(), Arc::new(answer));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (seen, sent, answer, acceptor) =
                    (seen.clone(), sent.clone(), answer.clone(), acceptor.clone());
                tokio::spawn(async move {
                    match acceptor {
                        None => {
                            converse(stream, &seen, &sent, &*answer, |stream| drop(stream.set_zero_linger()))
                                .await
                        }
                        Some(acceptor) => {
                            if let Ok(stream) = acceptor.accept(stream).await {
                                converse(stream, &seen, &sent, &*answer, |_| {}).await;
                            }
                        }
                    }
                });
            }
        });
        server
    }

    /// A server with one file.
    pub(crate) async fn with(path: &'static str, text: &'static str) -> Self {
        Self::start(move |seen| if seen.path == path { Reply::text(text) } else { Reply::status(404) }).await
    }

    pub(crate) fn url(&self) -> Url {
        let scheme = if self.is_tls { "https" } else { "http" };
        Url::parse(&format!("{scheme}://{}/", self.address)).unwrap()
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    pub(crate) fn paths(&self) -> Vec<String> {
        self.seen().into_iter().map(|seen| seen.path).collect()
    }

    /// How many bytes of floods were passed to the system to be sent.
    pub(crate) fn sent(&self) -> usize {
        self.sent.load(Ordering::SeqCst)
    }
}

async fn converse<S: AsyncRead + AsyncWrite + Unpin>(
    mut stream: S,
    seen: &Mutex<Vec<Seen>>,
    sent: &AtomicUsize,
    answer: &(impl Fn(&Seen) -> Reply + ?Sized),
    reset: impl Fn(&S),
) {
    let Ok(request) = read_request(&mut stream).await else { return };
    seen.lock().unwrap().push(request.clone());
    for act in answer(&request).acts() {
        match act {
            Act::Wait(time) => tokio::time::sleep(time).await,
            Act::Pass(gate) => gate.acquire().await.unwrap().forget(),
            Act::Reset => return reset(&stream),
            Act::Send(bytes) => {
                if stream.write_all(&bytes).await.is_err() {
                    return;
                }
            }
            Act::Flood(count) => {
                let piece = [b'#'; 10_000];
                for _ in 0..count / piece.len() {
                    if stream.write_all(&piece).await.is_err() {
                        return;
                    }
                    sent.fetch_add(piece.len(), Ordering::SeqCst);
                }
            }
        }
    }
    let _ = stream.shutdown().await;
}

async fn read_request(stream: &mut (impl AsyncRead + Unpin)) -> io::Result<Seen> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await?);
    }
    let head = String::from_utf8_lossy(&head);
    let mut lines = head.lines();
    let path = lines.next().and_then(|line| line.split(' ').nth(1)).unwrap_or_default().to_owned();
    let headers = lines.filter_map(|line| line.split_once(": "));
    Ok(Seen { path, headers: headers.map(|(name, value)| (name.to_lowercase(), value.to_owned())).collect() })
}

/// Waits until something has happened.
pub(crate) async fn until(what: impl Fn() -> bool) {
    let happens = async {
        while !what() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), happens).await.expect("it happens");
}

/// A port on which no process listens.
pub(crate) async fn closed_port() -> SocketAddr {
    TcpListener::bind(("127.0.0.1", 0)).await.unwrap().local_addr().unwrap()
}

/// A connection to a server, to see that it still answers.
pub(crate) async fn connects(address: SocketAddr) -> bool {
    TcpStream::connect(address).await.is_ok()
}

/// Names and their addresses, as a test has them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Hosts(pub(crate) HashMap<String, Vec<SocketAddr>>);

impl Hosts {
    pub(crate) fn with(mut self, host: &str, address: SocketAddr) -> Self {
        self.0.entry(host.to_owned()).or_default().push(address);
        self
    }
}

impl Resolver for Hosts {
    fn lookup(&self, host: &str) -> BoxFuture<'static, io::Result<Vec<SocketAddr>>> {
        let found = self.0.get(host).cloned().ok_or_else(|| io::Error::other("no such host"));
        Box::pin(async move { found })
    }
}

/// Settings for a registry. A test on a busy machine does not run into their limits.
pub(crate) fn settings(registry: Url) -> Settings {
    let long = Duration::from_secs(120);
    let limits = Limits {
        connect: long,
        idle: long,
        total: long,
        retry_delay: Duration::from_millis(5),
        ..Limits::default()
    };
    Settings { limits, names: Arc::new(Hosts::default()), ..Settings::new(registry) }
}

pub(crate) fn client(registry: Url) -> Client {
    Client::new(settings(registry), Cache::in_memory())
}

pub(crate) fn reference(path: impl AsRef<str>) -> Reference {
    Reference::parse(path.as_ref()).unwrap()
}

/// Looks up what a program of the workspace imports.
pub(crate) async fn get(client: &Client, path: impl AsRef<str>) -> Outcome {
    get_as(client, path, Freshness::Now).await
}

/// The same, as fresh as it has to be.
pub(crate) async fn get_as(client: &Client, path: impl AsRef<str>, freshness: Freshness) -> Outcome {
    client.get(&reference(path), &Importer::Workspace, freshness).await
}

/// Looks up what a program from somewhere else imports.
pub(crate) async fn get_for_remote(client: &Client, path: impl AsRef<str>) -> Outcome {
    let importer = Importer::Remote { url: Url::parse("https://evil.example/a.prose").unwrap(), depth: 1 };
    client.get(&reference(path), &importer, Freshness::Now).await
}

#[track_caller]
pub(crate) fn text(outcome: &Outcome) -> &str {
    match &outcome.result {
        Ok(found) => &found.program.text,
        Err(problem) => panic!("{problem:?}: {outcome}"),
    }
}

#[track_caller]
pub(crate) fn unreachable(outcome: &Outcome) -> &Unreachable {
    match &outcome.result {
        Err(Problem::Unreachable { why, .. }) => why,
        result => panic!("{result:?}: {outcome}"),
    }
}

#[track_caller]
pub(crate) fn refusal(outcome: &Outcome) -> &Refusal {
    match &outcome.result {
        Err(Problem::Refused(refusal)) => refusal,
        result => panic!("{result:?}: {outcome}"),
    }
}

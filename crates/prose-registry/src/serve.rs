//! A registry for development: the programs of a folder, on loopback.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, ETAG, HeaderValue, IF_NONE_MATCH};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use prose_files::Limit;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use crate::cache::MAX_BYTES;
use crate::program::Hash;

/// How many connections are served at once.
const MAX_CONNECTIONS: usize = 256;

/// A registry for development. For `/handle/slug`, with or without `@`, it returns the file `handle/slug.prose`,
/// `handle/slug/index.prose` or `handle/slug`, as it is at that moment.
#[derive(Debug)]
pub struct RegistryServer {
    listener: TcpListener,
    dir: PathBuf,
}

impl RegistryServer {
    /// Listens on a loopback address, since everyone who reaches the server can read the folder.
    pub async fn bind(dir: impl Into<PathBuf>, address: SocketAddr) -> io::Result<Self> {
        if !address.ip().is_loopback() {
            let why = format!("{address} is reachable from other machines; use 127.0.0.1 or [::1]");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        // Links may lead out of the folder, so where files really are is compared with where the folder really is.
        let dir = dir.into().canonicalize()?;
        if !dir.is_dir() {
            return Err(io::Error::new(
                io::ErrorKind::NotADirectory,
                format!("{} is not a folder", dir.display()),
            ));
        }
        Ok(Self { listener: TcpListener::bind(address).await?, dir })
    }

    /// The address, with the port that the system chose if none was given.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until it is dropped.
    pub async fn run(self) {
        let (dir, places) = (Arc::new(self.dir), Arc::new(Semaphore::new(MAX_CONNECTIONS)));
        loop {
            // The semaphore is never closed.
            let Ok(place) = places.clone().acquire_owned().await else { return };
            let stream = match self.listener.accept().await {
                Ok((stream, _)) => stream,
                Err(error) => {
                    // Such as too many open files, which passes.
                    tracing::warn!(%error, "cannot accept a connection");
                    tokio::time::sleep(std::time::Duration::from_millis(100)).await;
                    continue;
                }
            };
            let dir = dir.clone();
            tokio::spawn(async move {
                let answer = service_fn(|request| answer(dir.clone(), request));
                // The timer closes connections that never send a request.
                let mut server = hyper::server::conn::http1::Builder::new();
                server.timer(TokioTimer::new());
                if let Err(error) = server.serve_connection(TokioIo::new(stream), answer).await {
                    tracing::debug!(%error, "a connection ended");
                }
                drop(place);
            });
        }
    }
}

async fn answer(dir: Arc<PathBuf>, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        let mut response = plain(StatusCode::METHOD_NOT_ALLOWED, "programs can only be read\n");
        response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
        return Ok(response);
    }
    // A page of the web whose name leads to this machine must not read the folder (DNS rebinding).
    if !is_host_of_this_machine(&request) {
        return Ok(plain(
            StatusCode::FORBIDDEN,
            "this server responds to 127.0.0.1, [::1] and localhost only\n",
        ));
    }
    let path = request.uri().path().to_owned();
    let text = tokio::task::spawn_blocking(move || find(&dir, &path)).await.unwrap_or_default();
    let Some(text) = text else {
        return Ok(plain(StatusCode::NOT_FOUND, "program not found\n"));
    };
    let etag = format!("\"{}\"", Hash::of(&text));
    let known = request.headers().get(IF_NONE_MATCH).and_then(|value| value.to_str().ok());
    let is_known = known.is_some_and(|known| known.split(',').any(|known| known.trim() == etag));
    let mut response = match is_known {
        true => {
            let mut response = Response::new(Full::default());
            *response.status_mut() = StatusCode::NOT_MODIFIED;
            response
        }
        false => plain(StatusCode::OK, text),
    };
    if let Ok(etag) = HeaderValue::try_from(etag) {
        response.headers_mut().insert(ETAG, etag);
    }
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    Ok(response)
}

fn is_host_of_this_machine(request: &Request<Incoming>) -> bool {
    let host = request.headers().get(hyper::header::HOST).and_then(|host| host.to_str().ok());
    let url = host.and_then(|host| url::Url::parse(&format!("http://{host}/")).ok());
    url.is_some_and(|url| crate::credentials::is_loopback(&url))
}

fn plain(status: StatusCode, text: impl Into<Bytes>) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(text.into()));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    response
}

/// The text at a path of the address.
fn find(dir: &Path, path: &str) -> Option<Vec<u8>> {
    let url = url::Url::parse("http://localhost/").ok()?.join(path).ok()?;
    let mut wanted = PathBuf::new();
    for segment in url.path_segments()? {
        wanted.push(decode(segment)?);
    }
    let with_at = || {
        let path = wanted.to_str()?;
        Some(PathBuf::from(path.strip_prefix('@').map_or_else(|| format!("@{path}"), str::to_owned)))
    };
    let spellings = [Some(wanted.clone()), with_at()];
    let candidates = spellings.into_iter().flatten().flat_map(|path| {
        let file =
            path.file_name().map(|name| path.with_file_name(format!("{}.prose", name.to_string_lossy())));
        [file, Some(path.join("index.prose")), Some(path)]
    });
    candidates.flatten().find_map(|candidate| read_within(dir, &candidate))
}

/// A segment of a path as the name of a file. `None` for all that could be more than a name.
fn decode(segment: &str) -> Option<String> {
    let name = percent_encoding::percent_decode_str(segment).decode_utf8().ok()?;
    let is_name = matches!(Path::new(&*name).components().collect::<Vec<_>>().as_slice(), [Component::Normal(found)] if **found == *name);
    // Hidden files, such as those of git, are no programs. Names with `:` are devices or streams on Windows.
    (is_name && !name.starts_with('.') && !name.contains(['/', '\\', ':', '\0'])).then(|| name.into_owned())
}

/// The text of a file in the folder; links out of the folder are not followed.
fn read_within(dir: &Path, path: &Path) -> Option<Vec<u8>> {
    let path = dir.join(path).canonicalize().ok().filter(|path| path.starts_with(dir))?;
    prose_files::read(&path, Limit { what: "a program of a registry", bytes: MAX_BYTES as u64 }).ok()
}

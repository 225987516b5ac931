//! A proxy between an agent and its provider that answers some requests with faults.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::json;

/// A proxy on this machine. It listens until the process ends.
#[derive(Clone)]
pub struct FaultProxy {
    address: SocketAddr,
    provider: Arc<str>,
    plan: Arc<dyn Fn(usize) -> Option<Fault> + Send + Sync>,
    asked: Arc<Mutex<Vec<Asked>>>,
}

/// What happens instead of an answer of the provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// An answer with this HTTP status and a message as Anthropic and OpenAI have it.
    Status(u16),
    /// The same with a message that quotes the key of the request.
    Quoting(u16),
    /// The same as the first with a header `Retry-After` in seconds.
    RetryAfter(u16, u64),
    /// No answer, until the client goes away.
    Hang,
    /// The connection is reset.
    Reset,
    /// The first half of the provider's answer.
    Half,
}

/// A request for a model.
#[derive(Debug, Clone)]
pub struct Asked {
    /// When it came.
    pub at: Instant,
    /// Its path.
    pub path: String,
    /// What happened instead of an answer.
    pub fault: Option<Fault>,
}

impl FaultProxy {
    /// A proxy in front of a provider, such as `http://127.0.0.1:4010`. The plan has the fault for each request for a model by its number, from 1.
    pub fn start(provider: &str, plan: impl Fn(usize) -> Option<Fault> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port of this machine is free");
        let address = listener.local_addr().expect("it listens");
        let provider = provider.trim_start_matches("http://").trim_end_matches('/').into();
        let proxy = Self { address, provider, plan: Arc::new(plan), asked: Arc::default() };
        let serving = proxy.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let serving = serving.clone();
                // A client that goes away in between is none of its concern.
                std::thread::spawn(move || _ = serving.serve(stream));
            }
        });
        proxy
    }

    /// Its address, with `http://`.
    pub fn address(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The requests for a model so far.
    pub fn asked(&self) -> Vec<Asked> {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Asked>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn serve(&self, mut client: TcpStream) -> io::Result<()> {
        let head = read_head(&mut client)?;
        let mut words = head.split(' ');
        let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let mut fault = None;
        if method == "POST" {
            let mut asked = self.lock();
            fault = (self.plan)(asked.len() + 1);
            asked.push(Asked { at: Instant::now(), path: path.to_owned(), fault });
        }
        match fault {
            Some(Fault::Reset) => {
                // A connection that is closed before its data is read is reset.
                client.peek(&mut [0]).map(drop)
            }
            Some(Fault::Hang) => {
                read_body(&mut client, &head)?;
                client.read(&mut [0]).map(drop)
            }
            Some(Fault::Status(status)) => {
                read_body(&mut client, &head)?;
                client.write_all(refusal(status, "", message_of(status)).as_bytes())
            }
            Some(Fault::Quoting(status)) => {
                read_body(&mut client, &head)?;
                let message = format!("Incorrect API key provided: {}", key_of(&head));
                client.write_all(refusal(status, "", &message).as_bytes())
            }
            Some(Fault::RetryAfter(status, seconds)) => {
                read_body(&mut client, &head)?;
                let header = format!("Retry-After: {seconds}\r\n");
                client.write_all(refusal(status, &header, message_of(status)).as_bytes())
            }
            Some(Fault::Half) => {
                let mut answer = Vec::new();
                self.ask(&mut client, &head)?.read_to_end(&mut answer)?;
                client.write_all(&answer[..answer.len() / 2])
            }
            None => io::copy(&mut self.ask(&mut client, &head)?, &mut client).map(drop),
        }
    }

    /// Passes a request on to the provider.
    fn ask(&self, client: &mut TcpStream, head: &str) -> io::Result<TcpStream> {
        let mut provider = TcpStream::connect(&*self.provider)?;
        let mut lines = head.split("\r\n");
        let mut passed = format!("{}\r\n", lines.next().unwrap_or_default());
        for line in lines.filter(|line| !line.is_empty()) {
            let name = line.split(':').next().unwrap_or_default().to_ascii_lowercase();
            if !["host", "connection"].contains(&name.as_str()) {
                passed.push_str(line);
                passed.push_str("\r\n");
            }
        }
        // It ends its answer by closing the connection.
        passed.push_str(&format!("Host: {}\r\nConnection: close\r\n\r\n", self.provider));
        provider.write_all(passed.as_bytes())?;
        provider.write_all(&read_body(client, head)?)?;
        provider.set_read_timeout(Some(Duration::from_secs(60)))?;
        Ok(provider)
    }
}

/// The head of a request. The body stays unread.
fn read_head(stream: &mut TcpStream) -> io::Result<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte)?;
        head.extend(byte);
    }
    Ok(String::from_utf8_lossy(&head).into_owned())
}

/// The body of a request, as it is sent.
fn read_body(stream: &mut TcpStream, head: &str) -> io::Result<Vec<u8>> {
    let header = |name: &str| {
        let value = head.lines().find_map(|line| {
            let (found, value) = line.split_once(':')?;
            found.eq_ignore_ascii_case(name).then_some(value)
        });
        value.unwrap_or_default().trim().to_ascii_lowercase()
    };
    if header("transfer-encoding") == "chunked" {
        let mut body = Vec::new();
        while !body.ends_with(b"\r\n0\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte)?;
            body.extend(byte);
        }
        return Ok(body);
    }
    let mut body = vec![0; header("content-length").parse().unwrap_or(0)];
    stream.read_exact(&mut body)?;
    Ok(body)
}

/// The key of a request.
fn key_of(head: &str) -> &str {
    let key = head.lines().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        let is_key = ["x-api-key", "x-goog-api-key", "authorization"].contains(&&*name.to_ascii_lowercase());
        is_key.then(|| value.trim_start_matches("Bearer "))
    });
    key.unwrap_or_default()
}

fn message_of(status: u16) -> &'static str {
    match status {
        400 => "the request is invalid",
        401 => "invalid x-api-key",
        403 => "the key has no permission for this model",
        429 => "this request would exceed the rate limit",
        529 => "Overloaded",
        _ => "Internal server error",
    }
}

/// An answer with an error.
fn refusal(status: u16, header: &str, message: &str) -> String {
    let kind = match status {
        400 => "invalid_request_error",
        401 => "authentication_error",
        403 => "permission_error",
        429 => "rate_limit_error",
        529 => "overloaded_error",
        _ => "api_error",
    };
    let error = json!({ "type": kind, "code": kind, "message": message });
    let body = json!({ "type": "error", "error": error }).to_string();
    format!(
        "HTTP/1.1 {status} Fault\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n{header}\r\n{body}",
        body.len()
    )
}

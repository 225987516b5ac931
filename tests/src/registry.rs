//! A registry on this machine for tests: counts what it is asked, and can be slow.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::lsp::PATIENCE;

/// A registry on this machine. It listens until the process ends.
#[derive(Debug, Clone)]
pub struct TestRegistry {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    programs: HashMap<String, String>,
    asked: Vec<String>,
    delay: Duration,
    is_down: bool,
}

impl TestRegistry {
    /// A registry with programs by their paths, such as `alice/research`.
    pub fn start(programs: &[(&str, &str)]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port of this machine is free");
        let address = listener.local_addr().expect("it listens");
        let registry = Self { address, state: Arc::default() };
        for (path, text) in programs {
            registry.put(path, text);
        }
        let serving = registry.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let serving = serving.clone();
                // A client that goes away in between is none of its concern.
                std::thread::spawn(move || _ = serving.answer(stream));
            }
        });
        registry
    }

    /// Its address, as `registry.url` wants it.
    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Puts a program there, in place of the one that was there.
    pub fn put(&self, path: &str, text: &str) {
        self.lock().programs.insert(format!("/{path}"), text.to_owned());
    }

    /// How long each answer takes from now on.
    pub fn answer_after(&self, delay: Duration) {
        self.lock().delay = delay;
    }

    /// Whether it has no time for anybody from now on.
    pub fn set_down(&self, is_down: bool) {
        self.lock().is_down = is_down;
    }

    /// The paths that were asked for since the last time, in the order of the requests.
    pub fn take_asked(&self) -> Vec<String> {
        std::mem::take(&mut self.lock().asked)
    }

    /// The paths that were asked for since the last time, once there is one.
    #[track_caller]
    pub fn wait_for_requests(&self) -> Vec<String> {
        let since = Instant::now();
        while since.elapsed() < PATIENCE {
            let asked = self.take_asked();
            if !asked.is_empty() {
                return asked;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("nobody asks the registry for anything");
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answer(&self, mut stream: TcpStream) -> std::io::Result<()> {
        let mut lines = BufReader::new(stream.try_clone()?).lines();
        let request = lines.next().transpose()?.unwrap_or_default();
        let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
        while lines.next().transpose()?.is_some_and(|line| !line.is_empty()) {}
        let (program, delay, is_down) = {
            let mut state = self.lock();
            state.asked.push(path.trim_start_matches('/').to_owned());
            (state.programs.get(&path).cloned(), state.delay, state.is_down)
        };
        std::thread::sleep(delay);
        let (status, body) = match program {
            _ if is_down => ("503 Service Unavailable", String::new()),
            Some(text) => ("200 OK", text),
            None => ("404 Not Found", String::new()),
        };
        write!(
            stream,
            "HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        )
    }
}

//! The HTTP interface of a server of OpenCode, which accepts connections of this machine with a password.

use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use prose_registry::tls_config;
use prose_vm::effect::{Failure, Usage};
use prose_vm::error::ErrorKind;
use reqwest::header::CONTENT_TYPE;
use reqwest::{Client, Method, RequestBuilder, Url};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::NAME;
use super::spent::Part;
use crate::drivers::connection::Program;
use crate::drivers::rpc::CallError;
use crate::faults;

/// How long the server may take to answer. The model works on a prompt after its answer.
const ANSWER_TIME: Duration = Duration::from_secs(60);

/// The variables with the name and the password that the server asks for.
const USER: &str = "OPENCODE_SERVER_USERNAME";
const PASSWORD: &str = "OPENCODE_SERVER_PASSWORD";

/// The name with which requests sign in to the server.
const CLIENT: &str = "prose";

/// The HTTP interface of a server.
#[derive(Clone)]
pub(in crate::drivers) struct Api {
    client: Client,
    base: Url,
    password: Arc<str>,
}

/// A message of a session.
#[derive(Deserialize)]
struct Message {
    parts: Vec<Part>,
}

impl Api {
    pub(super) fn new(base: Url, password: Arc<str>) -> Result<Self, Failure> {
        let client = Client::builder()
            .tls_backend_preconfigured(tls_config(None).map_err(|error| not_started(&error))?)
            .redirect(reqwest::redirect::Policy::none())
            // The loopback of a proxy is another machine.
            .no_proxy()
            .build()
            .map_err(|error| not_started(&error.to_string()))?;
        Ok(Self { client, base, password })
    }

    /// The interface of a program that is going to be started, and that chooses its port and asks for no password otherwise.
    pub(in crate::drivers) fn of(program: &mut Program) -> Result<Self, Failure> {
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|listener| listener.local_addr());
        let address = free.map_err(|error| not_started(&error.to_string()))?;
        program.arguments.push(format!("--hostname={}", address.ip()));
        program.arguments.push(format!("--port={}", address.port()));
        let base =
            Url::parse(&format!("http://{address}")).map_err(|error| not_started(&error.to_string()))?;
        Self::new(base, protect(program)?)
    }

    pub(super) fn request(&self, method: Method, path: &str, folder: Option<&Path>) -> RequestBuilder {
        let mut url = self.base.clone();
        url.set_path(path);
        if let Some(folder) = folder {
            url.query_pairs_mut().append_pair("directory", &folder.to_string_lossy());
        }
        self.client.request(method, url).basic_auth(CLIENT, Some(&self.password))
    }

    /// The text of the answer.
    pub(super) async fn call(
        &self,
        method: Method,
        path: &str,
        folder: &Path,
        body: Option<&Value>,
    ) -> Result<String, CallError> {
        let mut request = self.request(method, path, Some(folder)).timeout(ANSWER_TIME);
        if let Some(body) = body {
            request = request.header(CONTENT_TYPE, "application/json").body(body.to_string());
        }
        let answer = request.send().await.map_err(|error| CallError::Ended(lost(&error)))?;
        let status = answer.status();
        let text = answer.text().await.map_err(|error| CallError::Ended(lost(&error)))?;
        match status.is_success() {
            true => Ok(text),
            false => Err(CallError::Reported {
                code: status.as_u16().into(),
                message: format!("`{path}` was answered with status {status}: {text}"),
            }),
        }
    }

    /// Requests something and reads the answer. `folder` is the one in which the session works.
    pub(super) async fn read<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        folder: &Path,
        body: Option<&Value>,
    ) -> Result<T, CallError> {
        let text = self.call(method, path, folder, body).await?;
        // Some answers have no content.
        let text = if text.trim().is_empty() { "null" } else { &text };
        serde_json::from_str(text).map_err(|error| {
            let message = format!("`{path}` was answered in an unknown form: {error}");
            CallError::Reported { code: 200, message }
        })
    }

    /// What all requests of a session to its model have used so far.
    pub(in crate::drivers) async fn usage(&self, session: &str, folder: &Path) -> Result<Usage, CallError> {
        let path = format!("session/{session}/message");
        let messages: Vec<Message> = self.read(Method::GET, &path, folder, None).await?;
        let used = messages.iter().flat_map(|message| &message.parts).filter_map(|part| match part {
            Part::StepFinish(spent) => Some(spent.usage()),
            Part::Other => None,
        });
        Ok(used.fold(Usage::default(), Usage::and))
    }
}

/// Makes the server of a program ask for a password, which is new for each server.
pub(super) fn protect(program: &mut Program) -> Result<Arc<str>, Failure> {
    let password = new_password().map_err(|error| not_started(&error.to_string()))?;
    program.variables.retain(|(name, _)| name != USER && name != PASSWORD);
    program.variables.push((USER.to_owned(), CLIENT.to_owned()));
    program.variables.push((PASSWORD.to_owned(), password.clone()));
    Ok(password.into())
}

/// A password for one server.
fn new_password() -> io::Result<String> {
    let mut bytes = [0; 24];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

pub(super) fn crashed(how: &str) -> Failure {
    faults::failure_of(ErrorKind::AgentCrashed, NAME, None, how)
}

pub(super) fn not_started(why: &str) -> Failure {
    Failure::session(format!("the server of {NAME} did not start: {why}"))
}

pub(super) fn lost(error: &reqwest::Error) -> Failure {
    crashed(&format!("lost the connection to it: {}", error.to_string().trim_end()))
}

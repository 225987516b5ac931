//! Sessions with a model of a provider over HTTP: text only, without tools and files.

mod api;
mod known;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::error::Error as _;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use prose_registry::{EXTRA_CA, tls_config};
use prose_vm::activity::{Activity, AgentSession, Reporter};
use prose_vm::effect::{Failure, Reply, Request, SessionTask, Usage};
use prose_vm::error::ErrorKind;
use prose_vm::harness::Capabilities;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Client, Response, Url};

use self::api::{Part, Prompt, Stop};
use super::server_events::{Events, StreamEvent};
use crate::decide::{Ask, Sessions};
use crate::faults;
use crate::gate::{Fault, Gate, PATIENCE};

pub use self::known::{KnownProvider, PROVIDERS};
pub use prose_registry::Secret;

/// The timeout for a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// The timeout without a byte from the provider. Models that reason send nothing for minutes.
const IDLE_TIMEOUT: Duration = Duration::from_secs(600);

/// The maximum size of a reply: 64 MiB.
const MAX_REPLY_BYTES: usize = 64 << 20;

/// The part of an error's body that is read.
const MAX_ERROR_BYTES: usize = 64 << 10;

/// The settings of a provider.
#[derive(Debug, Clone)]
pub struct ProviderSettings {
    /// The provider.
    pub provider: &'static KnownProvider,
    /// Its address, if it is another one than that of the table.
    pub base_url: Option<String>,
    /// The model of sessions that name none.
    pub model: Option<String>,
    /// The environment variable with the key, if it is another one than that of the table.
    pub key_variable: Option<String>,
    /// The key. It is read from the environment, and never shown.
    pub key: Option<Secret>,
    /// The names that the project gives to models.
    pub models: BTreeMap<String, String>,
    /// How long a session waits for the provider in total.
    pub patience: Duration,
    /// The folder of gates in the user's cache.
    pub gates: Option<PathBuf>,
}

impl ProviderSettings {
    /// The settings for a provider that is not configured further.
    pub fn new(provider: &'static KnownProvider) -> Self {
        Self {
            provider,
            base_url: None,
            model: None,
            key_variable: None,
            key: None,
            models: BTreeMap::new(),
            patience: PATIENCE,
            gates: None,
        }
    }

    /// The environment variable with the key; `None` if no key is needed.
    pub fn key_variable(&self) -> Option<&str> {
        self.key_variable.as_deref().or(self.provider.key_variable)
    }

    /// The address; `None` if none is set.
    pub fn base_url(&self) -> Option<&str> {
        self.base_url.as_deref().or(self.provider.base_url).map(|url| url.trim_end_matches('/'))
    }

    /// The same with the key from the environment.
    pub fn with_key_from_environment(mut self) -> Self {
        let key = self.key_variable().and_then(|name| std::env::var(name).ok());
        self.key = key.map(|key| key.trim().to_owned()).filter(|key| !key.is_empty()).map(Secret::new);
        self
    }

    /// The id of the model for a name of the program or of the VM.
    pub(crate) fn model(&self, name: Option<&str>) -> Result<Cow<'_, str>, Failure> {
        let name = name.map(|name| self.models.get(name).map_or(name, String::as_str));
        let sized = |size: &str| self.provider.sized(size).map(Cow::from);
        let is_size = |name: &str| PROVIDERS[0].sized(name).is_some();
        match (name, &self.model) {
            (Some(name), _) if !is_size(name) => Some(Cow::Owned(name.to_owned())),
            (Some(size), model) => sized(size).or_else(|| model.as_deref().map(Cow::from)),
            (None, model) => model.as_deref().map(Cow::from).or_else(|| sized(known::DEFAULT_SIZE)),
        }
        .ok_or_else(|| {
            Failure::session(format!(
                "no model is set for `{0}`; set one with `model` in `[run.provider]` in `prose.toml`",
                self.provider.name
            ))
        })
    }
}

/// The harness that sends the prompts of sessions to a provider.
pub struct Provider {
    settings: ProviderSettings,
    gate: Arc<Gate>,
    /// One client for all sessions of a run, since its connections are kept.
    client: OnceLock<Result<Client, String>>,
}

impl fmt::Debug for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Provider").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl Provider {
    /// A harness with the settings.
    pub fn new(settings: ProviderSettings) -> Self {
        let address = settings.base_url().unwrap_or_default();
        let key = settings.key.as_ref().map(Secret::reveal);
        let gate = Gate::of(address.trim_end_matches('/'), key, settings.gates.as_deref());
        Self { settings, gate, client: OnceLock::new() }
    }

    fn name(&self) -> &'static str {
        self.settings.provider.name
    }

    /// Sends a prompt until the provider answers.
    async fn answer(&self, prompt: &Prompt<'_>, reporter: &Reporter) -> Result<Reply, Failure> {
        let client = self.client()?;
        let url = self.url(prompt.model)?;
        let headers = self.headers()?;
        let body = self.settings.provider.api.body(prompt).to_string();
        let attempt = || {
            let request = client.post(url.clone()).headers(headers.clone()).body(body.clone());
            async move {
                let response = request.send().await.map_err(|error| self.lost(&error))?;
                if !response.status().is_success() {
                    return Err(self.rejected(response).await);
                }
                self.read(response, reporter).await
            }
        };
        self.gate.attempts(self.settings.patience, reporter, attempt).await
    }

    /// The client, which is created for the first session: it takes some milliseconds.
    fn client(&self) -> Result<&Client, Failure> {
        let create = || {
            let extra = std::env::var_os(EXTRA_CA).filter(|path| !path.is_empty()).map(PathBuf::from);
            let mut client = Client::builder()
                .tls_backend_preconfigured(tls_config(extra.as_ref())?)
                // The key is for this host and no other.
                .redirect(reqwest::redirect::Policy::none())
                .connect_timeout(CONNECT_TIMEOUT)
                .read_timeout(IDLE_TIMEOUT)
                .user_agent(concat!("prose/", env!("CARGO_PKG_VERSION")));
            if self.base().is_ok_and(|url| is_loopback(&url)) {
                // The loopback of a proxy is another machine.
                client = client.no_proxy();
            }
            client.build().map_err(|error| error.to_string())
        };
        let failed = |error: &String| {
            Failure::new(ErrorKind::Provider, format!("cannot create the HTTP client: {error}"))
        };
        self.client.get_or_init(create).as_ref().map_err(failed)
    }

    fn base(&self) -> Result<Url, Failure> {
        let name = self.name();
        let Some(base) = self.settings.base_url() else {
            let message = format!(
                "the provider `{name}` needs an address; set `base-url` in `[run.provider]` in `prose.toml`"
            );
            return Err(Failure::session(message));
        };
        Url::parse(base).ok().filter(|url| url.host().is_some()).ok_or_else(|| {
            Failure::session(format!(
                "`{base}` is not the address of a provider; write one such as `https://models.example.com/v1`"
            ))
        })
    }

    fn url(&self, model: &str) -> Result<Url, Failure> {
        let base = self.base()?;
        if base.scheme() != "https" && !is_loopback(&base) && self.settings.key.is_some() {
            let message = format!(
                "the key of `{}` is not sent to `{base}` without encryption; use an address with `https://`",
                self.name()
            );
            return Err(Failure::session(message));
        }
        let text = base.as_str().trim_end_matches('/');
        let path = self.settings.provider.api.path(text, model);
        Url::parse(&format!("{text}/{path}")).map_err(|error| {
            Failure::session(format!("the model `{model}` is not part of an address: {error}"))
        })
    }

    fn headers(&self) -> Result<HeaderMap, Failure> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert("anthropic-version", HeaderValue::from_static("2023-06-01"));
        match (&self.settings.key, self.settings.key_variable()) {
            (Some(key), _) => {
                let (name, value) = self.settings.provider.api.key_header(key.reveal());
                let mut value = HeaderValue::try_from(value).map_err(|_| {
                    let variable = self.settings.key_variable().unwrap_or_default();
                    Failure::new(
                        ErrorKind::Auth,
                        format!("the key in `{variable}` has characters that no key has; set it again"),
                    )
                })?;
                value.set_sensitive(true);
                headers.insert(name, value);
            }
            (None, Some(variable)) => {
                let title = self.settings.provider.title;
                let message = format!(
                    "the harness `provider` needs a key of {title}; set the environment variable `{variable}`, then resume the run"
                );
                return Err(Failure::new(ErrorKind::Auth, message));
            }
            (None, None) => {}
        }
        Ok(headers)
    }

    /// Reads the stream of an answer.
    async fn read(&self, mut response: Response, reporter: &Reporter) -> Result<Reply, Fault> {
        let mut answer = Answer::new(reporter);
        let mut events = Events::default();
        loop {
            let chunk = response.chunk().await.map_err(|error| {
                answer.report_usage();
                self.lost(&error)
            })?;
            let batch = match &chunk {
                Some(bytes) => events.push(bytes),
                None => events.finish().into_iter().collect(),
            };
            for event in batch {
                match event {
                    StreamEvent::Data(data) => {
                        for part in self.settings.provider.api.parts(&data) {
                            answer.take(part).map_err(|(status, message)| {
                                answer.report_usage();
                                self.fault(status, &message)
                            })?;
                        }
                    }
                    StreamEvent::Done => answer.stop = answer.stop.or(Some(Stop::Ended)),
                    StreamEvent::Invalid => {
                        return Err(self.fault(None, "stream disconnected: an event is no JSON"));
                    }
                }
            }
            if answer.text.len() > MAX_REPLY_BYTES {
                let message =
                    format!("the reply of {} is longer than {} MiB", self.name(), MAX_REPLY_BYTES >> 20);
                return Err(Fault::last(Failure::session(message)));
            }
            if chunk.is_none() {
                break;
            }
        }
        answer.report_usage();
        let Some(stop) = answer.stop else {
            return Err(self.fault(None, "stream disconnected before the answer was complete"));
        };
        let mut warnings = Vec::new();
        match stop {
            Stop::Ended => {}
            Stop::CutOff => {
                warnings.push("the reply ends early, at the model's limit of output tokens".to_owned())
            }
            Stop::Refused => {
                let message = match answer.text.trim() {
                    "" => "the model refused",
                    said => said,
                };
                return Err(Fault::last(faults::failure_of(ErrorKind::Refused, self.name(), None, message)));
            }
            Stop::ContextFull => {
                return Err(Fault::last(faults::failure_of(
                    ErrorKind::ContextTooLong,
                    self.name(),
                    None,
                    "",
                )));
            }
        }
        Ok(Reply::new(&answer.text, warnings))
    }

    /// The fault of a response with an error status.
    async fn rejected(&self, mut response: Response) -> Fault {
        let status = response.status().as_u16();
        let retry_after = retry_after(response.headers());
        let mut body = Vec::new();
        while let Ok(Some(bytes)) = response.chunk().await {
            body.extend_from_slice(&bytes);
            if body.len() >= MAX_ERROR_BYTES {
                break;
            }
        }
        let fault = self.fault(Some(status), &String::from_utf8_lossy(&body));
        Fault { retry_after: retry_after.or(fault.retry_after), ..fault }
    }

    /// The fault of a connection.
    fn lost(&self, error: &reqwest::Error) -> Fault {
        let mut cause = error.source();
        while let Some(next) = cause.and_then(std::error::Error::source) {
            cause = Some(next);
        }
        let cause = cause.map(ToString::to_string).unwrap_or_default();
        let what = match () {
            () if error.is_connect() => "unable to connect",
            () if error.is_timeout() => "request timed out",
            () => "stream disconnected",
        };
        let message = if cause.is_empty() { what.to_owned() } else { format!("{what}: {cause}") };
        let failure = faults::failure_of(ErrorKind::Provider, self.name(), None, &self.without_key(&message));
        Fault { failure, is_unconnected: error.is_connect(), ..self.fault(None, &message) }
    }

    fn fault(&self, status: Option<u16>, message: &str) -> Fault {
        Fault::new(self.name(), status, &self.without_key(message))
    }

    /// A message of the provider, which may quote the key.
    fn without_key<'a>(&self, message: &'a str) -> Cow<'a, str> {
        match &self.settings.key {
            Some(key) if message.contains(key.reveal()) => message.replace(key.reveal(), "[key]").into(),
            _ => message.into(),
        }
    }
}

/// An answer as far as it has arrived.
struct Answer<'a> {
    text: String,
    usage: Usage,
    /// The part of the usage that was reported.
    reported: Usage,
    is_named: bool,
    stop: Option<Stop>,
    reporter: &'a Reporter,
}

impl<'a> Answer<'a> {
    fn new(reporter: &'a Reporter) -> Self {
        let usage = Usage::default();
        Self { text: String::new(), usage, reported: usage, is_named: false, stop: None, reporter }
    }

    /// Takes a part of an event; the status and the message if it says that the provider failed.
    fn take(&mut self, part: Part) -> Result<(), (Option<u16>, String)> {
        match part {
            Part::Text(text) => {
                self.text.push_str(&text);
                self.reporter.report(Activity::Text { text: text.into() });
            }
            Part::Reasoning(text) => self.reporter.report(Activity::Reasoning { text: text.into() }),
            Part::Head { id, model } if !self.is_named => {
                self.is_named = true;
                let session = AgentSession { id: id.into(), model: model.map(Into::into), transcript: None };
                self.reporter.report(Activity::Agent(session));
            }
            Part::Head { .. } => {}
            Part::Used(used) => {
                used.update(&mut self.usage);
                // What was sent is paid for, even if the session is cancelled before the answer is complete.
                if self.reported.input_tokens == 0 {
                    self.report_usage();
                }
            }
            // The first reason counts: a refusal is followed by the end of the answer.
            Part::Stopped(stop) => self.stop = self.stop.or(Some(stop)),
            Part::Failed { status, message } => return Err((status, message)),
        }
        Ok(())
    }

    /// Reports the usage since the last report.
    fn report_usage(&mut self) {
        let used = self.usage.less(self.reported);
        if used != Usage::default() {
            self.reporter.report(Activity::Used(used));
            self.reported = self.usage;
        }
    }
}

impl Sessions for Provider {
    fn name(&self) -> &str {
        "provider"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
    }

    async fn session(
        &self,
        _: &Request,
        task: &Arc<SessionTask>,
        reporter: &Reporter,
    ) -> Result<Reply, Failure> {
        let model = self.settings.model(task.model.as_deref())?;
        let system = task.system_part();
        let prompt = Prompt { model: &model, system: system.as_deref(), text: &task.prompt, schema: None };
        self.answer(&prompt, reporter).await
    }

    async fn ask(&self, question: Ask, reporter: &Reporter) -> Result<String, Failure> {
        let Ask { prompt: mut text, model, schema } = question;
        let model = self.settings.model(model.as_deref())?;
        let can_bind =
            self.settings.provider.api.binds_answers(&model) && self.settings.provider.binds_answers;
        let schema = match schema {
            Some(schema) if !can_bind => {
                text.push_str("Answer with a JSON object of this schema and nothing else:\n\n");
                text.push_str(&schema.to_string());
                text.push('\n');
                None
            }
            schema => schema,
        };
        let prompt = Prompt { model: &model, system: None, text: &text, schema: schema.as_ref() };
        Ok(self.answer(&prompt, reporter).await?.text.to_string())
    }

    fn binds_answers(&self) -> bool {
        true
    }
}

/// The delay that a response asks for.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let number = |name| text(name).and_then(|value| value.parse::<f64>().ok());
    let milliseconds = number("retry-after-ms").map(|milliseconds| milliseconds / 1000.0);
    let seconds = milliseconds.or_else(|| number("retry-after"));
    let at = || httpdate::parse_http_date(text("retry-after")?).ok()?.duration_since(SystemTime::now()).ok();
    seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()).or_else(at)
}

fn is_loopback(url: &Url) -> bool {
    let Some(host) = url.host_str() else { return false };
    let address = host.trim_matches(['[', ']']).parse::<std::net::IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

//! One address after the other: redirects, attempts, and what an answer is.

use std::error::Error;
use std::net::IpAddr;
use std::time::{Duration, Instant, SystemTime};

use hyper_util::client::proxy::matcher::Matcher;
use reqwest::header::{
    ACCEPT, AUTHORIZATION, CONTENT_LENGTH, ETAG, HeaderMap, HeaderName, HeaderValue, IF_MODIFIED_SINCE,
    IF_NONE_MATCH, LAST_MODIFIED, LOCATION, RETRY_AFTER,
};
use reqwest::{NoProxy, Proxy, RequestBuilder, Response, StatusCode, redirect};
use url::{Host, Origin, Url};

use crate::addresses::{self, DnsResolver, NotPublic};
use crate::credentials::is_loopback;
use crate::outcome::{NotAProgram, Refusal, Unreachable};
use crate::program::Source;
use crate::settings::Settings;
use crate::tls;

/// The network as this crate sees it.
pub(crate) struct Web {
    settings: Settings,
    /// For what the user asks for.
    open: reqwest::Client,
    /// For what programs from the network ask for: connects to public addresses only, and never through a proxy.
    guarded: reqwest::Client,
    proxies: Matcher,
}

/// A request and its origin.
pub(crate) struct Question<'a> {
    pub(crate) url: &'a Url,
    /// What is known already, so that the host need not send it again.
    pub(crate) known: Option<&'a Source>,
    /// The accepted media types.
    pub(crate) accept: &'static str,
    /// Whether a program from the network makes the request.
    pub(crate) is_remote: bool,
    /// The origin that it may request nevertheless, even at a private address.
    pub(crate) trusted: Option<Origin>,
    /// When to give up.
    pub(crate) deadline: Instant,
}

/// An answer to a question.
#[derive(Debug)]
pub(crate) struct Answer {
    /// The address that gave it.
    pub(crate) url: Url,
    /// Where all redirects for good lead to.
    pub(crate) moved_to: Option<Url>,
    pub(crate) content: Content,
}

#[derive(Debug)]
pub(crate) enum Content {
    Text { text: String, etag: Option<String>, last_modified: Option<String> },
    Unchanged,
    Missing,
}

/// Why there is no answer.
#[derive(Debug)]
pub(crate) enum Failure {
    NotAProgram(NotAProgram),
    Unreachable(Unreachable),
    Refused(Refusal),
}

/// Where the next step leads.
enum Step {
    Done(Content),
    Redirect { to: Url, is_permanent: bool, from_public: bool },
}

/// A failed attempt, and whether another one may do better.
struct Failed {
    failure: Failure,
    retry: Retry,
}

enum Retry {
    No,
    Soon,
    After(Duration),
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Failure::Refused(refusal)
    }
}

impl From<Unreachable> for Failure {
    fn from(why: Unreachable) -> Self {
        Failure::Unreachable(why)
    }
}

impl<T: Into<Failure>> From<T> for Failed {
    fn from(failure: T) -> Self {
        Self { failure: failure.into(), retry: Retry::No }
    }
}

impl From<NotAProgram> for Failure {
    fn from(what: NotAProgram) -> Self {
        Failure::NotAProgram(what)
    }
}

impl Web {
    /// Reads the certificates, which takes some milliseconds; why that failed.
    pub(crate) fn new(settings: &Settings) -> Result<Self, String> {
        let tls = tls::config(settings.extra_ca.as_ref())?;
        let client = |only_public| {
            reqwest::Client::builder()
                .tls_backend_preconfigured(tls.clone())
                .dns_resolver(DnsResolver { names: settings.names.clone(), only_public })
                // Each redirect is judged before it is followed.
                .redirect(redirect::Policy::none())
                .referer(false)
                .connect_timeout(settings.limits.connect)
                .read_timeout(settings.limits.idle)
                .user_agent(concat!("prose/", env!("CARGO_PKG_VERSION")))
                .no_proxy()
        };
        let text = |error: reqwest::Error| error.to_string();
        // A proxy's loopback is another machine.
        let except = format!("localhost,127.0.0.0/8,::1,{}", settings.proxies.except);
        let mut open = client(false);
        let mut proxies = Matcher::builder().no(except.as_str());
        if let Some(proxy) = &settings.proxies.http {
            let rule = Proxy::http(proxy.reveal()).map_err(|_| "the proxy address for http:// is invalid")?;
            open = open.proxy(rule.no_proxy(NoProxy::from_string(&except)));
            proxies = proxies.http(proxy.reveal());
        }
        if let Some(proxy) = &settings.proxies.https {
            let rule =
                Proxy::https(proxy.reveal()).map_err(|_| "the proxy address for https:// is invalid")?;
            open = open.proxy(rule.no_proxy(NoProxy::from_string(&except)));
            proxies = proxies.https(proxy.reveal());
        }
        Ok(Self {
            settings: settings.clone(),
            open: open.build().map_err(text)?,
            guarded: client(true).build().map_err(text)?,
            proxies: proxies.build(),
        })
    }

    /// Asks, and follows redirects. What fails comes with the address that was asked last.
    pub(crate) async fn ask(&self, question: &Question<'_>) -> Result<Answer, (Failure, Url)> {
        let mut url = question.url.clone();
        let mut is_guarded = question.is_remote;
        let mut is_redirected = false;
        let mut moved_to = None;
        for hop in 0..=self.settings.limits.redirects {
            let is_trusted = question.trusted.as_ref() == Some(&url.origin());
            let step = self.attempts(question, &url, is_guarded && !is_trusted).await.map_err(|failure| {
                let failure = match failure {
                    Failure::Refused(Refusal::NotPublic { host, why, .. }) => {
                        Failure::Refused(Refusal::NotPublic { host, why, by_redirect: is_redirected })
                    }
                    failure => failure,
                };
                (failure, url.clone())
            })?;
            match step {
                Step::Done(content) => return Ok(Answer { url, moved_to, content }),
                Step::Redirect { to, is_permanent, from_public } => {
                    // For good is only what is reached by steps that are.
                    if is_permanent && (hop == 0 || moved_to.as_ref() == Some(&url)) {
                        moved_to = Some(to.clone());
                    }
                    // What the user asked of a public host does not extend to the machines of the user.
                    is_guarded |= from_public && to.origin() != url.origin();
                    is_redirected = true;
                    url = to;
                }
            }
        }
        Err((Unreachable::Redirects(self.settings.limits.redirects).into(), url))
    }

    /// Asks one address until it answers or there is no hope.
    async fn attempts(&self, question: &Question<'_>, url: &Url, is_guarded: bool) -> Result<Step, Failure> {
        self.check(url, is_guarded)?;
        let limits = &self.settings.limits;
        let mut delay = limits.retry_delay;
        for attempt in 0.. {
            let failed = match self.attempt(question, url, is_guarded).await {
                Ok(step) => return Ok(step),
                Err(failed) => failed,
            };
            // Not all clients that were turned away at once should come back at once.
            let jittered = delay.mul_f64(0.5 + fastrand::f64());
            let wait = match failed.retry {
                Retry::No => return Err(failed.failure),
                Retry::Soon => jittered,
                Retry::After(wait) => wait.max(jittered),
            };
            if attempt >= limits.retries || Instant::now() + wait >= question.deadline {
                return Err(failed.failure);
            }
            tracing::debug!(host = url.host_str(), attempt, ?wait, "asks again");
            tokio::time::sleep(wait).await;
            delay *= 2;
        }
        unreachable!("the loop above has no end")
    }

    /// Checks an address without a request.
    fn check(&self, url: &Url, is_guarded: bool) -> Result<(), Refusal> {
        match url.scheme() {
            "https" => {}
            "http" if self.settings.allow_http || is_loopback(url) => {}
            "http" => return Err(Refusal::NotEncrypted(url.clone())),
            _ => return Err(Refusal::Scheme(url.clone())),
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(Refusal::Credentials);
        }
        // The address of a host that is a number already is not looked up, so the resolver cannot refuse it.
        let address = match url.host() {
            Some(Host::Ipv4(address)) => IpAddr::V4(address),
            Some(Host::Ipv6(address)) => IpAddr::V6(address),
            _ => return Ok(()),
        };
        match addresses::not_public(address) {
            Some(why) if is_guarded => Err(NotPublic { host: url.to_string(), address, why }.into()),
            _ => Ok(()),
        }
    }

    async fn attempt(&self, question: &Question<'_>, url: &Url, is_guarded: bool) -> Result<Step, Failed> {
        let is_proxied = url.as_str().parse().is_ok_and(|uri| self.proxies.intercept(&uri).is_some());
        let client = match (is_guarded, is_proxied) {
            (true, false) => &self.guarded,
            (true, true) => {
                self.check_after_proxy(url).await?;
                &self.open
            }
            (false, _) => &self.open,
        };
        // A token goes to the host that was asked, and to none that it redirects to.
        let token = self.settings.credentials.token(url).filter(|_| url.origin() == question.url.origin());
        let mut request = client.get(url.clone()).header(ACCEPT, question.accept);
        let known = question.known.filter(|known| known.final_url == *url);
        if let Some(known) = known {
            request = conditional(request, known);
        }
        if let Some(token) = token {
            let mut value = HeaderValue::try_from(format!("Bearer {}", token.reveal()))
                .map_err(|_| Unreachable::Client("the token cannot be sent".to_owned()))?;
            value.set_sensitive(true);
            request = request.header(AUTHORIZATION, value);
        }
        let response = request.send().await.map_err(|error| self.failed(&error))?;
        let from_public = is_proxied
            || response.remote_addr().is_none_or(|address| addresses::not_public(address.ip()).is_none());
        self.step(response, url, known.is_some(), token.is_some(), from_public).await
    }

    /// After a proxy, it is the proxy that looks up the host. So we look as well, and refuse what we do not see.
    async fn check_after_proxy(&self, url: &Url) -> Result<(), Failed> {
        let Some(Host::Domain(host)) = url.host() else { return Ok(()) };
        let addresses =
            self.settings.names.lookup(host).await.map_err(|error| Unreachable::Name(error.to_string()))?;
        match addresses::public(host, addresses) {
            Ok(_) => Ok(()),
            Err(found) => Err(Refusal::from(found).into()),
        }
    }

    async fn step(
        &self,
        response: Response,
        url: &Url,
        is_conditional: bool,
        with_token: bool,
        from_public: bool,
    ) -> Result<Step, Failed> {
        let status = response.status();
        match status {
            StatusCode::OK | StatusCode::NON_AUTHORITATIVE_INFORMATION => {
                let (etag, last_modified) = (header(&response, ETAG), header(&response, LAST_MODIFIED));
                let text = self.text(response).await?;
                Ok(Step::Done(Content::Text { text, etag, last_modified }))
            }
            StatusCode::NOT_MODIFIED if is_conditional => Ok(Step::Done(Content::Unchanged)),
            StatusCode::NOT_FOUND | StatusCode::GONE => Ok(Step::Done(Content::Missing)),
            StatusCode::MOVED_PERMANENTLY
            | StatusCode::FOUND
            | StatusCode::SEE_OTHER
            | StatusCode::TEMPORARY_REDIRECT
            | StatusCode::PERMANENT_REDIRECT => {
                let location = header(&response, LOCATION).unwrap_or_default();
                let is_permanent =
                    matches!(status, StatusCode::MOVED_PERMANENTLY | StatusCode::PERMANENT_REDIRECT);
                match url.join(&location) {
                    Ok(to) if !location.is_empty() => Ok(Step::Redirect { to, is_permanent, from_public }),
                    _ => Err(Unreachable::BadRedirect(location).into()),
                }
            }
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                Err(Unreachable::Unauthorized { status: status.as_u16(), with_token }.into())
            }
            status if status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error() => {
                let wait = retry_after(response.headers(), SystemTime::now());
                let failure = match status {
                    StatusCode::TOO_MANY_REQUESTS => Unreachable::Busy(wait),
                    _ => Unreachable::Status(status.as_u16()),
                };
                let retry = wait.map_or(Retry::Soon, Retry::After);
                Err(Failed { failure: failure.into(), retry })
            }
            status => Err(Unreachable::Status(status.as_u16()).into()),
        }
    }

    /// The text of an answer. No more of it is read than a program may have.
    async fn text(&self, mut response: Response) -> Result<String, Failed> {
        let most = self.settings.limits.bytes;
        // Decompressed answers have lost this header, so the length is that of the text.
        let declared = header(&response, CONTENT_LENGTH).and_then(|length| length.parse::<u64>().ok());
        if declared.is_some_and(|length| length > most as u64) {
            return Err(NotAProgram::TooLarge(most).into());
        }
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| self.failed(&error))? {
            if bytes.len() + chunk.len() > most {
                return Err(NotAProgram::TooLarge(most).into());
            }
            bytes.extend_from_slice(&chunk);
        }
        judge(bytes).map_err(Failed::from)
    }

    /// What an error of reqwest means.
    fn failed(&self, error: &reqwest::Error) -> Failed {
        let causes: Vec<&(dyn Error + 'static)> = causes(error).collect();
        if let Some(refused) = causes.iter().find_map(|cause| cause.downcast_ref::<NotPublic>()) {
            return Refusal::from(refused.clone()).into();
        }
        if let Some(error) = causes.iter().find_map(|cause| cause.downcast_ref::<rustls::Error>()) {
            return match error {
                rustls::Error::InvalidCertificate(why) => Unreachable::Certificate(certificate(why)).into(),
                error => Unreachable::Broken(error.to_string()).into(),
            };
        }
        let why = causes.last().map_or_else(String::new, |cause| cause.to_string());
        let limits = &self.settings.limits;
        if error.is_timeout() {
            let limit = if error.is_connect() { limits.connect } else { limits.idle };
            Unreachable::TimedOut(limit).into()
        } else if error.is_dns() {
            Unreachable::Name(why).into()
        } else if error.is_connect() {
            Failed { failure: Unreachable::Connect(why).into(), retry: Retry::Soon }
        } else if error.is_builder() {
            Unreachable::Client(why).into()
        } else {
            Failed { failure: Unreachable::Broken(why).into(), retry: Retry::Soon }
        }
    }
}

/// Asks for the text only if it is another one than the one that is known.
fn conditional(request: RequestBuilder, known: &Source) -> RequestBuilder {
    // What the cache has for these may be anything; what cannot be sent is left out.
    let header = |value: &Option<String>| HeaderValue::try_from(value.as_deref()?).ok();
    match (header(&known.etag), header(&known.last_modified)) {
        (Some(etag), _) => request.header(IF_NONE_MATCH, etag),
        (None, Some(time)) => request.header(IF_MODIFIED_SINCE, time),
        (None, None) => request,
    }
}

fn header(response: &Response, name: HeaderName) -> Option<String> {
    response.headers().get(name)?.to_str().ok().map(str::to_owned)
}

/// How long to wait, by a number of seconds or a date.
fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let value = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    match value.parse() {
        Ok(seconds) => Some(Duration::from_secs(seconds)),
        Err(_) => Some(httpdate::parse_http_date(value).ok()?.duration_since(now).unwrap_or_default()),
    }
}

/// Whether bytes are the text of a program, as far as can be decided without parsing it.
///
/// The type that the host gives is not a help: many a web server calls every file without an extension HTML, or a stream of bytes.
fn judge(bytes: Vec<u8>) -> Result<String, NotAProgram> {
    if bytes.contains(&0) {
        return Err(NotAProgram::Binary);
    }
    let text =
        String::from_utf8(bytes).map_err(|error| NotAProgram::NotUtf8(error.utf8_error().valid_up_to()))?;
    // No statement starts with `<`.
    match text.trim_start_matches('\u{feff}').trim_start().starts_with('<') {
        true => Err(NotAProgram::Page),
        false => Ok(text),
    }
}

/// An error and what caused it, from the outside in.
fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&error| {
        // The source of an error of the system is that of the error in it, which itself would be left out.
        match error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref) {
            Some(inner) => Some(inner as &(dyn Error + 'static)),
            None => error.source(),
        }
    })
}

fn certificate(why: &rustls::CertificateError) -> String {
    use rustls::CertificateError::{
        Expired, ExpiredContext, NotValidForName, NotValidForNameContext, NotValidYet, NotValidYetContext,
        UnknownIssuer,
    };
    match why {
        Expired | ExpiredContext { .. } => "it has expired, or the clock of this machine is wrong".to_owned(),
        NotValidYet | NotValidYetContext { .. } => {
            "it is not valid yet, or the clock of this machine is wrong".to_owned()
        }
        UnknownIssuer => "its issuer is unknown".to_owned(),
        NotValidForName | NotValidForNameContext { .. } => "it is for another host".to_owned(),
        why => format!("{why}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_retry_is_in_seconds_or_a_date() {
        let now = httpdate::parse_http_date("Sat, 31 Jan 2026 12:00:00 GMT").unwrap();
        let wait = |value: &str| {
            let headers = HeaderMap::from_iter([(RETRY_AFTER, HeaderValue::from_str(value).unwrap())]);
            retry_after(&headers, now)
        };
        assert_eq!(wait("7"), Some(Duration::from_secs(7)));
        assert_eq!(wait("Sat, 31 Jan 2026 12:01:00 GMT"), Some(Duration::from_secs(60)));
        assert_eq!(wait("Sat, 31 Jan 2026 11:00:00 GMT"), Some(Duration::ZERO));
        assert_eq!(wait("soon"), None);
        assert_eq!(wait("-1"), None);
    }

    #[test]
    fn what_is_no_program_is_known_by_its_bytes() {
        let what = |bytes: &[u8]| judge(bytes.to_vec());
        assert_eq!(what(b"session \"Hi\"\n"), Ok("session \"Hi\"\n".to_owned()));
        assert_eq!(what(b""), Ok(String::new()));
        assert_eq!(what(b"\n <!doctype html>"), Err(NotAProgram::Page));
        assert_eq!(what("\u{feff}<html>".as_bytes()), Err(NotAProgram::Page));
        assert_eq!(what(b"PK\x03\x04\0\0"), Err(NotAProgram::Binary));
        assert_eq!(what(b"session \"\xff\""), Err(NotAProgram::NotUtf8(9)));
    }
}

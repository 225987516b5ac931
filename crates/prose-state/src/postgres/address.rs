//! Which server a project uses, and how it is reached (R118).

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

use crate::env::EnvFile;
use crate::error::StateError;
use crate::folder::Project;

/// The variables that name the server, the first that is set counts. The first of them may also be in `.prose/.env`, which comes before all.
pub const URL_VARIABLES: [&str; 2] = ["OPENPROSE_POSTGRES_URL", "DATABASE_URL"];

/// The variable that names the schema, in `.prose/.env` or in the environment.
pub const SCHEMA_VARIABLE: &str = "OPENPROSE_POSTGRES_SCHEMA";

/// The variable with the password for an address without one, as `psql` has it.
const PASSWORD_VARIABLE: &str = "PGPASSWORD";

/// The schema with the tables, unless the variable names another one.
const DEFAULT_SCHEMA: &str = "openprose";

/// How long a connection may take to be made.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// After which time without an answer a connection counts as lost.
const SILENCE: Duration = Duration::from_secs(30);

/// A server with a database and a schema in it.
#[derive(Clone)]
pub(crate) struct Address {
    pub(crate) config: Config,
    pub(crate) schema: String,
    /// How certificates are checked; none where the connection is not encrypted.
    pub(crate) tls: Option<Arc<ClientConfig>>,
}

/// Without what is secret.
impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Address({self})")
    }
}

/// As messages name it: `localhost:5432/prose`.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let host = match self.config.get_hosts().first() {
            Some(Host::Tcp(host)) => host.clone(),
            #[cfg(unix)]
            Some(Host::Unix(path)) => path.display().to_string(),
            None => self.config.get_hostaddrs().first().map_or("localhost".to_owned(), ToString::to_string),
        };
        let port = self.config.get_ports().first().copied().unwrap_or(5432);
        let database = self.config.get_dbname().or(self.config.get_user()).unwrap_or_default();
        write!(f, "{host}:{port}/{database}")
    }
}

impl Address {
    /// The server of a project by the documented precedence: `OPENPROSE_POSTGRES_URL` in `.prose/.env`, then in the environment, then `DATABASE_URL`.
    pub(crate) fn of_project(root: &Path, schema: Option<&str>) -> Result<Self, StateError> {
        let file = EnvFile::read(&Project::new(root))?;
        if let Some(url) = in_file(&file, URL_VARIABLES[0]) {
            let name = format!("{} in `.prose/.env`", URL_VARIABLES[0]);
            // The file may have come with the project, so that no password of the user goes to the server that it names.
            return Self::parse(&url, schema_of(&file, schema), None)
                .map_err(|why| StateError::ServerAddress { name, why });
        }
        let set = URL_VARIABLES.iter().find_map(|name| Some((*name, variable(name)?)));
        let (name, url) = set.ok_or(StateError::NoServer)?;
        Self::parse(&url, schema_of(&file, schema), variable(PASSWORD_VARIABLE))
            .map_err(|why| StateError::ServerAddress { name: name.to_owned(), why })
    }

    /// The server at an address that the user has given, with the schema of the project or of the environment unless another one is named.
    pub(crate) fn given(url: &str, root: &Path, schema: Option<&str>) -> Result<Self, StateError> {
        let file = EnvFile::read(&Project::new(root))?;
        Self::parse(url, schema_of(&file, schema), variable(PASSWORD_VARIABLE))
            .map_err(|why| StateError::ServerAddress { name: "the argument".to_owned(), why })
    }

    /// Reads an address. What is wrong with it is told without its text, which may have a password.
    fn parse(url: &str, schema: String, password: Option<String>) -> Result<Self, String> {
        let is_name = schema.len() <= 63
            && schema.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
            && schema.bytes().next().is_some_and(|byte| !byte.is_ascii_digit());
        if !is_name {
            return Err(format!(
                "`{schema}` cannot be the name of a schema; use lower-case letters, digits and `_`"
            ));
        }
        let (url, check, roots) = tls_options(url.trim())?;
        let mut config: Config = url.parse().map_err(|error| plain(&error))?;
        if let Some(password) = password.filter(|_| config.get_password().is_none()) {
            config.password(password);
        }
        if config.get_hosts().is_empty() {
            // By its name, a certificate is checked.
            let addresses: Vec<String> = config.get_hostaddrs().iter().map(ToString::to_string).collect();
            for address in &addresses {
                config.host(address);
            }
            if addresses.is_empty() {
                config.host("localhost");
            }
        }
        config.application_name("prose");
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT_TIMEOUT);
        }
        config.keepalives_idle(SILENCE).tcp_user_timeout(SILENCE);
        // Sockets of this machine have no encryption.
        let is_local = config.get_hosts().iter().all(|host| !matches!(host, Host::Tcp(_)));
        let tls = match config.get_ssl_mode() {
            SslMode::Disable => None,
            _ if is_local => None,
            _ => Some(Arc::new(client(check, roots.as_deref())?)),
        };
        Ok(Self { config, schema, tls })
    }
}

/// The schema that is named: by the user, in `.prose/.env`, or in the environment.
fn schema_of(file: &EnvFile, named: Option<&str>) -> String {
    let named = named.map(str::to_owned).or_else(|| in_file(file, SCHEMA_VARIABLE));
    named.or_else(|| variable(SCHEMA_VARIABLE)).unwrap_or(DEFAULT_SCHEMA.to_owned())
}

fn in_file(file: &EnvFile, name: &str) -> Option<String> {
    file.get(name).map(str::to_owned).filter(|value| !value.is_empty())
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.trim().is_empty())
}

/// Whether the certificate of a server is checked. As with `psql`, it is only where that is asked for: servers have made their own by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Check {
    None,
    Full,
}

/// Takes the options out of an address that the library does not know: the file with root certificates, and that the certificate is checked.
fn tls_options(url: &str) -> Result<(String, Check, Option<String>), String> {
    let is_url = url.starts_with("postgres://") || url.starts_with("postgresql://");
    let Some((start, query)) = url.split_once('?').filter(|_| is_url) else {
        return Ok((url.to_owned(), Check::None, None));
    };
    let (mut check, mut roots, mut rest) = (Check::None, None, Vec::new());
    for option in query.split('&') {
        match option.split_once('=') {
            Some(("sslmode", "verify-ca" | "verify-full")) => {
                check = Check::Full;
                rest.push("sslmode=require");
            }
            Some(("sslmode", "allow")) => rest.push("sslmode=prefer"),
            Some(("sslrootcert", path)) => {
                let path = percent_encoding::percent_decode_str(path).decode_utf8();
                roots = Some(path.map_err(|_| "`sslrootcert` is not UTF-8".to_owned())?.into_owned());
            }
            _ => rest.push(option),
        }
    }
    let separator = if rest.is_empty() { "" } else { "?" };
    Ok((format!("{start}{separator}{}", rest.join("&")), check, roots))
}

/// What the library says, with its reason.
fn plain(error: &tokio_postgres::Error) -> String {
    let reason = std::error::Error::source(error).map(|source| format!(": {source}")).unwrap_or_default();
    format!("{error}{reason}; use the form `postgresql://user:password@host:5432/database`")
}

fn client(check: Check, roots: Option<&str>) -> Result<ClientConfig, String> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    if check == Check::None && roots.is_none() {
        let unchecked = Arc::new(Unchecked(provider));
        return Ok(builder.dangerous().with_custom_certificate_verifier(unchecked).with_no_client_auth());
    }
    let mut store = RootCertStore::empty();
    match roots {
        Some(path) => {
            let certificates = CertificateDer::pem_file_iter(path)
                .and_then(Iterator::collect::<Result<Vec<_>, _>>)
                .map_err(|error| format!("cannot read the certificates in `{path}`: {error}"))?;
            store.add_parsable_certificates(certificates);
        }
        None => {
            store.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
    }
    Ok(builder.with_root_certificates(store).with_no_client_auth())
}

/// Takes any certificate. The connection is encrypted, but the server may be another one.
#[derive(Debug)]
struct Unchecked(Arc<CryptoProvider>);

impl ServerCertVerifier for Unchecked {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(url: &str) -> String {
        match Address::parse(url, "openprose".to_owned(), None) {
            Ok(address) => format!("{address}, {:?}", address.config.get_ssl_mode()),
            Err(why) => why,
        }
    }

    #[test]
    fn addresses_are_shown_without_passwords() {
        assert_eq!(shown("postgresql://ann:secret@db.example:6432/prose"), "db.example:6432/prose, Prefer");
        assert_eq!(shown("postgres://ann:secret@db.example"), "db.example:5432/ann, Prefer");
        assert_eq!(shown("host=/run/postgresql dbname=prose user=ann"), "/run/postgresql:5432/prose, Prefer");
        assert_eq!(shown("postgresql://ann@h/p?sslmode=verify-full"), "h:5432/p, Require");
        assert_eq!(shown("postgresql://ann@h/p?sslmode=disable"), "h:5432/p, Disable");
    }

    #[test]
    fn what_is_wrong_with_an_address_is_told_without_its_text() {
        for url in ["postgresql://ann:secret@h:port/p", "secret", "postgresql://ann:secret@h/p?colour=red"] {
            let why = shown(url);
            assert!(!why.contains("secret") && why.contains("use the form `postgresql://"), "{why}");
        }
        let missing = shown("postgresql://ann:secret@h/p?sslmode=verify-full&sslrootcert=/none%20here.pem");
        assert!(missing.starts_with("cannot read the certificates in `/none here.pem`: "), "{missing}");
        assert!(Address::parse("postgresql://ann@h/p", "Drop \"it\"".to_owned(), None).is_err());
    }
}

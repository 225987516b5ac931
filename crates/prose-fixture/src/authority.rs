//! Servers with TLS whose certificates are those of an authority that is in no store of the system.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair, date_time_ymd};
use tempfile::TempDir;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::{ServerConfig, crypto, pki_types::PrivateKeyDer};

/// The last year of certificates that have not expired.
const FAR: i32 = 2100;

/// An authority that nobody knows.
#[derive(Debug)]
pub struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    folder: TempDir,
}

impl Authority {
    /// Makes an authority.
    #[expect(clippy::new_without_default, reason = "each is another one")]
    pub fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).expect("no name is wrong");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(params, key()).expect("it can be signed");
        let folder = tempfile::tempdir().expect("a folder can be made");
        fs::write(folder.path().join("ca.pem"), issuer.pem()).expect("the folder is writable");
        Self { issuer, folder }
    }

    /// The file with its certificate, in PEM.
    pub fn certificate(&self) -> PathBuf {
        self.folder.path().join("ca.pem")
    }

    /// The folder with [`Self::certificate`].
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// What accepts clients for hosts. `protocols` are those of which one is negotiated, such as `h2`.
    pub fn acceptor(&self, hosts: &[&str], protocols: &[&str]) -> TlsAcceptor {
        self.acceptor_until(FAR, hosts, protocols)
    }

    /// The same with a certificate that expires when a year begins.
    pub fn acceptor_until(&self, year: i32, hosts: &[&str], protocols: &[&str]) -> TlsAcceptor {
        let hosts: Vec<String> = hosts.iter().map(|host| (*host).to_owned()).collect();
        let mut params = CertificateParams::new(hosts).expect("they are names or addresses");
        params.not_before = date_time_ymd(2020, 1, 1);
        params.not_after = date_time_ymd(year, 1, 1);
        let key = key();
        let certificate = params.signed_by(&key, &self.issuer).expect("it can be signed");
        let private = PrivateKeyDer::try_from(key.serialize_der()).expect("it is a key");
        let mut config = ServerConfig::builder_with_provider(Arc::new(crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("the provider has them")
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], private)
            .expect("the key is that of the certificate");
        config.alpn_protocols = protocols.iter().map(|protocol| protocol.as_bytes().to_vec()).collect();
        TlsAcceptor::from(Arc::new(config))
    }
}

fn key() -> KeyPair {
    KeyPair::generate().expect("a key can be made")
}

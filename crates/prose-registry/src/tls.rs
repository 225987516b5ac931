//! The trusted certificates.
//!
//! The certificates of the system count, or those of `SSL_CERT_FILE` and `SSL_CERT_DIR` if these are set, so that an administrator
//! can add and withdraw some. A system without any, such as a fresh Debian without `ca-certificates`, gets those that Mozilla
//! trusts, which are built in. `PROSE_EXTRA_CA_CERTS` adds those of a company to either.
//!
//! The cryptography is that of ring: unlike AWS-LC it needs neither CMake nor NASM where the program is built.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::{self, PemObject};
use rustls::{ClientConfig, RootCertStore};

/// The environment variable with the path of a file of additional trusted certificates, in PEM.
pub const EXTRA_CA: &str = "PROSE_EXTRA_CA_CERTS";

/// The TLS configuration for reqwest, or why it cannot be created.
pub fn config(extra_ca: Option<&PathBuf>) -> Result<ClientConfig, String> {
    config_with(extra_ca.map(|path| (EXTRA_CA, path.as_path())))
}

/// The same with a file of additional certificates that another variable names.
pub fn config_with(extra_ca: Option<(&str, &Path)>) -> Result<ClientConfig, String> {
    let mut roots = roots(rustls_native_certs::load_native_certs().certs);
    if let Some((variable, path)) = extra_ca {
        let unusable = |error: String| {
            format!("the certificates of {variable} in {} cannot be used: {error}", path.display())
        };
        let certificates: Result<Vec<_>, _> = CertificateDer::pem_file_iter(path).and_then(Iterator::collect);
        let certificates = certificates.map_err(|error| {
            unusable(match error {
                pem::Error::Io(error) => error.to_string(),
                // What the library says has bytes of the file as numbers.
                _ => "it is not complete PEM".to_owned(),
            })
        })?;
        let (added, _) = roots.add_parsable_certificates(certificates);
        if added == 0 {
            return Err(unusable("there is none in PEM".to_owned()));
        }
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

fn roots(of_system: Vec<CertificateDer<'static>>) -> RootCertStore {
    let mut roots = RootCertStore::empty();
    // A single certificate that cannot be read makes none of the others useless.
    if roots.add_parsable_certificates(of_system).0 == 0 {
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    roots
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_without_certificates_gets_those_that_are_built_in() {
        assert!(roots(Vec::new()).len() > 50);
        assert!(roots(vec![CertificateDer::from(vec![1, 2, 3])]).len() > 50);
    }
}

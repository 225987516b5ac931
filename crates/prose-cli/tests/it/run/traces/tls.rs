//! Collectors that are reached over TLS.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::thread;

use expect_test::{Expect, expect};
use prose_fixture::Authority;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};

use super::collector::{Answer, Collector};
use super::{run, workspace};
use crate::common::Run;

/// What stands before a server that takes no TLS, as proxies do. Its authority is in no store of the system.
pub(super) struct TlsProxy {
    pub(super) endpoint: String,
    authority: Authority,
}

impl TlsProxy {
    /// `protocols` are those of which one is negotiated, such as `h2`.
    pub(super) fn start(server: SocketAddr, protocols: &[&str]) -> Self {
        let authority = Authority::new();
        let acceptor = authority.acceptor(&["localhost"], protocols);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).expect("a port is free");
        let port = listener.local_addr().expect("it has an address").port();
        thread::spawn(move || {
            runtime.block_on(async move {
                while let Ok((client, _)) = listener.accept().await {
                    let acceptor = acceptor.clone();
                    tokio::spawn(async move {
                        // A client that does not trust the certificate closes the connection.
                        let Ok(mut client) = acceptor.accept(client).await else { return };
                        let mut server = TcpStream::connect(server).await.expect("the server listens");
                        copy_bidirectional(&mut client, &mut server).await.ok();
                    });
                }
            });
        });
        Self { endpoint: format!("https://localhost:{port}"), authority }
    }

    /// The file with the certificate of its authority.
    pub(super) fn certificate(&self) -> PathBuf {
        self.authority.certificate()
    }
}

#[test]
fn a_collector_with_a_certificate_of_the_user_is_trusted() {
    let collector = Collector::start(Answer::Status(200));
    let proxy = TlsProxy::start(collector.address, &["http/1.1"]);
    let workspace = workspace("session \"One\"\n");
    let mut trusted = run(&workspace, &proxy.endpoint);
    let ended = Run::of(trusted.env("OTEL_EXPORTER_OTLP_CERTIFICATE", proxy.certificate())).ended(0);
    assert_eq!(ended.stderr, "");
    expect![[r#"
        invoke_workflow main.prose
          invoke_agent
    "#]]
    .assert_eq(&collector.spans().tree(&[]));
    let unknown = Run::of(&mut run(&workspace, &proxy.endpoint)).ended(0);
    expect![[r#"
        warning: traces were not sent to ADDRESS: cannot connect, no answer, or its certificate is not trusted
    "#]]
    .assert_eq(&unknown.stderr.replace(&proxy.endpoint, "ADDRESS"));
    assert!(collector.spans().0.is_empty());
}

#[test]
fn certificates_that_cannot_be_used_are_a_warning_with_the_variable_that_names_them() {
    let workspace = workspace("session \"One\"\n");
    let check = |certificate: &str, expected: Expect| {
        let mut command = run(&workspace, "https://localhost:1");
        let ended = Run::of(command.env("OTEL_EXPORTER_OTLP_CERTIFICATE", certificate)).ended(0);
        expected.assert_eq(&ended.stderr);
    };
    check(
        "nowhere.pem",
        expect![[r#"
        warning: traces and metrics are incomplete: the certificates of OTEL_EXPORTER_OTLP_CERTIFICATE in nowhere.pem cannot be used: No such file or directory (os error 2)
    "#]],
    );
    check(
        "main.prose",
        expect![[r#"
        warning: traces and metrics are incomplete: the certificates of OTEL_EXPORTER_OTLP_CERTIFICATE in main.prose cannot be used: there is none in PEM
    "#]],
    );
}

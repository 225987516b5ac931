//! `prose serve-registry`: a registry for development.

use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr};

use anyhow::Context;
use prose_registry::RegistryServer;

use crate::cli::ServeRegistryArgs;
use crate::status::Status;
use crate::terminal::{Terminal, one_line};
use prose_project::imports::block_on;

/// Serves until the process is ended.
pub(crate) fn run(args: &ServeRegistryArgs, terminal: &Terminal) -> anyhow::Result<Status> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, args.port.unwrap_or(0)));
    block_on(async {
        let dir = args.dir.display();
        let server = RegistryServer::bind(&args.dir, address)
            .await
            .with_context(|| format!("cannot serve `{dir}` at {address}"))?;
        let mut stdout = terminal.stdout();
        writeln!(
            stdout,
            "Serving {0} at http://{1}/ (stop with Ctrl-C). To import from it, add to `prose.toml`:\n\n[registry]\nurl = \"http://{1}/\"",
            one_line(&dir.to_string()),
            server.address()?
        )?;
        stdout.flush()?;
        drop(stdout);
        server.run().await;
        Ok(Status::Clean)
    })?
}

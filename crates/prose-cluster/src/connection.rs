//! What a process of a cluster sends to the server.

use std::collections::HashMap;

use prose_state::protocol::PLANS;
use prose_state::{Access, Server, ServerConnection, StateError, call_of};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Error, Notification, Row, Statement};

use crate::error::ClusterError;

/// The statements whose outcomes have to be on the disk read the same index whatever their parameters are: to plan one takes longer than to execute it.
const ONE_PLAN: &str = "SET plan_cache_mode TO force_generic_plan";

/// A connection on which each statement is prepared once.
pub(crate) struct Connection {
    client: Client,
    statements: HashMap<&'static str, Statement>,
    /// Whether functions stand for the statements of a worker, whose user may not use the tables.
    access: Access,
    /// The processes of a cluster wake one another on a channel of their schema.
    channel: String,
}

impl Connection {
    /// Connects to a server. The second part receives what others say.
    pub(crate) async fn open(server: &Server) -> Result<(Self, UnboundedReceiver<Notification>), StateError> {
        let ServerConnection { client, notifications } = server.connect().await?;
        let channel = format!("prose_{}", server.schema());
        let access = Access::Tables;
        Ok((Self { client, statements: HashMap::new(), access, channel }, notifications))
    }

    /// Wakes other processes.
    pub(crate) async fn notify(&mut self, what: &str) -> Result<(), Error> {
        let channel = self.channel.clone();
        self.query("SELECT pg_notify($1::text, $2::text)", &[&channel, &what]).await.map(drop)
    }

    /// Executes a statement.
    pub(crate) async fn query(
        &mut self,
        sql: &'static str,
        parameters: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, Error> {
        let statement = match self.statements.get(sql) {
            Some(statement) => statement.clone(),
            None => {
                let call = match self.access {
                    Access::Tables => None,
                    Access::Functions => call_of(sql),
                };
                let statement = self.client.prepare(call.as_deref().unwrap_or(sql)).await?;
                self.statements.insert(sql, statement.clone());
                statement
            }
        };
        self.client.query(&statement, parameters).await
    }
}

/// The connections of a worker.
pub(crate) struct Connections {
    /// Where what a server that crashes loses of its last moment is done again.
    quick: Connection,
    /// Where what is confirmed is on the disk of the server.
    sure: Connection,
    /// Whether notifications are received.
    is_listening: bool,
}

impl Connections {
    /// Connects to a server. The second part receives what others say.
    pub(crate) async fn open(server: &Server) -> Result<(Self, UnboundedReceiver<Notification>), StateError> {
        let (mut quick, notifications) = Connection::open(server).await?;
        let (mut sure, _) = Connection::open(server).await?;
        let access = server.access(&quick.client).await?;
        (quick.access, sure.access) = (access, access);
        Ok((Self { quick, sure, is_listening: false }, notifications))
    }

    /// Whether runs can be led, or only requests be performed.
    pub(crate) fn can_lead(&self) -> bool {
        self.quick.access == Access::Tables
    }

    /// Prepares the connections, and receives notifications from now on.
    pub(crate) async fn begin(&mut self) -> Result<(), Error> {
        // A process that was stopped while it had locked quotas must not hold up the claims of all others.
        let set = format!(
            "{PLANS}; SET synchronous_commit TO off; SET idle_in_transaction_session_timeout TO '10s'"
        );
        self.quick.client.batch_execute(&set).await?;
        self.sure.client.batch_execute(&format!("{PLANS}; {ONE_PLAN}")).await?;
        self.listen().await
    }

    /// Whether notifications are received.
    pub(crate) fn is_listening(&self) -> bool {
        self.is_listening
    }

    /// From now on, notifications are received.
    pub(crate) async fn listen(&mut self) -> Result<(), Error> {
        self.quick.client.batch_execute(&format!("LISTEN \"{}\"", self.quick.channel)).await?;
        self.is_listening = true;
        Ok(())
    }

    /// From now on, no notifications are received, which spares the server a signal to this process for each.
    pub(crate) async fn unlisten(&mut self) -> Result<(), Error> {
        self.quick.client.batch_execute("UNLISTEN *").await?;
        self.is_listening = false;
        Ok(())
    }

    /// Wakes other processes.
    pub(crate) async fn notify(&mut self, what: &str) -> Result<(), Error> {
        self.quick.notify(what).await
    }

    /// Executes a statement that is sent again, or is not needed any more, where the server crashes.
    pub(crate) async fn query(
        &mut self,
        sql: &'static str,
        parameters: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, Error> {
        self.quick.query(sql, parameters).await
    }

    /// Executes a statement whose result survives a crash of the server.
    pub(crate) async fn query_surely(
        &mut self,
        sql: &'static str,
        parameters: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, Error> {
        self.sure.query(sql, parameters).await
    }
}

/// Executes one statement on a connection of its own, and then wakes other processes, if it is said by what.
pub(crate) fn execute(
    server: &Server,
    sql: &'static str,
    parameters: &[&(dyn ToSql + Sync)],
    wakes: Option<&str>,
) -> Result<Vec<Row>, ClusterError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let (mut connection, _) = Connection::open(server).await?;
        let failed = ClusterError::of(server);
        let rows = connection.query(sql, parameters).await.map_err(&failed)?;
        if let Some(what) = wakes {
            connection.notify(what).await.map_err(&failed)?;
        }
        Ok(rows)
    })
}

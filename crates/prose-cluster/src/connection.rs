//! What a worker sends to its server.

use prose_state::{Server, ServerConnection, StateError};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Error, Row};

/// A connection that statements are prepared on once.
pub(crate) struct Connection {
    client: Client,
    statements: std::collections::HashMap<&'static str, tokio_postgres::Statement>,
    channel: String,
}

/// The channel that the processes of a cluster wake one another on.
fn channel(server: &Server) -> String {
    format!("prose_{}", server.schema())
}

impl Connection {
    /// Connects to a server. The second part receives what others say.
    pub(crate) async fn open(
        server: &Server,
    ) -> Result<(Self, tokio::sync::mpsc::UnboundedReceiver<tokio_postgres::Notification>), StateError> {
        let ServerConnection { client, notifications } = server.connect().await?;
        let statements = std::collections::HashMap::new();
        Ok((Self { client, statements, channel: channel(server) }, notifications))
    }

    /// From now on, notifications are received.
    pub(crate) async fn listen(&self) -> Result<(), Error> {
        self.client.batch_execute(&format!("LISTEN \"{}\"", self.channel)).await
    }

    /// Wakes other processes.
    pub(crate) async fn notify(&mut self, what: &str) -> Result<(), Error> {
        let channel = self.channel.clone();
        self.query("SELECT pg_notify($1::text, $2::text)", &[&channel, &what]).await.map(drop)
    }

    pub(crate) async fn query(
        &mut self,
        sql: &'static str,
        parameters: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, Error> {
        let statement = match self.statements.get(sql) {
            Some(statement) => statement.clone(),
            None => {
                let statement = self.client.prepare(sql).await?;
                self.statements.insert(sql, statement.clone());
                statement
            }
        };
        self.client.query(&statement, parameters).await
    }
}

//! Requests to the client.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::protocol::client::Client;
use crate::protocol::notification::{Notification, next_id};

/// The result of a request to the client; none if the client refused it or is gone.
type Reply = oneshot::Sender<Option<Value>>;

/// The requests to the client that wait for a response.
#[derive(Debug, Clone)]
pub(crate) struct ClientRequests {
    waiting: Arc<Mutex<HashMap<i64, Reply>>>,
    client: Client,
}

impl ClientRequests {
    pub(crate) fn new(client: Client) -> Self {
        Self { waiting: Arc::default(), client }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<i64, Reply>> {
        // The map is whole after each of the operations below.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a request to the client. Dropping the future cancels the request.
    pub(crate) async fn ask(&self, method: &'static str, params: Value) -> Option<Value> {
        let id = next_id();
        let (reply, answer) = oneshot::channel();
        self.lock().insert(id, reply);
        let _asked = PendingRequest { id, client_requests: self };
        self.client.notify(vec![Notification { id: Some(id), ..Notification::new(method, &params) }]);
        answer.await.ok().flatten()
    }

    /// Receives the response to a request; none if the client refused it.
    pub(crate) fn answered(&self, id: i64, result: Option<Value>) {
        if let Some(reply) = self.lock().remove(&id) {
            // The receiver may have been dropped meanwhile.
            let _ = reply.send(result);
        }
    }
}

/// A request that is cancelled when it is dropped without a response.
struct PendingRequest<'a> {
    id: i64,
    client_requests: &'a ClientRequests,
}

impl Drop for PendingRequest<'_> {
    fn drop(&mut self) {
        if self.client_requests.lock().remove(&self.id).is_some() {
            let params = json!({ "id": self.id });
            let cancel = Notification::new("$/cancelRequest", &params);
            self.client_requests.client.notify(vec![cancel]);
        }
    }
}

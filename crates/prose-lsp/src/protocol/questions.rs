//! Requests to the client whose answers matter.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::protocol::client::Client;
use crate::protocol::notification::{Notification, next_id};

/// What the client answers; none if it refuses or is gone.
type Reply = oneshot::Sender<Option<Value>>;

/// Asks the client, and knows who waits for the answer.
#[derive(Debug, Clone)]
pub(crate) struct Questions {
    waiting: Arc<Mutex<HashMap<i64, Reply>>>,
    client: Client,
}

impl Questions {
    pub(crate) fn new(client: Client) -> Self {
        Self { waiting: Arc::default(), client }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<i64, Reply>> {
        // The map is whole after each of the operations below.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks the client. If nobody waits for the answer any more, the request is taken back.
    pub(crate) async fn ask(&self, method: &'static str, params: Value) -> Option<Value> {
        let id = next_id();
        let (reply, answer) = oneshot::channel();
        self.lock().insert(id, reply);
        let _asked = Asked { id, questions: self };
        self.client.notify(vec![Notification { id: Some(id), ..Notification::new(method, &params) }]);
        answer.await.ok().flatten()
    }

    /// Takes the answer of the client to the request of that number; none if it refuses.
    pub(crate) fn answered(&self, id: i64, result: Option<Value>) {
        if let Some(reply) = self.lock().remove(&id) {
            // Who asked may have gone at this moment.
            let _ = reply.send(result);
        }
    }
}

/// A request that is taken back when it is dropped without an answer.
struct Asked<'a> {
    id: i64,
    questions: &'a Questions,
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        if self.questions.lock().remove(&self.id).is_some() {
            let params = json!({ "id": self.id });
            let cancel = Notification::new("$/cancelRequest", &params);
            self.questions.client.notify(vec![cancel]);
        }
    }
}

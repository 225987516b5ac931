//! The life of the connection to one client.

use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, BufWriter};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::Instant;

use crate::dispatch::{Dispatcher, Event};
use crate::mailbox::Mailbox;
use crate::messages::{Message, SessionMessage};
use crate::owner::state::Owner;
use crate::protocol::client::{Client, Outgoing};
use crate::protocol::client_requests::ClientRequests;
use crate::protocol::framing::write_frame;
use crate::protocol::json::Json;
use crate::protocol::recording::{Recorder, Side};
use crate::protocol::transport::receive_messages;
use crate::runs::registry::Runs;

/// How the connection ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// The client said `exit`, or closed the input, after `shutdown`.
    Orderly,
    /// The client said `exit`, or closed the input, without `shutdown`.
    Abrupt,
    /// The client's process is gone.
    ParentDied,
}

impl End {
    pub(crate) fn is_orderly(self) -> bool {
        self == End::Orderly
    }
}

/// How long a client that said `exit` has for reading its last answers. It does not wait for any.
const AFTER_EXIT: Duration = Duration::from_secs(2);
/// How long a client that closed the input has for reading its last answers, which it may well be waiting for.
const AFTER_END_OF_INPUT: Duration = Duration::from_secs(30);

const BUFFER: usize = 64 * 1024;

/// Serves one client until it goes away.
pub(crate) async fn serve(
    input: impl AsyncRead + Unpin,
    output: impl AsyncWrite + Unpin,
    recorder: Option<Recorder>,
) -> End {
    let (client, outgoing) = Client::new();
    let (to_owner, messages) = mpsc::channel();
    let (events_sender, mut events) = tokio::sync::mpsc::unbounded_channel();
    let client_requests = ClientRequests::new(client.clone());
    let runs = Runs::new(Mailbox::new(&to_owner), client.clone(), client_requests.clone());
    let owner = Owner::new(&to_owner, client.clone(), Arc::clone(&runs));
    let owner_thread = std::thread::Builder::new().name("owner".to_owned());
    if let Err(error) = owner_thread.spawn(move || owner.run(&messages)) {
        tracing::error!("the server cannot start a thread: {error}");
        return End::Abrupt;
    }
    let _end_of_owner = EndOfOwner(to_owner.clone());

    let dispatcher = Arc::new(Mutex::new(Dispatcher::new(
        to_owner.clone(),
        client.clone(),
        client_requests,
        events_sender.clone(),
    )));
    let receive = async {
        let receiver = Arc::clone(&dispatcher);
        let receive = move |message| receiver.lock().unwrap_or_else(PoisonError::into_inner).receive(message);
        if receive_messages(input, recorder.as_ref(), receive).await {
            let _ = events_sender.send(Event::EndOfInput);
            let _ = to_owner.send(SessionMessage::EndOfInput.into());
        }
        // The transport has dropped its share.
        if let Some(dispatcher) = Arc::into_inner(dispatcher) {
            dispatcher.into_inner().unwrap_or_else(PoisonError::into_inner).finish().await;
        }
        client.end();
        // What was sent last is still to be written.
        std::future::pending::<()>().await;
    };

    let mut shut_down = false;
    let leaving = async {
        let mut deadline = None;
        loop {
            let event = match deadline {
                None => Ok(events.recv().await),
                Some(deadline) => tokio::time::timeout_at(deadline, events.recv()).await,
            };
            match event {
                Ok(Some(Event::ShutDown)) => shut_down = true,
                Ok(Some(Event::Exit)) => deadline = Some(Instant::now() + AFTER_EXIT),
                Ok(Some(Event::EndOfInput)) => {
                    deadline = deadline.or(Some(Instant::now() + AFTER_END_OF_INPUT));
                }
                Ok(Some(Event::ParentDied)) => return true,
                Ok(None) | Err(_) => return false,
            }
        }
    };
    let parent_died = tokio::select! {
        () = write(output, outgoing, recorder.as_ref()) => false,
        () = receive => false,
        parent_died = leaving => parent_died,
    };
    // Agents must not continue without a client. Their results are on the disk when this returns.
    runs.stop_all();
    runs.wait_until_ended();
    while let Ok(event) = events.try_recv() {
        shut_down |= matches!(event, Event::ShutDown);
    }
    match (parent_died, shut_down) {
        (true, _) => End::ParentDied,
        (false, true) => End::Orderly,
        (false, false) => End::Abrupt,
    }
}

/// Ends the owner with the connection. The owner has a sender to itself, so it does not notice that there is no other one.
struct EndOfOwner(mpsc::Sender<Message>);

impl Drop for EndOfOwner {
    fn drop(&mut self) {
        let _ = self.0.send(SessionMessage::End.into());
    }
}

/// Writes messages to the client until there are no more.
async fn write(
    output: impl AsyncWrite + Unpin,
    mut outgoing: UnboundedReceiver<Outgoing>,
    recorder: Option<&Recorder>,
) {
    let mut output = BufWriter::with_capacity(BUFFER, output);
    let mut is_reachable = true;
    loop {
        // Messages that are there already go out together: each flush wakes up the client.
        let next = match outgoing.try_recv() {
            Ok(next) => Some(next),
            Err(_) => {
                if is_reachable && let Err(error) = output.flush().await {
                    tracing::warn!("cannot reach the client: {error}");
                    is_reachable = false;
                }
                outgoing.recv().await
            }
        };
        let Some(Outgoing::Messages(bodies)) = next else { break };
        for body in bodies.into_iter().map(Json::into_pieces) {
            if let Some(recorder) = recorder {
                recorder.record(Side::Server, &body.concat());
            }
            if tracing::enabled!(tracing::Level::TRACE) {
                tracing::trace!("-> {}", String::from_utf8_lossy(&body.concat()));
            }
            if is_reachable && let Err(error) = write_frame(&mut output, &body).await {
                tracing::warn!("cannot reach the client: {error}");
                is_reachable = false;
            }
        }
    }
    if is_reachable && let Err(error) = output.flush().await {
        tracing::warn!("cannot reach the client: {error}");
    }
}

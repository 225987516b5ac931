//! A thread for work that waits: for the network, or for time to pass.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::mailbox::Mailbox;

type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Runs tasks concurrently on one thread, which is started with the first task.
#[derive(Default)]
pub(crate) struct Background {
    tasks: Option<UnboundedSender<Task>>,
}

impl Background {
    /// Runs a task.
    pub(crate) fn spawn(&mut self, task: impl Future<Output = ()> + Send + 'static) {
        let tasks = self.tasks.get_or_insert_with(|| {
            let (tasks, received) = unbounded_channel();
            let thread = std::thread::Builder::new().name("background".to_owned());
            if let Err(error) = thread.spawn(move || run(received)) {
                tracing::error!("cannot start the thread that fetches imported programs: {error}");
            }
            tasks
        });
        // Without the thread the task never runs, which the log reports.
        let _ = tasks.send(Box::pin(task));
    }

    /// Sends the owner a message after a pause.
    pub(crate) fn send_after<M: Send + 'static>(
        &mut self,
        pause: Duration,
        mailbox: &Mailbox<M>,
        message: M,
    ) {
        let mailbox = mailbox.clone();
        self.spawn(async move {
            tokio::time::sleep(pause).await;
            mailbox.send(message);
        });
    }
}

/// Runs the tasks until the sender is dropped.
fn run(mut tasks: UnboundedReceiver<Task>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    match runtime {
        Ok(runtime) => runtime.block_on(async {
            while let Some(task) = tasks.recv().await {
                tokio::spawn(task);
            }
        }),
        Err(error) => tracing::error!("cannot start the runtime that fetches imported programs: {error}"),
    }
}

//! The state of the server, in parts.

use std::sync::Arc;
use std::sync::mpsc::Sender;

use prose_analysis::AnalysisHost;

use crate::documents::open::OpenDocuments;
use crate::documents::pauses::Pauses;
use crate::documents::programs::Programs;
use crate::imports::fetcher::Fetcher;
use crate::mailbox::Mailbox;
use crate::messages::Message;
use crate::owner::publisher::Publisher;
use crate::owner::releases::Releases;
use crate::protocol::client::Client;
use crate::protocol::session::Session;
use crate::reads::requests::Requests;
use crate::runs::registry::Runs;
use crate::testing::results::TestFiles;
use crate::workspace::scanner::Scanner;
use crate::workspace::settings::Settings;

/// The state of the server, owned by one thread.
pub(crate) struct Owner {
    pub(super) session: Arc<Session>,
    pub(super) analysis: Analysis,
    pub(super) documents: OpenDocuments,
    pub(super) requests: Requests,
    pub(super) fetcher: Fetcher,
    pub(super) scanner: Scanner,
    pub(super) publisher: Publisher,
    pub(super) releases: Releases,
    pub(super) runs: Arc<Runs>,
    pub(super) tests: TestFiles,
    pub(super) pauses: Pauses,
}

/// The analysis, the settings that programs are under, and the names of programs in the client.
pub(super) struct Analysis {
    pub(super) host: AnalysisHost,
    pub(super) settings: Settings,
    pub(super) programs: Arc<Programs>,
}

impl Owner {
    /// The state of a new session. Everything that works on other threads reports to `owner`.
    pub(crate) fn new(owner: &Sender<Message>, client: Client, runs: Arc<Runs>) -> Self {
        Self {
            session: Arc::default(),
            analysis: Analysis {
                host: AnalysisHost::default().with_listing(prose_config::programs_in),
                settings: Settings::default(),
                programs: Arc::default(),
            },
            documents: OpenDocuments::default(),
            requests: Requests::new(Mailbox::new(owner)),
            fetcher: Fetcher::new(Mailbox::new(owner)),
            scanner: Scanner::new(Mailbox::new(owner)),
            publisher: Publisher::new(client),
            releases: Releases::new(Mailbox::new(owner)),
            runs,
            tests: TestFiles::new(Mailbox::new(owner)),
            pauses: Pauses::new(Mailbox::new(owner)),
        }
    }
}

//! A project with a server, and a client of it.

use std::path::Path;

use prose_config::Config;
use prose_project::trust::TrustStore;
use prose_run::{TrustSubject, UserFiles, UserTrust};
use prose_serve::Options;
use prose_serve::mcp::serve;
use rmcp::model::{CallToolRequestParams, CallToolResult};
use rmcp::service::{RoleClient, RunningService};
use rmcp::{ServiceExt, model::object};
use serde_json::Value;
use tempfile::TempDir;
use tokio::task::JoinHandle;

/// Where the inputs of the runs in a folder come from, as their journals have it.
pub(crate) fn sources_of_inputs(folder: &Path) -> Vec<Value> {
    let runs = std::fs::read_dir(folder.join(".prose/runs")).unwrap();
    let journals =
        runs.map(|run| std::fs::read_to_string(run.unwrap().path().join("journal.jsonl")).unwrap());
    let journals: String = journals.collect();
    let events = journals.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let inputs = events.filter(|event| event["event"] == "effect" && event["effect"] == "input");
    inputs.map(|mut input| input["work"]["given_by"]["from"].take()).collect()
}

/// A folder with files, a server for it, and a client.
pub(crate) struct Served {
    pub(crate) folder: TempDir,
    user: TempDir,
    pub(crate) client: RunningService<RoleClient, ()>,
    server: JoinHandle<std::io::Result<()>>,
}

impl Served {
    /// Serves a folder with these files: paths and texts.
    pub(crate) async fn new(files: &[(&str, &str)]) -> Self {
        let (folder, user) = (prose_fixture::tempdir().unwrap(), prose_fixture::tempdir().unwrap());
        for (path, text) in files {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        Self::of_folder(folder, user).await
    }

    /// Closes the connection and opens another one, as a client that is started again.
    pub(crate) async fn restarted(self) -> Self {
        let Self { folder, user, client, server } = self;
        client.cancel().await.unwrap();
        server.await.unwrap().unwrap();
        Self::of_folder(folder, user).await
    }

    async fn of_folder(folder: TempDir, user: TempDir) -> Self {
        let (near, far) = tokio::io::duplex(1 << 20);
        let trust = UserTrust { files: UserFiles::at(user.path()), is_trusted: false };
        let options = Options { folder: folder.path().to_owned(), offline: true, trust };
        let (input, output) = tokio::io::split(far);
        let server = tokio::spawn(serve(options, input, output));
        let client = ().serve(near).await.unwrap();
        Self { folder, user, client, server }
    }

    /// Has the user trust the project with these settings.
    pub(crate) fn trust(&self, settings: &str) {
        self.trust_at("", settings);
    }

    /// Has the user trust a project in the folder.
    pub(crate) fn trust_at(&self, folder: &str, settings: &str) {
        let subject = TrustSubject::new(&self.path().join(folder), &Config::parse(settings).0);
        TrustStore::in_files(UserFiles::at(self.user.path())).grant(&subject).unwrap();
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) async fn call(&self, tool: &'static str, arguments: Value) -> CallToolResult {
        let request = CallToolRequestParams::new(tool).with_arguments(object(arguments));
        self.client.call_tool(request).await.unwrap()
    }

    /// The text of a result, without the path of the folder; an error is marked.
    pub(crate) async fn text(&self, tool: &'static str, arguments: Value) -> String {
        let result = self.call(tool, arguments).await;
        let folder = self.folder.path().canonicalize().unwrap();
        let text = text_of(&result).replace(&*folder.to_string_lossy(), "$DIR");
        if result.is_error == Some(true) { format!("error: {text}") } else { text }
    }

    /// Ends the connection, and waits until the server has ended.
    pub(crate) async fn close(self) {
        self.client.cancel().await.unwrap();
        self.server.await.unwrap().unwrap();
    }
}

pub(crate) fn text_of(result: &CallToolResult) -> String {
    result.content.iter().filter_map(|content| Some(content.as_text()?.text.clone())).collect()
}

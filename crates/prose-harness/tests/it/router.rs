//! Several harnesses in one program.

use std::collections::BTreeMap;
use std::sync::Arc;

use prose_harness::command::CommandSettings;
use prose_harness::drivers::provider::{KnownProvider, ProviderSettings};
use prose_harness::registry::{HarnessSettings, Route, harness, used_harnesses};
use prose_vm::effect::{Effect, PermissionRule, SessionTask};
use prose_vm::harness::RunFolders;
use serde_json::Value;

use crate::provider::server::{Does, Server, openai};
use crate::support::*;

async fn server() -> Server {
    Server::start(|_, asked| {
        let is_judge = asked.body["messages"].to_string().contains("Is this condition met?");
        Does::Streams(openai(if is_judge {
            "{\"answer\":\"yes\",\"reason\":\"so\"}"
        } else {
            "from the provider"
        }))
    })
    .await
}

fn settings(server: &Server) -> HarnessSettings {
    let to = |harness: Option<&str>, model: Option<&str>| Route {
        harness: harness.map(str::to_owned),
        model: model.map(str::to_owned),
    };
    HarnessSettings {
        command: Some(CommandSettings::new("cat")),
        provider: ProviderSettings {
            base_url: Some(server.url.clone()),
            model: Some("small".to_owned()),
            ..ProviderSettings::new(KnownProvider::named("compatible").unwrap())
        },
        judge: to(Some("provider"), Some("judge")),
        agents: BTreeMap::from([
            ("writer".into(), to(Some("provider"), Some("best"))),
            ("critic".into(), to(None, None)),
        ]),
        models: BTreeMap::from([("best".to_owned(), "large".to_owned())]),
        ..HarnessSettings::new(RunFolders { root: ".".into(), run: None })
    }
}

#[cfg(unix)]
#[tokio::test]
async fn agents_and_decisions_have_backends_of_their_own() {
    let server = server().await;
    let harness = harness("command", &settings(&server)).unwrap();
    assert_eq!(harness.name(), "command");
    assert_eq!(said(&*harness, &session_of("writer", "s0", "Write")).await, "from the provider");
    assert!(said(&*harness, &session_of("critic", "s1", "Judge")).await.starts_with("Judge"));
    assert_eq!(said(&*harness, &session("s2", "Look")).await, "Look");
    assert_eq!(said(&*harness, &condition("s3", "it is done")).await, "yes: so");
    let models: Vec<Value> = server.asked().iter().map(|asked| asked.body["model"].clone()).collect();
    assert_eq!(models, ["large", "judge"]);
    // What can be enforced is a matter of the harness that runs the session.
    let deny = PermissionRule::Deny;
    let of = |agent| harness.of_agent(agent).unwrap().enforces("write", &deny);
    assert_eq!((of(Some("writer")), of(Some("critic")), of(None)), (true, false, false));
}

#[tokio::test]
async fn the_model_of_the_program_counts_where_settings_name_none() {
    let server = server().await;
    let mut settings = settings(&server);
    settings.agents.insert("writer".into(), Route::default());
    let harness = harness("provider", &settings).unwrap();
    let task = SessionTask { agent: Some("writer".into()), model: Some("exact".into()), ..task("Write") };
    said(&*harness, &request("s0", Effect::Session(Arc::new(task)))).await;
    assert_eq!(server.asked()[0].body["model"], "exact");
}

#[tokio::test]
async fn without_a_model_nothing_else_is_used() {
    let server = server().await;
    let settings = settings(&server);
    let harness = harness("offline", &settings).unwrap();
    assert!(said(&*harness, &session_of("writer", "s0", "Write")).await.contains("[offline]"));
    assert_eq!(used_harnesses("offline", &settings), ["offline"]);
    assert_eq!(used_harnesses("command", &settings), ["command", "provider"]);
    assert!(server.asked().is_empty());
}

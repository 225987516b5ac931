//! The harness `provider`, with a server on this machine in the place of each provider.

use prose_harness::decide::PromptedDecisions;
use prose_harness::drivers::provider::{KnownProvider, Provider, ProviderSettings, Secret};
use prose_tests::agents::{AgentProject, Reports, USAGE, question, recorded, replies, request, task};
use prose_vm::activity::Reporter;
use prose_vm::effect::{Effect, SessionTask};
use prose_vm::harness::Harness;
use std::sync::Arc;

/// A provider of the table, the path that it adds to the address of the server, and that of its requests.
const PROVIDERS: [(&str, &str, &str); 3] = [
    ("anthropic", "", "/v1/messages"),
    ("openai", "/v1", "/v1/chat/completions"),
    ("google", "/v1beta", "/v1beta/models/"),
];

fn harness(project: &AgentProject, name: &str, path: &str) -> PromptedDecisions<Provider> {
    PromptedDecisions(Provider::new(ProviderSettings {
        base_url: Some(format!("{}{path}", project.provider.address)),
        key: Some(Secret::new("none")),
        ..ProviderSettings::new(KnownProvider::named(name).unwrap())
    }))
}

#[tokio::test]
#[ignore = "needs npm"]
async fn each_provider_answers_a_session_with_its_usage() {
    let project = AgentProject::new(|_| vec![replies("Look into tides", "Tides come and go.")]);
    for (name, path, requests) in PROVIDERS {
        let task = Arc::new(SessionTask {
            system: Some("You are an oceanographer.".into()),
            ..task("Look into tides")
        });
        let (reporter, mut reports) = Reports::new(None);
        let asked = request(Effect::Session(Arc::clone(&task)));
        let reply = harness(&project, name, path).session(&asked, &task, &reporter).await;

        assert_eq!(
            &*reply.unwrap_or_else(|failure| panic!("{name}: {}", failure.message)).text,
            "Tides come and go."
        );
        let work = recorded(&reports.take());
        let usage = work.usage.unwrap_or_else(|| panic!("{name} reports its usage"));
        assert_eq!((usage.input_tokens, usage.output_tokens), (USAGE.input, USAGE.output), "{name}");
        let asked = project.provider.requests(requests);
        assert!(asked.last().unwrap()["body"].to_string().contains("You are an oceanographer."), "{name}");
    }
}

#[tokio::test]
#[ignore = "needs npm"]
async fn r064_each_provider_judges_a_condition() {
    let verdict = r#"{"answer":"yes","reason":"the sand is dry"}"#;
    let project = AgentProject::new(|_| vec![replies("the tide is out", verdict)]);
    for (name, path, _) in PROVIDERS {
        let question = question("the tide is out");
        let asked = request(Effect::Judge(Arc::clone(&question)));
        let verdict = harness(&project, name, path).judge(&asked, &question, &Reporter::silent()).await;
        let verdict = verdict.unwrap_or_else(|failure| panic!("{name}: {}", failure.message));
        assert_eq!((verdict.met, verdict.reason.as_str()), (true, "the sand is dry"), "{name}");
    }
}

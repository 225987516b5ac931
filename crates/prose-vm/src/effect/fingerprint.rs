//! Fingerprints, by which effects are known again after a change of the program (decision 10).

use std::sync::Arc;

use serde::Serialize;
use sha2::{Digest, Sha256};
use smol_str::{SmolStr, format_smolstr};

use super::{ContextItem, Effect, MemoryScope, Permission};

/// The fields of a session that its fingerprint covers, in alphabetical order; fingerprints in journals depend on the order.
#[derive(Serialize)]
struct AskedOfSession<'a> {
    agent: &'a Option<SmolStr>,
    context: Vec<(&'a str, Option<&'a str>, Option<&'a str>)>,
    memory: Option<(MemoryScope, bool, &'a Option<Arc<str>>)>,
    model: &'a Option<SmolStr>,
    permissions: &'a [Permission],
    skills: &'a [SmolStr],
    system: &'a Option<Arc<str>>,
    task: &'a str,
}

/// A hash that identifies the request of an effect after the program has changed (decision 10).
///
/// It excludes where the effect is and how it is performed: paths, names of bindings, numbers of segments and attempts, timeouts and retries. The
/// prompt of a session contains such paths; all its other parts are hashed here.
pub fn fingerprint(effect: &Effect) -> SmolStr {
    fn context(items: &[ContextItem]) -> Vec<(&str, Option<&str>, Option<&str>)> {
        // A digest identifies the value, whether its text is passed or not.
        fn parts(item: &ContextItem) -> (&str, Option<&str>, Option<&str>) {
            let text = item.text.as_deref().filter(|_| item.digest.is_none());
            (item.name.as_str(), text, item.digest.as_deref())
        }
        items.iter().map(parts).collect()
    }

    let asked = match effect {
        Effect::Session(task) => {
            let memory = task.memory.as_ref();
            let asked = AskedOfSession {
                agent: &task.agent,
                context: context(&task.context),
                memory: memory.map(|memory| (memory.place.scope, memory.resumes, &memory.text)),
                model: &task.model,
                permissions: &task.permissions,
                skills: &task.skills,
                system: &task.system,
                task: &task.task,
            };
            serde_json::to_string(&asked).unwrap_or_default()
        }
        Effect::Judge(question) | Effect::Choose(question) | Effect::Extract(question) => {
            serde_json::json!([question.text, question.labels, context(&question.context)]).to_string()
        }
        Effect::Summarise(summary) => {
            serde_json::json!([summary.name, summary.text, summary.extent]).to_string()
        }
        Effect::Input(input) => serde_json::json!([input.name, input.prompt]).to_string(),
        Effect::Memory(place) => serde_json::json!([place.agent, place.scope]).to_string(),
        Effect::File(file) | Effect::FileCheck(file) => file.path.to_string(),
        Effect::Tree(request) => serde_json::to_string(request).unwrap_or_default(),
        Effect::Sleep(duration) => (duration.as_millis() as u64).to_string(),
    };
    first_digits(Sha256::new().chain_update(effect.kind()).chain_update(" ").chain_update(asked))
}

/// The first 16 hexadecimal digits of the SHA-256 of a text.
pub fn digest(text: &str) -> SmolStr {
    first_digits(Sha256::new().chain_update(text))
}

fn first_digits(hash: Sha256) -> SmolStr {
    let hash = hash.finalize();
    let mut first = [0; 8];
    first.copy_from_slice(&hash[..8]);
    format_smolstr!("{:016x}", u64::from_be_bytes(first))
}

//! What is known without asking anybody, and what there is to look up.

use std::sync::Arc;

use prose_analysis::location::{Origin, Remote};
use prose_project::imports::Registries;
use prose_registry::{Cache, Hash, Lock, Locked, Program, Reference, Source, Timestamp, Vendor};

use crate::support::{REGISTRY, RESEARCH};

fn program(path: &str, fetched: &str) -> Program {
    let url = url::Url::parse(REGISTRY).unwrap().join(path).unwrap();
    let source = Source::new(path, url, Hash::of(RESEARCH), fetched.parse().unwrap());
    Program { text: RESEARCH.into(), source }
}

fn remote(registry: &str, path: &str) -> Remote {
    Remote { registry: registry.into(), reference: Reference::parse(path).unwrap() }
}

/// Whether a program is known, and whether it has to be looked up.
fn look(registries: &mut Registries, path: &str) -> (bool, bool) {
    let (known, pending) = registries.look(&remote(REGISTRY, path), &Origin::Local);
    (known.is_some_and(|known| known.program.is_some()), pending.is_some())
}

#[test]
fn what_is_fresh_needs_no_look_up() {
    let cache = Cache::in_memory();
    cache.put(&program("alice/fresh", &Timestamp::now().to_string()));
    cache.put(&program("alice/old", "2020-01-01T00:00:00Z"));
    cache.put(&program("alice/future", "2999-01-01T00:00:00Z"));
    let mut registries = Registries::new(cache);
    assert_eq!(look(&mut registries, "alice/fresh"), (true, false));
    assert_eq!(look(&mut registries, "alice/old"), (true, true));
    assert_eq!(look(&mut registries, "alice/future"), (true, true));
    assert_eq!(look(&mut registries, "alice/unknown"), (false, true));
}

#[test]
fn copies_and_locked_texts_need_no_look_up() {
    let dir = tempfile::tempdir().unwrap();
    let vendor = Vendor::write(dir.path(), &[program("alice/copy", "2020-01-01T00:00:00Z")]).unwrap();
    let mut registries = Registries::new(Cache::in_memory()).with_vendor(Some(vendor.clone()));
    assert_eq!(look(&mut registries, "alice/copy"), (true, false));

    let mut lock = Lock::default();
    lock.pin(&program("alice/copy", "2020-01-01T00:00:00Z"), None, Timestamp::now());
    let locked = Locked::Pins { lock: Arc::new(lock), is_complete: true };
    let mut registries =
        Registries::new(Cache::in_memory()).with_vendor(Some(vendor)).with_lock(Some(locked));
    assert_eq!(look(&mut registries, "alice/copy"), (true, false));
    assert_eq!(look(&mut registries, "alice/other"), (false, true));
}

#[test]
fn a_registry_without_an_address_is_not_asked() {
    let mut registries = Registries::new(Cache::in_memory());
    let (known, pending) = registries.look(&remote("", "alice/research"), &Origin::Local);
    assert!(known.is_none() && pending.is_none());
    // What is named by its address needs no registry.
    let (_, pending) = registries.look(&remote("", "https://example.com/a.prose"), &Origin::Local);
    assert!(pending.is_some());
    assert!(registries.client(&"no address".into()).is_none());
}

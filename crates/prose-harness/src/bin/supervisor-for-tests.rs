//! What supervises the agents of tests, since a test has a `main` of its own.

fn main() {
    prose_harness::supervisor::enter();
}

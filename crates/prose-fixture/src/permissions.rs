//! Permissions of files, for tests of what happens where they refuse something.

/// Enforces the permissions of files for the calling thread and for the processes that it starts, also if root runs the tests, whom they do
/// not stop otherwise. It lasts as long as the thread, which is as long as the test.
///
/// # Panics
///
/// If root runs the tests on a system where root cannot give that up.
#[cfg(unix)]
pub fn obey_permissions() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    #[cfg(target_os = "linux")]
    {
        use rustix::thread::{
            CapabilitySet, capabilities, remove_capability_from_bounding_set, set_capabilities,
        };
        let ignoring = [CapabilitySet::DAC_OVERRIDE, CapabilitySet::DAC_READ_SEARCH];
        for capability in ignoring {
            // Otherwise a process of root gets it back when it starts.
            remove_capability_from_bounding_set(capability).expect("root gives up a capability");
        }
        let ignoring = ignoring[0] | ignoring[1];
        let mut sets = capabilities(None).expect("a thread knows its capabilities");
        for set in [&mut sets.effective, &mut sets.permitted, &mut sets.inheritable] {
            set.remove(ignoring);
        }
        set_capabilities(None, sets).expect("root gives up a capability");
    }
    #[cfg(not(target_os = "linux"))]
    panic!("permissions do not stop root here; run this test as another user");
}

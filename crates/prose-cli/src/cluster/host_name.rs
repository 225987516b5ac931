//! The name of this machine.

use std::env::var;
use std::fs::read_to_string;

/// The name of this machine; `host` if it has none.
pub(super) fn host_name() -> String {
    let host = read_to_string("/proc/sys/kernel/hostname").ok();
    let host = host.or_else(|| var("COMPUTERNAME").ok()).or_else(|| var("HOSTNAME").ok());
    host.map_or("host".to_owned(), |host| host.trim().to_owned())
}

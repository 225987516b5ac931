//! The memory of the machine that is free.

/// The memory in bytes that new processes can use without swapping, within the limits of the container; `None` if it is not known.
#[cfg(target_os = "linux")]
pub(crate) fn free() -> Option<u64> {
    use std::fs::read_to_string;
    let of_machine = linux::available(&read_to_string("/proc/meminfo").ok()?)?;
    let groups = read_to_string("/proc/self/cgroup").unwrap_or_default();
    Some(linux::limits(&groups).fold(of_machine, u64::min))
}

/// The memory in bytes that new processes can use without swapping; `None` if it is not known.
#[cfg(not(target_os = "linux"))]
pub(crate) fn free() -> Option<u64> {
    let mut system = sysinfo::System::new();
    system.refresh_memory();
    Some(system.available_memory()).filter(|memory| *memory > 0)
}

#[cfg(target_os = "linux")]
mod linux {
    use std::fs::read_to_string;
    use std::path::{Path, PathBuf};

    /// The available memory in `/proc/meminfo`.
    pub(super) fn available(meminfo: &str) -> Option<u64> {
        let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
        let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
        kilobytes.checked_mul(1024)
    }

    /// The names of files in the folder of a control group.
    struct Files {
        limit: &'static str,
        usage: &'static str,
        /// The key in `memory.stat` of cached files that are not in use.
        cached: &'static str,
    }

    const VERSION_1: Files = Files {
        limit: "memory.limit_in_bytes",
        usage: "memory.usage_in_bytes",
        cached: "total_inactive_file ",
    };
    const VERSION_2: Files = Files { limit: "memory.max", usage: "memory.current", cached: "inactive_file " };

    /// What each control group of this process leaves, by `/proc/self/cgroup`. A group without a limit is left out.
    pub(super) fn limits(groups: &str) -> impl Iterator<Item = u64> {
        let folders = groups.lines().filter_map(|line| {
            let (_, rest) = line.split_once(':')?;
            let (controllers, path) = rest.split_once(':')?;
            let (root, files) = match controllers {
                "" => ("/sys/fs/cgroup", VERSION_2),
                _ if controllers.split(',').any(|name| name == "memory") => {
                    ("/sys/fs/cgroup/memory", VERSION_1)
                }
                _ => return None,
            };
            Some((PathBuf::from(root), path.trim_start_matches('/').to_owned(), files))
        });
        folders.flat_map(|(root, path, files)| {
            // In a container, the folder of the group may be the root.
            let folder = root.join(path);
            let folders = folder.ancestors().take_while(|folder| folder.starts_with(&root));
            folders.filter_map(|folder| left(folder, &files)).collect::<Vec<_>>()
        })
    }

    /// What the limit of a group leaves. Cached files give way to processes.
    fn left(folder: &Path, files: &Files) -> Option<u64> {
        let number = |file: &str| read_to_string(folder.join(file)).ok()?.trim().parse::<u64>().ok();
        let limit = number(files.limit)?;
        let usage = number(files.usage)?;
        let stat = read_to_string(folder.join("memory.stat")).unwrap_or_default();
        let cached = stat.lines().find_map(|line| line.strip_prefix(files.cached)?.trim().parse().ok());
        Some(limit.saturating_sub(usage.saturating_sub(cached.unwrap_or(0))))
    }

    #[cfg(test)]
    mod tests {
        use std::fs;

        use super::*;

        #[test]
        fn the_available_memory_is_read() {
            let text =
                "MemTotal:       24683604 kB\nMemFree:          219000 kB\nMemAvailable:   23051264 kB\n";
            assert_eq!(available(text), Some(23_051_264 * 1024));
            assert_eq!(available("MemTotal: 1 kB\n"), None);
        }

        #[test]
        fn a_group_leaves_what_only_caches_use() {
            let folder = tempfile::tempdir().unwrap();
            for (file, text) in [
                ("memory.max", "1000\n"),
                ("memory.current", "700\n"),
                ("memory.stat", "anon 100\ninactive_file 500\nactive_file 100\n"),
            ] {
                fs::write(folder.path().join(file), text).unwrap();
            }
            assert_eq!(left(folder.path(), &VERSION_2), Some(800));
            fs::write(folder.path().join("memory.max"), "max\n").unwrap();
            assert_eq!(left(folder.path(), &VERSION_2), None);
        }

        #[test]
        fn groups_without_memory_do_not_count() {
            assert_eq!(limits("8:pids:/\n1:cpu:/\nno group\n").count(), 0);
        }
    }
}

//! Networks that are cut, disks that are full, clocks that are wrong and replies that are huge.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use prose_fixture::number;

use super::{Cluster, ROUNDS};
use crate::terminal::started_by;

/// Runs a program of the system, as root.
#[track_caller]
fn system(program: &str, arguments: &[&str]) {
    let output = Command::new(program).args(arguments).stdin(Stdio::null()).output();
    let output = output.unwrap_or_else(|error| {
        panic!("cannot start {program}, which `tests/install/network` installs on Debian: {error}")
    });
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {}: {errors}", arguments.join(" "));
}

/// A network namespace with one cable to this one. It ends with this value.
struct Network {
    name: String,
    /// The number of the network.
    number: u8,
}

impl Network {
    fn new() -> Self {
        let number = fastrand::u8(1..250);
        let network = Self { name: format!("prose-{}-{number}", std::process::id()), number };
        let (cable, ours, theirs) = (network.cable(), network.address(1), network.address(2));
        system("ip", &["netns", "add", &network.name]);
        system(
            "ip",
            &["link", "add", &cable, "type", "veth", "peer", "name", "cable", "netns", &network.name],
        );
        system("ip", &["addr", "add", &format!("{ours}/24"), "dev", &cable]);
        system("ip", &["link", "set", &cable, "up"]);
        network.inside("ip", &["addr", "add", &format!("{theirs}/24"), "dev", "cable"]);
        network.inside("ip", &["link", "set", "cable", "up"]);
        network
    }

    fn inside(&self, program: &str, arguments: &[&str]) {
        system("ip", &[&["netns", "exec", &self.name, program], arguments].concat());
    }

    fn address(&self, host: u8) -> String {
        format!("10.213.{}.{host}", self.number)
    }

    fn cable(&self) -> String {
        format!("prose{}", self.number)
    }

    /// From now on, what is sent is lost, and neither side is told so.
    fn cut(&self) {
        self.inside("ip", &["link", "set", "cable", "down"]);
    }

    fn mend(&self) {
        self.inside("ip", &["link", "set", "cable", "up"]);
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        // The cable goes with it. What is left of a test that has failed is in nobody's way.
        let _ = Command::new("ip").args(["netns", "delete", &self.name]).status();
    }
}

impl Cluster {
    /// Lets the server be reached from other networks.
    fn listen_everywhere(&self) {
        let rules = self.server.socket().join("data/pg_hba.conf");
        let text = fs::read_to_string(&rules).unwrap();
        fs::write(&rules, format!("{text}\nhost all all 10.213.0.0/16 scram-sha-256\n")).unwrap();
        self.server.query("ALTER SYSTEM SET listen_addresses = '*'");
        self.server.down();
        self.server.up();
    }

    /// A worker that is started by another program, such as `ip netns exec`.
    fn worker_by(&mut self, starter: &[&str], url: &str, arguments: &[&str]) -> usize {
        let mut prose = self.workspace.command();
        prose.args(["worker", "--on", url, "--lease", "2s"]).args(arguments).current_dir("/");
        let mut command = started_by(starter, &prose);
        command.stdin(Stdio::null()).stdout(Stdio::null());
        if std::env::var_os("PROSE_SHOW_WORKERS").is_none() {
            command.stderr(Stdio::null());
        }
        self.workers.push(command.spawn().expect("the binary starts"));
        self.workers.len() - 1
    }
}

#[test]
#[ignore = "needs PostgreSQL and network namespaces"]
fn a_worker_whose_network_is_cut_loses_its_runs_and_comes_back() {
    let mut cluster = Cluster::new(&[("rounds.prose", ROUNDS)]);
    cluster.listen_everywhere();
    let network = Network::new();
    let url = cluster.server.url().replace("127.0.0.1", &network.address(1));
    cluster.workspace.prose(&["cluster", "init", &cluster.server.url()]).ended(0);
    cluster.worker_by(&["ip", "netns", "exec", &network.name], &url, &["--class", "offline"]);
    let run = cluster.submit("rounds.prose", &["--delay", "150ms"]);
    cluster.wait_for("SELECT count(*) > 8 FROM journal", "t\n");
    network.cut();
    let other = cluster.worker(&["--class", "offline"]);
    cluster.wait_for("SELECT epoch FROM job", "2\n");
    // The other one is at work when the first one can write again.
    network.mend();
    cluster.wait_for("SELECT state FROM job", "ended\n");
    assert_eq!(cluster.outcomes(&run), "37|37\n");
    // Without the other one, it works as before.
    cluster.kill(other);
    let run = cluster.submit("rounds.prose", &["--delay", "10ms"]);
    cluster.wait_for("SELECT count(*) FROM job WHERE state = 'ended'", "2\n");
    assert_eq!(cluster.outcomes(&run), "37|37\n");
}

#[test]
#[ignore = "needs PostgreSQL and faketime"]
fn clocks_of_workers_may_be_hours_apart() {
    let mut cluster = Cluster::new(&[("rounds.prose", ROUNDS)]);
    let url = cluster.server.url();
    let (late, early) = (
        ["env", "DONT_FAKE_MONOTONIC=1", "faketime", "-f", "-1h"],
        ["env", "DONT_FAKE_MONOTONIC=1", "faketime", "-f", "+1h"],
    );
    cluster.worker_by(&late, &url, &["--class", "offline"]);
    cluster.worker_by(&early, &url, &["--class", "offline"]);
    let run = cluster.submit("rounds.prose", &["--delay", "100ms"]);
    cluster.wait_for("SELECT state FROM job", "ended\n");
    // Nobody has taken the lease of another clock for one that is over.
    assert_eq!(cluster.query("SELECT epoch FROM job"), "1\n");
    assert_eq!(cluster.outcomes(&run), "37|37\n");
    // Another clock takes over when a leader dies, and not before.
    let run = cluster.submit("rounds.prose", &["--delay", "150ms"]);
    cluster.wait_for(&format!("SELECT count(*) > 8 FROM journal WHERE run_id = '{run}'"), "t\n");
    cluster.kill(0);
    cluster.wait_for("SELECT count(*) FROM job WHERE state = 'ended'", "2\n");
    assert_eq!(cluster.outcomes(&run), "37|37\n");
}

/// A small disk with the files of a server, which is moved there. It ends with this value.
struct Disk {
    data: PathBuf,
}

impl Disk {
    /// Moves the files of a server that is down to a disk of some mebibytes.
    fn under(data: PathBuf, mebibytes: u32) -> Self {
        let moved = data.with_extension("moved");
        fs::rename(&data, &moved).unwrap();
        fs::create_dir(&data).unwrap();
        let (from, to) = (moved.join("."), data.display().to_string());
        system("mount", &["-t", "tmpfs", "-o", &format!("size={mebibytes}m,mode=700"), "tmpfs", &to]);
        let disk = Self { data };
        system("cp", &["-a", &from.display().to_string(), &to]);
        fs::remove_dir_all(moved).unwrap();
        disk
    }

    /// Takes the room that is left.
    fn fill(&self) -> PathBuf {
        let filler = self.data.join("filler");
        // It ends with an error once there is no room.
        let _ = Command::new("dd")
            .args(["if=/dev/zero", "bs=64k", &format!("of={}", filler.display())])
            .stderr(Stdio::null())
            .status();
        filler
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(&self.data).status();
    }
}

#[test]
#[ignore = "needs PostgreSQL and mounts"]
fn a_server_whose_disk_is_full_holds_runs_up_until_there_is_room() {
    let mut cluster = Cluster::new(&[("rounds.prose", ROUNDS)]);
    cluster.server.down();
    let data: &Path = &cluster.server.socket().join("data");
    let disk = Disk::under(data.to_owned(), 160);
    cluster.server.up();
    cluster.worker(&["--class", "offline"]);
    cluster.worker(&["--class", "offline"]);
    let run = cluster.submit("rounds.prose", &["--delay", "150ms"]);
    cluster.wait_for("SELECT count(*) > 8 FROM journal", "t\n");
    let filler = disk.fill();
    sleep(Duration::from_secs(4));
    fs::remove_file(filler).unwrap();
    // A server that could not write its log has stopped.
    if cluster.server.try_query(&cluster.server.url(), "SELECT 1").is_err() {
        cluster.server.down();
        cluster.server.up();
    }
    cluster.wait_for("SELECT state FROM job", "ended\n");
    assert_eq!(cluster.outcomes(&run), "37|37\n");
    let shown = cluster.prose(&["runs", "show", &run]).ended(0).stdout;
    assert!(shown.contains("completed\n"), "{shown}");
    cluster.server.down();
    drop(disk);
}

/// How many mebibytes a large reply has, unless `PROSE_REPLY_MEBIBYTES` says something else, as `tests/chaos` does: 64, the most that a reply can have.
const MEBIBYTES: u64 = 8;

#[test]
#[ignore = "needs PostgreSQL"]
fn a_huge_reply_is_passed_on() {
    let size = (number("PROSE_REPLY_MEBIBYTES").unwrap_or(MEBIBYTES) << 20) - 1000;
    let agent = format!("head -c {size} /dev/zero | tr '\\0' x");
    let settings = format!("[run]\nharness = \"command\"\ncommand = [\"sh\", \"-c\", {agent:?}]\n");
    let program = "let a = session \"much\"\noutput text = \"done\"\n";
    let mut cluster = Cluster::new(&[("prose.toml", &settings), ("much.prose", program)]);
    cluster.workspace.trust();
    cluster.worker(&["--class", "command", "--leads", "0"]);
    cluster.worker(&["--slots", "0"]);
    let run = cluster.prose(&["run", "much.prose"]).ended(0);
    assert_eq!(run.stdout, "text: done\n", "{run:?}");
    let kept = cluster.query(&format!("SELECT count(*) FROM journal WHERE octet_length(line) > {size}"));
    assert_eq!(kept, "1\n");
}

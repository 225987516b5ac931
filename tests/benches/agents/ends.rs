//! How fast a run ends whose key is rejected, and how fast the processes of a killed run.

use std::time::{Duration, Instant};

use prose_tests::agents::{AgentProject, wait_until};
use prose_tests::drivers::DRIVERS;
use prose_tests::fault_proxy::{Fault, FaultProxy};

use crate::median;
use crate::mock::project;

const ROUNDS: usize = 3;

const PROGRAM: &str = "session \"Look into tides\"\n";

pub(crate) fn rejected() {
    println!("| status 401 | requests | from the first one to the end of the run |");
    println!("|---|--:|--:|");
    for driver in DRIVERS {
        let mut asked = 0;
        let times = (0..ROUNDS).map(|_| {
            let (project, proxy) = faulty(Fault::Status(401));
            let mut run = driver.start(&project, &proxy.address(), PROGRAM);
            let code = run.wait().unwrap().code();
            let end = Instant::now();
            assert_eq!(code, Some(3), "{}", driver.title);
            asked = asked.max(proxy.asked().len());
            (end - proxy.asked()[0].at).as_secs_f64()
        });
        let time = median(times.collect());
        println!("| {} | {asked} | {time:.2} s |", driver.title);
    }
}

pub(crate) fn killed() {
    println!("| `kill -9` of `prose` | processes before | to the end of the last one |");
    println!("|---|--:|--:|");
    for driver in DRIVERS {
        let mut processes = 0;
        let times = (0..ROUNDS).map(|_| {
            let (project, proxy) = faulty(Fault::Hang);
            let mut run = driver.start(&project, &proxy.address(), PROGRAM);
            wait_until("the model is asked", || !proxy.asked().is_empty());
            processes = processes.max(project.processes().len() - 1);
            let start = Instant::now();
            run.kill().and_then(|()| run.wait()).unwrap();
            while !project.processes().is_empty() {
                assert!(start.elapsed() < Duration::from_secs(60), "{}", driver.title);
                std::thread::sleep(Duration::from_millis(2));
            }
            start.elapsed().as_secs_f64()
        });
        let time = median(times.collect());
        println!("| {} | {processes} | {time:.2} s |", driver.title);
    }
}

fn faulty(fault: Fault) -> (AgentProject, FaultProxy) {
    let project = project();
    let proxy = FaultProxy::start(&project.provider.address, move |_| Some(fault));
    (project, proxy)
}

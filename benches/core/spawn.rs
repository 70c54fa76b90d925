//! `spawn_owned` beside `posix_spawn` with `POSIX_SPAWN_SETSID`, of the same program, from the same process.
//!
//! What is timed is what the caller waits for. What we do afterwards (keeper and supervisor take note, a few
//! microseconds) must not fall into the peer's time, so each child is waited for and a moment of rest given to both.

use std::time::{Duration, Instant};

use crate::Effort;
use crate::figures::Samples;
use crate::report::Report;
use crate::role::{say, touch};
use crate::stage::Stage;
use crate::sys;

const PROGRAM: &std::ffi::CStr = c"/bin/true";
const REST: Duration = Duration::from_micros(500);

pub fn measure(stage: &Stage, effort: Effort, report: &mut Report) {
    let sizes = [("spawn/10MB", 10, "10 MB"), ("spawn/1GB", 1024, "1 GB")];
    for (key, mebibytes, size) in sizes {
        let rounds = effort.rounds(3000, 500);
        let mut role = stage.role(&["spawn", &mebibytes.to_string(), &rounds.to_string()]);
        let (ours, peer) = (Samples::parse(&role.line()), Samples::parse(&role.line()));
        let what = format!("spawn_owned / posix_spawn+setsid, owner of {size}, median of {}", ours.len());
        report.time(key, what, ours.median(), Some(peer.median()));
        report.time("", "the same, 10th percentile", ours.percentile(10.0), Some(peer.percentile(10.0)));
    }
}

/// The role: ours and the peer in turns.
pub fn alternate(mebibytes: usize, rounds: usize) {
    sys::exact_timers();
    let ballast = touch(mebibytes);
    let (mut ours, mut peer) = (Samples::default(), Samples::default());
    // The first spawn starts the supervisor; a few more warm the caches of both.
    for round in 0..rounds + 20 {
        let (own_time, peer_time) = (spawn_owned(), posix_spawn());
        if round >= 20 {
            ours.push(own_time);
            peer.push(peer_time);
        }
    }
    say(&ours.line());
    say(&peer.line());
    drop(ballast);
}

fn spawn_owned() -> Duration {
    let begun = Instant::now();
    let child = hermes_spawn::Command::new(PROGRAM.to_str().expect("plain")).spawn_owned().expect("spawn_owned");
    let time = begun.elapsed();
    child.wait().expect("wait");
    std::thread::sleep(REST);
    time
}

fn posix_spawn() -> Duration {
    let begun = Instant::now();
    let pid = sys::posix_spawn_setsid(PROGRAM).expect("posix_spawn");
    let time = begun.elapsed();
    sys::wait(pid);
    std::thread::sleep(REST);
    time
}

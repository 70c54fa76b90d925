//! Taking over one group and letting it go, beside one look at `/proc/PID/stat`: the least that anybody pays who wants
//! to know whom he is dealing with.

use std::fs::File;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::time::{Duration, Instant};

use hermes_spawn::{own_process_groups, release_process_groups};

use crate::Effort;
use crate::figures::Samples;
use crate::report::Report;
use crate::role::{foreign_sleeper, say};
use crate::stage::Stage;

pub fn measure(stage: &Stage, effort: Effort, report: &mut Report) {
    let rounds = effort.rounds(20_000, 4000);
    let mut role = stage.role(&["register", &rounds.to_string()]);
    let [own, both, stat] = [(); 3].map(|()| Samples::parse(&role.line()));
    let what = format!("own + release of a group / read of its stat, median of {}", both.len());
    report.time("own+release", what, both.median(), Some(stat.median()));
    report.time("", "of this, own", own.median(), Some(stat.median()));
}

/// The role.
pub fn alternate(rounds: usize) {
    // detached-spawn: ok - a group for the benchmark to take over, killed at its end
    let mut sleepers = [(); 2].map(|()| foreign_sleeper().process_group(0).spawn().expect("start a sleeper"));
    let [kept, turned] = [0, 1].map(|i: usize| sleepers[i].id() as i32);
    // One that stays, so that the supervisor is at work all the while.
    own_process_groups(&[kept]).expect("own");
    let path = format!("/proc/{turned}/stat");
    let (mut own, mut both, mut stat) = (Samples::default(), Samples::default(), Samples::default());
    for _ in 0..rounds {
        let begun = Instant::now();
        own_process_groups(&[turned]).expect("own");
        own.push(begun.elapsed());
        release_process_groups(&[turned]).expect("release");
        both.push(begun.elapsed());
        rest();
        let begun = Instant::now();
        let mut line = [0u8; 1024];
        let length = File::open(&path).and_then(|mut file| file.read(&mut line)).expect("read a stat line");
        stat.push(begun.elapsed());
        std::hint::black_box((line, length));
    }
    for samples in [own, both, stat] {
        say(&samples.line());
    }
    for sleeper in &mut sleepers {
        let _ = sleeper.kill();
        let _ = sleeper.wait();
    }
}

/// Keeper and supervisor finish what they were woken for, so that it does not fall into the peer's time.
fn rest() {
    std::thread::sleep(Duration::from_micros(100));
}

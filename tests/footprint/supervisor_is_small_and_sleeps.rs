//! The supervisor's memory with 1 and with 1,000 groups, the size of its program, and that it does nothing at all while
//! nothing happens. The limits are the benchmark's; nothing here depends on how busy the machine is.

use std::fs;
use std::time::Duration;

use crate::limits::limit_of;
use crate::outside::memory_kib;
use crate::stage::{Stage, settle, switches};
use crate::{next_order, say, sleeper};

/// Long enough for every timer of a second to show.
const QUIET: Duration = Duration::from_secs(3);

pub fn claim(stage: &Stage) {
    let mut owner = stage.role(&["holder"]);
    let mut exceeded = Vec::new();
    let mut judge = |key: &str, value: f64| {
        let most = limit_of(key).expect("a limit").most;
        exceeded.extend((value > most).then(|| format!("{key}: {value}, at most {most}")));
    };
    for (key, groups) in [("helper/rss/1", 1), ("helper/rss/1000", 1000)] {
        let supervisor: i32 = owner.ask(&groups.to_string()).parse().expect("a pid");
        settle(&[supervisor], Duration::from_millis(200));
        judge(key, memory_kib(supervisor, "Rss") as f64);
        let before = switches(supervisor);
        std::thread::sleep(QUIET);
        assert_eq!(switches(supervisor), before, "the supervisor of {groups} groups was woken by nothing");
    }
    let supervisor = owner.ask("0");
    let program = fs::metadata(format!("/proc/{supervisor}/exe")).expect("its program");
    judge("helper/binary", program.len() as f64 / 1024.0);
    assert!(exceeded.is_empty(), "too big: {exceeded:?}");
}

pub fn play() {
    let mut held = Vec::new();
    while let Some(order) = next_order() {
        let wanted: usize = order.parse().expect("a number of groups");
        while held.len() < wanted {
            held.push(sleeper().spawn_owned().expect("spawn_owned"));
        }
        say(hermes_spawn::status().expect("status").supervisor_pid);
    }
}

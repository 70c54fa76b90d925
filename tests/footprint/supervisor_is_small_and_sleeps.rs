//! The supervisor's memory with 1 and with 1,000 groups, the size of its program, and that neither it nor a thread of
//! the library does anything at all in a minute in which nothing happens. The limits are the benchmark's; nothing here
//! depends on how busy the machine is.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use crate::limits::limit_of;
use crate::outside::{OUR_THREADS, memory_kib, threads};
use crate::stage::{Role, Stage, pidfds, settle, switches};
use crate::{next_order, say, sleeper, sys};

const QUIET: Duration = Duration::from_secs(60);
/// The keeper looks around by itself after news, at distances of up to 8 ms, and then sleeps for good.
const AT_REST: Duration = Duration::from_millis(200);

pub fn claim(stage: &Stage) {
    let mut exceeded = Vec::new();
    let mut judge = |key: &str, value: f64| {
        let most = limit_of(key).expect("a limit").most;
        exceeded.extend((value > most).then(|| format!("{key}: {value}, at most {most}")));
    };
    let held = [("helper/rss/1", 1), ("helper/rss/1000", 1000)].map(|(key, groups)| (key, Held::new(stage, groups)));
    let processes: Vec<i32> = held.iter().flat_map(|(_, held)| [held.owner.pid(), held.supervisor]).collect();
    let sleepers: Vec<i32> = held.iter().flat_map(|(_, held)| held.sleepers.keys().copied()).collect();
    settle(&sleepers, AT_REST);

    let switches = || sleepers.iter().map(|&task| switches(task).expect("it lives")).collect::<Vec<_>>();
    let before = switches();
    assert!(!sys::await_first_end(&pidfds(&processes), QUIET.as_millis() as i32), "an owner or a supervisor has ended");
    let woken: Vec<String> = (before.iter().zip(switches()).zip(&sleepers))
        .filter(|((before, after), _)| *before != after)
        .map(|((before, after), task)| {
            let (groups, name) = held.iter().find_map(|(_, held)| held.told(*task)).expect("one of them");
            format!("{name} of {groups} groups: {} switches", after - before)
        })
        .collect();
    assert!(woken.is_empty(), "woken by nothing: {woken:?}");

    for (key, held) in &held {
        judge(key, memory_kib(held.supervisor, "Rss") as f64);
    }
    let program = fs::metadata(format!("/proc/{}/exe", held[0].1.supervisor)).expect("its program");
    judge("helper/binary", program.len() as f64 / 1024.0);
    assert!(exceeded.is_empty(), "too big: {exceeded:?}");
}

/// An owner with its groups, and those that are to sleep: its supervisor, and the library's threads in it.
struct Held {
    owner: Role,
    groups: usize,
    supervisor: i32,
    sleepers: BTreeMap<i32, String>,
}

impl Held {
    fn new(stage: &Stage, groups: usize) -> Held {
        let mut owner = stage.role(&["holder"]);
        let supervisor: i32 = owner.ask(&groups.to_string()).parse().expect("a pid");
        let mut sleepers = threads(owner.pid());
        sleepers.retain(|_, name| OUR_THREADS.contains(&name.as_str()));
        assert_eq!(sleepers.len(), OUR_THREADS.len(), "{sleepers:?}");
        sleepers.insert(supervisor, "the supervisor".into());
        Held { owner, groups, supervisor, sleepers }
    }

    fn told(&self, task: i32) -> Option<(usize, &str)> {
        self.sleepers.get(&task).map(|name| (self.groups, name.as_str()))
    }
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

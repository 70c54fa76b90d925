//! Eight threads start foreign programs without any care for descriptors while the library begins its work: none of
//! them holds a lifeline, so the owner's children die at once; and being none of ours, they live on.

use super::deaths::{Death, SOON_GONE, for_each};
use super::support::deadline::SOON;
use super::support::process::descriptors;
use super::support::{Process, eventually};

/// The pipes of the library's own threads.
fn private_pipes(owner: &Process) -> Vec<String> {
    let threads = owner.tasks().into_iter().filter(|&tid| tid != owner.pid);
    let held = threads.flat_map(|tid| descriptors(&format!("/proc/{}/task/{tid}/fd", owner.pid)));
    let own: Vec<String> = owner.descriptors().into_iter().map(|(_, link)| link).collect();
    held.map(|(_, link)| link).filter(|link| link.starts_with("pipe:") && !own.contains(link)).collect()
}

#[test]
fn foreign_child_holds_no_lifeline() {
    // What a foreign child holds is decided when it is forked. In three rounds, of hundreds of them each.
    for_each(&Death::KINDS, |scene, mut doomed| {
        let owner = &mut doomed.owner;
        let job = owner.must("bg foreign-storm 8 100");
        let child = owner.spawn("sleeper");
        let pids = owner.must(&format!("join {job}"));
        let sleeper = scene.seat(&child, "sleeper");
        let foreign: Vec<Process> = pids
            .as_array()
            .expect("pids")
            .iter()
            .map(|pid| Process::open(pid.as_i64().expect("a pid") as i32).expect("a foreign child"))
            .collect();
        assert!(foreign.len() >= 8, "{}", foreign.len());
        let private = private_pipes(owner.process());
        assert!(private.len() >= 2, "the lifelines are somewhere: {private:?}");
        for process in &foreign {
            scene.remember(process);
            let is_sleep =
                || std::fs::read_to_string(format!("/proc/{}/comm", process.pid)).is_ok_and(|comm| comm == "sleep\n");
            eventually(SOON, "it has become another program", is_sleep);
            let held = process.descriptors();
            let pinned = held.iter().find(|(_, link)| private.contains(link));
            assert!(pinned.is_none(), "it has inherited {pinned:?}");
        }

        let moment = doomed.die();

        sleeper.process.assert_gone_by(moment + SOON_GONE, "the child");
        for process in &foreign {
            process.assert_alive("a foreign child");
        }
    });
}

//! Who is in the groups, by one pass over `/proc/*/stat`.
//!
//! A signal to a group succeeds when it reached one member, a zombie too: so whether anything *lives* in a group, and
//! whether we may signal it, is read from here. It costs milliseconds: asked only when signal 0 says there is somebody.

use super::atomic::{AtomicU8, Ordering::Relaxed};
use super::kill;
use super::proc;
use super::roster::SLOTS;
use super::state::{Index, Supervisor};

const LIVES: u8 = 1;
const PERMITTED: u8 = 2;

static MEMBERS: [AtomicU8; SLOTS] = [const { AtomicU8::new(0) }; SLOTS];

fn found(index: Index) -> u8 {
    MEMBERS[index as usize].load(Relaxed)
}

/// Looks at the members of all groups for which `wanted` says true.
#[inline(never)]
pub fn count(s: &Supervisor, wanted: &dyn Fn(Index) -> bool) {
    let mut any = false;
    for (index, place) in MEMBERS.iter().take(s.roster.used().len()).enumerate() {
        if wanted(index as Index) {
            any = true;
            place.store(0, Relaxed);
        }
    }
    if !any {
        return;
    }
    proc::each_process(&mut |pid| {
        let Some(stat) = proc::look(pid) else { return true };
        // A leader counts for the group it was registered with, wherever it went.
        let by_pid = if stat.pgrp == pid { None } else { s.find_group(pid) };
        for index in [s.find_group(stat.pgrp), by_pid].into_iter().flatten() {
            if wanted(index) && proc::living_task(&stat).is_some() {
                let bits = LIVES | if kill::is_permitted(pid) { PERMITTED } else { 0 };
                MEMBERS[index as usize].store(found(index) | bits, Relaxed);
            }
        }
        true
    });
}

/// At the last count there were zombies at most.
pub fn none_lives(index: Index) -> bool {
    found(index) & LIVES == 0
}

/// At the last count something lived, and all of it belonged to another user.
pub fn all_denied(index: Index) -> bool {
    found(index) == LIVES
}

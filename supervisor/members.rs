//! Who is in the groups, by one pass over `/proc/*/stat`.
//!
//! A signal to a group succeeds when it reached one member, a zombie too: so whether anything *lives* in a group, and
//! whether we may signal it, is read from here. It costs milliseconds: asked only when signal 0 says there is somebody.

use super::atomic::{AtomicU8, Ordering::Relaxed};
use super::kill;
use super::proc;
use super::roster::SLOTS;
use super::state::{Index, SETTLED, Supervisor};

const LIVES: u8 = 1;
const PERMITTED: u8 = 2;

static MEMBERS: [AtomicU8; SLOTS] = [const { AtomicU8::new(0) }; SLOTS];

fn found(index: Index) -> u8 {
    MEMBERS[index as usize].load(Relaxed)
}

/// Looks at the members of all groups.
#[inline(never)]
pub fn count(s: &Supervisor) {
    MEMBERS.iter().take(s.roster.used().len()).for_each(|place| place.store(0, Relaxed));
    for pid in proc::processes() {
        if let Some(stat) = proc::look(pid)
            && let Some(index) = s.find_group(stat.pgrp, SETTLED)
            && proc::living_task(&stat).is_some()
        {
            let bits = LIVES | if kill::is_permitted(pid) { PERMITTED } else { 0 };
            MEMBERS[index as usize].store(found(index) | bits, Relaxed);
        }
    }
}

/// At the last count there were zombies at most.
pub fn none_lives(index: Index) -> bool {
    found(index) & LIVES == 0
}

/// At the last count something lived, and all of it belonged to another user.
pub fn all_denied(index: Index) -> bool {
    found(index) == LIVES
}

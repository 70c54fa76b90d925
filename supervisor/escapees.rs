//! Processes that left their group: found by the mark, by their session, and by a walk down from the leaders.
//!
//! Each is pinned by a pidfd when it is found. One that the mark names is ours. One that only the walk found is
//! signalled when the scanner has seen that neither it nor a process on the way down to it carries another owner's
//! mark: what another owner started below ours is that owner's business, and so is its supervisor. The groups' own
//! TERM does not wait for that; the walk, which must come before, reads `stat` and `children` only.

use super::atomic::{AtomicI32, AtomicU32, AtomicU64, Ordering::Relaxed};
use super::kill::{self, Sent};
use super::proc;
use super::roster::flags;
use super::scan::{Report, verdict};
use super::state::{Index, SETTLED, Supervisor};
use super::{endgame, sys};

/// What is known of a process: nothing yet when the walk has found it, later what the scanner says.
const UNDECIDED: u32 = 0;
const DECISION: u32 = 3;
const TERMED: u32 = 4;
const GONE: u32 = 8;

struct Entry {
    pid: AtomicI32,
    fd: AtomicI32,
    start_ticks: AtomicU64,
    /// Entry of the process it was found below, plus one; 0: a member of a group of ours.
    parent: AtomicI32,
    state: AtomicU32,
}

/// More than this in one endgame are not pinned. The table only grows: entries refer to each other. Unused ones are
/// all zero, so that the table is not part of the file.
const ENTRIES: usize = 16_384;
static TABLE: [Entry; ENTRIES] = [const {
    Entry {
        pid: AtomicI32::new(0),
        fd: AtomicI32::new(0),
        start_ticks: AtomicU64::new(0),
        parent: AtomicI32::new(0),
        state: AtomicU32::new(0),
    }
}; ENTRIES];

const DEPTH_LIMIT: u32 = 100;
/// Processes looked at below one root: some 20 ms, for which the group's TERM waits.
const WALK_LIMIT: u32 = 1_000;

fn entries(s: &Supervisor) -> &'static [Entry] {
    TABLE.get(..s.escapees).unwrap_or_default()
}

/// Walks down from a process of ours and pins what is in none of our groups. `parent`: its entry plus one, or 0.
pub fn walk(s: &mut Supervisor, pid: i32, parent: i32) {
    let mut budget = WALK_LIMIT;
    descend(s, pid, parent, DEPTH_LIMIT, &mut budget);
}

#[inline(never)]
fn descend(s: &mut Supervisor, pid: i32, parent: i32, depth: u32, budget: &mut u32) {
    for child in proc::children(pid) {
        if depth == 0 || *budget == 0 {
            return;
        }
        *budget -= 1;
        visit(s, pid, child, parent, depth, budget);
    }
}

fn visit(s: &mut Supervisor, parent_pid: i32, pid: i32, parent: i32, depth: u32, budget: &mut u32) {
    // Another owner's supervisor may be seen here, before its first parent has ended.
    let Some(stat) = proc::look(pid).filter(|stat| !stat.supervisor && stat.ppid == parent_pid) else { return };
    let parent = match s.find_group(stat.pgrp, SETTLED) {
        Some(group) if is_group_only(s, group) => return,
        Some(_) => parent,
        None => {
            let known = find(s, pid, stat.start_ticks);
            if known < ENTRIES {
                known as i32 + 1
            } else if pin(s, pid, stat.start_ticks, parent, UNDECIDED) {
                s.escapees as i32
            } else {
                return;
            }
        }
    };
    descend(s, pid, parent, depth - 1, budget);
}

pub fn is_group_only(s: &Supervisor, index: Index) -> bool {
    s.slot(index).load().has(flags::GROUP_ONLY)
}

/// The place of a process in the table; beyond its end if it is not there.
#[inline(never)]
fn find(s: &Supervisor, pid: i32, start_ticks: u64) -> usize {
    let mut entries = entries(s).iter();
    let found = entries.position(|it| it.pid.load(Relaxed) == pid && it.start_ticks.load(Relaxed) == start_ticks);
    found.unwrap_or(usize::MAX)
}

/// Puts a process at the end of the table, held by a pidfd that was proven to be of the one that started at these
/// ticks.
#[inline(never)]
fn pin(s: &mut Supervisor, pid: i32, start_ticks: u64, parent: i32, state: u32) -> bool {
    let Some(entry) = TABLE.get(s.escapees).filter(|_| !kill::is_forbidden(s, pid)) else { return false };
    let fd = sys::pidfd_open(pid);
    let same = proc::look(pid).is_some_and(|stat| stat.start_ticks == start_ticks && !stat.supervisor);
    // Without a descriptor left for it, it is found again when others are gone.
    if fd < 0 || !same || sys::pidfd_send(fd, 0, 0) == sys::ESRCH {
        sys::close(fd);
        return false;
    }
    entry.pid.store(pid, Relaxed);
    entry.fd.store(fd, Relaxed);
    entry.start_ticks.store(start_ticks, Relaxed);
    entry.parent.store(parent, Relaxed);
    entry.state.store(state, Relaxed);
    s.escapees += 1;
    true
}

/// Notes what the scanner said. Our own mark counts whatever the process descends from.
fn decide(entry: &Entry, decision: u32) {
    let state = entry.state.load(Relaxed);
    if decision == verdict::OURS || state & DECISION == UNDECIDED {
        entry.state.store(state & !DECISION | decision, Relaxed);
    }
}

/// The scanner has read a process.
pub fn reported(s: &mut Supervisor, &[pid, serial, start_ticks, said]: &Report) {
    let (pid, said) = (pid as i32, said as u32);
    if let Some(entry) = TABLE.get(find(s, pid, start_ticks)) {
        // One that has vanished shows as gone by its pidfd.
        return decide(entry, if said == verdict::VANISHED { verdict::NONE } else { said });
    }
    s.vanished |= said == verdict::VANISHED;
    if said != verdict::OURS {
        return;
    }
    // Even if it ends before it is pinned: it may have left somebody.
    s.found_new = true;
    endgame::starting_found(s, pid, serial as u32, start_ticks);
    if proc::look(pid).is_some_and(|stat| stat.start_ticks == start_ticks && !s.is_member(&stat))
        && pin(s, pid, start_ticks, 0, verdict::OURS)
    {
        walk(s, pid, s.escapees as i32);
    }
}

/// The scanner could not read this one, which it was asked for, in time.
///
/// Below a group of ours everything is ours unless it is shown to be another owner's, and this one shows nothing.
pub fn unreadable(s: &Supervisor, pid: i32) {
    for entry in entries(s).iter().filter(|entry| entry.pid.load(Relaxed) == pid) {
        decide(entry, verdict::NONE);
    }
}

/// For the scanner: what it is to read first.
pub fn undecided(s: &Supervisor) -> impl Iterator<Item = i32> {
    let undecided = entries(s).iter().filter(|entry| entry.state.load(Relaxed) & (DECISION | GONE) == UNDECIDED);
    undecided.map(|entry| entry.pid.load(Relaxed))
}

/// Whether the process is ours; `None`: not known yet.
fn is_ours(s: &Supervisor, entry: &Entry) -> Option<bool> {
    let mut entry = entry;
    loop {
        match entry.state.load(Relaxed) & DECISION {
            verdict::OURS => return Some(true),
            verdict::FOREIGN => return Some(false),
            // What ended before it could be read is taken for what nearly everything below our groups is.
            UNDECIDED if entry.state.load(Relaxed) & GONE == 0 => return None,
            _ => {}
        }
        // Parents come before their children in the table, so this ends.
        match entries(s).get((entry.parent.load(Relaxed) as usize).wrapping_sub(1)) {
            Some(parent) => entry = parent,
            None => return Some(true),
        }
    }
}

/// TERM to what was found since the last time, or KILL to everything. Returns whether something of ours still lives,
/// or may be ours.
pub fn signal(s: &Supervisor) -> bool {
    let mut living = false;
    for entry in entries(s) {
        let state = entry.state.load(Relaxed);
        if state & GONE != 0 {
            continue;
        }
        let (pid, fd, start) = (entry.pid.load(Relaxed), entry.fd.load(Relaxed), entry.start_ticks.load(Relaxed));
        if sys::is_readable(fd) {
            entry.state.store(state | GONE, Relaxed);
            sys::close(fd);
            continue;
        }
        match is_ours(s, entry) {
            Some(true) if s.killing || state & TERMED == 0 => {
                let signal = if s.killing { sys::SIGKILL } else { sys::SIGTERM };
                entry.state.store(state | TERMED, Relaxed);
                // What refuses to be signalled, and another user's, is not waited for.
                living |= kill::one(s, pid, fd, start, signal) == Sent::REACHED;
            }
            Some(ours) => living |= ours,
            None => living = true,
        }
    }
    living
}

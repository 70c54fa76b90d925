//! Processes that left their group: found by the mark, by their session, and by a walk down from the leaders.
//!
//! Each is pinned by a pidfd when it is found. One that the mark names is ours. One that only the walk found is
//! signalled when the scanner has seen that neither it nor a process on the way down to it carries another owner's
//! mark: what another owner started below ours is that owner's business, and so is its supervisor. The groups' own
//! TERM does not wait for that; the walk, which must come before, reads `status` and `children` only.

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
    identity: AtomicU64,
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
        identity: AtomicU64::new(0),
        parent: AtomicI32::new(0),
        state: AtomicU32::new(0),
    }
}; ENTRIES];

const DEPTH_LIMIT: u32 = 100;
/// Processes looked at below one root: some 20 ms, for which the group's TERM waits.
const WALK_LIMIT: u32 = 1_000;

#[inline(never)]
fn entries(s: &Supervisor) -> &'static [Entry] {
    TABLE.get(..s.escapees).unwrap_or_default()
}

/// A process on the way down: its number, a pidfd that holds it, its place in the table plus one (0: none, it is a
/// member of a group of ours).
#[derive(Clone, Copy)]
pub struct Node {
    pub pid: i32,
    pub fd: i32,
    pub entry: i32,
}

/// Walks down from a process of ours and pins what is in none of our groups.
pub fn walk(s: &mut Supervisor, root: Node) {
    let mut budget = WALK_LIMIT;
    descend(s, root, DEPTH_LIMIT, &mut budget);
}

#[inline(never)]
fn descend(s: &mut Supervisor, parent: Node, depth: u32, budget: &mut u32) {
    for pid in proc::children(parent.pid) {
        if depth == 0 || *budget == 0 {
            return;
        }
        *budget -= 1;
        let fd = sys::pidfd_open(pid);
        // What is read here is about the processes that the two pidfds hold, if neither has been reaped after it.
        let is_child = proc::status(pid, pid).ppid == parent.pid;
        let group = s.find_group(sys::getpgid(pid), SETTLED);
        let identity = s.identity(pid, fd);
        let known = find(s, pid, identity);
        let mut entry = parent.entry;
        let mut ours = is_child && is_held(parent.fd) && is_held(fd);
        let mut pinned = false;
        if let Some(group) = group {
            ours &= !is_group_only(s, group);
        } else if known < ENTRIES {
            entry = known as i32 + 1;
        } else if ours {
            pinned = pin(s, pid, fd, identity, parent.entry, UNDECIDED);
            ours = pinned;
            entry = s.escapees as i32;
        }
        if ours {
            descend(s, Node { pid, fd, entry }, depth - 1, budget);
        }
        if !pinned {
            sys::close(fd);
        }
    }
}

/// The process has not been reaped, so its number is its own.
fn is_held(fd: i32) -> bool {
    sys::pidfd_send(fd, 0, 0) != sys::ESRCH
}

pub fn is_group_only(s: &Supervisor, index: Index) -> bool {
    s.slot(index).load().has(flags::GROUP_ONLY)
}

/// The place of a process in the table; beyond its end if it is not there.
#[inline(never)]
fn find(s: &Supervisor, pid: i32, identity: u64) -> usize {
    let mut entries = entries(s).iter();
    let found = entries.position(|it| it.pid.load(Relaxed) == pid && it.identity.load(Relaxed) == identity);
    found.unwrap_or(usize::MAX)
}

/// Puts a process at the end of the table, with the pidfd that holds it. Without one, for want of descriptors, it is
/// found again when others are gone.
#[inline(never)]
fn pin(s: &mut Supervisor, pid: i32, fd: i32, identity: u64, parent: i32, state: u32) -> bool {
    let Some(entry) = TABLE.get(s.escapees) else { return false };
    if fd < 0 || identity == 0 || kill::is_forbidden(s, pid) {
        return false;
    }
    entry.pid.store(pid, Relaxed);
    entry.fd.store(fd, Relaxed);
    entry.identity.store(identity, Relaxed);
    entry.parent.store(parent, Relaxed);
    entry.state.store(state, Relaxed);
    s.escapees += 1;
    true
}

/// Notes what the scanner said. Our own mark counts whatever the process descends from.
fn decide(entry: &Entry, said: u32) {
    let state = entry.state.load(Relaxed);
    if said & DECISION == verdict::OURS || state & DECISION == UNDECIDED {
        entry.state.store(state & !DECISION | said, Relaxed);
    }
}

/// The scanner has read a process.
pub fn reported(s: &mut Supervisor, &[pid, serial, identity, said]: &Report) {
    let (pid, said) = (pid as i32, said as u32);
    let vanished = said & verdict::KIND == verdict::VANISHED;
    if let Some(entry) = TABLE.get(find(s, pid, identity)) {
        // One that has vanished shows as gone by its pidfd.
        if !vanished {
            decide(entry, said);
        }
        return;
    }
    s.vanished |= vanished;
    if said & verdict::KIND != verdict::OURS {
        return;
    }
    // Even if it ends before it is pinned: it may have left somebody.
    s.found_new = true;
    endgame::starting_found(s, pid, serial as u32, identity);
    let fd = sys::pidfd_open(pid);
    if s.identity(pid, fd) == identity
        && s.find_group(sys::getpgid(pid), SETTLED).is_none()
        && pin(s, pid, fd, identity, 0, said)
    {
        walk(s, Node { pid, fd, entry: s.escapees as i32 });
    } else {
        sys::close(fd);
    }
}

/// The scanner could not read this one in time. Below a group of ours everything is ours unless it is shown to be
/// another owner's, and this one shows nothing.
pub fn unreadable(s: &Supervisor, pid: i32) {
    entries(s).iter().filter(|entry| entry.pid.load(Relaxed) == pid).for_each(|entry| decide(entry, verdict::NONE));
}

/// For the scanner: what it is to read first.
#[inline(never)]
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
        let (pid, fd) = (entry.pid.load(Relaxed), entry.fd.load(Relaxed));
        if sys::is_readable(fd) {
            entry.state.store(state | GONE, Relaxed);
            sys::close(fd);
            continue;
        }
        match is_ours(s, entry) {
            Some(true) if s.killing || state & TERMED == 0 => {
                if state & verdict::NAMED == 0 && proc::status(pid, pid).supervisor {
                    // By exec it may have become another owner's supervisor since it was read: read it again.
                    entry.state.store(state & !DECISION, Relaxed);
                    living = true;
                    continue;
                }
                let signal = if s.killing { sys::SIGKILL } else { sys::SIGTERM };
                entry.state.store(state | TERMED, Relaxed);
                // What refuses to be signalled, and another user's, is not waited for.
                living |= kill::one(s, pid, fd, signal) == Sent::REACHED;
            }
            Some(ours) => living |= ours,
            None => living = true,
        }
    }
    living
}

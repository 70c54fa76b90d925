//! Taking groups from the roster, proving them, and letting go of what is empty.
//!
//! The leader's pidfd is opened first and the proof is made after: what the proof says is then about the process that
//! the pidfd holds, not about the next one with its number.

use super::atomic::Ordering::SeqCst;
use super::kill::{self, Left};
use super::proc;
use super::roster::{Side, Slot, Word, features, request};
use super::state::{
    Cell, EXITED, FD_LIMIT, Index, NEVER, NUMBER_ONLY, PROVEN, REFUSED, STOPPING, Supervisor, cell, mark, set_cell,
};
use super::{event, members, requests, sys};

/// First thorough look after a leader has exited: its owner waits for it now, and frees the slot by itself.
const THOROUGH_FIRST_MS: u64 = 50;
const THOROUGH_LAST_MS: u64 = 10_000;
/// What is known by its number only, or cannot be told now, is looked at this often.
const AGAIN_MS: u64 = 1_000;
const STOP_STEP_LAST_MS: u64 = 20;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Found {
    Proven,
    Gone,
    Recycled,
    Refused,
    /// Cannot be told now: not a reason to signal it and not one to forget it.
    Unknown,
}

/// Brings the cells in line with the roster and looks into every mailbox.
pub fn sync(s: &mut Supervisor) {
    // A group known by its number only is looked at every second: its number may be given out once it is empty.
    let (mut unknown, mut weak) = (0, 0);
    for (index, slot, word) in s.slots() {
        let known = word.is_held() && is_tenant(index, slot, word);
        if !known {
            forget(s, index);
        }
        if word.is_held() {
            match if known { Found::Proven } else { adopt(s, index, slot, word) } {
                Found::Gone => vacate(s, index, slot, word),
                Found::Recycled => recycled(s, index, slot, word),
                Found::Unknown => unknown = 1,
                Found::Proven | Found::Refused => {}
            }
            weak += cell(index).has(NUMBER_ONLY) as u32;
            requests::look(s, index, slot);
        }
    }
    s.roster.header.weak_groups.store(weak, SeqCst);
    if weak + unknown > 0 {
        plan(s, AGAIN_MS);
    }
}

fn plan(s: &mut Supervisor, after_ms: u64) {
    s.tend_at = s.tend_at.min(sys::now_ms() + after_ms);
}

/// What is known of a slot is about the tenant it has now.
pub fn is_tenant(index: Index, slot: &Slot, word: Word) -> bool {
    let c = cell(index);
    c.is_of(word.serial()) && (c.has(REFUSED) || c.pid() == slot.pid.load(SeqCst))
}

#[inline(never)]
pub fn forget(s: &Supervisor, index: Index) {
    let fd = cell(index).fd();
    if fd >= 0 {
        // Closing alone would not end the watch: a helper process may still hold a copy of the descriptor.
        sys::epoll_remove(s.epoll, fd);
        sys::close(fd);
    }
    set_cell(index, Cell::NONE);
}

/// Opens a pidfd for the leader of a slot, held or starting, and proves it.
#[inline(never)]
pub fn adopt(s: &Supervisor, index: Index, slot: &Slot, word: Word) -> Found {
    let pid = slot.pid.load(SeqCst);
    if kill::is_forbidden(s, pid) {
        set_cell(index, Cell::new(pid, -1, word.serial(), REFUSED));
        return Found::Refused;
    }
    let fd = sys::pidfd_open(pid);
    match fd {
        0.. if fd <= s.roster.header.last_pidfd.load(SeqCst).min(FD_LIMIT) => {}
        // The number is a thread's: it was given out again, so nobody of the group is left.
        sys::EINVAL | sys::ENOENT => return Found::Recycled,
        _ => return adopt_number(s, index, slot, word, pid, fd),
    }
    let found = prove(s, slot, word, pid, fd);
    if found == Found::Proven {
        set_cell(index, Cell::new(pid, fd, word.serial(), PROVEN));
        sys::epoll_add(s.epoll, fd, sys::EPOLLIN | sys::EPOLLONESHOT, event::leader(index));
        proc::look_early(pid, pid);
    } else {
        sys::close(fd);
    }
    found
}

/// The leader has been reaped and its members pin the number; or there is no descriptor left for a pidfd, and the
/// choke point proves the leader by its start, each time.
fn adopt_number(s: &Supervisor, index: Index, slot: &Slot, word: Word, pid: i32, error: i32) -> Found {
    sys::close(error);
    let exited = if error == sys::ESRCH { EXITED } else { 0 };
    set_cell(index, Cell::new(pid, -1, word.serial(), PROVEN | NUMBER_ONLY | exited));
    let found = match kill::probe_group(s, index, 0, false) {
        Left::Nothing => Found::Gone,
        Left::Recycled => Found::Recycled,
        _ => {
            slot.weaken(word);
            return Found::Proven;
        }
    };
    set_cell(index, Cell::NONE);
    found
}

/// Whether the process that `fd` holds is the one that was registered.
pub fn prove(s: &Supervisor, slot: &Slot, word: Word, pid: i32, fd: i32) -> Found {
    let claimed = slot.identity.load(SeqCst);
    let mut identity = if s.features & features::PIDFS != 0 { sys::inode(fd) } else { 0 };
    if identity == 0 || claimed == 0 {
        let Some(stat) = proc::stat(pid) else { return Found::Unknown };
        if sys::pidfd_send(fd, 0, 0) == sys::ESRCH {
            // It ended meanwhile, and the line may be of the next one with its number.
            return Found::Unknown;
        }
        if identity == 0 {
            identity = s.identity_of(stat.start_ticks);
        }
        if claimed == 0 {
            // A child on its way to exec has not written its identity yet. It is younger than `since`, which was taken
            // before it could exist: nothing can be said of it before it does.
            let nameless = !word.is_held();
            if !nameless && !s.started_by(stat.start_ticks, slot.since.load(SeqCst)) {
                return Found::Recycled;
            }
            if nameless || stat.pgrp != pid {
                return Found::Unknown;
            }
        }
    }
    if claimed != 0 {
        return if claimed == identity { Found::Proven } else { Found::Recycled };
    }
    if slot.identity.compare_exchange(0, identity, SeqCst, SeqCst).is_ok() && slot.load() != word {
        // The slot was freed under our hands: its next tenant must not find a stranger's identity.
        let _ = slot.identity.compare_exchange(identity, 0, SeqCst, SeqCst);
        return Found::Unknown;
    }
    Found::Proven
}

/// Leaders have just exited: what is empty goes at once, the rest is looked at soon.
pub fn after_exits(s: &mut Supervisor) {
    s.leaders_exited = false;
    s.thorough_step = 0;
    s.stop_step = 1;
    s.thorough_at = s.thorough_at.min(sys::now_ms() + THOROUGH_FIRST_MS);
    s.tend_at = 0;
}

/// Looks at every group that is being stopped or whose leader has gone: frees the slots of the empty ones, carries the
/// stops on, and notes when to look again.
pub fn tend(s: &mut Supervisor, now: u64) {
    // Zombies, which a signal would reach, are told from the living by a look at all processes. While its leader
    // lives, a group does too, so a stop that waits for its leader needs none.
    let thorough = now >= s.thorough_at;
    let counted = (thorough || s.count_members) && any_answers(s);
    if counted {
        members::count(s);
    }
    s.count_members = false;
    s.tend_at = NEVER;
    let mut waiting = false;
    for (index, slot, word) in s.slots() {
        let c = cell(index);
        // What has moved on is found by `sync`.
        if !c.has(EXITED | NUMBER_ONLY | STOPPING) || !word.is_held() || !is_tenant(index, slot, word) {
            continue;
        }
        match kill::probe_group(s, index, requests::signal_due(index, now), counted) {
            Left::Nothing => {
                vacate(s, index, slot, word);
                continue;
            }
            Left::Recycled => {
                recycled(s, index, slot, word);
                continue;
            }
            left if c.has(STOPPING) => requests::carry_on(s, index, slot, word, left, now),
            _ => {}
        }
        waiting |= c.has(EXITED);
        if c.has(EXITED) && s.features & features::GROUP_PIDFD == 0 {
            // From here on the number is pinned by the members alone.
            mark(index, NUMBER_ONLY, true);
            slot.weaken(word);
        }
        if cell(index).has(NUMBER_ONLY) {
            plan(s, AGAIN_MS);
        }
    }
    if !waiting {
        s.thorough_at = NEVER;
    } else if thorough || s.thorough_at == NEVER {
        s.thorough_step = (s.thorough_step * 2).clamp(THOROUGH_FIRST_MS, THOROUGH_LAST_MS);
        s.thorough_at = now + s.thorough_step;
    }
    s.tend_at = s.tend_at.min(s.thorough_at);
    s.stop_step = (s.stop_step * 2).min(STOP_STEP_LAST_MS);
}

/// Whether a group without its leader still answers, be it by a zombie. Asking costs a system call a group, a look at
/// all processes a thousand.
fn any_answers(s: &Supervisor) -> bool {
    s.slots().any(|(index, _, _)| {
        cell(index).has(EXITED | NUMBER_ONLY) && kill::probe_group(s, index, 0, false) == Left::Somebody
    })
}

/// The number is a stranger's, so the group is gone. Whoever asked for something is told so, and not that it was done.
fn recycled(s: &Supervisor, index: Index, slot: &Slot, word: Word) {
    requests::answer(slot, request::RECYCLED);
    mark(index, STOPPING, false);
    vacate(s, index, slot, word);
}

/// The group is empty, or a stranger's: the slot is freed. Whoever waits for it, and the keeper, are told.
#[inline(never)]
pub fn vacate(s: &Supervisor, index: Index, slot: &Slot, word: Word) {
    if cell(index).has(STOPPING) {
        requests::stopped(index, word);
    }
    forget(s, index);
    // The word may have got a flag since it was read.
    let now = slot.load();
    if now.serial() == word.serial() && slot.vacate(now, Side::Supervisor) {
        sys::wake(&slot.request);
        ring(s);
    }
}

/// Wakes the keeper.
pub fn ring(s: &Supervisor) {
    s.roster.header.bell.fetch_add(1, SeqCst);
    sys::wake(&s.roster.header.bell);
}

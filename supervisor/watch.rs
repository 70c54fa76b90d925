//! Taking groups from the roster, proving them, and letting go of what is empty.
//!
//! The leader's pidfd is opened first and the proof is made after: what the proof says is then about the process that
//! the pidfd holds, not about the next one with its number.

use super::atomic::Ordering::SeqCst;
use super::kill::{self, Sent};
use super::roster::{Side, Slot, Word, features, flags, request};
use super::state::{Cell, EXITED, FD_LIMIT, NEVER, NUMBER_ONLY, PROVEN, REFUSED, STOPPING, Supervisor, cell, set_cell};
use super::{event, members, proc, requests, sys};

/// First look after a leader has exited: its owner waits for it now, and frees the slot by itself.
const RECHECK_FIRST_MS: u64 = 50;
const RECHECK_LAST_MS: u64 = 10_000;
/// A group known by its number only is looked at this often: its number may be given out once it is empty.
const RECHECK_NUMBER_MS: u64 = 1_000;

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
    let mut unknown = false;
    let mut number_only = 0;
    for (index, slot) in s.roster.used().iter().enumerate() {
        let word = slot.load();
        let c = cell(index);
        if c.known() && !(word.is_held() && c.is_of(word.serial()) && is_same_pid(c, slot)) {
            forget(s, index);
        }
        if !word.is_held() {
            continue;
        }
        if !cell(index).known() {
            match adopt(s, index, slot, word) {
                Found::Gone => vacate(s, index, slot, word),
                Found::Recycled => recycled(s, index, slot, word),
                Found::Unknown => unknown = true,
                Found::Proven | Found::Refused => {}
            }
        }
        number_only += cell(index).has(NUMBER_ONLY) as u32;
        requests::look(s, index, slot);
    }
    s.roster.header.weak_groups.store(number_only, SeqCst);
    if unknown || number_only > 0 {
        s.recheck_at = s.recheck_at.min(sys::now_ms() + RECHECK_NUMBER_MS);
    }
}

fn is_same_pid(c: Cell, slot: &Slot) -> bool {
    c.has(REFUSED) || c.pid() == slot.pid.load(SeqCst)
}

pub fn forget(s: &Supervisor, index: usize) {
    let fd = cell(index).fd();
    if fd >= 0 {
        // Closing alone would not end the watch: a helper process may still hold a copy of the descriptor.
        sys::epoll_remove(s.epoll, fd);
        sys::close(fd);
    }
    set_cell(index, Cell::NONE);
}

/// Opens a pidfd for the leader of a held slot and proves it.
#[inline(never)]
pub fn adopt(s: &Supervisor, index: usize, slot: &Slot, word: Word) -> Found {
    let pid = slot.pid.load(SeqCst);
    if kill::is_forbidden(s, pid) {
        set_cell(index, Cell::new(pid, -1, word.serial(), REFUSED));
        return Found::Refused;
    }
    let fd = sys::pidfd_open(pid);
    match fd {
        0..=FD_LIMIT => {}
        sys::ESRCH => return adopt_leaderless(s, index, slot, word, pid),
        // The number is a thread's: it was given out again, so nobody of the group is left.
        sys::EINVAL | sys::ENOENT => return Found::Recycled,
        _ => return adopt_without_pidfd(s, index, slot, word, pid, fd),
    }
    let found = prove(s, slot, word, pid, fd);
    if found != Found::Proven {
        sys::close(fd);
        return found;
    }
    set_cell(index, Cell::new(pid, fd, word.serial(), PROVEN));
    sys::epoll_add(s.epoll, fd, sys::EPOLLIN | sys::EPOLLONESHOT, event::leader(index, word.serial()));
    Found::Proven
}

/// Whether the process that `fd` holds is the one that was registered.
pub fn prove(s: &Supervisor, slot: &Slot, word: Word, pid: i32, fd: i32) -> Found {
    let claimed = slot.identity.load(SeqCst);
    let inode = if s.features & features::PIDFS != 0 { sys::fstat(fd).map_or(0, |file| file.inode) } else { 0 };
    if inode != 0 && claimed != 0 {
        return if claimed == inode { Found::Proven } else { Found::Recycled };
    }
    let Some(stat) = proc::stat(pid) else { return Found::Unknown };
    if sys::pidfd_send(fd, 0, 0) == sys::ESRCH {
        // It ended meanwhile, and the line may be of the next one with its number.
        return Found::Unknown;
    }
    let start = (s.owners_ticks(stat.start_ticks) + 1) as u64;
    if claimed != 0 {
        return if claimed == start { Found::Proven } else { Found::Recycled };
    }
    if !s.started_by(stat.start_ticks, slot.since.load(SeqCst)) {
        return Found::Recycled;
    }
    if stat.pgrp != pid {
        return Found::Unknown;
    }
    let identity = if inode != 0 { inode } else { start };
    if slot.identity.compare_exchange(0, identity, SeqCst, SeqCst).is_ok() && slot.load() != word {
        // The slot was freed under our hands: its next tenant must not find a stranger's identity.
        let _ = slot.identity.compare_exchange(identity, 0, SeqCst, SeqCst);
        return Found::Unknown;
    }
    Found::Proven
}

/// The leader has been reaped: the group, if there is one, is known by its number, pinned by its members.
fn adopt_leaderless(s: &Supervisor, index: usize, slot: &Slot, word: Word, pid: i32) -> Found {
    set_cell(index, Cell::new(pid, -1, word.serial(), PROVEN | NUMBER_ONLY | EXITED));
    match kill::group(s, index, 0) {
        Sent::Reached | Sent::Denied => {
            slot.weaken(word);
            Found::Proven
        }
        Sent::Recycled => none(index, Found::Recycled),
        Sent::Gone => none(index, Found::Gone),
        _ => none(index, Found::Unknown),
    }
}

/// No descriptor is left for a pidfd: the leader is known by its number and its start.
fn adopt_without_pidfd(s: &Supervisor, index: usize, slot: &Slot, word: Word, pid: i32, error: i32) -> Found {
    if error >= 0 {
        sys::close(error);
    } else if !matches!(error, sys::EMFILE | sys::ENFILE | sys::ENOMEM) {
        return Found::Unknown;
    }
    let Some(stat) = proc::stat(pid) else { return Found::Unknown };
    if !s.started_by(stat.start_ticks, slot.since.load(SeqCst)) {
        return Found::Recycled;
    }
    if stat.pgrp != pid {
        return Found::Unknown;
    }
    set_cell(index, Cell::new(pid, -1, word.serial(), PROVEN | NUMBER_ONLY));
    slot.weaken(word);
    Found::Proven
}

fn none(index: usize, found: Found) -> Found {
    set_cell(index, Cell::NONE);
    found
}

/// A leader's pidfd became readable.
pub fn leader_exited(s: &mut Supervisor, index: usize, serial: u32) {
    let c = cell(index);
    if c.is_of(serial) {
        set_cell(index, c.with(EXITED));
        s.leaders_exited = true;
    }
}

/// Frees the slots whose group is empty, and notes when to look again at the others. `thorough`: zombies, which a
/// signal would reach, are told from the living.
pub fn recheck(s: &mut Supervisor, thorough: bool) {
    let suspects = |index: usize| cell(index).known() && (cell(index).has(EXITED) || cell(index).has(NUMBER_ONLY));
    if thorough {
        members::count(s, &suspects);
    }
    let (mut waiting, mut number_only) = (false, 0);
    for (index, slot) in s.roster.used().iter().enumerate() {
        if !suspects(index) || cell(index).has(REFUSED) {
            continue;
        }
        let word = slot.load();
        if !word.is_held() || !cell(index).is_of(word.serial()) {
            forget(s, index);
            continue;
        }
        match kill::group(s, index, 0) {
            Sent::Gone => vacate(s, index, slot, word),
            Sent::Recycled => recycled(s, index, slot, word),
            Sent::Reached if thorough && members::none_lives(index) => vacate(s, index, slot, word),
            _ => {
                waiting = true;
                if s.features & features::GROUP_PIDFD == 0 && !cell(index).has(NUMBER_ONLY) {
                    // From here on the number is pinned by the members alone.
                    set_cell(index, cell(index).with(NUMBER_ONLY));
                    slot.weaken(word);
                }
                number_only += cell(index).has(NUMBER_ONLY) as u32;
            }
        }
    }
    s.roster.header.weak_groups.store(number_only, SeqCst);
    if !waiting {
        (s.recheck_at, s.thorough_at) = (NEVER, NEVER);
        return;
    }
    let now = sys::now_ms();
    if thorough || s.thorough_at == NEVER {
        s.recheck_step = (s.recheck_step * 2).clamp(RECHECK_FIRST_MS, RECHECK_LAST_MS);
        s.thorough_at = now + s.recheck_step;
    }
    s.recheck_at = if number_only > 0 { s.thorough_at.min(now + RECHECK_NUMBER_MS) } else { s.thorough_at };
}

/// It is time to look again at what was left.
pub fn on_time(s: &mut Supervisor, now: u64) {
    s.recheck_at = NEVER;
    sync(s);
    recheck(s, now >= s.thorough_at);
}

/// Leaders have just exited: what is empty goes at once, the rest is looked at soon.
pub fn after_exits(s: &mut Supervisor) {
    s.leaders_exited = false;
    s.recheck_step = 0;
    s.thorough_at = s.thorough_at.min(sys::now_ms() + RECHECK_FIRST_MS);
    recheck(s, false);
}

/// The number is a stranger's, so the group is gone. Whoever asked for a signal is told first, and the slot is freed
/// at the next look.
fn recycled(s: &mut Supervisor, index: usize, slot: &Slot, word: Word) {
    if requests::answer(slot, request::RECYCLED) {
        set_cell(index, cell(index).without(STOPPING));
        s.recheck_at = s.recheck_at.min(sys::now_ms() + RECHECK_NUMBER_MS);
    } else {
        vacate(s, index, slot, word);
    }
}

/// The group is empty, or a stranger's: the slot is freed. Whoever waits for it, and the keeper, are told.
pub fn vacate(s: &Supervisor, index: usize, slot: &Slot, word: Word) {
    if cell(index).has(STOPPING) {
        requests::stopped(s, index, word.serial());
    }
    forget(s, index);
    if slot.vacate(slot_word(slot, word), Side::Supervisor) {
        sys::wake(&slot.request);
        ring(s);
    }
}

/// The word as it stands, unless another tenant has come.
fn slot_word(slot: &Slot, word: Word) -> Word {
    let now = slot.load();
    if now.serial() == word.serial() && now.flags() & flags::LET_GO == 0 { now } else { word }
}

/// Wakes the keeper.
pub fn ring(s: &Supervisor) {
    s.roster.header.bell.fetch_add(1, SeqCst);
    sys::wake(&s.roster.header.bell);
}

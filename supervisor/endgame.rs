//! The owner is gone: everything it owned goes too, TERM first, KILL after the grace, and then this program.

use super::atomic::Ordering::SeqCst;
use super::escapees::{self, Node};
use super::kill::{self, Left, Sent};
use super::log::{self, Outcome};
use super::roster::{Slot, State, Word, features, request};
use super::scan::{self, Mode};
use super::state::{
    Cell, EXITED, Index, KILLED, NEVER, NUMBER_ONLY, PROVEN, REFUSED, SETTLED, Supervisor, TERMED, after_grace, cell,
    mark, set_cell,
};
use super::watch::{self, Found};
use super::{event, members, owner, proc, sys};

/// What is left of a group this long after KILL is stuck.
const KILLED_WAIT_MS: u64 = 1_000;
/// Kept for the last lines of the log.
const LOG_MS: u64 = 100;
const POLL_LAST_MS: u64 = 20;
const SCAN_FIRST_MS: u64 = 20;
/// Passes of the scanner follow each other at this distance while somebody is left and nobody new is found.
const SCAN_STEP_MS: u64 = 50;
/// A pass in which somebody ended while being looked at is repeated this often: it may have left a child behind. So is
/// one in which somebody was passed over.
pub const DOUBTS: u32 = 3;

pub fn run(s: &mut Supervisor) -> ! {
    s.began = sys::now_ms();
    s.began_ticks = sys::boot_ticks();
    s.reaper = sys::getppid();
    let grace_ms = s.roster.header.grace_ms.load(SeqCst).min(request::GRACE_LIMIT_MS);
    let kill_at = after_grace(s.began, grace_ms);
    let end_at = kill_at + KILLED_WAIT_MS;
    scan::abandon(s);
    // The first scanner, and the first look at all processes, would only take processor time from what is ending now.
    let (mut pause_ms, mut count_at) = (1, s.began + POLL_LAST_MS);
    s.next_scan_at = s.began + SCAN_FIRST_MS;
    let mut rest = Rest { left: true, silent: false, unwalked: false };
    loop {
        let now = sys::now_ms();
        if now >= kill_at && !s.killing {
            s.killing = true;
            (pause_ms, count_at) = (1, now + 1);
        }
        // Not before the first KILL: a look at all processes costs milliseconds, more on a busy machine.
        let counted = rest.silent && now >= count_at;
        if counted {
            members::count(s);
            count_at = sys::now_ms() + POLL_LAST_MS;
        }
        rest = look(s, counted);
        if rest.unwalked {
            // What left a group whose leader is gone hangs below its members: it must be found before their TERM.
            walk_members(s);
            s.members_walked = true;
            continue;
        }
        let escapees_left = escapees::signal(s);
        let all_gone = !rest.left && !escapees_left && owner::is_settled(s);
        if (all_gone && s.scan_was_clean) || now + LOG_MS >= end_at {
            break;
        }
        let helpers_at = scan::tick(s, now).min(log::tick(s, now));
        if !s.scanner.runs() && (all_gone || s.found_new || now >= s.next_scan_at) {
            (s.found_new, s.vanished) = (false, false);
            s.scan_is_last = all_gone;
            scan::begin(s, Mode::Escapees);
            s.next_scan_at = now + SCAN_STEP_MS;
        }
        // The end of a leader or of the scanner is an event; the rest has to be asked for.
        let polled = rest.silent || escapees_left || (!rest.left && !all_gone) || !s.scanner.runs();
        let next = if polled { now + pause_ms } else { NEVER };
        pause_ms = (pause_ms * 2).min(POLL_LAST_MS);
        event::wait(s, next.min(helpers_at).min(if s.killing { end_at } else { kill_at }));
        if s.leaders_exited {
            // They end in heaps: one look for all of them.
            sys::sleep_ms(1);
            s.leaders_exited = false;
            rest.silent = true;
            pause_ms = 1;
        }
    }
    finish(s, end_at)
}

/// Proven, and not known to be gone.
fn is_open(index: Index) -> bool {
    let c = cell(index);
    c.has(PROVEN) && !c.has(SETTLED)
}

/// Proves a slot that has not been looked at before. False: it cannot be told yet what it holds.
fn meet(s: &mut Supervisor, index: Index, slot: &Slot, word: Word) -> bool {
    watch::forget(s, index);
    let outcome = match watch::adopt(s, index, slot, word) {
        Found::Gone => Outcome::Gone,
        Found::Recycled => Outcome::Recycled,
        Found::Refused => return true,
        Found::Unknown => return false,
        Found::Proven => return true,
    };
    set_cell(index, Cell::new(slot.pid.load(SeqCst), -1, word.serial(), 0));
    settle(s, index, word, outcome);
    true
}

fn walk_down(s: &mut Supervisor, index: Index) {
    if !escapees::is_group_only(s, index) {
        let c = cell(index);
        escapees::walk(s, Node { pid: c.pid(), fd: c.fd(), entry: 0 });
    }
}

#[inline(never)]
fn walk_members(s: &mut Supervisor) {
    for pid in proc::processes() {
        let fd = sys::pidfd_open(pid);
        let group = s.find_group(sys::getpgid(pid), SETTLED);
        // A number that is a stranger's by now is not walked from: the group itself is asked, by what it was proven by.
        let walked = |index| {
            cell(index).has(EXITED) && !escapees::is_group_only(s, index) && kill::group(s, index, 0) == Sent::REACHED
        };
        if group.is_some_and(walked) {
            escapees::walk(s, Node { pid, fd, entry: 0 });
        }
        sys::close(fd);
    }
}

fn term(s: &mut Supervisor, index: Index, word: Word) {
    let outcome = match kill::end_group(s, index) {
        Sent::GONE => Outcome::Gone,
        Sent::RECYCLED => Outcome::Recycled,
        Sent::REFUSED => Outcome::Refused,
        // From now on it is known that the number was ours when the owner died.
        _ => return mark(index, TERMED, true),
    };
    settle(s, index, word, outcome);
}

#[inline(never)]
fn settle(s: &Supervisor, index: Index, word: Word, outcome: Outcome) {
    mark(index, SETTLED, true);
    log::note(index, word, log::OWNER_GONE + outcome as u32, s.began);
}

/// What the last look at all slots found.
struct Rest {
    /// Something is left, or may be.
    left: bool,
    /// It must be polled: no event will tell its end.
    silent: bool,
    /// A group whose leader is gone waits for `walk_members`.
    unwalked: bool,
}

/// Looks at every slot. Group after group: what hangs below a leader is pinned, then TERM goes out at once. After the
/// grace, KILL goes to all that is left.
fn look(s: &mut Supervisor, counted: bool) -> Rest {
    let mut rest = Rest { left: false, silent: s.killing, unwalked: false };
    for (index, slot, word) in s.slots() {
        let starting = word.0 as u8 == State::Starting as u8;
        if !word.is_held() && !starting {
            // Being filled, freed or released in the owner's last moment: not ours to signal.
            watch::forget(s, index);
            continue;
        }
        // Other threads of the owner may still register, and finish a start, until its pidfd is readable; and the
        // kernel writes the pid before the child's first instruction, so not after the owner's last.
        let unknown = if starting && slot.pid.load(SeqCst) == 0 {
            !s.owner_gone
        } else {
            !watch::is_tenant(index, slot, word) && !meet(s, index, slot, word)
        };
        rest.left |= unknown;
        rest.silent |= unknown;
        let c = cell(index);
        if c.has(REFUSED) && !c.has(SETTLED) {
            settle(s, index, word, Outcome::Refused);
        }
        if !is_open(index) {
            continue;
        }
        // What was started since the first walk loses its parents by KILL.
        let last_walk = s.killing && !c.has(KILLED);
        if !c.has(TERMED) || last_walk {
            walk_down(s, index);
        }
        if c.has(TERMED) || s.killing {
            if is_left(s, index, word, counted) {
                rest.left = true;
                rest.silent |= c.has(EXITED | NUMBER_ONLY);
            }
            continue;
        }
        rest.left = true;
        if !c.has(EXITED) || s.members_walked {
            term(s, index, word);
        } else {
            rest.unwalked = true;
        }
    }
    rest
}

fn is_left(s: &mut Supervisor, index: Index, word: Word, counted: bool) -> bool {
    let (killed, termed) = (cell(index).has(KILLED), cell(index).has(TERMED));
    let outcome = match kill::probe_group(s, index, if s.killing { sys::SIGKILL } else { 0 }, counted) {
        Left::Nothing if killed => Outcome::Kill,
        Left::Nothing if termed => Outcome::Term,
        // It had ended before anything was sent.
        Left::Nothing => Outcome::Gone,
        Left::Recycled => Outcome::Recycled,
        Left::Refused => Outcome::Refused,
        // The rest of the group is dead, and what is left will not listen to us.
        Left::OthersOnly if killed => Outcome::Eperm,
        _ => {
            mark(index, KILLED, s.killing);
            return true;
        }
    };
    settle(s, index, word, outcome);
    false
}

/// The scanner found our mark in the environment of a process. If that is the child of a starting slot, which could
/// not say itself who it is, this tells it: the slot is met at the next look.
pub fn starting_found(s: &Supervisor, pid: i32, serial: u32, identity: u64) {
    if s.features & features::PIDFS == 0
        && let Some(slot) = s.find_serial(serial).filter(|slot| slot.pid.load(SeqCst) == pid)
    {
        let _ = slot.identity.compare_exchange(0, identity, SeqCst, SeqCst);
    }
}

/// The scanner has been through all processes.
pub fn scanned(s: &mut Supervisor) {
    let doubtful = s.vanished && s.doubts > 0;
    s.doubts -= doubtful as u32;
    s.scan_was_clean = s.scan_is_last && !s.found_new && !doubtful;
}

fn finish(s: &mut Supervisor, end_at: u64) -> ! {
    scan::abandon(s);
    for (index, _, word) in s.slots().filter(|(index, ..)| is_open(*index)) {
        settle(s, index, word, Outcome::Stuck);
    }
    log::finish(s, end_at);
    sys::exit(0)
}

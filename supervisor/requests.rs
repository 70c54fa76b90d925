//! The mailboxes: `signal` and `stop` of one group, asked for by the owner, carried out here without ever blocking.

use super::atomic::{AtomicU64, Ordering::Relaxed, Ordering::SeqCst};
use super::kill::{self, Sent};
use super::log::{self, Outcome};
use super::roster::{
    SLOTS, Slot,
    request::{self, Request},
};
use super::state::{EXITED, NEVER, STOPPING, Supervisor, cell, set_cell};
use super::{members, sys, watch};

/// After KILL: how long a group may take to be gone.
const KILLED_WAIT_MS: u64 = 1_000;
const POLL_LAST_MS: u64 = 20;

/// For a slot that is being stopped: when KILL is due (CLOCK_MONOTONIC, ms), doubled, plus one once it was sent.
static DEADLINES: [AtomicU64; SLOTS] = [const { AtomicU64::new(0) }; SLOTS];

fn deadline(index: usize) -> (u64, bool) {
    let value = DEADLINES.get(index).map_or(0, |deadline| deadline.load(Relaxed));
    (value >> 1, value & 1 == 1)
}

fn set_deadline(index: usize, kill_at: u64, killed: bool) {
    if let Some(deadline) = DEADLINES.get(index) {
        deadline.store(kill_at << 1 | killed as u64, Relaxed);
    }
}

/// Puts an answer into the mailbox, if a request is in it, and wakes whoever waits. False: there was none.
pub fn answer(slot: &Slot, code: u32) -> bool {
    let asked = slot.request.load(SeqCst);
    if !matches!(request::decode(asked), Request::Signal(_) | Request::Stop { .. }) {
        return false;
    }
    let answer = request::encode(Request::Answer(code));
    // The exchange fails when the slot was freed, or the caller took the request back: then nobody waits.
    let _ = slot.request.compare_exchange(asked, answer, SeqCst, SeqCst);
    sys::wake(&slot.request);
    true
}

/// Looks into the mailbox of a held slot.
pub fn look(s: &mut Supervisor, index: usize, slot: &Slot) {
    match request::decode(slot.request.load(SeqCst)) {
        Request::Signal(signal) => {
            let code = match signal {
                1..=64 => answer_for(kill::group(s, index, signal)),
                _ => -sys::EINVAL as u32,
            };
            answer(slot, code);
        }
        Request::Stop { grace_ms } if !cell(index).has(STOPPING) => begin(s, index, slot, grace_ms),
        _ => {}
    }
}

fn answer_for(sent: Sent) -> u32 {
    match sent {
        Sent::Reached => 0,
        Sent::Gone => -sys::ESRCH as u32,
        Sent::Denied => -sys::EPERM as u32,
        Sent::Recycled => request::RECYCLED,
        Sent::Refused => request::REFUSED,
        Sent::Failed(errno) => errno as u32,
    }
}

fn begin(s: &mut Supervisor, index: usize, slot: &Slot, grace_ms: u32) {
    let now = sys::now_ms();
    let sent = if grace_ms == 0 { kill::group(s, index, 0) } else { kill::end_group(s, index) };
    match sent {
        Sent::Refused => finish(s, index, slot, request::REFUSED, Outcome::Refused),
        Sent::Recycled => finish(s, index, slot, request::RECYCLED, Outcome::Recycled),
        Sent::Denied => finish(s, index, slot, request::EPERM_LEFT, Outcome::Eperm),
        // Nobody there: the first poll, which is due at once, frees the slot.
        Sent::Gone | Sent::Reached | Sent::Failed(_) => {
            set_cell(index, cell(index).with(STOPPING));
            set_deadline(index, now + grace_ms as u64, false);
            (s.stop_at, s.stop_step) = (now, 1);
        }
    }
}

/// Looks at every group that is being stopped, and sets the time of the next look.
pub fn poll(s: &mut Supervisor) {
    let now = sys::now_ms();
    // While the leader lives, so does the group: no need to look at all processes.
    members::count(s, &|index| cell(index).has(STOPPING) && (cell(index).has(EXITED) || deadline(index).1));
    s.stop_at = NEVER;
    for (index, slot) in s.roster.used().iter().enumerate() {
        if !cell(index).has(STOPPING) {
            continue;
        }
        let word = slot.load();
        if !word.is_held() || !cell(index).is_of(word.serial()) {
            watch::forget(s, index);
            continue;
        }
        let (kill_at, killed) = deadline(index);
        let counted = cell(index).has(EXITED) || killed;
        let due = now >= kill_at;
        match kill::group(s, index, if due { sys::SIGKILL } else { 0 }) {
            Sent::Gone => watch::vacate(s, index, slot, word),
            Sent::Recycled => finish(s, index, slot, request::RECYCLED, Outcome::Recycled),
            Sent::Refused => finish(s, index, slot, request::REFUSED, Outcome::Refused),
            _ if counted && members::none_lives(index) => watch::vacate(s, index, slot, word),
            _ if killed && members::all_denied(index) => finish(s, index, slot, request::EPERM_LEFT, Outcome::Eperm),
            _ if now >= kill_at + KILLED_WAIT_MS => finish(s, index, slot, request::STUCK, Outcome::Stuck),
            _ => {
                if due && !killed {
                    set_deadline(index, kill_at, true);
                    s.stop_step = 1;
                }
                let next = if due { now + s.stop_step } else { kill_at };
                // A group without its leader ends without an event.
                let next = if counted { next.min(now + s.stop_step) } else { next };
                s.stop_at = s.stop_at.min(next);
            }
        }
    }
    s.stop_step = (s.stop_step * 2).min(POLL_LAST_MS);
}

/// A leader has exited: its group may be empty now.
pub fn poll_soon(s: &mut Supervisor) {
    if s.stop_at != NEVER {
        (s.stop_at, s.stop_step) = (0, 1);
    }
}

/// The stop ends without the group: the slot stays, the caller is told why.
fn finish(s: &mut Supervisor, index: usize, slot: &Slot, code: u32, outcome: Outcome) {
    note(s, index, slot.load().serial(), outcome);
    set_cell(index, cell(index).without(STOPPING));
    answer(slot, code);
}

/// The stop ends with the group.
pub fn stopped(s: &Supervisor, index: usize, serial: u32) {
    note(s, index, serial, if deadline(index).1 { Outcome::Kill } else { Outcome::Term });
}

fn note(s: &Supervisor, index: usize, serial: u32, outcome: Outcome) {
    let asked = s.roster.slots.get(index).map_or(0, |slot| slot.request.load(SeqCst));
    let took_ms = match request::decode(asked) {
        Request::Stop { grace_ms } if cell(index).has(STOPPING) => {
            (sys::now_ms() + grace_ms as u64).saturating_sub(deadline(index).0)
        }
        _ => 0,
    };
    log::note(cell(index).pid(), serial, outcome, took_ms as u32);
}

//! The mailboxes: `signal` and `stop` of one group, asked for by the owner, carried out here without ever blocking.

use super::atomic::{AtomicU64, Ordering::Relaxed, Ordering::SeqCst};
use super::kill::{self, Left, Sent};
use super::log::{self, Outcome};
use super::roster::{
    SLOTS, Slot, Word,
    request::{self, Request},
};
use super::state::{EXITED, Index, KILLED, STOPPING, Supervisor, after_grace, cell, mark};
use super::sys;

/// After KILL: how long a group may take to be gone.
const KILLED_WAIT_MS: u64 = 1_000;

/// For a slot that is being stopped (CLOCK_MONOTONIC, ms): when that began, and when KILL is due.
static BEGAN: [AtomicU64; SLOTS] = [const { AtomicU64::new(0) }; SLOTS];
static KILL_AT: [AtomicU64; SLOTS] = [const { AtomicU64::new(0) }; SLOTS];

#[inline(never)]
fn kill_at(index: Index) -> u64 {
    KILL_AT[index as usize].load(Relaxed)
}

/// Puts an answer into the mailbox, if a request is in it, and wakes whoever waits. It stays there, also in a slot that
/// is freed now, until it is read.
pub fn answer(slot: &Slot, code: u32) {
    let asked = slot.request.load(SeqCst);
    if request::is_open(asked) {
        let answer = request::encode(Request::Answer(code));
        // The exchange fails when the slot was released, or the caller took the request back: then nobody waits.
        let _ = slot.request.compare_exchange(asked, answer, SeqCst, SeqCst);
        sys::wake(&slot.request);
    }
}

/// Looks into the mailbox of a held slot.
#[inline(never)]
pub fn look(s: &mut Supervisor, index: Index, slot: &Slot) {
    match request::decode(slot.request.load(SeqCst)) {
        Request::Signal(signal) => {
            answer(slot, answer_for(kill::group(s, index, signal)));
        }
        Request::Stop { grace_ms } if !cell(index).has(STOPPING) => begin(s, index, grace_ms),
        _ => {}
    }
}

fn answer_for(sent: Sent) -> u32 {
    match sent {
        Sent::RECYCLED => request::RECYCLED,
        Sent::REFUSED => request::REFUSED,
        Sent(answer) => -answer as u32,
    }
}

/// The first look, which is due at once, answers if there is nothing to stop.
fn begin(s: &mut Supervisor, index: Index, grace_ms: u32) {
    let now = sys::now_ms();
    if grace_ms > 0 {
        kill::end_group(s, index);
    }
    mark(index, STOPPING, true);
    mark(index, KILLED, false);
    BEGAN[index as usize].store(now, Relaxed);
    KILL_AT[index as usize].store(after_grace(now, grace_ms), Relaxed);
    (s.tend_at, s.stop_step) = (0, 1);
}

/// What is to be sent now to a group that may be being stopped.
pub fn signal_due(index: Index, now: u64) -> i32 {
    if cell(index).has(STOPPING) && now >= kill_at(index) { sys::SIGKILL } else { 0 }
}

/// Something is left of a group that is being stopped: the caller is told, or it is looked at again.
pub fn carry_on(s: &mut Supervisor, index: Index, slot: &Slot, word: Word, left: Left, now: u64) {
    let (kill_at, killed) = (kill_at(index), cell(index).has(KILLED));
    let due = now >= kill_at;
    let (code, outcome) = match left {
        Left::Refused => (request::REFUSED, Outcome::Refused),
        Left::OthersOnly if killed => (request::EPERM_LEFT, Outcome::Eperm),
        _ if now >= kill_at + KILLED_WAIT_MS => (request::STUCK, Outcome::Stuck),
        _ => {
            mark(index, KILLED, due);
            // A group without its leader ends without an event.
            let polled = due || cell(index).has(EXITED);
            // Whoever waits for the stop reaps the leader, if that has ended and is a child of its process.
            sys::wake(&slot.request);
            s.count_members |= polled;
            s.tend_at = s.tend_at.min(if polled { now + s.stop_step } else { kill_at });
            return;
        }
    };
    finish(index, slot, word, code, outcome);
}

/// The stop ends without the group: the slot stays, the caller is told why.
fn finish(index: Index, slot: &Slot, word: Word, code: u32, outcome: Outcome) {
    note(index, word, outcome);
    mark(index, STOPPING, false);
    answer(slot, code);
}

/// The stop ends with the group.
pub fn stopped(index: Index, word: Word) {
    note(index, word, if cell(index).has(KILLED) { Outcome::Kill } else { Outcome::Term });
}

fn note(index: Index, word: Word, outcome: Outcome) {
    log::note(index, word, outcome as u32, BEGAN[index as usize].load(Relaxed));
}

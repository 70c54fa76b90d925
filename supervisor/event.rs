//! The one epoll: what can happen, noted in the supervisor's state and acted on by the callers.

use super::state::{EXITED, Index, NEVER, Supervisor, mark};
use super::{roster::fds, scan, sys};

/// What the supervisor was started with is tagged with its descriptor's number.
const LIFELINE_A: u64 = fds::LIFELINE_A as u64;
const LIFELINE_B: u64 = fds::LIFELINE_B as u64;
const OWNER: u64 = fds::OWNER as u64;
pub const SCANNER: u64 = 0;
const LEADER: u64 = 1 << 16;

/// The watch of a leader is taken away together with what is known of its slot, so the slot's number is enough.
pub fn leader(index: Index) -> u64 {
    LEADER + index as u64
}

/// Waits until something happens or `until` (CLOCK_MONOTONIC, ms) is reached.
#[inline(never)]
pub fn wait(s: &mut Supervisor, until: u64) {
    let timeout_ms = match until {
        NEVER => -1,
        // One more: the clock is read rounded down, and waking early means waking twice. No time here is further away
        // than the longest grace, which is a matter of hours.
        until => (until + 1).saturating_sub(sys::now_ms()) as i32,
    };
    let mut events = [sys::Event { events: 0, tag: 0 }; 8];
    let mut timeout_ms = timeout_ms;
    loop {
        let ready = sys::epoll_wait(s.epoll, &mut events, timeout_ms);
        for event in events.iter().take(ready) {
            match { event.tag } {
                tag @ LIFELINE_A..=LIFELINE_B => lifeline(s, tag as i32),
                OWNER => s.owner_gone = true,
                SCANNER => scan::readable(s),
                tag => {
                    mark(tag as Index, EXITED, true);
                    s.leaders_exited = true;
                }
            }
        }
        // Leaders end by the hundred.
        if ready < events.len() {
            return;
        }
        timeout_ms = 0;
    }
}

/// Bytes are wake-ups; the end is the end of one of the owner's threads.
///
/// The pipe is the next supervisor's, too. One that was let go leaves its bytes alone: a byte that it took would be
/// missed by the next one, which was woken by the same byte and finds the pipe empty.
fn lifeline(s: &mut Supervisor, fd: i32) {
    if s.is_retired() {
        sys::exit(0);
    }
    let mut bytes = [0u8; 256];
    match sys::read(fd, &mut bytes) {
        // The roster is looked at after every wait.
        1.. => {}
        ret if ret == sys::EINTR as isize || ret == sys::EAGAIN as isize => {}
        _ => {
            sys::epoll_remove(s.epoll, fd);
            if s.ended == 0 {
                s.ended_at = sys::now_ms();
            }
            s.ended |= 1 << (fd - fds::LIFELINE_A);
        }
    }
}

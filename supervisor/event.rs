//! The one epoll: what can happen, noted in the supervisor's state and acted on by the callers.

use super::state::{Index, NEVER, Supervisor};
use super::{roster::fds, scan, sys, watch};

pub const LIFELINE_A: u64 = 0;
pub const LIFELINE_B: u64 = 1;
pub const OWNER: u64 = 2;
pub const SCANNER: u64 = 3;
const LEADER: u64 = 16;

pub fn leader(index: Index, serial: u32) -> u64 {
    LEADER + index as u64 + ((serial as u64) << 32)
}

/// Waits until something happens or `until` (CLOCK_MONOTONIC, ms) is reached.
#[inline(never)]
pub fn wait(s: &mut Supervisor, until: u64) {
    let timeout_ms = match until {
        NEVER => -1,
        // One more: the clock is read rounded down, and waking early means waking twice.
        until => until.saturating_sub(sys::now_ms()).min(i32::MAX as u64 - 1) as i32 + (until > sys::now_ms()) as i32,
    };
    let mut events = [sys::Event { events: 0, tag: 0 }; 16];
    let ready = sys::epoll_wait(s.epoll, &mut events, timeout_ms);
    for event in events.iter().take(ready) {
        match { event.tag } {
            LIFELINE_A => lifeline(s, fds::LIFELINE_A, 1),
            LIFELINE_B => lifeline(s, fds::LIFELINE_B, 2),
            OWNER => s.owner_gone = true,
            SCANNER => scan::readable(s),
            tag => watch::leader_exited(s, (tag - LEADER) as Index, (tag >> 32) as u32),
        }
    }
}

/// Bytes are wake-ups; the end is the end of one of the owner's threads.
///
/// The pipe is the next supervisor's, too. One that was let go leaves its bytes alone: a byte that it took would be
/// missed by the next one, which was woken by the same byte and finds the pipe empty.
fn lifeline(s: &mut Supervisor, fd: i32, bit: u32) {
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
            s.ended |= bit;
        }
    }
}

//! The one place that sends signals.
//!
//! Whoever wants a process gone comes through here, and here everything is refused that must never be hit, whatever
//! the roster says: its memory is the owner's too. A number alone is never trusted: a group is reached through a
//! pidfd of its leader, or, where the kernel cannot do that, by its number after a proof that it is still pinned.

use super::atomic::Ordering::SeqCst;
use super::roster::{fds, features};
use super::state::{Cell, EXITED, Index, NUMBER_ONLY, PID_END, PROVEN, Supervisor, cell};
use super::{members, proc, sys};

/// What became of a signal: what the kernel said, or why it was not asked.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Sent(pub i32);

impl Sent {
    /// It reached somebody, who may be a zombie.
    pub const REACHED: Sent = Sent(0);
    /// Nobody is there any more.
    pub const GONE: Sent = Sent(sys::ESRCH);
    /// The number is a stranger's by now.
    pub const RECYCLED: Sent = Sent(-10_001);
    /// Not proven ours, or never to be touched.
    pub const REFUSED: Sent = Sent(-10_002);
}

/// Numbers, of processes and of groups, that are never signalled: everybody (0, 1 and below), what no pid can be, this supervisor
/// (it leads its group and its session), the owner and its group, and the groups of the owner's ancestors. The last are read live: the
/// owner clears an entry when the number has been recycled by a child of ours.
pub fn is_forbidden(s: &Supervisor, number: i32) -> bool {
    !(2..PID_END).contains(&number)
        || [s.own_pid, s.owner_pid, s.owner_group].contains(&number)
        || s.roster.header.forbidden.iter().any(|n| n.load(SeqCst) == number)
}

/// Sends `signal` (0: asks only) to the whole group of a slot, and to its leader if that has changed its group.
#[inline(never)]
pub fn group(s: &Supervisor, index: Index, signal: i32) -> Sent {
    let c = cell(index);
    if !c.has(PROVEN) || is_forbidden(s, c.pid()) {
        return Sent::REFUSED;
    }
    group_once(s, index, c, signal)
}

/// TERM, then CONT: a stopped process would not see it before. For a group that is to end; a signal that a caller
/// passes on (`Child::signal`) is sent alone.
pub fn end_group(s: &Supervisor, index: Index) -> Sent {
    let sent = group(s, index, sys::SIGTERM);
    if sent == Sent::REACHED {
        group(s, index, sys::SIGCONT);
    }
    sent
}

fn group_once(s: &Supervisor, index: Index, c: Cell, signal: i32) -> Sent {
    let (pid, fd) = (c.pid(), c.fd());
    let sent = if fd >= 0 && s.features & features::GROUP_PIDFD != 0 {
        sys::pidfd_send(fd, signal, sys::TO_GROUP)
    } else if is_pinned(s, index, c) {
        sys::kill(-pid, signal)
    } else {
        return Sent::RECYCLED;
    };
    // A leader may be elsewhere: it went to another group, or is still on its way to exec in the owner's. (A group
    // with its number is its own in any case: as long as it lives, nobody else can make one.)
    let lives = fd >= 0 && !c.has(EXITED);
    if lives && (sent != 0 || signal == sys::SIGKILL || sys::getpgid(pid) != pid) {
        let leader = sys::pidfd_send(fd, signal, 0);
        if sent == sys::ESRCH {
            return Sent(leader);
        }
    }
    Sent(sent)
}

/// Whether a group's number can still be nobody else's: its leader has not been reaped, or no process has the number,
/// which the members then keep from being given out.
fn is_pinned(s: &Supervisor, index: Index, c: Cell) -> bool {
    if c.fd() >= 0 && sys::pidfd_send(c.fd(), 0, 0) != sys::ESRCH {
        return true;
    }
    // The leader has gone, so whoever has its number is a stranger.
    let gone = c.fd() >= 0 || c.has(EXITED);
    // Else there was no descriptor left for a pidfd. A leader is then known by its start: a stranger that got the number
    // started after the registration.
    match if gone { None } else { proc::stat(c.pid()) } {
        Some(stat) => s.started_by(stat.start_ticks, s.slot(index).since.load(SeqCst)),
        None => sys::kill(c.pid(), 0) == sys::ESRCH,
    }
}

/// What is left of a group.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Left {
    Nothing,
    /// Members that may be zombies, unless they were counted.
    Somebody,
    /// Counted: all that lives belongs to another user.
    OthersOnly,
    Recycled,
    Refused,
}

/// Sends `signal` (0: none) to a group and says what is left of it. `counted`: `members::count` has just looked at it.
#[inline(never)]
pub fn probe_group(s: &Supervisor, index: Index, signal: i32, counted: bool) -> Left {
    match group(s, index, signal) {
        Sent::GONE => Left::Nothing,
        Sent::RECYCLED => Left::Recycled,
        Sent::REFUSED => Left::Refused,
        // A signal reaches zombies too.
        // A leader that has not exited lives, in whatever group.
        _ if counted && cell(index).has(EXITED | NUMBER_ONLY) && members::none_lives(index) => Left::Nothing,
        _ if counted && members::all_denied(index) => Left::OthersOnly,
        _ => Left::Somebody,
    }
}

/// Sends `signal` to one process outside the groups, held by `pidfd`; TERM is followed by CONT.
#[inline(never)]
pub fn one(s: &Supervisor, pid: i32, pidfd: i32, signal: i32) -> Sent {
    if is_forbidden(s, pid) {
        return Sent::REFUSED;
    }
    let sent = Sent(sys::pidfd_send(pidfd, signal, 0));
    if signal == sys::SIGTERM && sent == Sent::REACHED {
        sys::pidfd_send(pidfd, sys::SIGCONT, 0);
    }
    sent
}

/// Whether we are allowed to signal this process. Asks only.
pub fn is_permitted(pid: i32) -> bool {
    pid > 1 && sys::kill(pid, 0) != sys::EPERM
}

/// Ends a helper process of this supervisor: a child that has not been reaped, so its number is nobody else's.
pub fn helper(pid: i32) {
    if pid > 1 {
        sys::kill(pid, sys::SIGKILL);
    }
}

/// What this kernel can do, found out by asking it about ourselves.
pub fn probe(s: &Supervisor) -> u32 {
    let mut found = 0;
    let mut add = |flag, yes| found |= if yes { flag } else { 0 };
    let own = sys::pidfd_open(s.own_pid);
    add(features::PIDFD, own >= 0);
    add(features::GROUP_PIDFD, sys::pidfd_send(own, 0, sys::TO_GROUP) == 0);
    // Before pidfs, all pidfds shared one inode.
    add(features::PIDFS, own >= 0 && sys::inode(own) != sys::inode(fds::OWNER));
    sys::close(own);
    found | proc::probe(s.own_pid)
}

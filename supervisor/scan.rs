//! The scanner: a throw-away process that looks through all of `/proc` for what belongs to this owner.
//!
//! Looking at a process can block for ever: `environ` waits for the lock of its address space, and that and `stat` for
//! an exec that hangs in a file system. So a copy of the supervisor reads, says in the roster which pid it is at, and
//! reports over a pipe. One that stays at a pid is ended, and another goes on behind that pid.
//!
//! Strangers may block by the dozen, and a pass must come to its end all the same: there is little patience. A pass that
//! passed somebody over is repeated, and a page that was only slow to come is there by then.

use super::atomic::{AtomicBool, Ordering::Relaxed, Ordering::SeqCst};
use super::mark::{Mark, OWNER_BYTES, PREFIX};
use super::roster::{Slot, flags};
use super::stat::{PF_KTHREAD, Stat};
use super::state::{KILLED, NEVER, SETTLED, Supervisor, TERMED, cell};
use super::{endgame, escapees, event, kill, proc, sys, watch};

const STALL_MS: u64 = 30;
const CHECK_MS: u64 = 10;
const PIPE_FD: i32 = 3;
/// Inside one scanner, at most.
const PASSES: u32 = 20;

/// Nobody was killed since the pass before.
static QUIET: AtomicBool = AtomicBool::new(false);

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// For `Header::scan_request`: how many carry our mark outside the held groups.
    Count,
    /// The owner is gone: who else has to go.
    Escapees,
}

pub struct Scanner {
    pub pid: i32,
    fd: i32,
    mode: Mode,
    /// Lowest pid that is still to be looked at.
    from: i32,
    /// Where it was seen, and since when.
    at: i32,
    at_since: u64,
    found: u32,
    /// The `scan_request` that is being answered.
    request: u32,
    done: bool,
}

impl Scanner {
    pub const NEW: Scanner =
        Scanner { pid: 0, fd: -1, mode: Mode::Count, from: 0, at: 0, at_since: 0, found: 0, request: 0, done: false };

    pub fn runs(&self) -> bool {
        self.pid > 0
    }
}

pub mod verdict {
    /// Carries no mark, or does not show it.
    pub const NONE: u32 = 1;
    /// Carries our mark, or no other and is in the session of a leader of ours.
    pub const OURS: u32 = 2;
    /// Carries another owner's mark, or one that was let go.
    pub const FOREIGN: u32 = 3;
    /// Ended while it was being looked at, and had no parent that could be looked at in its place.
    pub const VANISHED: u32 = 4;
    /// Not a process: the pass is complete.
    pub const DONE: u32 = 5;
    pub const KIND: u32 = 7;
    /// Added: it is named like a supervisor. One of another owner's carries no mark, but what carries ours and calls
    /// itself so is ours.
    pub const NAMED: u32 = 16;
}

/// pid, serial of the mark, identity, verdict. Smaller than PIPE_BUF, so never torn.
pub type Report = [u64; REPORT_WORDS];
const REPORT_WORDS: usize = 4;

/// Begins a pass over all processes.
pub fn begin(s: &mut Supervisor, mode: Mode) -> bool {
    s.scanner.mode = mode;
    s.scanner.found = 0;
    s.scanner.from = 0;
    s.scanner.request = s.roster.header.scan_request.load(SeqCst);
    launch(s)
}

fn launch(s: &mut Supervisor) -> bool {
    let Some([read_end, write_end]) = sys::pipe() else { return false };
    s.roster.header.scanner_at.store(0, SeqCst);
    let pid = sys::fork();
    if pid == 0 {
        // Nothing inherited stays open: neither the back pipe, whose end must tell the supervisor's death, nor a pidfd.
        sys::close_back_pipe();
        sys::dup_to(write_end, PIPE_FD);
        sys::close_from(PIPE_FD + 1);
        // The numbers of processes may begin anew under a pass, and then the next of a chain of forks stands where it
        // has been already: so there are two, and after a KILL it looks again at once.
        for _ in 0..PASSES {
            pass(s);
            if s.scanner.mode == Mode::Count || QUIET.swap(true, Relaxed) {
                break;
            }
        }
        report(&[0, 0, 0, verdict::DONE as u64]);
        sys::exit(0);
    }
    sys::close(write_end);
    if pid < 0 {
        sys::close(read_end);
        return false;
    }
    s.scanner.pid = pid;
    s.scanner.fd = read_end;
    s.scanner.done = false;
    s.scanner.at = 0;
    s.scanner.at_since = sys::now_ms();
    sys::epoll_add(s.epoll, read_end, sys::EPOLLIN, event::SCANNER);
    true
}

/// The scanner has reported, or has ended.
#[inline(never)]
pub fn readable(s: &mut Supervisor) {
    let mut words = [0u64; REPORT_WORDS * 16];
    let filled = sys::read_words(s.scanner.fd, &mut words);
    if filled <= 0 {
        return ended(s);
    }
    let (reports, _) = words.as_chunks::<REPORT_WORDS>();
    for report in reports.iter().take(filled as usize / (8 * REPORT_WORDS)) {
        match (report[3] as u32, s.scanner.mode) {
            (verdict::DONE, _) => s.scanner.done = true,
            (_, Mode::Count) => s.scanner.found += 1,
            (_, Mode::Escapees) => escapees::reported(s, report),
        }
    }
}

fn ended(s: &mut Supervisor) {
    close(s);
    if !s.scanner.done {
        // Somebody else killed it. The pid it was at is passed over, so that this cannot go on for ever.
        pass_over(s);
        return;
    }
    match s.scanner.mode {
        Mode::Count => {
            s.scan_answered = s.scanner.request;
            let answer = (s.scanner.request as u64) << 32 | s.scanner.found as u64;
            s.roster.header.scan_answer.store(answer, SeqCst);
            watch::ring(s);
        }
        Mode::Escapees => endgame::scanned(s),
    }
}

fn close(s: &mut Supervisor) {
    sys::epoll_remove(s.epoll, s.scanner.fd);
    sys::close(s.scanner.fd);
    s.scanner.fd = -1;
    s.scanner.pid = 0;
    sys::reap_all();
}

/// Ends a scanner that is stuck. Returns when to look again.
pub fn tick(s: &mut Supervisor, now: u64) -> u64 {
    if !s.scanner.runs() {
        return NEVER;
    }
    let at = s.roster.header.scanner_at.load(SeqCst);
    if at != s.scanner.at || at == 0 {
        (s.scanner.at, s.scanner.at_since) = (at, now);
    } else if now >= s.scanner.at_since + STALL_MS {
        // On a busy machine it may be waiting for a processor only.
        if proc::stat(s.scanner.pid).is_some_and(|stat| stat.state != b'R') {
            kill::helper(s.scanner.pid);
            close(s);
            pass_over(s);
        } else {
            s.scanner.at_since = now;
        }
    }
    now + CHECK_MS
}

/// Another one goes on behind the pid at which the last one ended.
fn pass_over(s: &mut Supervisor) {
    s.vanished = true;
    let at = s.roster.header.scanner_at.load(SeqCst);
    // One that was asked for has a minus sign.
    escapees::unreadable(s, -at);
    if at >= 0 {
        s.scanner.from = s.scanner.from.max(at) + 1;
    }
    launch(s);
}

/// Gives up, whatever was found so far.
pub fn abandon(s: &mut Supervisor) {
    if s.scanner.runs() {
        kill::helper(s.scanner.pid);
        close(s);
    }
}

// From here on: inside the scanner.

fn report(report: &Report) {
    sys::write_words(PIPE_FD, report);
}

fn pass(s: &Supervisor) {
    if s.scanner.mode == Mode::Escapees {
        // What the walk found waits for this, so it comes first.
        for pid in escapees::undecided(s) {
            consider(s, pid, true);
        }
    }
    for pid in proc::processes() {
        if pid >= s.scanner.from {
            consider(s, pid, false);
        }
    }
}

/// Looks at a process, and reports it if it matters; one that was `asked` for does in any case.
fn consider(s: &Supervisor, pid: i32, asked: bool) {
    // From here on it may block.
    s.roster.header.scanner_at.store(if asked { -pid } else { pid }, SeqCst);
    let fd = sys::pidfd_open(pid);
    // Where nobody reaps there are zombies by the thousand: they are left out first.
    if (asked || !sys::is_readable(fd))
        && let Some(stat) = proc::stat(pid)
    {
        examine(s, &stat, fd, asked);
    }
    sys::close(fd);
}

fn examine(s: &Supervisor, stat: &Stat, fd: i32, asked: bool) {
    let pid = stat.pid;
    // What started before the roster was made is nothing of ours.
    let created = (s.roster.header.created.load(SeqCst) / 10_000_000) as i64;
    let skipped = stat.flags & PF_KTHREAD != 0
        || s.owners_ticks(stat.start_ticks) + 1 < created
        || s.find_group(stat.pgrp, SETTLED).is_some()
        || kill::is_forbidden(s, pid);
    if skipped && !asked {
        return;
    }
    let counting = s.scanner.mode == Mode::Count;
    let (mut verdict, serial) = judge(s, pid);
    let named = if proc::status(pid, pid).supervisor { verdict::NAMED } else { 0 };
    if counting {
        // While the owner lives, a child that was registered after this began is none that left its group.
        let left = s.find_serial(serial).is_none_or(|slot| slot.pid.load(SeqCst) != stat.pgrp);
        verdict = if left { verdict } else { verdict::NONE };
    } else if verdict == verdict::NONE {
        if stat.ppid == s.reaper && sys::is_readable(fd) {
            verdict = verdict::VANISHED;
        } else if named != 0 {
            verdict = verdict::FOREIGN;
        } else if in_our_session(s, stat) {
            verdict = verdict::OURS;
        }
    } else if verdict == verdict::OURS && s.killing {
        // What forks and ends all the time is gone before anybody else could look.
        kill::one(s, pid, fd, sys::SIGKILL);
        QUIET.store(false, Relaxed);
    }
    if asked || verdict == verdict::OURS || verdict == verdict::VANISHED {
        // Not stuck, should the pipe be full.
        s.roster.header.scanner_at.store(0, SeqCst);
        report(&[pid as u64, serial as u64, s.identity(pid, fd), (verdict | named) as u64]);
    }
}

/// It is in the session of a leader of ours, whose number may be a stranger's by now. But nobody joins a session from
/// outside: who is in it, and started while the leader still kept the number, was in our leader's.
fn in_our_session(s: &Supervisor, stat: &Stat) -> bool {
    let with_search = |index| cell(index).has(TERMED | KILLED) && !s.slot(index).load().has(flags::GROUP_ONLY);
    stat.start_ticks < s.began_ticks && s.find_group(stat.session, 0).is_some_and(with_search)
}

/// Looks for the mark in the environment of a process, whatever size that has. The first variable of the name counts.
#[inline(never)]
fn judge(s: &Supervisor, pid: i32) -> (u32, u32) {
    let Some(task) = proc::living_task(pid) else { return (verdict::NONE, 0) };
    // What a process of ours carries, up to the serial.
    let header = &s.roster.header;
    let expected = Mark::of_owner([header.owner_id[0].load(SeqCst), header.owner_id[1].load(SeqCst)]);

    let fd = proc::open(b"/proc/#/environ", task, 0);
    let mut buffer = [0u8; 1024];
    // How much of what is expected has been seen of this variable; `OTHER`: it is another one.
    const OTHER: usize = usize::MAX;
    let (mut matched, mut serial, mut digits) = (0, 0u64, false);
    let judged = 'judged: loop {
        let filled = sys::read(fd, &mut buffer);
        // The last variable may lack its NUL.
        buffer[0] = if filled > 0 { buffer[0] } else { 0 };
        for &byte in buffer.iter().take(filled.max(1) as usize) {
            if matched == OWNER_BYTES && byte.is_ascii_digit() {
                serial = (serial * 10 + (byte - b'0') as u64).min(u32::MAX as u64);
                digits = true;
            } else if matched == OWNER_BYTES && byte == 0 && digits {
                break 'judged (verdict::OURS, serial as u32);
            } else if matched != OTHER && expected.get(matched) == Some(&byte) {
                matched += 1;
            } else if matched != OTHER && matched >= PREFIX.len() {
                break 'judged (verdict::FOREIGN, 0);
            } else {
                matched = if byte == 0 { 0 } else { OTHER };
            }
        }
        if filled <= 0 {
            break (verdict::NONE, 0);
        }
    };
    sys::close(fd);
    let group_only = |slot: &Slot| slot.load().has(flags::GROUP_ONLY);
    match judged {
        (verdict::OURS, serial) if s.roster.is_let_go(serial) || s.find_serial(serial).is_some_and(group_only) => {
            (verdict::FOREIGN, 0)
        }
        judged => judged,
    }
}

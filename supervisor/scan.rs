//! The scanner: a throw-away process that looks through all of `/proc` for what belongs to this owner.
//!
//! Reading `/proc/PID/environ` can block for ever: the process may hold its mmap lock, or its pages come from a file
//! system that hangs. So a copy of the supervisor reads, says in the roster which pid it is at, and reports over a
//! pipe. One that stays at a pid is ended, and another goes on behind that pid.

use super::atomic::Ordering::SeqCst;
use super::mark::{Mark, PREFIX, VALUE_BYTES};
use super::roster::{Slot, fds, flags};
use super::stat::{PF_KTHREAD, Stat};
use super::state::{Index, NEVER, Supervisor};
use super::{endgame, escapees, event, kill, proc, sys, watch};

const STALL_MS: u64 = 100;
const CHECK_MS: u64 = 20;
const PIPE_FD: i32 = 3;

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
    /// Carries our mark.
    pub const OURS: u64 = 1;
    /// Carries another owner's mark, or one that was let go.
    pub const FOREIGN: u64 = 2;
    /// Carries no mark, or does not show it.
    pub const NONE: u64 = 3;
    /// Carries no mark, and its session is that of one of our leaders.
    pub const SESSION: u64 = 4;
    pub const DONE: u64 = 5;
}

/// pid, serial of the mark, start ticks, verdict. Smaller than PIPE_BUF, so never torn.
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
        sys::close(fds::BACK);
        sys::dup_to(write_end, PIPE_FD);
        sys::close_from(PIPE_FD + 1);
        pass(s);
        report(&[0, 0, 0, verdict::DONE]);
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
pub fn readable(s: &mut Supervisor) {
    let mut words = [0u64; REPORT_WORDS * 16];
    let filled = sys::read_words(s.scanner.fd, &mut words);
    if filled <= 0 {
        return ended(s);
    }
    let (reports, _) = words.as_chunks::<REPORT_WORDS>();
    for report in reports.iter().take(filled as usize / (8 * REPORT_WORDS)) {
        match (report[3], s.scanner.mode) {
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
        if proc::look(s.scanner.pid).is_some_and(|stat| stat.state != b'R') {
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
    let at = s.roster.header.scanner_at.load(SeqCst);
    let known = s.scanner.mode == Mode::Escapees && escapees::unreadable(s, at);
    if !known {
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
        escapees::each_undecided(s, &mut |pid, start_ticks| {
            if let Some(stat) = proc::look(pid).filter(|stat| stat.start_ticks == start_ticks) {
                let (verdict, serial) = judge(s, &stat);
                report(&[pid as u64, serial as u64, start_ticks, verdict]);
            }
        });
    }
    proc::each_process(&mut |pid| {
        if pid >= s.scanner.from {
            consider(s, pid);
        }
        true
    });
}

fn consider(s: &Supervisor, pid: i32) {
    let Some(stat) = proc::look(pid) else { return };
    // What started before the roster was made is nothing of ours.
    let created = (s.roster.header.created.load(SeqCst) / 10_000_000) as i64;
    if stat.supervisor || stat.flags & PF_KTHREAD != 0 || s.owners_ticks(stat.start_ticks) + 1 < created {
        return;
    }
    let counting = s.scanner.mode == Mode::Count;
    if s.find_group(stat.pgrp).is_some() || kill::is_forbidden(s, pid) {
        return;
    }
    let (mut verdict, serial) = judge(s, &stat);
    if verdict == verdict::NONE && !counting && in_our_session(s, stat.session).is_some() {
        verdict = verdict::SESSION;
    }
    let wanted = match verdict {
        // While the owner lives, a child that was registered after this began is none that left its group.
        verdict::OURS if counting => s.find_serial(serial).is_none_or(|slot| slot.pid.load(SeqCst) != stat.pgrp),
        verdict::OURS | verdict::SESSION => true,
        _ => false,
    };
    if wanted {
        report(&[pid as u64, serial as u64, stat.start_ticks, verdict]);
    }
}

/// The slot whose leader's session this is, unless nobody is to be searched for there.
pub fn in_our_session(s: &Supervisor, session: i32) -> Option<Index> {
    let index = s.find_group(session)?;
    let word = s.slot(index).load();
    (!word.has(flags::GROUP_ONLY)).then_some(index)
}

/// Reads the mark. This is what can block.
#[inline(never)]
fn judge(s: &Supervisor, stat: &Stat) -> (u64, u32) {
    let Some(task) = proc::living_task(stat) else { return (verdict::NONE, 0) };
    let header = &s.roster.header;
    header.scanner_at.store(stat.pid, SeqCst);
    let judged = read_mark(s, task);
    header.scanner_at.store(0, SeqCst);
    judged
}

/// Looks for the mark in the environment of a task, whatever size that has. The first variable of the name counts.
fn read_mark(s: &Supervisor, task: i32) -> (u64, u32) {
    // What a process of ours carries, up to the serial.
    let header = &s.roster.header;
    let ours = Mark { owner_id: [header.owner_id[0].load(SeqCst), header.owner_id[1].load(SeqCst)], serial: 0 };
    let mut value = [0u8; VALUE_BYTES];
    let length = ours.write(&mut value) - 1;
    let expected = || PREFIX.iter().chain(value.iter().take(length));
    let whole = PREFIX.len() + length;

    let fd = proc::open(b"/proc/#/environ", task, 0);
    let mut buffer = [0u8; 1024];
    // How much of what is expected has been seen of this variable; `OTHER`: it is another one.
    const OTHER: usize = usize::MAX;
    let (mut matched, mut serial, mut digits) = (0, 0u64, false);
    let judged = 'judged: loop {
        let filled = sys::read(fd, &mut buffer);
        for &byte in buffer.iter().take(filled.max(0) as usize).chain((filled <= 0).then_some(&0)) {
            if matched == whole && byte.is_ascii_digit() {
                serial = (serial * 10 + (byte - b'0') as u64).min(u32::MAX as u64);
                digits = true;
            } else if matched == whole && byte == 0 && digits {
                break 'judged (verdict::OURS, serial as u32);
            } else if matched != OTHER && expected().nth(matched) == Some(&byte) {
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

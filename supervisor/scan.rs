//! The scanner: a throw-away process that looks through all of `/proc` for what belongs to this owner.
//!
//! Reading `/proc/PID/environ` can block for ever: the process may hold its mmap lock, or its pages come from a file
//! system that hangs. So a copy of the supervisor reads, says in the roster which pid it is at, and reports over a
//! pipe. One that stays at a pid is ended, and another goes on behind that pid.

use super::atomic::Ordering::SeqCst;
use super::mark::{Mark, PREFIX, VALUE_BYTES};
use super::proc::{self, Path};
use super::roster::{State, flags};
use super::stat::{PF_KTHREAD, Stat};
use super::state::{NEVER, PROVEN, Supervisor, cell};
use super::{endgame, escapees, event, kill, sys, watch};

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
pub type Report = [u64; 4];
const REPORT_BYTES: usize = 32;

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
    let mut bytes = [0u8; REPORT_BYTES * 16];
    let filled = sys::read(s.scanner.fd, &mut bytes);
    if filled <= 0 {
        return ended(s);
    }
    for record in bytes.get(..filled as usize).unwrap_or_default().chunks_exact(REPORT_BYTES) {
        let mut report: Report = [0; 4];
        for (field, bytes) in report.iter_mut().zip(record.chunks_exact(8)) {
            *field = bytes.iter().rev().fold(0, |value, &byte| value << 8 | byte as u64);
        }
        match (report[3], s.scanner.mode) {
            (verdict::DONE, _) => s.scanner.done = true,
            (_, Mode::Count) => s.scanner.found += 1,
            (_, Mode::Escapees) => escapees::reported(s, &report),
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
    let mut bytes = [0u8; REPORT_BYTES];
    for (i, byte) in bytes.iter_mut().enumerate() {
        *byte = report.get(i / 8).map_or(0, |field| (field >> (8 * (i % 8))) as u8);
    }
    sys::write(PIPE_FD, &bytes);
}

fn pass(s: &Supervisor) {
    if s.scanner.mode == Mode::Escapees {
        // What the walk found waits for this, so it comes first.
        escapees::each_undecided(s, &mut |pid, start_ticks| {
            if let Some(stat) = proc::stat(pid).filter(|stat| stat.start_ticks == start_ticks) {
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
    let Some(seen) = proc::look(pid) else { return };
    let stat = &seen.stat;
    if seen.supervisor || stat.flags & PF_KTHREAD != 0 || kill::is_forbidden(s, pid) || is_too_old(s, stat) {
        return;
    }
    let counting = s.scanner.mode == Mode::Count;
    if if counting { is_held(s, stat.pgrp) } else { s.find_group(stat.pgrp).is_some() } {
        return;
    }
    let (verdict, serial) = judge(s, stat);
    match verdict {
        verdict::OURS if !(counting && is_starting(s, pid, serial)) => {}
        verdict::NONE if !counting && in_our_session(s, stat.session).is_some() => {
            return report(&[pid as u64, 0, stat.start_ticks, verdict::SESSION]);
        }
        _ => return,
    }
    report(&[pid as u64, serial as u64, stat.start_ticks, verdict]);
}

/// It started before the roster was made: nothing of ours.
fn is_too_old(s: &Supervisor, stat: &Stat) -> bool {
    s.owners_ticks(stat.start_ticks) + 1 < (s.roster.header.created.load(SeqCst) / 10_000_000) as i64
}

/// A held group has this number.
fn is_held(s: &Supervisor, pgid: i32) -> bool {
    s.roster.used().iter().any(|slot| slot.pid.load(SeqCst) == pgid && slot.load().is_held())
}

/// A child that is being started: the owner has not said yet that it is there.
fn is_starting(s: &Supervisor, pid: i32, serial: u32) -> bool {
    s.roster.used().iter().any(|slot| slot.pid.load(SeqCst) == pid && slot.load().serial() == serial)
}

/// The slot whose leader's session this is, unless nobody is to be searched for there.
pub fn in_our_session(s: &Supervisor, session: i32) -> Option<usize> {
    let index = s.find_group(session)?;
    let word = s.roster.slots.get(index)?.load();
    (cell(index).has(PROVEN) && !word.has(flags::GROUP_ONLY)).then_some(index)
}

/// Reads the mark. This is what can block.
fn judge(s: &Supervisor, stat: &Stat) -> (u64, u32) {
    let Some(task) = proc::living_task(stat) else { return (verdict::NONE, 0) };
    let at = &s.roster.header.scanner_at;
    at.store(stat.pid, SeqCst);
    let mark = mark_of(task);
    at.store(0, SeqCst);
    let Some(mark) = mark else { return (verdict::NONE, 0) };
    let header = &s.roster.header;
    let ours = [header.owner_id[0].load(SeqCst), header.owner_id[1].load(SeqCst)];
    if mark.owner_id != ours || s.roster.is_let_go(mark.serial) || is_group_only(s, mark.serial) {
        return (verdict::FOREIGN, 0);
    }
    (verdict::OURS, mark.serial)
}

fn is_group_only(s: &Supervisor, serial: u32) -> bool {
    s.roster.used().iter().any(|slot| {
        let word = slot.load();
        word.serial() == serial && word.has(flags::GROUP_ONLY) && word.state() != Some(State::Free)
    })
}

/// The first variable of the mark's name in the environment of a task, whatever size the environment has.
fn mark_of(task: i32) -> Option<Mark> {
    let fd = Path::of(task).text(b"/environ").open();
    if fd < 0 {
        return None;
    }
    let mut buffer = [0u8; 1024];
    let mut value = [0u8; VALUE_BYTES];
    // How much of the name matches so far; `None`: another variable, or a value that is too long.
    let mut matched = Some(0);
    let mut length = 0;
    let found = 'found: loop {
        let filled = sys::read(fd, &mut buffer);
        if filled <= 0 {
            break matched == Some(PREFIX.len());
        }
        for &byte in buffer.iter().take(filled as usize) {
            matched = match matched {
                Some(all) if all == PREFIX.len() => match value.get_mut(length) {
                    _ if byte == 0 => break 'found true,
                    Some(place) => {
                        *place = byte;
                        length += 1;
                        matched
                    }
                    None => break 'found false,
                },
                Some(count) if PREFIX.get(count) == Some(&byte) => Some(count + 1),
                _ if byte == 0 => Some(0),
                _ => None,
            };
        }
    };
    sys::close(fd);
    if found { Mark::parse(value.get(..length)?) } else { None }
}

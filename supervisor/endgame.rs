//! The owner is gone: everything it owned goes too, TERM first, KILL after the grace, and then this program.

use super::atomic::Ordering::SeqCst;
use super::kill::{self, Sent};
use super::log::{self, Outcome};
use super::roster::{Slot, State, Word, features, request};
use super::scan::{self, Mode};
use super::state::{Cell, EXITED, KILLED, NEVER, PROVEN, REFUSED, STOPPING, Supervisor, cell, set_cell};
use super::watch::{self, Found};
use super::{escapees, event, members, owner, proc, sys};

/// What is left of a group this long after KILL is stuck.
const KILLED_WAIT_MS: u64 = 1_000;
/// Kept for the log.
const LOG_MS: u64 = 100;
const POLL_LAST_MS: u64 = 20;
/// Passes of the scanner follow each other at this distance, at most, while somebody is left.
const SCAN_LAST_MS: u64 = 200;
const SCAN_RETRY_MS: u64 = 20;

pub fn run(s: &mut Supervisor) -> ! {
    s.began = sys::now_ms();
    let grace_ms = s.roster.header.grace_ms.load(SeqCst).min(request::GRACE_LIMIT_MS) as u64;
    let kill_at = s.began + grace_ms;
    let end_at = kill_at + KILLED_WAIT_MS;
    scan::abandon(s);
    open(s);

    let (mut pause_ms, mut count_at, mut walked_again) = (1, 0, false);
    let mut scan_step = 10;
    loop {
        let now = sys::now_ms();
        let killing = now >= kill_at;
        if killing && !walked_again {
            walked_again = true;
            pause_ms = 1;
            walk_all(s);
        }
        let counted = now >= count_at && (killing || any_leaderless(s));
        if counted {
            members::count(s, &|index| cell(index).has(PROVEN) && !log::is_settled(index));
            // A look at all processes costs milliseconds; most groups are gone by the second one.
            count_at = sys::now_ms() + POLL_LAST_MS;
        }
        let groups_left = look(s, killing, counted);
        let escapees_left = escapees::signal(s, killing);
        let all_gone = !groups_left && !escapees_left && owner::is_settled(s);
        if (all_gone && s.scan_was_clean) || now + LOG_MS >= end_at {
            break;
        }
        if !s.scanner.runs() && (all_gone || now >= s.next_scan_at) {
            s.found_new = false;
            s.scan_is_last = all_gone;
            let begun = scan::begin(s, Mode::Escapees);
            s.next_scan_at = now + if begun && !killing { scan_step } else { SCAN_RETRY_MS };
            scan_step = (scan_step * 2).min(SCAN_LAST_MS);
        }
        let scanner_at = scan::tick(s, now);
        let next = if killing || any_leaderless(s) || groups_left != all_gone { now + pause_ms } else { NEVER };
        pause_ms = (pause_ms * 2).min(POLL_LAST_MS);
        let next_scan = if s.scanner.runs() { NEVER } else { s.next_scan_at.max(now + 1) };
        event::wait(s, next.min(scanner_at).min(next_scan).min(if killing { end_at } else { kill_at }));
        if s.leaders_exited {
            s.leaders_exited = false;
            pause_ms = 1;
        }
    }
    finish(s, end_at)
}

/// The first round: group after group, so that the first TERM is out at once.
fn open(s: &mut Supervisor) {
    let mut leaderless = false;
    for (index, slot) in s.roster.used().iter().enumerate() {
        let word = slot.load();
        if word.is_held() {
            meet(s, index, slot, word);
            leaderless |= is_leaderless(index);
        }
    }
    if leaderless {
        // What left a group whose leader is gone hangs below its members: they must be found first, all at once.
        walk_members(s);
        for index in 0..s.high() {
            if is_leaderless(index) {
                term(s, index);
            }
        }
    }
}

fn is_leaderless(index: usize) -> bool {
    cell(index).has(PROVEN) && cell(index).has(EXITED) && !log::is_settled(index)
}

fn any_leaderless(s: &Supervisor) -> bool {
    (0..s.high()).any(is_leaderless)
}

/// Proves a held slot if that was not done before. With a leader: what hangs below it is pinned and TERM goes out.
fn meet(s: &mut Supervisor, index: usize, slot: &Slot, word: Word) {
    if !cell(index).is_of(word.serial()) {
        watch::forget(s, index);
        match watch::adopt(s, index, slot, word) {
            Found::Gone => log::settle(index, Outcome::Gone, 0),
            Found::Recycled => log::settle(index, Outcome::Recycled, 0),
            Found::Proven | Found::Refused | Found::Unknown => {}
        }
    }
    let c = cell(index);
    set_cell(index, c.without(STOPPING));
    if c.has(REFUSED) {
        log::settle(index, Outcome::Refused, 0);
    } else if c.has(PROVEN) && !c.has(EXITED) {
        walk_down(s, index);
        term(s, index);
    }
}

fn walk_down(s: &mut Supervisor, index: usize) {
    if !escapees::is_group_only(s, index) {
        escapees::walk(s, cell(index).pid(), 0);
    }
}

fn walk_members(s: &mut Supervisor) {
    proc::each_process(&mut |pid| {
        let group = proc::stat(pid).and_then(|stat| s.find_group(stat.pgrp));
        if group.is_some_and(|index| is_leaderless(index) && !escapees::is_group_only(s, index)) {
            escapees::walk(s, pid, 0);
        }
        true
    });
}

/// Before KILL: what was started since the first walk loses its parents now.
fn walk_all(s: &mut Supervisor) {
    for index in 0..s.high() {
        if cell(index).has(PROVEN) && !cell(index).has(EXITED) && !log::is_settled(index) {
            walk_down(s, index);
        }
    }
    if any_leaderless(s) {
        walk_members(s);
    }
}

fn term(s: &mut Supervisor, index: usize) {
    match kill::end_group(s, index) {
        Sent::Gone => settle(s, index, Outcome::Gone),
        Sent::Recycled => settle(s, index, Outcome::Recycled),
        Sent::Refused => settle(s, index, Outcome::Refused),
        Sent::Reached | Sent::Denied | Sent::Failed(_) => {}
    }
}

fn settle(s: &Supervisor, index: usize, outcome: Outcome) {
    log::settle(index, outcome, sys::now_ms().saturating_sub(s.began));
}

/// Looks at every slot; with `killing`, KILL goes to all that is left. Returns whether something is left.
fn look(s: &mut Supervisor, killing: bool, counted: bool) -> bool {
    let mut left = false;
    for (index, slot) in s.roster.used().iter().enumerate() {
        if log::is_settled(index) {
            continue;
        }
        let word = slot.load();
        match word.state() {
            Some(State::Owned | State::OnceEmpty) => {
                // Other threads of the owner may still register, and finish a start, until its pidfd is readable.
                if !cell(index).is_of(word.serial()) {
                    meet(s, index, slot, word);
                    if is_leaderless(index) {
                        term(s, index);
                    }
                }
            }
            Some(State::Starting) => {
                if !cell(index).is_of(word.serial()) {
                    left |= starting(s, index, slot, word);
                }
            }
            // Being filled, freed or released in the owner's last moment: not ours to signal.
            _ => {
                watch::forget(s, index);
                continue;
            }
        }
        if cell(index).has(PROVEN) && !log::is_settled(index) {
            left |= is_left(s, index, killing, counted);
        }
    }
    left
}

fn is_left(s: &mut Supervisor, index: usize, killing: bool, counted: bool) -> bool {
    let ended = if cell(index).has(KILLED) { Outcome::Kill } else { Outcome::Term };
    if counted && cell(index).has(EXITED) && members::none_lives(index) {
        settle(s, index, ended);
        return false;
    }
    match kill::group(s, index, if killing { sys::SIGKILL } else { 0 }) {
        Sent::Gone => settle(s, index, ended),
        Sent::Recycled => settle(s, index, Outcome::Recycled),
        Sent::Refused => settle(s, index, Outcome::Refused),
        // The rest of the group is dead, and what is left will not listen to us.
        _ if counted && cell(index).has(KILLED) && members::all_denied(index) => settle(s, index, Outcome::Eperm),
        _ => {
            if killing {
                set_cell(index, cell(index).with(KILLED));
            }
            return true;
        }
    }
    false
}

/// A child on its way to exec. Returns whether it has to be waited for.
fn starting(s: &mut Supervisor, index: usize, slot: &Slot, word: Word) -> bool {
    let pid = slot.pid.load(SeqCst);
    if pid == 0 {
        // The kernel writes it before the child's first instruction, so not after the owner's last.
        return !s.owner_gone;
    }
    if kill::is_forbidden(s, pid) {
        log::settle(index, Outcome::Refused, 0);
        return false;
    }
    let fd = sys::pidfd_open(pid);
    if fd < 0 {
        if fd == sys::ESRCH {
            settle(s, index, Outcome::Gone);
        }
        return fd != sys::ESRCH;
    }
    // The number alone proves nothing: the child may have failed and been reaped. It writes its pidfs inode itself;
    // where there is none, the scanner will find the mark in its environment.
    let known = s.features & features::PIDFS != 0 && slot.identity.load(SeqCst) != 0;
    match if known { watch::prove(s, slot, word, pid, fd) } else { Found::Unknown } {
        Found::Proven => {
            take_starting(s, index, word, pid, fd);
            return false;
        }
        Found::Recycled => settle(s, index, Outcome::Recycled),
        _ => {}
    }
    sys::close(fd);
    !log::is_settled(index)
}

fn take_starting(s: &mut Supervisor, index: usize, word: Word, pid: i32, fd: i32) {
    set_cell(index, Cell::new(pid, fd, word.serial(), PROVEN));
    sys::epoll_add(s.epoll, fd, sys::EPOLLIN | sys::EPOLLONESHOT, event::leader(index, word.serial()));
    walk_down(s, index);
    term(s, index);
}

/// The scanner found the mark of a starting slot in the environment of its child. False: it is no such child.
pub fn starting_found(s: &mut Supervisor, pid: i32, serial: u32) -> bool {
    for (index, slot) in s.roster.used().iter().enumerate() {
        let word = slot.load();
        if word.serial() != serial || word.state() != Some(State::Starting) || slot.pid.load(SeqCst) != pid {
            continue;
        }
        let fd = if cell(index).known() { -1 } else { sys::pidfd_open(pid) };
        if fd >= 0 {
            take_starting(s, index, word, pid, fd);
        }
        return cell(index).known();
    }
    false
}

/// The scanner has been through all processes.
pub fn scanned(s: &mut Supervisor) {
    s.scan_was_clean = s.scan_is_last && !s.found_new;
}

fn finish(s: &mut Supervisor, end_at: u64) -> ! {
    scan::abandon(s);
    for index in 0..s.high() {
        if cell(index).has(PROVEN) && !log::is_settled(index) {
            settle(s, index, if members::all_denied(index) { Outcome::Eperm } else { Outcome::Stuck });
        }
    }
    log::write_fates(s, end_at);
    sys::exit(0)
}

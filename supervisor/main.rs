//! The supervisor: a small program beside every owner that ends what the owner started when the owner is gone.
//!
//! It sleeps in one epoll. A byte on a lifeline says "look at the roster"; the end of the lifelines says that the
//! owner is gone. Everything it must know stands in the roster, so it can be killed and started again at any time.
//!
//! No allocator, no C library, no lock: a few pages of memory for as long as the owner lives.
#![no_std]
#![no_main]

mod atomic {
    pub use core::sync::atomic::*;
}
#[cfg_attr(target_arch = "x86_64", path = "arch/x86_64.rs")]
#[cfg_attr(target_arch = "aarch64", path = "arch/aarch64.rs")]
mod arch;
mod endgame;
mod escapees;
mod event;
mod kill;
mod log;
#[allow(dead_code, reason = "shared with the owner, who writes marks")]
mod mark;
mod members;
mod memory;
mod nr;
mod owner;
mod proc;
mod requests;
#[allow(dead_code, reason = "shared with the owner, who makes the other half of the moves")]
mod roster;
mod scan;
#[allow(dead_code, reason = "shared with the owner")]
mod stat;
mod state;
mod sys;
mod watch;

use atomic::Ordering::SeqCst;
use roster::{LAYOUT_VERSION, MAGIC, Step, back, fds, mode};
use state::{NEVER, Supervisor};

/// How long, and how often, one ended lifeline is asked about before the owner counts as alive.
const CONFIRM_MS: u64 = 100;
const CONFIRM_STEP_MS: u64 = 1;
/// With a lifeline lost a wake-up may be lost too: the roster is looked at this often.
const DEGRADED_STEP_MS: u64 = 1_000;

arch::entry_point!();

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    sys::exit(101)
}

#[unsafe(no_mangle)]
extern "C" fn begin(kernel_stack: *const usize) -> ! {
    sys::release_kernel_stack(kernel_stack);
    sys::set_name(stat::SUPERVISOR_NAME);
    let (step, error) = start();
    let [low, high] = (-error as u16).to_le_bytes();
    sys::write(fds::BACK, &[back::FAILED, step as u8, low, high]);
    sys::exit(1)
}

/// Serves until the end. Returns only when it cannot begin: the step that failed, and the negated errno.
fn start() -> (Step, i32) {
    let Some(roster) = sys::map_roster(fds::ROSTER) else { return (Step::MapRoster, sys::EINVAL) };
    let header = &roster.header;
    if header.magic.load(SeqCst) != MAGIC || header.layout_version.load(SeqCst) != LAYOUT_VERSION {
        return (Step::CheckRoster, sys::EINVAL);
    }
    let epoll = sys::epoll();
    if epoll < 0 {
        return (Step::Epoll, epoll);
    }
    let mut s = Supervisor {
        roster,
        generation: header.generation.load(SeqCst),
        epoll,
        features: 0,
        own_pid: sys::getpid(),
        owner_pid: header.owner_pid.load(SeqCst),
        owner_group: header.owner_pgid.load(SeqCst),
        tick_shift: 0,
        ended: 0,
        ended_at: 0,
        owner_gone: false,
        leaders_exited: false,
        tend_at: NEVER,
        stop_step: 0,
        count_members: false,
        thorough_at: NEVER,
        thorough_step: 0,
        scanner: scan::Scanner::NEW,
        log: log::Log::NEW,
        escapees: 0,
        began: 0,
        began_ticks: 0,
        reaper: 0,
        members_walked: false,
        killing: false,
        found_new: false,
        vanished: false,
        scan_is_last: false,
        scan_was_clean: false,
        doubts: endgame::DOUBTS,
        next_scan_at: 0,
        scan_answered: (header.scan_answer.load(SeqCst) >> 32) as u32,
    };
    s.features = kill::probe(&s);
    s.tick_shift = owner::tick_shift(&s);
    let two = header.mode.load(SeqCst) == mode::PRIVATE_TABLES;
    for fd in [fds::LIFELINE_A, fds::LIFELINE_B, fds::OWNER] {
        let once = if fd == fds::OWNER { sys::EPOLLONESHOT } else { 0 };
        let error = sys::epoll_add(epoll, fd, sys::EPOLLIN | once, fd as u64);
        if error < 0 && (two || fd != fds::LIFELINE_B) {
            return (Step::Watch, error);
        }
    }
    // A predecessor was killed while it freed slots: nobody else may finish that.
    s.slots().for_each(|(_, slot, _)| slot.finish_vacate());

    header.features.store(s.features, SeqCst);
    header.supervisor_pid.store(s.own_pid, SeqCst);
    header.ready.store(s.generation, SeqCst);
    // Whatever stands in the roster is covered from here on, proven or not yet: the endgame proves what it meets.
    sys::write(fds::BACK, &[back::READY]);
    sys::move_up(fds::BACK, fds::BACK_HIGH);
    for tid in [&header.keeper_tid, &header.watcher_tid] {
        proc::look_early(s.owner_pid, tid.load(SeqCst));
    }
    watch::sync(&mut s);
    serve(&mut s)
}

fn serve(s: &mut Supervisor) -> ! {
    loop {
        // Before the first wait, too: a predecessor may have been killed over this very question.
        let asked = s.roster.header.scan_request.load(SeqCst);
        if asked != s.scan_answered && !s.scanner.runs() {
            scan::begin(s, scan::Mode::Count);
        }
        let now = sys::now_ms();
        let mut until = s.tend_at.min(scan::tick(s, now)).min(log::tick(s, now));
        if s.ended != 0 {
            let degraded = now >= s.ended_at + CONFIRM_MS;
            s.roster.header.lifeline_lost.store(degraded as u32, SeqCst);
            until = until.min(now + if degraded { DEGRADED_STEP_MS } else { CONFIRM_STEP_MS });
        }
        if until > now + CONFIRM_MS {
            sys::release_stack();
        }
        event::wait(s, until);

        // First of all: an owner that let this supervisor go may have started another one, and new children, since.
        if s.is_retired() {
            sys::exit(0);
        }
        if owner::is_gone(s) {
            endgame::run(s);
        }
        watch::sync(s);
        if s.leaders_exited {
            watch::after_exits(s);
        }
        let now = sys::now_ms();
        if now >= s.tend_at {
            watch::tend(s, now);
        }
    }
}

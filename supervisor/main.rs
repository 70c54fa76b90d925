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
mod stat;
mod state;
mod sys;
mod watch;

use atomic::Ordering::SeqCst;
use roster::{LAYOUT_VERSION, MAGIC, Step, back, fds, features, mode};
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
extern "C" fn begin(_stack: *const usize) -> ! {
    sys::block_signals();
    sys::set_name(stat::SUPERVISOR_NAME);
    sys::raise_descriptor_limit();
    sys::forbid_core();
    match start() {
        Ok(mut supervisor) => serve(&mut supervisor),
        Err((step, error)) => {
            let [low, high] = (-error as u16).to_le_bytes();
            sys::write(fds::BACK, &[back::FAILED, step as u8, low, high]);
            sys::exit(1)
        }
    }
}

fn start() -> Result<Supervisor, (Step, i32)> {
    let roster = sys::map_roster(fds::ROSTER).ok_or((Step::MapRoster, sys::EINVAL))?;
    let header = &roster.header;
    if header.magic.load(SeqCst) != MAGIC || header.layout_version.load(SeqCst) != LAYOUT_VERSION {
        return Err((Step::CheckRoster, sys::EINVAL));
    }
    let epoll = sys::epoll();
    if epoll < 0 {
        return Err((Step::Epoll, epoll));
    }
    let own_pid = sys::getpid();
    let mut s = Supervisor {
        roster,
        generation: header.generation.load(SeqCst),
        epoll,
        features: kill::probe(own_pid) | probe(own_pid),
        own_pid,
        own_group: sys::getpgid(0),
        own_session: sys::getsid(0),
        owner_pid: header.owner_pid.load(SeqCst),
        owner_group: header.owner_pgid.load(SeqCst),
        tick_shift: 0,
        ended: 0,
        ended_at: 0,
        owner_gone: false,
        leaders_exited: false,
        tend_at: NEVER,
        stop_step: 0,
        thorough_at: NEVER,
        thorough_step: 0,
        scanner: scan::Scanner::NEW,
        log: log::Log::NEW,
        escapees: 0,
        began: 0,
        found_new: false,
        scan_is_last: false,
        scan_was_clean: false,
        next_scan_at: 0,
        scan_answered: (header.scan_answer.load(SeqCst) >> 32) as u32,
    };
    s.tick_shift = owner::tick_shift(&s);
    let b = header.mode.load(SeqCst) == mode::PRIVATE_TABLES;
    watch_fd(&s, fds::LIFELINE_A, sys::EPOLLIN, event::LIFELINE_A)?;
    if b {
        watch_fd(&s, fds::LIFELINE_B, sys::EPOLLIN, event::LIFELINE_B)?;
    }
    watch_fd(&s, fds::OWNER, sys::EPOLLIN | sys::EPOLLONESHOT, event::OWNER)?;
    // A predecessor was killed while it freed slots: nobody else may finish that.
    s.each_slot(&mut |_, _, slot, _| slot.finish_vacate());
    watch::sync(&mut s);

    header.features.store(s.features, SeqCst);
    header.supervisor_pid.store(own_pid, SeqCst);
    header.ready.store(s.generation, SeqCst);
    sys::write(fds::BACK, &[back::READY]);
    Ok(s)
}

fn watch_fd(s: &Supervisor, fd: i32, events: u32, tag: u64) -> Result<(), (Step, i32)> {
    match sys::epoll_add(s.epoll, fd, events, tag) {
        0 => Ok(()),
        error => Err((Step::Watch, error)),
    }
}

fn probe(own_pid: i32) -> u32 {
    let mut found = 0;
    if proc::has_children_file(own_pid) {
        found |= features::CHILDREN;
    }
    found
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

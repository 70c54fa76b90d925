//! What the tests with recycled numbers share. All of them run in a pid namespace of their own, where numbers are free
//! as soon as they are left.

use super::support::reuse::{self, Stranger};
use super::support::seccomp::{Action, Filter};
use super::support::{Control, Launch, Owner, Process, Scene, Seat, eventually, sys};
use std::time::Duration;

pub const STRANGERS: usize = 50;
pub const SOON: Duration = Duration::from_secs(10);

/// True: the test has been run, inside, or cannot be.
macro_rules! done_inside {
    () => {{
        if !$crate::support::is_root() {
            $crate::skip!("a recycled number made to order needs root");
        }
        if $crate::support::pidns::outside($crate::test_name!(), $crate::support::pidns::Init::Reaps) {
            return;
        }
    }};
}
pub(crate) use done_inside;

/// Kernels that signal a group through a pidfd, and those before 6.9.
#[derive(Clone, Copy)]
pub enum Kernel {
    Today,
    WithoutGroupPidfd,
}

pub fn owner_on(scene: &Scene, kernel: Kernel) -> Owner {
    let mut command = scene.actor();
    if let Kernel::WithoutGroupPidfd = kernel {
        /// `PIDFD_SIGNAL_PROCESS_GROUP` (linux/pidfd.h).
        const TO_GROUP: u32 = 4;
        let refuse = Action::Errno(libc::EINVAL);
        Filter::new().when_masked(libc::SYS_pidfd_send_signal, 3, TO_GROUP, TO_GROUP, refuse).put_on(&mut command);
    }
    scene.owner_from(command, Launch::default())
}

/// Who the children are to the library.
#[derive(Clone, Copy, PartialEq)]
pub enum Kind {
    /// All started by the library.
    Spawned,
    /// Every second one is taken over.
    Mixed,
}

pub fn children(scene: &Scene, owner: &mut Owner, count: usize, kind: Kind) -> Vec<Seat> {
    let begun: Vec<_> = (0..count)
        .map(|n| if kind == Kind::Mixed && n % 2 == 1 { owner.foreign("sleeper") } else { owner.spawn("sleeper") })
        .collect();
    let seats: Vec<Seat> = begun.iter().map(|started| scene.seat(started, "sleeper")).collect();
    if kind == Kind::Mixed {
        let foreign: Vec<String> = seats.iter().skip(1).step_by(2).map(|s| s.pgid.to_string()).collect();
        owner.must(&format!("own {}", foreign.join(" ")));
    }
    seats
}

/// Kills each child, has the *host* reap it (the library is not asked), and gives its number to a stranger.
pub fn recycle(owner: &mut Owner, children: &[Seat]) -> Vec<Stranger> {
    for child in children {
        child.process.signal(libc::SIGKILL).expect("kill the child");
        owner.must(&format!("reap {}", child.process.pid));
    }
    let_in_strangers(children)
}

pub fn let_in_strangers(children: &[Seat]) -> Vec<Stranger> {
    let last = children.iter().map(|child| child.process.start_ticks).max().expect("some");
    reuse::let_a_tick_pass(last);
    children
        .iter()
        .map(|child| {
            let pid = child.process.pid;
            eventually(SOON, "the number is free", || reuse::is_free(pid));
            Stranger::with_pid(pid).or_else(|_| Stranger::by_last_pid(pid)).expect("a stranger with this number")
        })
        .collect()
}

pub fn assert_untouched(strangers: &[Stranger], control: &mut Control) {
    assert_eq!(strangers.len(), STRANGERS);
    strangers.iter().for_each(Stranger::assert_untouched);
    control.assert_unharmed();
}

pub fn stop(process: &Process) {
    process.signal(libc::SIGSTOP).expect("stop it");
    process.until_state('T');
}

pub fn ended_by(process: &Process, limit: Duration, who: &str) {
    process.assert_gone_by(sys::after(limit), who);
}

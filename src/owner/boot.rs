//! How the state of a process comes into being.
//!
//! The order matters. The keeper gives itself an empty file table *first* and makes everything in it: pipes, roster,
//! pidfd. The watcher starts in that table and takes a copy, so each write end is in exactly one table once both have
//! closed what is the other's. The host's table never sees any of it, and a process that another thread forks
//! meanwhile has nothing to inherit.

use std::os::fd::OwnedFd;
use std::sync::atomic::Ordering;
use std::thread::Builder;

use super::handover::handover;
use super::keeper::{self, keep};
use super::runtime::{Runtime, Tie};
use super::settings::Settings;
use super::single::Single;
use super::watcher;
use super::way_out::way_out;
use crate::error::{Error, ErrorCode, Result};
use crate::identity::{self, Ancestor};
use crate::roster::{FORBIDDEN_GROUPS, LAYOUT_VERSION, MAGIC, Roster, mode};
use crate::sys::clone::Memory;
use crate::sys::file_table::{self, Kept};
use crate::sys::{Errno, clone, fd, memory, pidfd, process, signals, time};

/// Stack of keeper and watcher. The watcher lends parts of its own to the processes it starts.
const THREAD_STACK_BYTES: usize = 192 * 1024;
/// Descriptors that a supervisor needs for its work, beside a leader's pidfd for each group.
const FOR_THE_SUPERVISOR: u64 = 32;
const KEEPER: &str = "spawn-keeper";
const WATCHER: &str = "spawn-watcher";

/// A step of the boot that failed.
type Step<T> = std::result::Result<T, (&'static str, Errno)>;

fn step<T>(name: &'static str, result: std::result::Result<T, Errno>) -> Step<T> {
    result.map_err(|errno| (name, errno))
}

/// Makes the runtime of this process.
pub(super) fn boot(settings: Settings) -> Result<&'static Runtime> {
    let memory = step("clone", clone::probe_memory()).map_err(told)?;
    let ancestors = identity::ancestors();
    if !settings.threads {
        let why = "this host asked for no threads".into();
        return boot_single(settings, memory, ancestors, why);
    }
    match boot_threads(&settings, memory, &ancestors) {
        Ok(runtime) => Ok(runtime),
        // Nothing was left behind in the host, so the fallback starts clean.
        Err(Refused::SplitTable(errno)) => {
            let reason = std::io::Error::from_raw_os_error(errno);
            let why = format!(
                "close_range and unshare are refused ({reason}), so a thread cannot have descriptors of its own"
            );
            boot_single(settings, memory, ancestors, why)
        }
        Err(Refused::Step(failure)) => Err(told(failure)),
    }
}

fn told((step, errno): (&'static str, Errno)) -> Error {
    Error::with_errno(ErrorCode::Supervisor, step, errno, format_args!("prepare supervision: {step}"))
        .way_out(way_out(step, errno))
}

enum Refused {
    SplitTable(Errno),
    Step((&'static str, Errno)),
}

impl From<(&'static str, Errno)> for Refused {
    fn from(failure: (&'static str, Errno)) -> Refused {
        Refused::Step(failure)
    }
}

fn boot_threads(
    settings: &Settings,
    memory: Memory,
    ancestors: &[Ancestor],
) -> std::result::Result<&'static Runtime, Refused> {
    let (tell, told) = handover();
    let (settings, ancestors) = (settings.clone(), ancestors.to_vec());
    start_thread(KEEPER, move || {
        let ready = file_table::split().map_err(Refused::SplitTable);
        match ready.and_then(|()| Ok(prepare(settings, memory, ancestors)?)) {
            Ok((runtime, ends)) => {
                tell.give(Ok(runtime));
                keep(runtime, ends)
            }
            Err(refused) => tell.give(Err(refused)),
        }
    })?;
    told.take().unwrap_or(Err(Refused::Step((KEEPER, libc::EIO))))
}

/// A thread that is deaf from its first instruction: the host's handlers must not run on it.
fn start_thread(name: &'static str, body: impl FnOnce() + Send + 'static) -> Step<()> {
    let _blocked = signals::BlockAll::new();
    let started = Builder::new().name(name.into()).stack_size(THREAD_STACK_BYTES).spawn(body);
    match started {
        Ok(_) => Ok(()),
        Err(error) => Err((name, error.raw_os_error().unwrap_or(libc::EAGAIN))),
    }
}

/// On the keeper, in its empty table.
fn prepare(settings: Settings, memory: Memory, ancestors: Vec<Ancestor>) -> Step<(&'static Runtime, keeper::Ends)> {
    step("open /dev/null", fd::null_stdio())?;
    let (roster, roster_fd) = step("memfd_create", memory::create_roster())?;
    let (lifeline_a, held_a) = step("pipe2", fd::pipe())?;
    let (lifeline_b, held_b) = step("pipe2", fd::pipe())?;
    let (orders, to_watcher) = step("pipe2", fd::pipe())?;
    // The read ends of the lifelines, too: a supervisor may be woken by a byte that its predecessor took.
    for end in [&held_a, &held_b, &to_watcher, &orders, &lifeline_a, &lifeline_b] {
        step("fcntl", fd::set_nonblocking(end))?;
    }
    let owner = step("pidfd_open", pidfd::of_this_process())?;
    describe_owner(roster, &settings, &ancestors, mode::PRIVATE_TABLES)?;
    let kept = Kept::new([&orders, &lifeline_a, &lifeline_b, &held_b, &roster_fd, &owner, &held_a, &to_watcher]);
    let (tell, told) = handover();
    let (send_runtime, receive_runtime) = handover();
    start_thread(WATCHER, move || {
        let ready = take_over(kept);
        let failed = ready.as_ref().err().copied();
        tell.give(failed.map_or(Ok(process::tid()), Err));
        // There is none when the keeper gives up.
        if let (Ok((ends, epoll)), Some(runtime)) = (ready, receive_runtime.take()) {
            watcher::watch(runtime, ends, epoll)
        }
    })?;
    let watcher_tid = told.take().unwrap_or(Err((WATCHER, libc::EIO)))?;
    // Now the watcher has its copies: what is its own leaves this table.
    drop((orders, lifeline_a, lifeline_b, held_b, roster_fd, owner));
    roster.header.keeper_tid.store(process::tid(), Ordering::SeqCst);
    roster.header.watcher_tid.store(watcher_tid, Ordering::SeqCst);
    let tie = Tie::Threads { watcher_tid };
    let runtime: &'static Runtime = Box::leak(Box::new(Runtime::new(roster, settings, memory, tie, ancestors)));
    send_runtime.give(runtime);
    Ok((runtime, keeper::Ends { lifeline: held_a, to_watcher }))
}

/// On the watcher: a table of its own, without what is the keeper's.
fn take_over(kept: Kept<8>) -> Step<(watcher::Ends, fd::Epoll)> {
    let [orders, lifeline_a, lifeline_b, held_b, roster, owner, keepers_a, keepers_end] =
        step("unshare", file_table::split_copy(kept))?;
    drop((keepers_a, keepers_end));
    let ends = watcher::Ends { orders, lifeline_a, lifeline_b, held_b, roster, owner };
    let epoll = step("epoll_create1", watcher::epoll_for(&ends))?;
    Ok((ends, epoll))
}

fn boot_single(settings: Settings, memory: Memory, ancestors: Vec<Ancestor>, why: String) -> Result<&'static Runtime> {
    let (roster, roster_fd): (_, OwnedFd) = memory::create_roster().map_err(|errno| told(("memfd_create", errno)))?;
    describe_owner(roster, &settings, &ancestors, mode::AT_FORK).map_err(told)?;
    let tie = Tie::Single { single: Single::new(roster_fd), why };
    Ok(Box::leak(Box::new(Runtime::new(roster, settings, memory, tie, ancestors))))
}

/// Writes down whose roster this is, before any supervisor can read it.
fn describe_owner(roster: &Roster, settings: &Settings, ancestors: &[Ancestor], mode: u32) -> Step<()> {
    let header = &roster.header;
    let pid = process::pid();
    let group = step("getpgid", process::group_of(0))?;
    let id = process::random_id().ok_or(("getrandom", libc::ENOSYS))?;
    header.owner_id[0].store(id[0], Ordering::SeqCst);
    header.owner_id[1].store(id[1], Ordering::SeqCst);
    let most = process::most_descriptors().saturating_sub(FOR_THE_SUPERVISOR);
    header.last_pidfd.store(most.try_into().unwrap_or(i32::MAX), Ordering::SeqCst);
    header.owner_pid.store(pid, Ordering::SeqCst);
    header.owner_pgid.store(group, Ordering::SeqCst);
    header.owner_start.store(identity::start_ticks(pid).unwrap_or(0), Ordering::SeqCst);
    header.created.store(time::boottime_ns(), Ordering::SeqCst);
    header.mode.store(mode, Ordering::SeqCst);
    header.grace_ms.store(settings.grace.as_millis() as u32, Ordering::SeqCst);
    let groups = ancestors.iter().filter_map(|ancestor| process::group_of(ancestor.pid).ok());
    let mut distinct: Vec<i32> = groups.filter(|&pgid| pgid > 1 && pgid != group).collect();
    distinct.dedup();
    for (entry, pgid) in header.forbidden.iter().zip(distinct.into_iter().take(FORBIDDEN_GROUPS)) {
        entry.store(pgid, Ordering::SeqCst);
    }
    write_home(roster, settings);
    header.layout_version.store(LAYOUT_VERSION, Ordering::SeqCst);
    header.magic.store(MAGIC, Ordering::SeqCst);
    Ok(())
}

fn write_home(roster: &Roster, settings: &Settings) {
    use std::os::unix::ffi::OsStrExt;
    let Some(home) = &settings.home else { return };
    let path = home.as_os_str().as_bytes();
    // A path that does not fit is none: a cut one would name another directory.
    if path.len() < roster.home.len() {
        for (byte, &value) in roster.home.iter().zip(path) {
            byte.store(value, Ordering::SeqCst);
        }
    }
}

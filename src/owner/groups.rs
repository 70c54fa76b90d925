//! Groups that somebody else started: taking them over, and letting go.

use std::sync::atomic::Ordering;
use std::time::Duration;

use super::lock;
use super::roster::Tenancy;
use super::runtime::Runtime;
use crate::error::{Error, ErrorCode, Result};
use crate::identity::{self, Who};
use crate::roster::{Side, State};
use crate::sys::{pidfd, process, time};

const OWN: &str = "own_process_groups";

/// Takes over process groups that somebody else started (an MCP SDK, a browser harness): from now on they die with
/// this process. All of them, or none. Owning a group twice is the same as once.
///
/// A group is named by the pid of its leader. A leader that has ended already is accepted while the group lives; such
/// a group is known by its number only, and [`status`](crate::status()) counts it as the weaker proof.
///
/// In a forked copy of this process the groups become the copy's; its parent's are the parent's still.
///
/// # Errors
/// Nothing is stored. The message names the number and the reason:
/// - `UnsafeGroup`: 0, 1, negative, this process's own group, the supervisor's, an ancestor's.
/// - `NoSuchGroup`: no such group, or one in which nothing runs, or a pid that leads none.
/// - `Permission`: the group of another user.
/// - `Identity`: `/proc` is not there, or is not that of this pid namespace, so nothing tells who leads it.
/// - `Supervisor`, `RosterFull`: as for a spawn.
pub fn own_process_groups(pgids: &[i32]) -> Result<()> {
    own_process_groups_within(pgids, Duration::MAX)
}

/// As [`own_process_groups`], for an event loop, which can try again later: waits for a supervisor that is being
/// started or replaced no longer than `limit`.
///
/// # Errors
/// As there; a `Supervisor` whose errno is ETIMEDOUT says that the limit is over.
pub fn own_process_groups_within(pgids: &[i32], limit: Duration) -> Result<()> {
    let runtime = Runtime::current()?;
    let _registry = lock(&runtime.registry);
    // Claimed slots are never signalled and, under the registry, all this call's own: no list is needed.
    let claimed = pgids.iter().try_for_each(|&pgid| claim(runtime, pgid));
    let accepted = claimed.and_then(|()| if pgids.is_empty() { Ok(()) } else { runtime.ensure_supervised(limit) });
    let accepted = accepted.and_then(|()| match pgids.first() {
        // What was read of them was about others, and the supervisor could not prove them.
        Some(&pgid) if !runtime.proc_is_ours() => Err(refuse(
            ErrorCode::Identity,
            pgid,
            "/proc shows another pid namespace, so it does not tell who leads it",
        )),
        _ => Ok(()),
    });
    for tenancy in runtime.claimed() {
        match accepted {
            Ok(()) => {
                if !runtime.has_pidfs() {
                    // All pidfds share one inode here, which names nobody: the supervisor finds out who it is.
                    tenancy.slot.identity.store(0, Ordering::SeqCst);
                }
                tenancy.slot.commit(tenancy.word);
            }
            Err(_) => {
                tenancy.slot.abandon(tenancy.word);
                runtime.freed(tenancy.slot);
            }
        }
    }
    runtime.ring_soon();
    accepted
}

/// Lets groups go: they may outlive this process now, and so may whatever carries their mark. A number that is not
/// owned is no error.
///
/// A forked copy of this process has no groups of its parent's, so there is nothing for it to let go.
///
/// # Errors
/// `Supervisor`, if the library cannot be used at all in this process.
pub fn release_process_groups(pgids: &[i32]) -> Result<()> {
    let runtime = Runtime::current()?;
    let _registry = lock(&runtime.registry);
    for &pgid in pgids {
        if let Some(Tenancy { slot, word }) = runtime.find_group(pgid)
            && runtime.roster.release(slot, word)
        {
            runtime.freed(slot);
        }
    }
    Ok(())
}

/// Lets a group go when nothing that runs is left in it, and not before: it stays covered until then. A number that is
/// not owned is no error.
///
/// A forked copy of this process has no groups of its parent's, so there is nothing for it to let go.
///
/// # Errors
/// `Supervisor`, if the library cannot be used at all in this process.
pub fn release_process_group_once_empty(pgid: i32) -> Result<()> {
    let runtime = Runtime::current()?;
    let _registry = lock(&runtime.registry);
    if let Some(tenancy) = runtime.find_group(pgid) {
        runtime.let_go_once_empty(tenancy, process::probe_group(pgid) == Err(libc::ESRCH));
    }
    Ok(())
}

fn refuse(code: ErrorCode, pgid: i32, why: impl std::fmt::Display) -> Error {
    Error::new(code, OWN, format!("cannot own group {pgid}: {why}"))
}

/// Checks one group and takes a slot for it.
fn claim(runtime: &Runtime, pgid: i32) -> Result<()> {
    // Read before the group is looked at: a leader that starts later is another group.
    let since = time::boottime_ns();
    let inode = check(runtime, pgid)?;
    let already_claimed = runtime.claimed().any(|tenancy| tenancy.slot.pid.load(Ordering::SeqCst) == pgid);
    if already_claimed || is_covered(runtime, pgid, inode) {
        return Ok(());
    }
    let Tenancy { slot, .. } = runtime.take_slot(State::Claimed, 0, OWN)?;
    slot.pid.store(pgid, Ordering::SeqCst);
    slot.since.store(since, Ordering::SeqCst);
    // So the supervisor need not read who it is, which can take for ever.
    slot.identity.store(inode, Ordering::SeqCst);
    Ok(())
}

/// Whether the roster has this very group, whose leader has this inode (0: it has none, or there is no leader). A slot of
/// another leader's, or one that was taken before the present leader began, is an older group's, whose end the
/// supervisor has not seen yet.
fn is_covered(runtime: &Runtime, pgid: i32, inode: u64) -> bool {
    let Some(Tenancy { slot, word }) = runtime.find_group(pgid) else { return false };
    let known = slot.identity.load(Ordering::SeqCst);
    let is_older = if runtime.has_pidfs() && inode != 0 && known != 0 {
        known != inode
    } else {
        let registered = slot.since.load(Ordering::SeqCst) / time::TICK_NS;
        matches!(identity::look(pgid), Who::Process(stat) if stat.start_ticks > registered)
    };
    if is_older {
        slot.vacate(word, Side::Owner);
    }
    !is_older
}

/// Whether the group may be owned; its leader's inode, 0 if it has none.
fn check(runtime: &Runtime, pgid: i32) -> Result<u64> {
    if pgid <= 1 {
        let why = if pgid < 0 { "a negative number names no group" } else { "0 and 1 are never to be signalled" };
        return Err(refuse(ErrorCode::UnsafeGroup, pgid, why));
    }
    let header = &runtime.roster.header;
    if process::group_of(0) == Ok(pgid) || header.owner_pgid.load(Ordering::SeqCst) == pgid {
        return Err(refuse(ErrorCode::UnsafeGroup, pgid, "it is this process's own"));
    }
    if header.supervisor_pid.load(Ordering::SeqCst) == pgid {
        return Err(refuse(ErrorCode::UnsafeGroup, pgid, "it is the supervisor's"));
    }
    let leads_to_us =
        |ancestor: &&identity::Ancestor| process::group_of(ancestor.pid) == Ok(pgid) && ancestor.is_still_itself();
    if let Some(ancestor) = runtime.ancestors.iter().find(leads_to_us) {
        let why = format!("it is the group of process {}, an ancestor of this one", ancestor.pid);
        return Err(refuse(ErrorCode::UnsafeGroup, pgid, why));
    }
    check_leader(pgid)
}

fn check_leader(pgid: i32) -> Result<u64> {
    // Opened first: if its process is still there in the end, then what was found out meanwhile is about that one.
    let leader = pidfd::open(pgid);
    if let Ok(group) = process::group_of(pgid)
        && group != pgid
    {
        let why = format!("process {pgid} does not lead a group; it is in group {group}");
        return Err(refuse(ErrorCode::NoSuchGroup, pgid, why));
    }
    match process::probe_group(pgid) {
        Ok(()) => {}
        Err(libc::EPERM) => return Err(refuse(ErrorCode::Permission, pgid, "it belongs to another user")),
        Err(_) => return Err(refuse(ErrorCode::NoSuchGroup, pgid, "no such process group")),
    }
    // It has been reaped.
    if leader.as_ref().is_err_and(|&errno| errno == libc::ESRCH) {
        return Ok(0);
    }
    let was_reaped = || leader.as_ref().is_ok_and(|leader| pidfd::signal(leader, 0) == Err(libc::ESRCH));
    match identity::runs_as(pgid, process::users()) {
        Some(true) => {}
        // Root may signal anybody; the promise is still about what is ours.
        Some(false) => return Err(refuse(ErrorCode::Permission, pgid, "its leader runs as another user")),
        None if was_reaped() => {}
        None => return Err(refuse(ErrorCode::Identity, pgid, "/proc does not tell who leads it")),
    }
    let has_ended = leader.as_ref().map_or_else(|_| !identity::lives(pgid), pidfd::has_ended);
    if has_ended && !identity::group_has_living_member(pgid) {
        return Err(refuse(ErrorCode::NoSuchGroup, pgid, "nothing in it runs any more"));
    }
    // What was found out may be about the next one with its number.
    if was_reaped() {
        return check_leader(pgid);
    }
    // Without a pidfd (Valgrind knows none) it is for the supervisor to find out who it is.
    Ok(leader.ok().and_then(|leader| pidfd::inode(&leader).ok()).unwrap_or(0))
}

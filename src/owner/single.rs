//! The fallback without threads: for a host that must stay single-threaded, or may not give a thread a file table.
//!
//! One CLOEXEC pipe in the host's own table is the lifeline. A fork without exec may keep it open and a `closerange` of
//! the host may close it, so its end is only a hint: the supervisor acts on the owner's pidfd. A supervisor that was
//! killed is replaced at the next call, not by itself.

use std::ffi::CString;
use std::os::fd::{AsRawFd, IntoRawFd, OwnedFd};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use super::leader::Leader;
use super::lock;
use super::program;
use super::runtime::Runtime;
use super::watcher::start_until_ready;
use super::way_out::way_out;
use crate::error::{Error, ErrorCode, Result};
use crate::sys::image::Kind;
use crate::sys::launch::{Launch, launch};
use crate::sys::{atfork, fd, pidfd};

/// A descriptor that stays in the host's table. The host may close it and reuse the number, so what is behind it is
/// looked at before each use; it is never closed by us unless it is still ours.
struct Planted {
    number: i32,
    file: (u64, u64),
}

impl Planted {
    fn new(fd: OwnedFd) -> Option<Planted> {
        let file = fd::file_of(fd.as_raw_fd())?;
        Some(Planted { number: fd.into_raw_fd(), file })
    }

    fn number(&self) -> Option<i32> {
        (fd::file_of(self.number) == Some(self.file)).then_some(self.number)
    }
}

pub(crate) struct Single {
    roster: Option<Planted>,
    lifeline: Mutex<Option<Planted>>,
    /// Children whose handles were dropped before they ended.
    dropped: Mutex<Vec<Arc<Leader>>>,
}

impl Single {
    pub(super) fn new(roster: OwnedFd) -> Single {
        Single { roster: Planted::new(roster), lifeline: Mutex::new(None), dropped: Mutex::new(Vec::new()) }
    }

    /// A handle was dropped: its child is reaped by a later call, since there is no thread to do it.
    pub(super) fn reap_later(&self, leader: &Arc<Leader>) {
        lock(&self.dropped).push(leader.clone());
    }

    /// Wakes the supervisor. A write into anybody else's file is impossible only as far as the check just before it
    /// is: the price of this mode.
    pub(super) fn wake(&self) {
        if let Some(number) = lock(&self.lifeline).as_ref().and_then(Planted::number) {
            let _ = fd::write(number, b".");
        }
    }

    /// Whether a supervisor holds the other end of the lifeline.
    pub(super) fn is_supervised(&self) -> bool {
        lock(&self.lifeline).as_ref().is_some_and(is_read)
    }

    /// Starts a supervisor unless one holds the other end of the lifeline.
    pub(super) fn ensure_supervised(&self, runtime: &Runtime) -> Result<()> {
        lock(&self.dropped).retain(|leader| matches!(leader.collect(), Ok(None)));
        let mut lifeline = lock(&self.lifeline);
        if lifeline.as_ref().is_some_and(is_read) {
            return Ok(());
        }
        let header = &runtime.roster.header;
        let last = header.generation.fetch_add(1, Ordering::SeqCst);
        let started = self.start(runtime);
        let mut state = runtime.life.lock();
        match started {
            Ok((planted, kind)) => {
                // One that lost its lifeline but lives must not act beside the next. Not before there is a next: until
                // then it is all that covers the children.
                header.retired.store(last, Ordering::SeqCst);
                *lifeline = Some(planted);
                state.image = Some(kind);
                state.last_error = None;
                Ok(())
            }
            Err(error) => {
                state.last_error = Some(error.to_string());
                Err(error)
            }
        }
    }

    fn start(&self, runtime: &Runtime) -> Result<(Planted, Kind)> {
        let failed = |step: &'static str| {
            move |errno| {
                let what = format_args!("start the supervisor: {step}");
                Error::with_errno(ErrorCode::Supervisor, step, errno, what).way_out(way_out(step, errno))
            }
        };
        let roster = self.roster.as_ref().and_then(Planted::number).ok_or_else(|| {
            let told = "the host has closed the roster's descriptor, so no supervisor can be started any more; without threads the library keeps two descriptors in the host's table";
            Error::new(ErrorCode::Supervisor, "start the supervisor", told)
        })?;
        let (reader, lifeline) = fd::pipe().map_err(failed("pipe2"))?;
        for end in [&reader, &lifeline] {
            fd::set_nonblocking(end).map_err(failed("fcntl"))?;
        }
        let owner = pidfd::of_this_process().map_err(failed("pidfd_open"))?;
        let name = CString::new(runtime.pid.to_string()).unwrap_or_default();
        // Not kept for the next start: it would be one more descriptor in the host's table.
        let mut image = None;
        let launch = |image: &OwnedFd| {
            let (back, back_writer) = fd::pipe().map_err(|errno| ("pipe2", errno))?;
            let order = Launch {
                image: image.as_raw_fd(),
                roster,
                lifeline_a: reader.as_raw_fd(),
                lifeline_b: -1,
                back: back_writer.as_raw_fd(),
                owner: owner.as_raw_fd(),
                owner_name: &name,
            };
            launch(&order, runtime.memory).map(|()| back)
        };
        let (_, kind) = start_until_ready(|| program::execute(&mut image, runtime, launch))?;
        drop(reader);
        runtime.note_supervisors_parent();
        let planted = Planted::new(lifeline).ok_or_else(|| failed("fstat")(libc::EBADF))?;
        atfork::close_in_copies(planted.number, planted.file.1).map_err(failed("pthread_atfork"))?;
        Ok((planted, kind))
    }
}

/// A pipe without readers reports an error on its write end.
fn is_read(lifeline: &Planted) -> bool {
    let poll = |number| fd::poll(number, 0, 0).is_ok_and(|events| events & libc::POLLERR == 0);
    lifeline.number().is_some_and(poll)
}

/// Waits for the end of a child without threads: a pidfd in the host's table for as long as the call lasts, which no
/// other thread can get in the way of.
pub(super) fn await_end(pid: i32, deadline: Instant) -> Result<bool> {
    let pidfd = match pidfd::open(pid) {
        Ok(pidfd) => pidfd,
        Err(libc::ESRCH) => return Ok(true),
        Err(errno) => return Err(Error::os("pidfd_open", errno)),
    };
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let timeout_ms = i32::try_from(left.as_micros().div_ceil(1000)).unwrap_or(i32::MAX);
        match fd::poll(pidfd.as_raw_fd(), libc::POLLIN, timeout_ms) {
            Ok(0) if left.is_zero() => return Ok(false),
            Ok(0) | Err(libc::EINTR) => {}
            Ok(_) => return Ok(true),
            Err(errno) => return Err(Error::os("poll", errno)),
        }
    }
}

//! The watcher: a thread that holds lifeline B and every read end in a private file table, starts supervisors, notices
//! when one dies and starts the next, and notices the ends of children.

use std::ffi::CString;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::exits::Book;
use super::life::Phase;
use super::program;
use super::runtime::{Runtime, chores};
use crate::error::{Error, ErrorCode};
use crate::roster::{Step, back};
use crate::sys::fd::Epoll;
use crate::sys::image::Kind;
use crate::sys::launch::{Launch, launch};
use crate::sys::{Errno, fd, process};

/// Descriptors in the watcher's table. Their numbers mean nothing to any other thread.
pub(super) struct Ends {
    pub orders: OwnedFd,
    /// Both lifelines' read ends stay here for ever: a new supervisor needs no new pipe, and nobody ever writes into a
    /// pipe without readers.
    pub lifeline_a: OwnedFd,
    pub lifeline_b: OwnedFd,
    /// The write end whose closing is the second EOF.
    pub held_b: OwnedFd,
    pub roster: OwnedFd,
    /// A pidfd of this process.
    pub owner: OwnedFd,
}

const ORDERS: u64 = 0;
const BACK: u64 = 1;
const FIRST_EXIT: u64 = 2;

/// A supervisor that lived longer than this is replaced at once; a younger one after a pause.
const SETTLED: Duration = Duration::from_secs(5);
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE_AFTER_KILL: Duration = Duration::from_secs(1);
const LONGEST_PAUSE_AFTER_FAILURE: Duration = Duration::from_secs(5);
/// A supervisor says ready within a millisecond; a machine that swaps may need longer.
const READY_LIMIT_MS: i32 = 10_000;
/// One that was let go ends at once, unless somebody has stopped it.
const LET_GO_LIMIT_MS: i32 = 1_000;
/// How often the watcher looks for what no descriptor tells: the chores of a keeper that was killed, the end of a child
/// without a pidfd.
const LOOK_STEP_MS: i32 = 20;
/// So many in a row that end before they said anything are no accident.
const SILENT_STARTS: u32 = 3;

struct Watcher {
    runtime: &'static Runtime,
    ends: Ends,
    epoll: Epoll,
    book: Book,
    /// Back pipe of the supervisor that runs, and when it said ready.
    back: Option<(OwnedFd, Instant)>,
    image: Option<(OwnedFd, Kind)>,
    pause: Duration,
    /// When to start the next one.
    due: Option<Instant>,
    /// The keeper was killed (a seccomp filter can do that to a single thread). Its chores are ours now; the bell is a
    /// futex, which epoll does not hear, so they are looked for.
    keeper_is_gone: bool,
}

/// Serves for ever.
pub(super) fn watch(runtime: &'static Runtime, ends: Ends, epoll: Epoll) -> ! {
    let book = Book::new(FIRST_EXIT);
    let mut watcher = Watcher {
        runtime,
        ends,
        epoll,
        book,
        back: None,
        image: None,
        pause: Duration::ZERO,
        due: None,
        keeper_is_gone: false,
    };
    loop {
        watcher.turn();
    }
}

/// The set a watcher sleeps on, made while a failure can still be told to the caller.
pub(super) fn epoll_for(ends: &Ends) -> Result<Epoll, Errno> {
    let epoll = Epoll::new()?;
    epoll.add(&ends.orders, ORDERS)?;
    Ok(epoll)
}

impl Watcher {
    fn turn(&mut self) {
        // Rounded up: a wake-up before the time would only sleep again.
        let until_due = self.due.map(|due| due.saturating_duration_since(Instant::now()).as_millis() as i32 + 1);
        let until_look = (self.keeper_is_gone || self.book.must_look()).then_some(LOOK_STEP_MS);
        let timeout_ms = until_due.into_iter().chain(until_look).min().unwrap_or(-1);
        let mut ready = [0u64; 32];
        let mut count = 0;
        let waited = self.epoll.wait(timeout_ms, |token| {
            ready[count] = token;
            count += 1;
        });
        debug_assert!(waited.is_ok(), "epoll_wait on a set of our own: {waited:?}");
        for &token in &ready[..count] {
            match token {
                // The keeper alone has the other end.
                ORDERS if fd::read(&self.ends.orders, &mut [0; 512]) == Ok(0) => self.mourn_keeper(),
                ORDERS => {}
                BACK => self.supervisor_ended(),
                exit => self.book.ended(exit),
            }
        }
        if self.keeper_is_gone && self.runtime.chores.swap(0, Ordering::SeqCst) & chores::LOOK != 0 {
            let _ = fd::write(self.ends.held_b.as_raw_fd(), b".");
        }
        self.book.look();
        self.book.take_orders(self.runtime, &self.epoll);
        if matches!(self.runtime.life.lock().phase, Phase::Wanted) {
            self.start_wanted();
        } else if self.due.is_some_and(|due| due <= Instant::now()) {
            self.replace();
        }
    }

    fn mourn_keeper(&mut self) {
        self.epoll.remove(&self.ends.orders);
        self.keeper_is_gone = true;
    }

    /// A caller waits, and nothing is uncovered meanwhile: a failure is the caller's to hear.
    fn start_wanted(&mut self) {
        match self.start() {
            Ok(()) => self.runtime.life.enter(Phase::Running),
            Err(error) => self.runtime.life.fail(&error, Phase::Broken { error: error.clone(), at: Instant::now() }),
        }
    }

    fn replace(&mut self) {
        self.due = None;
        match self.start() {
            Ok(()) => {
                self.runtime.life.enter(Phase::Running);
                self.runtime.wake_all();
            }
            Err(error) if self.runtime.slots_in_use() == 0 => {
                self.runtime.life.fail(&error, Phase::Broken { error: error.clone(), at: Instant::now() });
            }
            Err(error) => {
                self.runtime.life.fail(&error, Phase::Replacing);
                self.pause = (self.pause * 2).clamp(FIRST_PAUSE, LONGEST_PAUSE_AFTER_FAILURE);
                self.due = Some(Instant::now() + self.pause);
            }
        }
    }

    /// The back pipe ended. A retired supervisor was let go; any other was killed.
    fn supervisor_ended(&mut self) {
        let Some((_, ready_at)) = self.back.take() else { return };
        let header = &self.runtime.roster.header;
        let pid = header.supervisor_pid.swap(0, Ordering::SeqCst);
        // Where the host is PID 1 or a subreaper it is our child, and nobody else may be left to reap it. Anywhere else
        // the number may be another child's by now.
        if self.runtime.is_parent_of_supervisor() {
            process::reap(pid);
        }
        let mut state = self.runtime.life.lock();
        if !matches!(state.phase, Phase::Running) {
            return;
        }
        state.phase = Phase::Replacing;
        drop(state);
        self.pause = match ready_at.elapsed() {
            lived if lived > SETTLED => Duration::ZERO,
            _ if self.pause.is_zero() => FIRST_PAUSE,
            _ => (self.pause * 2).min(LONGEST_PAUSE_AFTER_KILL),
        };
        self.due = Some(Instant::now() + self.pause);
    }

    /// Starts the next generation and waits until it says ready.
    fn start(&mut self) -> Result<(), Error> {
        // One that was let go and is still on its way out would share the lifelines with the next: it could take a
        // byte that is meant for that one.
        if let Some((back, _)) = self.back.take() {
            let _ = fd::poll(back.as_raw_fd(), 0, LET_GO_LIMIT_MS);
        }
        let (back, kind) = start_until_ready(|| {
            self.runtime.roster.header.generation.fetch_add(1, Ordering::SeqCst);
            self.execute()
        })?;
        self.runtime.note_supervisors_parent();
        self.epoll.add(&back, BACK).map_err(|errno| Error::os("epoll_ctl", errno))?;
        self.back = Some((back, Instant::now()));
        let mut state = self.runtime.life.lock();
        state.image = Some(kind);
        state.last_error = None;
        Ok(())
    }

    fn execute(&mut self) -> Result<(OwnedFd, Kind), Error> {
        let mut kept = self.image.take();
        let executed = program::execute(&mut kept, self.runtime, |image| self.launch(image));
        self.image = kept;
        executed
    }

    fn launch(&self, image: &OwnedFd) -> Result<OwnedFd, (&'static str, Errno)> {
        let (reader, writer) = fd::pipe().map_err(|errno| ("pipe2", errno))?;
        let name = CString::new(self.runtime.pid.to_string()).unwrap_or_default();
        let order = Launch {
            image: image.as_raw_fd(),
            roster: self.ends.roster.as_raw_fd(),
            lifeline_a: self.ends.lifeline_a.as_raw_fd(),
            lifeline_b: self.ends.lifeline_b.as_raw_fd(),
            back: writer.as_raw_fd(),
            owner: self.ends.owner.as_raw_fd(),
            owner_name: &name,
        };
        launch(&order, self.runtime.memory)?;
        Ok(reader)
    }
}

/// Starts a supervisor by `start`, which returns its back pipe, and waits until it says ready.
///
/// One that was killed before it could say a word is no sign of a broken installation, so a few more are tried. One
/// whose system calls are refused ends like that every time.
pub(super) fn start_until_ready<T>(
    mut start: impl FnMut() -> Result<(OwnedFd, T), Error>,
) -> Result<(OwnedFd, T), Error> {
    for _ in 0..SILENT_STARTS {
        let (back, rest) = start()?;
        if says_ready(&back)? {
            return Ok((back, rest));
        }
    }
    let told = format!(
        "{SILENT_STARTS} supervisors ended before they were ready: something kills them, or refuses their system calls; look for a seccomp filter, a memory limit, or an OOM kill in the kernel's log"
    );
    Err(Error::new(ErrorCode::Supervisor, "start the supervisor", told))
}

/// Reads what the new supervisor says of itself. False: it ended without a word.
fn says_ready(back: &OwnedFd) -> Result<bool, Error> {
    let told = |text: String| Error::new(ErrorCode::Supervisor, "start the supervisor", text);
    if fd::poll(back.as_raw_fd(), libc::POLLIN, READY_LIMIT_MS) == Ok(0) {
        return Err(told(format!("the supervisor did not say ready within {READY_LIMIT_MS} ms")));
    }
    let mut said = [0u8; 4];
    match fd::read_full(back, &mut said[..1]) {
        1 if said[0] == back::READY => Ok(true),
        1 if said[0] == back::FAILED && fd::read_full(back, &mut said[1..]) == 3 => {
            let errno = u16::from_le_bytes([said[2], said[3]]);
            let reason = std::io::Error::from_raw_os_error(errno.into());
            Err(told(format!("the supervisor could not {}: {reason}", Step::name(said[1]))))
        }
        _ => Ok(false),
    }
}

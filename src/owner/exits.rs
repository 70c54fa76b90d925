//! What the watcher is asked about the ends of children. It has pidfds in its private table, so a timed wait or an exit
//! fd costs the host neither a thread nor a descriptor it did not ask for.

use std::collections::HashMap;
use std::ffi::CString;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::handover::{Giver, handover};
use super::leader::Leader;
use super::lock;
use super::runtime::{Runtime, chores};
use crate::error::{Error, ErrorCode, Result};
use crate::sys::fd::Epoll;
use crate::sys::{Errno, fd, pidfd};

enum Order {
    /// Note the leader's end.
    Note(Arc<Leader>),
    /// Reap it when it ends: its handle is gone.
    Reap(Arc<Leader>),
    /// Write its status into a pipe.
    Pipe(Arc<Leader>, Offer),
    /// The caller has its own descriptor of the pipe now.
    Taken(i32),
}

/// The number of a read end in the watcher's table, for a caller to open.
type Offer = Giver<std::result::Result<i32, Errno>>;

/// The watcher answers within microseconds; a machine that swaps may need longer.
const OFFER_LIMIT: Duration = Duration::from_secs(5);

/// Orders on their way to the watcher.
pub(crate) struct Exits {
    orders: Mutex<Vec<Order>>,
}

impl Exits {
    pub(crate) fn new() -> Exits {
        Exits { orders: Mutex::new(Vec::new()) }
    }
}

impl Runtime {
    fn order(&self, order: Order) {
        lock(&self.exits.orders).push(order);
        self.ring(chores::WATCHER);
    }

    /// From now on [`Leader::await_end`] works.
    pub(crate) fn watch_end(&self, leader: &Arc<Leader>) {
        self.order(Order::Note(leader.clone()));
    }

    /// A handle was dropped: no zombie is to stay.
    pub(crate) fn reap_later(&self, leader: &Arc<Leader>) {
        self.order(Order::Reap(leader.clone()));
    }

    /// A CLOEXEC descriptor that becomes readable with the exit record when the leader ends.
    pub(crate) fn exit_pipe(&self, leader: &Arc<Leader>, watcher_tid: i32) -> Result<OwnedFd> {
        const STEP: &str = "exit_fd";
        let (offer, offered) = handover();
        self.order(Order::Pipe(leader.clone(), offer));
        let number = offered
            .take_within(OFFER_LIMIT)
            .ok_or_else(|| Error::new(ErrorCode::Timeout, STEP, "the watcher thread does not answer"))?
            .map_err(|errno| Error::os("pipe2", errno))?;
        let ours = open_from(watcher_tid, number);
        self.order(Order::Taken(number));
        ours.map_err(|errno| Error::with_errno(ErrorCode::Os, STEP, errno, "take the exit pipe from the watcher"))
    }
}

/// The same pipe, by way of /proc; where that is not mounted, by a pidfd of the thread.
fn open_from(tid: i32, number: i32) -> std::result::Result<OwnedFd, Errno> {
    let path = CString::new(format!("/proc/self/task/{tid}/fd/{number}")).map_err(|_| libc::EINVAL)?;
    match fd::open(&path, libc::O_RDONLY) {
        Err(libc::ENOENT | libc::EACCES) => pidfd::take_from_thread(tid, number),
        other => other,
    }
}

/// The watcher's book of ends, in its private table.
pub(super) struct Book {
    next: u64,
    watched: HashMap<u64, Watched>,
    /// Leaders that no descriptor tells about, since none is to be had: the table is full, or an emulator does not know
    /// the call. They are looked at now and again.
    unseen: Vec<(Arc<Leader>, Task)>,
    offered: HashMap<i32, OwnedFd>,
}

struct Watched {
    leader: Arc<Leader>,
    /// Keeps the descriptor open that epoll watches.
    _pidfd: OwnedFd,
    task: Task,
}

enum Task {
    Note,
    Reap,
    Write(OwnedFd),
}

impl Book {
    /// `first` is the lowest token that is the book's.
    pub(super) fn new(first: u64) -> Book {
        Book { next: first, watched: HashMap::new(), unseen: Vec::new(), offered: HashMap::new() }
    }

    /// Takes the orders that have come.
    pub(super) fn take_orders(&mut self, runtime: &Runtime, epoll: &Epoll) {
        let orders = std::mem::take(&mut *lock(&runtime.exits.orders));
        for order in orders {
            match order {
                Order::Note(leader) => self.watch(epoll, leader, Task::Note),
                Order::Reap(leader) => self.watch(epoll, leader, Task::Reap),
                Order::Pipe(leader, offer) => {
                    let made = self.offer(epoll, leader);
                    offer.give(made);
                }
                Order::Taken(number) => drop(self.offered.remove(&number)),
            }
        }
    }

    fn offer(&mut self, epoll: &Epoll, leader: Arc<Leader>) -> std::result::Result<i32, Errno> {
        let (reader, writer) = fd::pipe()?;
        let number = reader.as_raw_fd();
        self.offered.insert(number, reader);
        self.watch(epoll, leader, Task::Write(writer));
        Ok(number)
    }

    fn watch(&mut self, epoll: &Epoll, leader: Arc<Leader>, task: Task) {
        let token = self.next;
        self.next += 1;
        let pidfd = leader.open();
        if pidfd.is_err() && !leader.is_still_itself() {
            return task.finish(&leader);
        }
        match pidfd.ok().filter(|pidfd| epoll.add(pidfd, token).is_ok()) {
            Some(pidfd) => drop(self.watched.insert(token, Watched { leader, _pidfd: pidfd, task })),
            None => self.unseen.push((leader, task)),
        }
    }

    /// Whether there are leaders to be looked at.
    pub(super) fn must_look(&self) -> bool {
        !self.unseen.is_empty()
    }

    /// Looks at them.
    pub(super) fn look(&mut self) {
        for (leader, task) in self.unseen.extract_if(.., |(leader, _)| leader.has_ended()) {
            task.finish(&leader);
        }
    }

    /// The pidfd of `token` is readable: its process has ended.
    pub(super) fn ended(&mut self, token: u64) {
        if let Some(watched) = self.watched.remove(&token) {
            watched.task.finish(&watched.leader);
        }
    }
}

impl Task {
    fn finish(self, leader: &Leader) {
        match self {
            Task::Note => {}
            Task::Reap => drop(leader.collect()),
            Task::Write(pipe) => {
                let status = leader.collect().ok().flatten().unwrap_or(super::leader::ExitStatus::Unknown);
                let _ = fd::write(pipe.as_raw_fd(), &status.record().to_bytes());
            }
        }
        leader.note_end();
    }
}

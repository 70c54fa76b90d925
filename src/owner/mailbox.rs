//! Asking the supervisor to signal or stop one group: one kill path, one proof.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::lock;
use super::roster::Tenancy;
use super::runtime::{Runtime, chores};
use crate::error::{Error, ErrorCode, Result};
use crate::roster::request::{self, Request};
use crate::sys::futex;

/// The supervisor answers a signal at once, and a stop at most a second after its KILL. Beyond that it is being
/// replaced, again and again.
const SLACK: Duration = Duration::from_secs(5);

/// What became of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Answer {
    Done,
    /// The slot is no longer this group's, which ended or was released before the request was carried out.
    Gone,
    Failed(u32),
}

/// Whether a request is in the mailbox now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Put {
    Done,
    /// Another one is.
    Busy,
    /// The slot is no longer this group's.
    Gone,
}

impl Runtime {
    /// Wakes the keeper and everybody who waits for an answer: a supervisor that was killed between a change of the
    /// roster and the wake-up that follows it has left them asleep. They look, and sleep on if there is nothing.
    pub(crate) fn wake_all(&self) {
        self.ring(0);
        for slot in self.roster.used() {
            futex::wake(&slot.request);
        }
    }

    /// Puts a request into the group's mailbox and waits for its answer, at most `limit` and some slack. `on_wake` is
    /// called before each sleep: the supervisor also wakes the caller of a stop when the leader has ended.
    pub(crate) fn ask(
        &self,
        tenancy: Tenancy,
        ask: Request,
        limit: Duration,
        step: &'static str,
        mut on_wake: impl FnMut(),
    ) -> Result<Answer> {
        let mailbox = &tenancy.slot.request;
        let deadline = Instant::now() + limit + SLACK;
        let mut put = Put::Busy;
        // Another thread's request on the same group is let finish first.
        futex::wait_until(mailbox, Some(deadline), |_| {
            put = self.put(tenancy, ask);
            put != Put::Busy
        });
        let mut answer = None;
        match put {
            Put::Gone => return Ok(Answer::Gone),
            Put::Busy => {}
            Put::Done => {
                futex::wait_until(mailbox, Some(deadline), |_| {
                    answer = self.answer(tenancy);
                    if answer.is_none() {
                        on_wake();
                    }
                    answer.is_some()
                });
                self.take_back(tenancy);
            }
        }
        answer.ok_or_else(|| {
            let state = self.life.lock().last_error.clone().unwrap_or_else(|| "it is being replaced".into());
            Error::new(ErrorCode::Supervisor, step, format!("the supervisor has not answered: {state}"))
        })
    }

    /// Puts a request into the group's mailbox, if that is empty.
    pub(crate) fn put(&self, tenancy: Tenancy, ask: Request) -> Put {
        let mail = lock(&self.mail);
        if tenancy.held().is_none() {
            return Put::Gone;
        }
        let word = request::encode(ask);
        if tenancy.slot.request.compare_exchange(0, word, Ordering::SeqCst, Ordering::SeqCst).is_err() {
            return Put::Busy;
        }
        drop(mail);
        self.ring(chores::LOOK);
        Put::Done
    }

    /// The answer to a request that was put, if there is one yet.
    pub(crate) fn answer(&self, tenancy: Tenancy) -> Option<Answer> {
        let said = request::decode(tenancy.slot.request.load(Ordering::SeqCst));
        // Asked after the answer was read: a later tenant's is not ours.
        let is_ours = tenancy.slot.load().serial() == tenancy.word.serial();
        match said {
            Request::Answer(0) if is_ours => Some(Answer::Done),
            Request::Answer(code) if is_ours => Some(Answer::Failed(code)),
            _ if tenancy.held().is_none() => Some(Answer::Gone),
            _ => None,
        }
    }

    /// Empties the mailbox of our own answer, or our own request: a freed slot may have a new tenant.
    pub(crate) fn take_back(&self, tenancy: Tenancy) {
        let mailbox = &tenancy.slot.request;
        let _mail = lock(&self.mail);
        // While it is ours nobody else has put anything: a mailbox takes one request at a time.
        if tenancy.slot.load().serial() == tenancy.word.serial() {
            mailbox.store(0, Ordering::SeqCst);
            futex::wake(mailbox);
        }
    }
}

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
    /// The slot is no longer this group's: it ended, or was released.
    Gone,
    Failed(u32),
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
        let mut answer = None;
        // Another thread's request on the same group is let finish first.
        let put = futex::wait_until(mailbox, Some(deadline), |word| {
            let _mail = lock(&self.mail);
            if tenancy.held().is_none() {
                answer = Some(Answer::Gone);
                return true;
            }
            word == 0 && mailbox.compare_exchange(0, request::encode(ask), Ordering::SeqCst, Ordering::SeqCst).is_ok()
        });
        if answer.is_some() {
            return Ok(Answer::Gone);
        }
        if put {
            self.ring(chores::LOOK);
            futex::wait_until(mailbox, Some(deadline), |word| {
                answer = match request::decode(word) {
                    Request::Answer(0) => Some(Answer::Done),
                    Request::Answer(code) => Some(Answer::Failed(code)),
                    _ if tenancy.held().is_none() => Some(Answer::Gone),
                    _ => None,
                };
                if answer.is_none() {
                    on_wake();
                }
                answer.is_some()
            });
            // Only our own answer, or our own request, is taken back: a freed slot may have a new tenant.
            let _mail = lock(&self.mail);
            if tenancy.held().is_some() {
                let left = mailbox.load(Ordering::SeqCst);
                if matches!(request::decode(left), Request::Answer(_)) || left == request::encode(ask) {
                    let _ = mailbox.compare_exchange(left, 0, Ordering::SeqCst, Ordering::SeqCst);
                    futex::wake(mailbox);
                }
            }
        }
        answer.ok_or_else(|| {
            let state = self.life.lock().last_error.clone().unwrap_or_else(|| "it is being replaced".into());
            Error::new(ErrorCode::Supervisor, step, format!("the supervisor has not answered: {state}"))
        })
    }
}

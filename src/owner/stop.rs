//! Ending a child's group: at one go, or in halves for an event loop.

use std::time::Duration;

use super::child::Child;
use super::lock;
use super::mailbox::{Answer, Put};
use super::runtime::Tie;
use crate::error::{Error, Result};
use crate::roster::request::{self, Request};

/// A stop that was begun.
pub(super) struct Stopping {
    request: Request,
    put: Put,
}

impl Child {
    /// Ends the group: TERM (and CONT, for what is stopped), `grace` to comply, then KILL. Returns once nothing in it
    /// runs any more. The leader's status is still there for [`wait`](Child::wait).
    ///
    /// What left the group by `setsid` or a double fork is not this call's business: it dies with this process.
    ///
    /// # Errors
    /// `StillAlive`: something cannot be ended; the message says what. `InvalidArgument`: a grace over 4 h 39 min.
    /// `NotFound`: the group was released. `Supervisor`: there is none to do it.
    pub fn stop(&self, grace: Duration) -> Result<()> {
        const STEP: &str = "stop";
        self.check_mine(STEP)?;
        let request = stop_request(grace, STEP)?;
        let answer = self.ask(request, grace, STEP)?;
        self.stopped(answer, STEP)
    }

    /// The first half of a [`stop`](Child::stop) that does not wait, for an event loop: asks for it. It goes on by
    /// itself; [`stop_poll`](Child::stop_poll) tells when it is over, and must be asked until it is. One that was begun
    /// before goes on as it is.
    ///
    /// # Errors
    /// `InvalidArgument`: a grace over 4 h 39 min. Without the library's threads, `Supervisor`.
    pub fn stop_begin(&self, grace: Duration) -> Result<()> {
        const STEP: &str = "stop_begin";
        self.check_mine(STEP)?;
        let request = stop_request(grace, STEP)?;
        let mut stopping = lock(&self.stopping);
        if stopping.is_none() {
            self.supervise_without_threads()?;
            *stopping = Some(Stopping { request, put: self.runtime.put(self.tenancy, request) });
        }
        Ok(())
    }

    /// Whether a stop that was begun is over. Never waits.
    ///
    /// # Errors
    /// As for [`stop`](Child::stop), and then it is over, too. `InvalidArgument`: none was begun.
    pub fn stop_poll(&self) -> Result<bool> {
        const STEP: &str = "stop_poll";
        self.check_mine(STEP)?;
        let mut stopping = lock(&self.stopping);
        let Some(begun) = stopping.as_mut() else {
            return Err(Error::invalid(STEP, format!("no stop of child {} was begun", self.leader.pid)));
        };
        let Some(end) = self.look(begun).transpose() else { return Ok(false) };
        if begun.put == Put::Done {
            self.runtime.take_back(self.tenancy);
        }
        *stopping = None;
        self.stopped(end?, STEP).map(|()| true)
    }

    /// What became of a stop that was begun, if anything has yet.
    fn look(&self, begun: &mut Stopping) -> Result<Option<Answer>> {
        self.supervise_without_threads()?;
        if begun.put == Put::Busy {
            begun.put = self.runtime.put(self.tenancy, begun.request);
        }
        let answer = match begun.put {
            Put::Gone => Some(Answer::Gone),
            Put::Busy => None,
            Put::Done => self.runtime.answer(self.tenancy),
        };
        if answer.is_none() {
            // As in a stop that waits: an empty group is told at once only when its leader has been reaped.
            self.leader.collect()?;
        }
        Ok(answer)
    }

    fn stopped(&self, answer: Answer, step: &'static str) -> Result<()> {
        match answer {
            Answer::Done => Ok(()),
            Answer::Gone if self.was_released() => Err(self.not_ours(step)),
            Answer::Gone => Ok(()),
            Answer::Failed(code) => Err(self.refusal(code, step)),
        }
    }

    /// Where there are no threads, nobody else replaces a supervisor that was killed.
    fn supervise_without_threads(&self) -> Result<()> {
        match self.runtime.tie {
            Tie::Single { .. } if self.tenancy.held().is_some() => self.runtime.ensure_supervised(Duration::MAX),
            _ => Ok(()),
        }
    }
}

fn stop_request(grace: Duration, step: &'static str) -> Result<Request> {
    let grace_ms = u32::try_from(grace.as_millis()).ok().filter(|&ms| ms <= request::GRACE_LIMIT_MS);
    let told = || format!("a grace of {grace:?} is more than {} ms", request::GRACE_LIMIT_MS);
    grace_ms.map(|grace_ms| Request::Stop { grace_ms }).ok_or_else(|| Error::invalid(step, told()))
}

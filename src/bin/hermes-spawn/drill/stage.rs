//! The stage: starts the owners, hears who is ready, kills, watches, and clears everything away again.
//!
//! The drill is an owner itself and its two owners are owned children, so a drill that is killed leaves nothing either.

use super::scene::{self, Before, CONTROL, Fate, LINES, OWNER, SUPERVISOR};
use super::watch::{Process, is_free};
use super::{ACTOR_COMMAND, GONE_WITHIN, GRACE, actor};
use crate::failure::{COULD_NOT_LOOK, Failure, SIGNALLED};
use crate::signals::Signals;
use hermes_spawn::{Child, Command, Config, Stdio, configure};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::process::ChildStdout;
use std::time::{Duration, Instant};

/// A dozen small processes on a slow machine.
const READY_WITHIN: Duration = Duration::from_secs(20);
/// An owner that is told to stop, after the drill.
const STOP_GRACE: Duration = Duration::from_millis(500);
/// Below something that is no directory.
const NO_HOME: &str = "/dev/null/drill";

/// One of the two owners, and the pipe on which it and all its descendants announce themselves.
struct Troupe {
    owner: Child,
    announcements: ChildStdout,
    unread: Vec<u8>,
    ended: bool,
}

pub struct Stage {
    signals: Signals,
    troupes: Vec<Troupe>,
    cast: BTreeMap<String, Process>,
    guarantees: Vec<Value>,
    cleared: bool,
}

/// What happened after the kill.
pub struct Watched {
    /// Time from the kill to the end of each process that has ended, by role.
    pub gone_after: BTreeMap<String, Duration>,
    pub cast: BTreeMap<String, Process>,
    /// Of the ports that the killed owner's servers held: whether each is free now.
    pub ports: Vec<(u16, bool)>,
}

impl Stage {
    pub fn new(signals: Signals) -> Stage {
        Stage { signals, troupes: Vec::new(), cast: BTreeMap::new(), guarantees: Vec::new(), cleared: false }
    }

    /// They have a home that cannot be made, so nobody's records are written: not among the user's, and not to a folder
    /// of the drill's, which a supervisor that writes its last line late would make again after it was removed.
    pub fn start_owners(&mut self) -> Result<(), Failure> {
        configure(Config::new().home(NO_HOME).grace(GRACE))
            .map_err(|error| Failure::step("drill: configure", error))?;
        for role in [OWNER, CONTROL] {
            let mut command = Command::new(actor::program()?);
            command.args([ACTOR_COMMAND, role]).env("HERMES_HOME", NO_HOME).family("drill");
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
            let mut owner = command.spawn_owned().map_err(|error| Failure::step("drill: start an owner", error))?;
            let announcements = owner.stdout.take().expect("stdout was asked to be a pipe");
            self.troupes.push(Troupe { owner, announcements, unread: Vec::new(), ended: false });
        }
        Ok(())
    }

    pub fn owner_pid(&self) -> i32 {
        self.troupes[0].owner.pid()
    }

    /// The guarantees in force, as the owner reported them.
    pub fn guarantees(&self) -> Vec<Value> {
        self.guarantees.clone()
    }

    pub fn wait_for_everybody(&mut self, mut tell: impl FnMut(usize, usize)) -> Result<(), Failure> {
        let deadline = Instant::now() + READY_WITHIN;
        let all: Vec<&str> = scene::cast().collect();
        loop {
            let missing: Vec<&&str> = all.iter().filter(|role| !self.cast.contains_key(**role)).collect();
            tell(all.len() - missing.len(), all.len());
            let Some(first) = missing.first() else { return Ok(()) };
            let left = deadline.saturating_duration_since(Instant::now());
            let owner_died = self.troupes.iter().any(|troupe| !matches!(troupe.owner.try_wait(), Ok(None)));
            if left.is_zero() || owner_died {
                let why = if owner_died { "its owner has ended".into() } else { format!("{READY_WITHIN:?} are over") };
                return Err(Failure::new(COULD_NOT_LOOK, format!("drill: no sign of the {first}: {why}")));
            }
            // Woken by announcements; the owners' own ends, which are rare, are looked for five times a second.
            self.listen(left.min(Duration::from_millis(200)))?;
        }
    }

    /// Waits for announcements or the time to pass. Interrupted: an error that ends the drill.
    fn listen(&mut self, time: Duration) -> Result<(), Failure> {
        let listening: Vec<usize> = (0..self.troupes.len()).filter(|&i| !self.troupes[i].ended).collect();
        let mut fds = vec![PollFd::new(self.signals.as_fd(), PollFlags::POLLIN)];
        for &i in &listening {
            fds.push(PollFd::new(self.troupes[i].announcements.as_fd(), PollFlags::POLLIN));
        }
        let timeout = PollTimeout::try_from(time).unwrap_or(PollTimeout::MAX);
        let _ = poll(&mut fds, timeout);
        let readable: Vec<usize> =
            listening.into_iter().zip(&fds[1..]).filter(|(_, fd)| fd.any() == Some(true)).map(|(i, _)| i).collect();
        drop(fds);
        if let Some(signal) = self.signals.next() {
            return Err(Failure::new(
                SIGNALLED + signal as u8,
                format!("drill: interrupted by {}; what it had started is gone", signal.as_str()),
            ));
        }
        for i in readable {
            for line in self.troupes[i].read_lines() {
                self.hear(&line)?;
            }
        }
        Ok(())
    }

    fn hear(&mut self, line: &[u8]) -> Result<(), Failure> {
        let said: Value = serde_json::from_slice(line).unwrap_or_default();
        let role = said["role"].as_str().unwrap_or("actor");
        let Some(pid) = said["pid"].as_i64() else {
            let error = said["error"].as_str().unwrap_or("said something unexpected");
            return Err(Failure::new(COULD_NOT_LOOK, format!("drill: the {role}: {error}")));
        };
        if let (SUPERVISOR, Some(guarantees)) = (role, said["guarantees"].as_array()) {
            self.guarantees = guarantees.clone();
        }
        let port = said["port"].as_u64().map(|port| port as u16);
        self.cast.insert(role.to_string(), Process::new(pid as i32, port));
        Ok(())
    }

    /// The scene must be what it claims to be, or its end would prove nothing.
    pub fn look_before(&mut self) -> Result<(), Failure> {
        let deadline = Instant::now() + READY_WITHIN;
        for line in &LINES {
            while let Err(wrong) = self.as_claimed(line) {
                if Instant::now() > deadline {
                    return Err(Failure::new(COULD_NOT_LOOK, format!("drill: {}: {wrong}", line.what)));
                }
                self.listen(Duration::from_millis(1))?;
            }
        }
        Ok(())
    }

    fn as_claimed(&self, line: &scene::Line) -> Result<(), String> {
        let stats: Vec<_> = line.roles.iter().map(|role| (role, self.cast[*role].stat())).collect();
        if let Some((role, _)) = stats.iter().find(|(_, stat)| !stat.is_some_and(|stat| stat.runs())) {
            return Err(format!("the {role} has ended before the owner was killed"));
        }
        let last = stats.last().and_then(|(_, stat)| *stat).expect("each line has a process");
        match line.before {
            Before::Running => Ok(()),
            Before::Stopped if last.state == b'T' => Ok(()),
            Before::Stopped => Err(format!("it is in state {} instead of stopped", last.state as char)),
            Before::OwnSession if last.session == last.pid => Ok(()),
            Before::OwnSession => Err("it has no session of its own".into()),
            Before::Without(roles) => match roles.iter().find(|role| self.cast[**role].runs()) {
                Some(role) => Err(format!("the {role} is still there")),
                None => Ok(()),
            },
        }
    }

    /// SIGKILL to the owner alone, then everybody is looked at each millisecond until all that should go have gone.
    pub fn kill_owner_and_watch(&mut self, mut tell: impl FnMut(usize, usize)) -> Result<Watched, Failure> {
        let going = LINES.iter().filter(|line| line.fate == Fate::Gone).flat_map(|line| line.roles).chain([&OWNER]);
        let going: Vec<&str> = going.copied().collect();
        let mut gone_after = BTreeMap::new();
        let start = Instant::now();
        // Its number cannot be another's yet: it is our child, and nobody has waited for it.
        kill(Pid::from_raw(self.owner_pid()), Signal::SIGKILL)
            .map_err(|errno| Failure::step("drill: kill the owner", errno.desc()))?;
        while gone_after.len() < going.len() && start.elapsed() < GONE_WITHIN {
            for role in &going {
                if !gone_after.contains_key(*role) && !self.cast[*role].runs() {
                    gone_after.insert(role.to_string(), start.elapsed());
                }
            }
            tell(gone_after.len(), going.len());
            self.listen(Duration::from_millis(1))?;
        }
        let ports = going.iter().filter_map(|role| self.cast[*role].port).map(|port| (port, is_free(port))).collect();
        Ok(Watched { gone_after, cast: self.cast.clone(), ports })
    }

    /// Stops both owners and what belongs to them. Returns who had to be killed by hand, which should be nobody.
    pub fn clear(&mut self) -> Vec<String> {
        if std::mem::replace(&mut self.cleared, true) {
            return Vec::new();
        }
        for troupe in &self.troupes {
            // An error means that something of its group is left, which is looked for next.
            let _ = troupe.owner.stop(STOP_GRACE);
        }
        // The end of a pipe: nobody is left that could have announced itself, whether it did or not.
        let deadline = Instant::now() + GONE_WITHIN;
        let all_gone =
            |stage: &Stage| stage.troupes.iter().all(|troupe| troupe.ended) && !stage.cast.values().any(Process::runs);
        while !all_gone(self) && Instant::now() < deadline {
            // A second ^C changes nothing: this is what the first one asked for.
            let _ = self.listen(Duration::from_millis(1));
        }
        let left: Vec<_> = self.cast.iter().filter(|(_, process)| process.runs()).collect();
        left.iter().for_each(|(_, process)| process.kill());
        left.iter().map(|(role, process)| format!("{role} ({})", process.pid)).collect()
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.clear();
    }
}

impl Troupe {
    /// Whole lines that have arrived. Called when there is something to read, so it does not block.
    fn read_lines(&mut self) -> Vec<Vec<u8>> {
        let mut buffer = [0; 4096];
        match self.announcements.read(&mut buffer) {
            Ok(0) => self.ended = true,
            Ok(count) => self.unread.extend_from_slice(&buffer[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => self.ended = true,
        }
        let end = self.unread.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        let whole: Vec<u8> = self.unread.drain(..end).collect();
        whole.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).map(<[u8]>::to_vec).collect()
    }
}

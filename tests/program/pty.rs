//! A real terminal with somebody typing at it.

#![allow(unsafe_code, reason = "making a terminal the controlling one has no safe call")]

use crate::program::PROGRAM;
use crate::support::process::Process;
use crate::support::sys;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus};
use std::time::Duration;

/// A person looks at a terminal that long, on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(20);

pub struct Pty {
    master: File,
    /// What appeared and was not asked for yet.
    screen: String,
    child: Child,
}

impl Pty {
    /// The command leads a new session on the terminal, as a login shell does.
    pub fn with(mut command: Command) -> Pty {
        let (master, slave) = sys::open_pty().expect("a pty");
        let dup = || slave.try_clone().expect("dup");
        command.stdin(dup()).stdout(dup()).stderr(slave);
        // SAFETY: two system calls; descriptor 0 is the terminal by then.
        unsafe {
            command.pre_exec(|| {
                sys::check(libc::setsid())?;
                sys::check(libc::ioctl(0, libc::TIOCSCTTY, 0)).map(drop)
            })
        };
        let child = command.spawn().expect("start it on the pty");
        drop(command);
        Pty { master: File::from(master), screen: String::new(), child }
    }

    /// An interactive shell with job control. `$P` is the program. Its prompt is `$> `.
    pub fn shell(configure: impl FnOnce(&mut Command)) -> Pty {
        let mut command = Command::new("sh");
        command.arg("-i").env("PS1", "$> ").env("P", PROGRAM).env("RUST_BACKTRACE", "1").env_remove("ENV");
        configure(&mut command);
        let mut pty = Pty::with(command);
        pty.until("$> ");
        pty
    }

    pub fn type_in(&mut self, text: &str) {
        self.master.write_all(text.as_bytes()).expect("type");
    }

    /// Waits until this has appeared, and forgets what stood before it. Typed text is echoed: look for words that
    /// were not typed.
    #[track_caller]
    pub fn until(&mut self, wanted: &str) -> String {
        let deadline = sys::after(PATIENCE);
        loop {
            if let Some(at) = self.screen.find(wanted) {
                return self.screen.drain(..at + wanted.len()).collect();
            }
            let mut bytes = [0; 4096];
            let ready = !sys::poll_readable(&[self.master.as_raw_fd()], deadline).is_empty();
            match self.master.read(&mut bytes) {
                Ok(count) if ready && count > 0 => self.screen += &String::from_utf8_lossy(&bytes[..count]),
                _ => panic!("never on the screen: {wanted:?}; there is: {:?}", self.screen),
            }
        }
    }

    /// Waits for the end of the session's leader.
    #[track_caller]
    pub fn end(&mut self) -> ExitStatus {
        let leader = Process::open(self.child.id() as i32);
        let ended = leader.is_none_or(|leader| leader.gone_by(sys::after(PATIENCE)));
        assert!(ended, "it does not end; on the screen: {:?}", self.screen);
        self.child.wait().expect("wait")
    }
}

impl Drop for Pty {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

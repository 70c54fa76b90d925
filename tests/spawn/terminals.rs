//! Sessions and terminals: a session of its own by default, the caller's on request, and a terminal where asked for.

use super::support::{Launch, Owner, Process, Scene, Seat, sys};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;

struct Terminal {
    /// The test's end: it keeps the terminal alive and asks who is in its foreground.
    master: OwnedFd,
    _slave: OwnedFd,
    path: String,
}

fn terminal() -> Terminal {
    let (master, slave) = sys::open_pty().expect("a pty");
    let path = std::fs::read_link(format!("/proc/self/fd/{}", slave.as_raw_fd())).expect("its path");
    Terminal { master, _slave: slave, path: path.display().to_string() }
}

impl Terminal {
    /// The foreground group; 0 when it is nobody's controlling terminal.
    fn foreground(&self) -> i32 {
        let mut group = 0;
        // SAFETY: the kernel fills in one integer. (tcgetpgrp asks for the caller's own terminal only.)
        let result = unsafe { libc::ioctl(self.master.as_raw_fd(), libc::TIOCGPGRP, &mut group) };
        assert_eq!(result, 0, "{}", std::io::Error::last_os_error());
        group
    }
}

/// An owner that leads a session with this terminal, as one started from a shell's command line has it.
fn owner_at(scene: &Scene, terminal: &Terminal) -> Owner {
    let mut command = scene.actor();
    let open = || std::fs::OpenOptions::new().read(true).write(true).open(&terminal.path).expect("open the terminal");
    command.stdin(open()).stdout(open()).stderr(open());
    // SAFETY: system calls only. Actors begin as leaders of a group, which cannot begin a session; so back to the
    // test's group first.
    unsafe {
        command.pre_exec(|| {
            sys::check(libc::setpgid(0, libc::getpgid(libc::getppid())))?;
            sys::check(libc::setsid())?;
            sys::check(libc::ioctl(0, libc::TIOCSCTTY, 0)).map(drop)
        })
    };
    scene.owner_from(command, Launch { over_socket: true })
}

fn inspect(scene: &Scene, owner: &mut Owner, options: &str) -> Seat {
    let started = owner.spawn_with(options, "inspect");
    let seat = scene.seat(&started, "inspect");
    assert_eq!((seat.process.pid, seat.pgid), (started.pid, started.pid), "the leader of its group");
    seat
}

/// Field 7 of its stat line: the controlling terminal's device; 0 without one.
fn controlling_terminal(process: &Process) -> i64 {
    let line = std::fs::read_to_string(format!("/proc/{}/stat", process.pid)).expect("stat");
    let rest = line.rsplit_once(") ").expect("fields").1;
    rest.split_whitespace().nth(4).expect("tty_nr").parse().expect("a number")
}

#[test]
fn by_default_a_child_has_a_session_of_its_own_and_no_terminal() {
    let (scene, terminal) = (Scene::new(), terminal());
    let mut owner = owner_at(&scene, &terminal);
    assert_eq!(terminal.foreground(), owner.pid());
    for options in ["", "stdin=inherit stdout=inherit"] {
        let seat = inspect(&scene, &mut owner, options);
        assert_eq!(seat.session, seat.process.pid, "a session of its own");
        assert_eq!(controlling_terminal(&seat.process), 0);
    }
    let started = owner.spawn_with("stdin=inherit", "tty-reader");
    let reader = scene.seat(&started, "tty-reader");
    assert_eq!(reader.detail["open_errno"], libc::ENXIO, "/dev/tty is an error, not a hang: {}", reader.detail);
    assert_eq!(terminal.foreground(), owner.pid(), "the owner keeps its terminal");
    assert_ne!(controlling_terminal(owner.process()), 0);
}

#[test]
fn a_kept_session_is_the_callers() {
    let (scene, terminal) = (Scene::new(), terminal());
    let mut owner = owner_at(&scene, &terminal);
    let seat = inspect(&scene, &mut owner, "keep_session stdin=inherit");
    assert_eq!(seat.session, owner.pid());
    assert_eq!(controlling_terminal(&seat.process), controlling_terminal(owner.process()));
    assert_eq!(terminal.foreground(), owner.pid(), "a background group of it");
    // With the terminal handed over its group is in the foreground before the program's first instruction.
    let seat = inspect(&scene, &mut owner, "keep_session controlling_tty stdin=inherit");
    assert_eq!((seat.session, terminal.foreground()), (owner.pid(), seat.pgid));
    assert_eq!(seat.detail["foreground"], seat.pgid);
    assert_ne!(owner.process().stat().expect("it runs").state, 'T', "stopped by TTOU");
}

#[test]
fn a_terminal_on_its_standard_input_becomes_the_sessions_own() {
    let (scene, terminal) = (Scene::new(), terminal());
    let mut owner = scene.owner();
    let seat = inspect(&scene, &mut owner, &format!("controlling_tty stdin={}", terminal.path));
    assert_eq!(seat.session, seat.process.pid);
    assert_ne!(controlling_terminal(&seat.process), 0);
    assert_eq!((terminal.foreground(), &seat.detail["foreground"]), (seat.pgid, &seat.pgid.into()));
    assert_eq!(controlling_terminal(owner.process()), 0, "the owner got none");
    // It is taken: another session does not steal it.
    let refusal = owner
        .try_program(&format!("controlling_tty stdin={}", terminal.path), "/bin/true", &[])
        .expect_err("the terminal has a session");
    assert_eq!((refusal.step.as_str(), refusal.errno), ("tty", Some(libc::EPERM.into())), "{refusal:?}");
    owner.must(&format!("stop {} 1000", seat.pgid));
}

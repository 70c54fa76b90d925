//! Pipes that the library makes: the child's end is blocking whatever is done to the host's, and the leader's end is
//! told when the leader ends, not when the last copy of its standard output is closed.

use super::support::deadline::SOON;
use super::support::process::status_field;
use super::support::{Process, Scene, eventually, sys};
use hermes_spawn::{Command, Config, Stdio};
use std::io::{Read, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::time::{Duration, Instant};

/// In this process: a reader and a writer of the test's own are the point here.
fn library() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let home = concat!(env!("CARGO_TARGET_TMPDIR"), "/home-of-the-spawn-tests");
        hermes_spawn::configure(Config::new().home(home).grace(Duration::from_millis(300))).expect("first use");
    });
}

fn set_nonblocking(fd: impl AsFd) {
    // SAFETY: flags of a descriptor that is borrowed.
    unsafe {
        let flags = libc::fcntl(fd.as_fd().as_raw_fd(), libc::F_GETFL);
        libc::fcntl(fd.as_fd().as_raw_fd(), libc::F_SETFL, flags | libc::O_NONBLOCK);
    }
}

fn would_block<T>(result: &std::io::Result<T>) -> bool {
    result.as_ref().is_err_and(|e| e.kind() == std::io::ErrorKind::WouldBlock)
}

#[test]
fn four_mebibytes_arrive_whole_through_a_slow_nonblocking_reader() {
    library();
    let mebibytes = 4usize << 20;
    let mut command = Command::new("/bin/sh");
    // dd gives up at the first EAGAIN, as many programs do.
    command.args(["-c", "dd if=/dev/zero bs=65536 count=64 2>/dev/null && echo done"]);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn_owned().expect("spawn");
    let mut output = child.stdout.take().expect("piped");
    set_nonblocking(&output);
    let mut bytes = Vec::new();
    let mut chunk = [0; 10_000];
    loop {
        let read = output.read(&mut chunk);
        if would_block(&read) {
            assert!(!sys::poll_readable(&[output.as_raw_fd()], sys::after(Duration::from_secs(20))).is_empty());
            continue;
        }
        match read.expect("read") {
            0 => break,
            length => bytes.extend_from_slice(&chunk[..length]),
        }
        // Slow: the pipe is full nearly all the time.
        std::thread::yield_now();
    }
    assert_eq!(bytes.len(), mebibytes + b"done\n".len());
    assert!(bytes.ends_with(b"done\n"));
    assert!(child.wait().expect("wait").success());
}

#[test]
fn a_slow_child_gets_all_of_a_nonblocking_writer() {
    library();
    let mut command = Command::new("/bin/sh");
    command.args(["-c", "sleep 0.1; wc -c"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn_owned().expect("spawn");
    let mut input = child.stdin.take().expect("piped");
    set_nonblocking(&input);
    let bytes = vec![7u8; 1 << 20];
    let mut rest = &bytes[..];
    while !rest.is_empty() {
        match input.write(rest) {
            Ok(length) => rest = &rest[length..],
            Err(e) => {
                assert_eq!(e.kind(), std::io::ErrorKind::WouldBlock);
                let mut polled = libc::pollfd { fd: input.as_raw_fd(), events: libc::POLLOUT, revents: 0 };
                // SAFETY: one entry, and its count.
                assert_eq!(unsafe { libc::poll(&mut polled, 1, 20_000) }, 1);
            }
        }
    }
    drop(input);
    let mut text = String::new();
    child.stdout.take().expect("piped").read_to_string(&mut text).expect("read");
    assert_eq!(text.trim(), bytes.len().to_string());
    assert!(child.wait().expect("wait").success());
}

#[test]
fn wait_returns_at_once_though_a_grandchild_holds_standard_output() {
    let scene = Scene::new();
    let mut control = scene.control();
    let mut owner = scene.owner();
    owner.must("configure grace=300");
    let pid = owner.program("stdin=null stdout=piped", "/bin/sh", &["-c", "sleep 600 & echo $!; exit 3"]);
    let begin = Instant::now();
    assert_eq!(owner.wait(pid)["exited"], 3);
    assert!(begin.elapsed() < Duration::from_secs(2), "{:?}", begin.elapsed());
    let members = super::support::process::group_members(pid);
    assert_eq!(members.len(), 1, "the grandchild lives on");
    let grandchild = Process::open(members[0]).expect("it lives");
    eventually(SOON, "the grandchild is sleep", || status_field(grandchild.pid, "Name:").as_deref() == Some("sleep"));
    assert_eq!(owner.slots_in_use(), 1, "and is covered");
    owner.kill();
    grandchild.assert_gone_by(sys::after(Duration::from_secs(5)), "the grandchild");
    control.assert_unharmed();
}

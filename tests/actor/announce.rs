//! "I am in position": one datagram to the test, and one byte to the parent that waits for it.

use crate::raw;
use serde_json::{Value, json};
use std::fs;
use std::io::{Read, Write};
use std::os::fd::FromRawFd;
use std::os::unix::net::UnixDatagram;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, Ordering};

static MAIL: OnceLock<(String, String)> = OnceLock::new();
/// Where a parent waits for its branch to be in position; -1 when nobody does.
static WAITER: AtomicI32 = AtomicI32::new(-1);

pub fn set_mail(mail: &str, tag: &str) {
    let _ = MAIL.set((mail.to_string(), tag.to_string()));
}

/// Mailbox and tag: what another program image needs to announce itself.
pub fn mail() -> (&'static str, &'static str) {
    let (mail, tag) = MAIL.get().expect("set at the start");
    (mail, tag)
}

pub fn announce(role: &str) {
    announce_with(role, None, Value::Null);
}

/// Under another tag than this image's own: a forked copy of an owner.
pub fn announce_as(tag: &str, role: &str) {
    send(tag, role, None, Value::Null);
}

/// As [`announce_as`], with something to say.
pub fn announce_detail_as(tag: &str, role: &str, detail: Value) {
    send(tag, role, None, detail);
}

pub fn announce_with(role: &str, address: Option<String>, detail: Value) {
    send(mail().1, role, address, detail);
}

fn send(tag: &str, role: &str, address: Option<String>, detail: Value) {
    let (mail, _) = mail();
    let (pid, ppid, pgid, sid) = raw::ids();
    let message = json!({
        "tag": tag, "role": role, "pid": pid, "ppid": ppid, "pgid": pgid, "sid": sid,
        "start": start_ticks(), "address": address, "detail": detail,
    });
    // A test that has ended reads no mail; its actors are ended in another way.
    if let Ok(socket) = UnixDatagram::unbound() {
        let _ = socket.send_to(message.to_string().as_bytes(), mail);
    }
    tell_waiter();
}

fn tell_waiter() {
    let fd = WAITER.swap(-1, Ordering::Relaxed);
    if fd >= 0 {
        // SAFETY: the write end that `branch` left to this process alone.
        let _ = unsafe { fs::File::from_raw_fd(fd) }.write_all(b"!");
    }
}

/// Forks; the copy plays `part`, and the original goes on once the copy has announced itself, or has become another
/// program. Returns the copy's pid.
pub fn branch(part: impl FnOnce()) -> i32 {
    let (read_end, write_end) = raw::pipe();
    // SAFETY: plain integers. An exec closes the pipe, which wakes the waiter too.
    unsafe { libc::fcntl(write_end, libc::F_SETFD, libc::FD_CLOEXEC) };
    let pid = raw::fork();
    if pid == 0 {
        raw::close(read_end);
        // A branch of a branch speaks for whoever waits for the outer one, too.
        let outer = WAITER.swap(write_end, Ordering::Relaxed);
        if outer >= 0 {
            raw::close(outer);
        }
        part();
        raw::leave_now(0);
    }
    raw::close(write_end);
    // SAFETY: the read end is this process' alone.
    let _ = unsafe { fs::File::from_raw_fd(read_end) }.read(&mut [0; 1]);
    pid
}

/// Start of this process in clock ticks after boot: field 22 of its stat line.
pub fn start_ticks() -> u64 {
    let line = fs::read("/proc/self/stat").unwrap_or_default();
    let name_end = line.iter().rposition(|&c| c == b')').map_or(0, |at| at + 1);
    let rest = String::from_utf8_lossy(&line[name_end..]).into_owned();
    rest.split_ascii_whitespace().nth(19).and_then(|field| field.parse().ok()).unwrap_or(0)
}

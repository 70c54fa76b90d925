//! The children's parts. A shape is a list of words; the composed ones take another shape as their last words:
//! `setsid stubborn server` is a leader that stays and a child of it that left the session, ignores TERM and serves.

use crate::announce::{announce, announce_with, branch, mail};
use crate::{family, foreign, raw, tasks, unreadable};
use serde_json::json;
use std::collections::hash_map::RandomState;
use std::fs;
use std::hash::{BuildHasher, Hasher};
use std::io::Read;
use std::net::TcpListener;

/// Plays a shape and never returns.
pub fn play(shape: &[&str]) -> ! {
    match shape {
        ["sleeper"] => {
            announce("sleeper");
            raw::pause_for_ever()
        }
        ["canary"] => {
            raw::block_all_signals();
            announce("canary");
            raw::pause_for_ever()
        }
        ["exit", code] => raw::leave_now(code.parse().expect("a code")),
        ["raise", signal] => {
            raw::set_disposition(signal.parse().expect("a number"), libc::SIG_DFL);
            raw::raise(signal.parse().expect("a number"));
            raw::leave_now(99)
        }
        ["server", address @ ..] => serve(address.first().copied()),
        // Says that TERM came, and leaves; or says so and stays.
        ["polite"] => {
            family::report_term("polite");
            raw::leave_now(0)
        }
        ["defiant"] => {
            family::report_term("defiant");
            raw::pause_for_ever()
        }
        // The same shape in another program file: one with the setuid bit, say.
        ["exec", program, rest @ ..] => {
            let environment = std::env::vars().map(|(k, v)| format!("{k}={v}")).collect::<Vec<_>>();
            panic!("exec {program}: {}", raw::exec(program, &image_of(rest), &environment));
        }
        ["stopped"] => {
            announce("stopped");
            raw::raise(libc::SIGSTOP);
            raw::pause_for_ever()
        }
        ["inspect"] => {
            announce_with("inspect", None, foreign::own_world());
            raw::pause_for_ever()
        }
        ["tty-reader"] => {
            read_terminal();
            raw::pause_for_ever()
        }
        ["read-stdin"] => {
            let mut bytes = Vec::new();
            let _ = std::io::stdin().read_to_end(&mut bytes);
            announce_with("read-stdin", None, json!({ "bytes": bytes.len() }));
            raw::leave_now(0)
        }
        ["threads-only"] => family::without_main_thread(),
        ["busy"] => tasks::busy(),
        ["stand-in"] => tasks::stand_in(),
        ["fork-chain"] => family::fork_chain(),
        ["session-chain"] => family::session_chain(),
        ["locked", file] => unreadable::by_a_lock(file),
        ["in-exec", file] => unreadable::by_an_exec(file),
        ["postgres"] => family::postgres(),
        // Every ordinary way to ask it to leave is ignored.
        ["stubborn", rest @ ..] => {
            raw::ignore(&[libc::SIGTERM, libc::SIGINT, libc::SIGHUP, libc::SIGQUIT, libc::SIGPIPE]);
            play(rest)
        }
        // A whole family of canaries: whoever is forked below keeps what is sent to it, too. That a child of its own has
        // ended is not to be told to it, or it would keep that.
        ["deaf", rest @ ..] => {
            raw::ignore(&[libc::SIGCHLD]);
            raw::block_all_signals();
            play(rest)
        }
        ["renamed", name, rest @ ..] => {
            raw::rename(&unescape(name));
            play(rest)
        }
        ["touch", mebibytes, rest @ ..] => {
            foreign::touch(mebibytes.parse().expect("a number"));
            play(rest)
        }
        // `setuid N SHAPE`: as another user.
        ["setuid", uid, rest @ ..] => {
            let uid: u32 = uid.parse().expect("a number");
            // SAFETY: plain integers; the group first, while that is still allowed.
            let result = unsafe { libc::setgid(uid) | libc::setuid(uid) };
            assert!(result == 0, "setuid: {}", std::io::Error::last_os_error());
            play(rest)
        }
        _ => family::play(shape),
    }
}

/// Listens where the kernel chooses, on a loopback address nobody else is likely to have chosen, and ignores that its
/// standard input has ended.
fn serve(address: Option<&str>) -> ! {
    let random = RandomState::new().build_hasher().finish();
    let [a, b, c, ..] = random.to_ne_bytes();
    let own = format!("127.{}.{}.{}:0", a | 1, b, c | 1);
    let listener = match TcpListener::bind(address.unwrap_or(&own)) {
        Ok(listener) => listener,
        Err(e) => {
            announce_with("server-failed", None, json!({ "errno": e.raw_os_error() }));
            raw::leave_now(1)
        }
    };
    let address = listener.local_addr().expect("bound").to_string();
    announce_with("server", Some(address), json!(null));
    loop {
        let _ = listener.accept();
    }
}

/// Opens the terminal and reads, as a program that asks for a password does.
fn read_terminal() {
    let outcome = match fs::File::open("/dev/tty") {
        Err(e) => json!({ "open_errno": e.raw_os_error() }),
        Ok(mut terminal) => match terminal.read(&mut [0; 1]) {
            Err(e) => json!({ "read_errno": e.raw_os_error() }),
            Ok(count) => json!({ "read": count }),
        },
    };
    announce_with("tty-reader", None, outcome);
}

/// `%41` is a byte in hex: names may hold what a word cannot.
pub fn unescape(name: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = name.as_bytes();
    while let [first, tail @ ..] = rest {
        let hex = tail.get(..2).and_then(|h| std::str::from_utf8(h).ok()).and_then(|h| u8::from_str_radix(h, 16).ok());
        match (first, hex) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            _ => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    bytes
}

/// Starts this shape in a copy of this process and stays as its parent, under `role`.
pub fn stay_above(role: &str, part: impl FnOnce()) -> ! {
    branch(part);
    announce(role);
    raw::pause_for_ever()
}

/// The words with which another program image becomes this shape.
pub fn image_of<'a>(shape: &[&'a str]) -> Vec<&'a str> {
    let (mail, tag) = mail();
    ["actor", "child", mail, tag].into_iter().chain(shape.iter().copied()).collect()
}

/// This program's own file.
pub fn own_program() -> String {
    fs::read_link("/proc/self/exe").expect("own program").to_string_lossy().into_owned()
}

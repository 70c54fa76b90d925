//! What an owner does to itself: leaves, crashes, forks, becomes another image, closes what it does not know.

use crate::owner::{Answer, Failure, number};
use crate::seccomp::{Action, Filter};
use crate::{announce, foreign, raw, shapes};
use serde_json::{Value, json};
use std::net::TcpListener;
use std::os::fd::{AsRawFd, IntoRawFd};

pub fn perform(words: &[&str]) -> Answer {
    match words {
        ["exit", code] => std::process::exit(number(code)?),
        ["_exit", code] => raw::leave_now(number(code)?),
        ["abort"] => std::process::abort(),
        ["panic"] => panic!("as the test asked"),
        ["segv"] => {
            // The Rust start-up handles SIGSEGV to tell a stack overflow; the plain death is meant here.
            raw::set_disposition(libc::SIGSEGV, libc::SIG_DFL);
            // SAFETY: none: the crash is the purpose.
            unsafe { std::ptr::null_mut::<u8>().write_volatile(1) };
            Err(Failure::Other("still alive".into()))
        }
        ["raise", signal] => {
            raw::raise(number(signal)?);
            Ok(Value::Null)
        }
        ["ignore", signals @ ..] => {
            for signal in signals {
                raw::ignore(&[number(signal)?]);
            }
            Ok(Value::Null)
        }
        ["default", signal] => {
            raw::set_disposition(number(signal)?, libc::SIG_DFL);
            Ok(Value::Null)
        }
        // So many may its user have, threads counted, as far as this process makes them.
        ["processes", most] => {
            let most = libc::rlimit { rlim_cur: number(most)?, rlim_max: number(most)? };
            // SAFETY: one structure that outlives the call.
            match unsafe { libc::setrlimit(libc::RLIMIT_NPROC, &most) } {
                0 => Ok(Value::Null),
                _ => Err(std::io::Error::last_os_error().into()),
            }
        }
        ["closerange", first, last] => {
            let (first, last): (u32, u32) = (number(first)?, number(last)?);
            // SAFETY: nothing above the standard streams is this program's own, unless it talks over a socket, and then
            // it is the test's to say what is closed.
            let result = unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) };
            if result == 0 { Ok(Value::Null) } else { Err(std::io::Error::last_os_error().into()) }
        }
        // The same process, a fresh image; its greeting is the answer.
        ["exec-self"] => {
            let argv: Vec<String> = std::env::args().collect();
            let argv: Vec<&str> = argv.iter().map(String::as_str).collect();
            let environment: Vec<String> = std::env::vars().map(|(k, v)| format!("{k}={v}")).collect();
            Err(raw::exec(&shapes::own_program(), &argv, &environment).into())
        }
        // The parent leaves, the copy goes on and answers.
        ["daemonise"] => {
            if raw::fork() != 0 {
                raw::leave_now(0);
            }
            raw::setsid();
            Ok(json!({ "pid": raw::ids().0, "start": announce::start_ticks() }))
        }
        // A copy without exec that carries out one command, says what came of it and ends: `fork-do TAG COMMAND`.
        ["fork-do", tag, rest @ ..] => {
            let pid = raw::fork();
            if pid == 0 {
                let outcome = match crate::owner::perform(rest) {
                    Ok(value) => json!({ "ok": value }),
                    Err(Failure::Library(e)) => json!({ "err": e.message() }),
                    Err(Failure::Other(message)) => json!({ "err": message }),
                };
                announce::announce_detail_as(tag, "fork-do", outcome);
                raw::leave_now(0);
            }
            Ok(json!({ "pid": pid }))
        }
        ["touch", mebibytes] => {
            foreign::touch(number(mebibytes)?);
            Ok(Value::Null)
        }
        // A socket that every child inherits unless somebody closes it.
        ["listen"] => {
            let listener = TcpListener::bind("127.0.0.1:0")?;
            raw::set_inheritable(listener.as_raw_fd());
            let address = listener.local_addr()?.to_string();
            Ok(json!({ "fd": listener.into_raw_fd(), "address": address }))
        }
        // What the host's own SIGCHLD loop would find: a pid, or the errno.
        ["wait-any"] => {
            // SAFETY: no status is asked for.
            let pid = unsafe { libc::waitpid(-1, std::ptr::null_mut(), libc::WNOHANG) };
            let errno = (pid == -1).then(|| std::io::Error::last_os_error().raw_os_error());
            Ok(json!({ "pid": pid, "errno": errno }))
        }
        ["subreaper"] => {
            // SAFETY: plain integers.
            unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1) };
            Ok(Value::Null)
        }
        ["no-core"] => {
            let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
            // SAFETY: a limit on our own stack.
            unsafe { libc::setrlimit(libc::RLIMIT_CORE, &none) };
            Ok(Value::Null)
        }
        ["setuid", uid] => {
            let uid: u32 = number(uid)?;
            // SAFETY: plain integers; the group first, while that is still allowed.
            let result = unsafe { libc::setgid(uid) | libc::setuid(uid) };
            if result == 0 { Ok(Value::Null) } else { Err(std::io::Error::last_os_error().into()) }
        }
        ["chdir", path] => Ok(std::env::set_current_dir(path).map(|()| Value::Null)?),
        ["world"] => Ok(foreign::own_world()),
        // From now on a thread that makes this system call is killed, alone: `kill-thread-at NUMBER [ARG VALUE]`.
        ["kill-thread-at", call, argument @ ..] => {
            let filter = match argument {
                [index, value] => Filter::new().when(number(call)?, number(index)?, number(value)?, Action::KillThread),
                _ => Filter::new().on(number(call)?, Action::KillThread),
            };
            Ok(filter.apply_to_all_threads().map(|()| Value::Null)?)
        }
        // The ptrace driver counts from here.
        ["mark"] => {
            crate::tasks::mark();
            Ok(Value::Null)
        }
        _ => Err(Failure::Other(format!("no such command: {words:?}"))),
    }
}

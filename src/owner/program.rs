//! The supervisor's program, executed in the first form that this machine allows.
//!
//! That a memfd or a file could be made says nothing: a security module, a `noexec` mount and `vm.memfd_noexec` say no
//! only when it is executed.

use std::iter::once_with;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

use super::runtime::Runtime;
use super::way_out::way_out;
use crate::error::{Error, ErrorCode};
use crate::sys::Errno;
use crate::sys::image::{self, Kind};

/// The step of a launch that makes a process.
const CLONE: &str = "clone";

/// Gives `launch` one form of the program after the other until one was executed. That one is `kept`, and is the only
/// one to be tried from then on.
pub(super) fn execute<T>(
    kept: &mut Option<(OwnedFd, Kind)>,
    runtime: &Runtime,
    mut launch: impl FnMut(&OwnedFd) -> Result<T, (&'static str, Errno)>,
) -> Result<(T, Kind), Error> {
    if let Some((image, kind)) = kept {
        return match launch(image) {
            Ok(launched) => Ok((launched, *kind)),
            Err((step, errno)) => Err(not_started(&[Attempt { place: kind.name().into(), step, errno }])),
        };
    }
    let mut attempts = Vec::new();
    let memfd = once_with(|| (String::from("memfd"), image::in_memfd().map(|fd| (fd, Kind::Memfd))));
    let files = directories(runtime).into_iter().map(|dir| (dir.display().to_string(), image::in_directory(&dir)));
    for (place, made) in memfd.chain(files) {
        let (image, kind) = match made {
            Ok(made) => made,
            Err(errno) => {
                attempts.push(Attempt { place, step: "create", errno });
                continue;
            }
        };
        match launch(&image) {
            Ok(launched) => {
                *kept = Some((image, kind));
                return Ok((launched, kind));
            }
            Err((step, errno)) => attempts.push(Attempt { place, step, errno }),
        }
        // Where no process can be made, another file will not help.
        if attempts.last().is_some_and(|attempt| attempt.step == CLONE) {
            break;
        }
    }
    Err(not_started(&attempts))
}

/// A form of the program that could not be executed.
struct Attempt {
    place: String,
    step: &'static str,
    errno: Errno,
}

fn not_started(attempts: &[Attempt]) -> Error {
    let told = attempts.iter().map(|Attempt { place, step, errno }| {
        let reason = std::io::Error::from_raw_os_error(*errno);
        format!("{place}: {step}: {reason}")
    });
    let told = format!("no supervisor could be executed ({})", told.collect::<Vec<_>>().join("; "));
    // The last says best what is in the way: the first ones are expected to fail here and there.
    let hint = attempts.last().map_or("", |Attempt { step, errno, .. }| way_out(step, *errno));
    Error::new(ErrorCode::Supervisor, "start the supervisor", told).way_out(hint)
}

/// Where an executable file may be put, if memfds may not be executed.
fn directories(runtime: &Runtime) -> Vec<PathBuf> {
    let mut places: Vec<PathBuf> = std::env::var_os("XDG_RUNTIME_DIR").into_iter().map(PathBuf::from).collect();
    places.push(std::env::temp_dir());
    places.extend(runtime.settings.home.clone());
    places.push(PathBuf::from("/var/tmp"));
    places.dedup();
    places
}

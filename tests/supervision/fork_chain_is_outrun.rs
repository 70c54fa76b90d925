//! A child that forks a copy of itself every 5 ms and leaves, and ignores TERM: gone all the same.

use super::deaths::{Death, for_each};
use super::support::sys;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::time::Duration;

/// Every copy holds the pipe, so its end is the last one's. No look at /proc could tell.
#[test]
fn fork_chain_is_outrun() {
    // The race is between the chain and a supervisor that knows already that its owner is dead; and chains are dear.
    for_each(&Death::KINDS, |scene, mut doomed| {
        let pipes = ["fork-chain", "setsid fork-chain"].map(|shape| {
            let path = scene.folder().join(scene.fresh_tag());
            sys::make_fifo(&path).expect("mkfifo");
            let mut pipe = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(&path).expect("open");
            let child = doomed.owner.spawn_with(&format!("stdout={}", path.display()), shape);
            scene.seat(&child, "fork-chain");
            assert!(!has_ended(&mut pipe), "the chain holds the pipe");
            (pipe, shape)
        });

        let moment = doomed.die();

        for (mut pipe, shape) in pipes {
            let ended = sys::poll_readable(&[pipe.as_raw_fd()], moment + Duration::from_secs(4));
            assert!(!ended.is_empty() && has_ended(&mut pipe), "{shape}: it goes on");
        }
    });
}

fn has_ended(pipe: &mut File) -> bool {
    match pipe.read(&mut [0; 1]) {
        Ok(count) => count == 0,
        Err(e) => {
            assert_eq!(e.kind(), ErrorKind::WouldBlock);
            false
        }
    }
}

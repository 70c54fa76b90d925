//! A file system that hangs: the smallest FUSE server there can be, spoken over /dev/fuse by hand (linux/fuse.h).
//!
//! Its root holds one file, `file`, that may be executed. What it is told to leave unanswered waits for ever, in a sleep that not even KILL
//! ends, until the server is dropped.

use super::{mounts, sys};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

/// What is never answered.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Hang {
    /// Reading the file, and closing it; it can be opened and mapped.
    Data,
    /// Looking anything up, making anything.
    Names,
}

pub struct Fuse {
    mounted_on: PathBuf,
    /// Its closing ends the server, which closes the device, which ends every wait.
    stop: Option<OwnedFd>,
    server: Option<thread::JoinHandle<()>>,
    unanswered: Arc<AtomicU32>,
}

const FILE_BYTES: u64 = 4096;
const ROOT: u64 = 1;
const FILE: u64 = 2;

mod opcode {
    pub const LOOKUP: u32 = 1;
    pub const FORGET: u32 = 2;
    pub const GETATTR: u32 = 3;
    pub const MKDIR: u32 = 9;
    pub const OPEN: u32 = 14;
    pub const READ: u32 = 15;
    pub const RELEASE: u32 = 18;
    pub const FLUSH: u32 = 25;
    pub const INIT: u32 = 26;
    pub const OPENDIR: u32 = 27;
    pub const RELEASEDIR: u32 = 29;
    pub const CREATE: u32 = 35;
    pub const INTERRUPT: u32 = 36;
    pub const BATCH_FORGET: u32 = 42;
}

impl Fuse {
    /// Mounts it on this folder, in the caller's mount namespace (`mounts::become_private` first). Needs root.
    pub fn mount(on: &Path, hang: Hang) -> io::Result<Fuse> {
        let device = OpenOptions::new().read(true).write(true).custom_flags(libc::O_NONBLOCK).open("/dev/fuse")?;
        let options = format!("fd={},rootmode=40000,user_id=0,group_id=0,allow_other", device.as_raw_fd());
        mounts::mount("fuse", on, 0, &options)?;
        let (stopping, stop) = sys::pipe()?;
        let unanswered = Arc::new(AtomicU32::new(0));
        let count = unanswered.clone();
        let server = thread::Builder::new().name("fuse".into());
        let server = server.spawn(move || serve(device, &stopping, hang, &count))?;
        Ok(Fuse { mounted_on: on.to_path_buf(), stop: Some(stop), server: Some(server), unanswered })
    }

    pub fn file(&self) -> PathBuf {
        self.mounted_on.join("file")
    }

    /// How many were asked what is never answered: they hang. Of a process in an exec even `/proc/PID/wchan` does not tell.
    pub fn unanswered(&self) -> u32 {
        self.unanswered.load(Ordering::SeqCst)
    }

    /// Everything that waits for an answer goes on, with an error.
    pub fn end(&mut self) {
        self.stop = None;
        if let Some(server) = self.server.take() {
            let _ = server.join();
            mounts::detach(&self.mounted_on);
        }
    }
}

impl Drop for Fuse {
    fn drop(&mut self) {
        self.end();
    }
}

fn serve(mut device: File, stopping: &OwnedFd, hang: Hang, unanswered: &AtomicU32) {
    let mut request = vec![0u8; 1 << 18];
    loop {
        let ready =
            sys::poll_readable(&[device.as_raw_fd(), stopping.as_raw_fd()], sys::after(Duration::from_secs(600)));
        if ready.is_empty() || ready.contains(&1) {
            return;
        }
        match device.read(&mut request) {
            Ok(length) => {
                if hang.concerns(&request[..length]) {
                    unanswered.fetch_add(1, Ordering::SeqCst);
                } else if let Some(reply) = answer(&request[..length]) {
                    let _ = device.write_all(&reply);
                }
            }
            Err(e) if matches!(e.raw_os_error(), Some(libc::EAGAIN | libc::EINTR | libc::ENOENT)) => {}
            Err(_) => return,
        }
    }
}

impl Hang {
    fn concerns(self, request: &[u8]) -> bool {
        let kind = word(request, 4);
        match self {
            Hang::Data => matches!(kind, opcode::READ | opcode::FLUSH),
            Hang::Names => matches!(kind, opcode::LOOKUP | opcode::MKDIR | opcode::CREATE),
        }
    }
}

fn word(request: &[u8], at: usize) -> u32 {
    u32::from_ne_bytes(request[at..at + 4].try_into().expect("four"))
}

/// `None`: there is no reply to this kind.
fn answer(request: &[u8]) -> Option<Vec<u8>> {
    let long = |at: usize| u64::from_ne_bytes(request[at..at + 8].try_into().expect("eight"));
    let (kind, unique, node) = (word(request, 4), long(8), long(16));
    let mut body = Body(Vec::new(), 0);
    match kind {
        // major, minor, read-ahead, flags; background; the largest write; 36 bytes that are not used.
        opcode::INIT => body.words(&[7, 31, 0, 0, 0, 4096, 1]).words(&[0; 9]),
        opcode::LOOKUP if &request[40..] == b"file\0" => {
            body.longs(&[FILE, 0, 3600, 3600]).words(&[0, 0]).attributes(FILE)
        }
        opcode::LOOKUP => body.fail(libc::ENOENT),
        opcode::GETATTR => body.longs(&[3600]).words(&[0, 0]).attributes(node),
        // FOPEN_KEEP_CACHE: else a second open waits for the pages that the first one's readers wait for.
        opcode::OPEN | opcode::OPENDIR => body.longs(&[0]).words(&[2, 0]),
        opcode::FLUSH | opcode::RELEASE | opcode::RELEASEDIR => &mut body,
        opcode::FORGET | opcode::BATCH_FORGET | opcode::INTERRUPT => return None,
        _ => body.fail(libc::ENOSYS),
    };
    let mut reply = Body(Vec::new(), 0);
    reply.words(&[16 + body.0.len() as u32, -body.1 as u32]).longs(&[unique]);
    reply.0.extend(body.0);
    Some(reply.0)
}

/// What follows the reply's header, and its errno.
struct Body(Vec<u8>, i32);

impl Body {
    fn fail(&mut self, errno: i32) -> &mut Body {
        self.1 = errno;
        self
    }

    fn words(&mut self, words: &[u32]) -> &mut Body {
        self.0.extend(words.iter().flat_map(|word| word.to_ne_bytes()));
        self
    }

    fn longs(&mut self, longs: &[u64]) -> &mut Body {
        self.0.extend(longs.iter().flat_map(|long| long.to_ne_bytes()));
        self
    }

    /// `struct fuse_attr`: number, size, blocks, three times, their nanoseconds, mode, links, owner, device, block size.
    fn attributes(&mut self, node: u64) -> &mut Body {
        let (size, mode) = if node == ROOT { (0, libc::S_IFDIR | 0o755) } else { (FILE_BYTES, libc::S_IFREG | 0o755) };
        self.longs(&[node, size, 8, 0, 0, 0]).words(&[0, 0, 0, mode, 1, 0, 0, 0, 4096, 0])
    }
}

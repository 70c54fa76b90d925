//! The kernel's OOM killer takes the owner: its children are gone. In a memory cgroup of the test's own.

use super::deaths::{GRACE, SOON_GONE};
use super::support::{Scene, sys};
use crate::skip;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::time::Instant;
use std::{fs, io};

const LIMIT: &str = "67108864";

struct Cgroup(PathBuf);

impl Cgroup {
    /// Under version 2 where the memory controller is there, else under version 1.
    fn new() -> io::Result<Cgroup> {
        let name = format!("hermes-test-{}", sys::random_name());
        let unified = Path::new("/sys/fs/cgroup").join(&name);
        let legacy = Path::new("/sys/fs/cgroup/memory").join(&name);
        let (path, limit) = match Path::new("/sys/fs/cgroup/memory/memory.limit_in_bytes").exists() {
            true => (legacy, "memory.limit_in_bytes"),
            false => {
                let _ = fs::write("/sys/fs/cgroup/cgroup.subtree_control", "+memory");
                (unified, "memory.max")
            }
        };
        fs::create_dir(&path)?;
        let cgroup = Cgroup(path);
        fs::write(cgroup.0.join(limit), LIMIT)?;
        // Where there is swap it must not soften the limit; where the file is missing there is none.
        let _ = fs::write(cgroup.0.join("memory.swap.max"), "0");
        Ok(cgroup)
    }

    fn add(&self, pid: i32) -> io::Result<()> {
        fs::write(self.0.join("cgroup.procs"), pid.to_string())
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        super::support::within(super::support::deadline::SOON, || fs::remove_dir(&self.0).is_ok());
    }
}

#[test]
fn oom_killer_takes_the_owner() {
    let cgroup = match Cgroup::new() {
        Ok(cgroup) => cgroup,
        Err(e) => skip!("no memory cgroup can be made: {e}"),
    };
    let scene = Scene::new();
    let mut control = scene.control();
    let mut owner = scene.owner();
    cgroup.add(owner.pid()).expect("into the cgroup");
    owner.must(&format!("configure grace={}", GRACE.as_millis()));
    let started = owner.spawn("with stubborn server");
    let (leader, server) = (scene.seat(&started, "with"), scene.seat(&started, "server"));

    owner.tell("touch 512");
    let status = owner.reap();
    let moment = Instant::now();

    assert_eq!(status.signal(), Some(libc::SIGKILL), "{status}");
    leader.process.assert_gone_by(moment + SOON_GONE, "the leader");
    server.process.assert_gone_by(moment + SOON_GONE, "the server");
    control.assert_unharmed();
    // Empty before it is removed.
    drop((owner, control, scene));
}

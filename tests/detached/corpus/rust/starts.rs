//! `Command::new("setsid")` and `libc::setsid()` in a doc comment are nothing.
use libc::setsid as leave;
use nix::unistd::{self, setpgid, Pid};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::process::Command as Start;

const RUNNER: &str = "nohup";

/// process_group(0) is only said here.
fn groups() {
    Command::new("server").process_group(0).spawn(); // finds: process-group
    Command::new("server")
        .arg("x")
        .process_group(0) // finds: process-group
        .spawn();
    let mut command = Command::new("server");
    command.process_group(0); // finds: process-group
    command.group_spawn(); // finds: process-group
    command.setsid(true); // finds: new-session
    command.setsid(false);
    setpgid(Pid::from_raw(0), Pid::from_raw(0)); // finds: process-group
    unistd::setsid(); // finds: new-session
    leave(); // finds: new-session
    unsafe { libc::setsid() }; // finds: new-session
    unsafe { libc::syscall(libc::SYS_setsid) }; // finds: new-session
    unsafe { raw!(libc::SYS_setpgid, 0, 0) }; // finds: process-group
    unsafe { libc::posix_spawnattr_setflags(&mut a, libc::POSIX_SPAWN_SETSID as libc::c_short) }; // finds: spawn-attributes
    unsafe { libc::posix_spawnattr_setflags(&mut a, libc::POSIX_SPAWN_SETSIGMASK as libc::c_short) };
    println!("SYS_setsid");
    assert!(unsafe { libc::setsid() } > 0); // finds: new-session
    rustix::process::setsid(); // finds: new-session
    let group = thing.process_group();
    println!("setsid() {} process_group(0)", group);
}

fn leaves() -> std::io::Result<()> {
    unistd::setsid(); // finds: new-session
    Ok(())
}

fn stays() -> std::io::Result<()> {
    Ok(())
}

fn before_exec(given: fn() -> std::io::Result<()>) {
    let mut command = Command::new("server");
    unsafe {
        command.pre_exec(|| { // finds: before-exec
            libc::setsid();
            Ok(())
        });
        command.pre_exec(leaves); // finds: before-exec
        command.pre_exec(given); // finds: before-exec?
        command.pre_exec(stays);
        command.pre_exec(|| Ok(()));
        command.pre_exec(move || {
            libc::nice(5);
            Ok(())
        });
    }
}

fn daemons() {
    unsafe { libc::daemon(0, 0) }; // finds: daemon
    unistd::daemon(false, false); // finds: daemon
    daemonize::Daemonize::new().start(); // finds: daemon
    let daemon = Thing::daemon();
}

fn flags(given: u32) {
    Command::new("server").creation_flags(DETACHED_PROCESS); // finds: creation-flags
    Command::new("server").creation_flags(0x0000_0008 | 0x0800_0000); // finds: creation-flags
    Command::new("server").creation_flags(CREATE_NEW_PROCESS_GROUP.0); // finds: creation-flags
    Command::new("server").creation_flags(given); // finds: creation-flags?
    Command::new("server").creation_flags(0x0800_0000);
}

fn commands(program: &str, text: &str) {
    Command::new("setsid").arg("server"); // finds: detaching-command
    Start::new(RUNNER).arg("server"); // finds: detaching-command
    tokio::process::Command::new("sh").arg("-c").arg("server &"); // finds: background-job
    Command::new("sh").args(["-c", "nohup server"]).spawn(); // finds: detaching-command
    Command::new("sh").args(&["-c", &format!("setsid {program}")]); // finds: detaching-command
    Command::new("sh").arg("-c").arg(text); // finds: unknown-command?
    let mut line_by_line = Command::new("sh"); // finds: background-job
    line_by_line.arg("-c");
    line_by_line.arg("server &");
    Command::new("sh").arg("-c").arg("server && echo 'a & b'");
    Command::new(program).arg("setsid");
    Command::new("echo").args(["nohup", "&"]);
    let only_text = r#"Command::new("setsid") nohup x &"#;
    hermes_spawn::Command::new("server").spawn_owned();
}

#[cfg(test)]
mod tests {
    #[test]
    fn in_a_test() {
        std::process::Command::new("setsid").process_group(0);
    }
}

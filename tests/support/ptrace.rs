//! A small ptrace driver: counts the system-call stops of *one* process, all its threads, and kills it at the N-th.
//!
//! Each system call stops its thread twice, before and after, and both are counted. The process' children are left
//! untraced. The kernel classifies what a task creates by the flags of clone alone (`kernel_clone`): CLONE_VFORK makes
//! a VFORK event, else an exit signal other than SIGCHLD a CLONE event, else it is a FORK event. Threads come with
//! CLONE events, so only those are followed; but a process with another exit signal comes with one too, and is told
//! apart by its thread group and let go at its first stop, before it has run an instruction.
//!
//! Tracer and tracee are bound to a *thread*: everything happens in one of the driver's own, which waits with
//! `__WNOTHREAD` for its own tracees only, and never takes a child of another test. When that thread ends, the kernel
//! detaches whatever is left; nothing is killed by that (no EXITKILL).

use super::process::status_field;
use super::seccomp::TRACE_MARK;
use super::sys;
use std::collections::HashSet;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;
use std::{fs, io, ptr, thread};

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Target {
    /// The program that is started, from its exec on.
    Program,
    /// The program, from the moment on at which it makes the system call of [`TRACE_MARK`].
    ProgramFromMark,
    /// The first supervisor that the program starts, from its exec on. The program itself runs untraced from then on.
    Supervisor,
}

#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub target: Target,
    /// SIGKILL at this stop, counted from 1.
    pub kill_at: Option<u64>,
    /// Everything that is traced is killed when this is over.
    pub deadline: Duration,
    /// Keep a list of all stops.
    pub record: bool,
}

impl Plan {
    pub fn count(target: Target) -> Plan {
        Plan { target, kill_at: None, deadline: Duration::from_secs(60), record: false }
    }

    pub fn kill(target: Target, stop: u64) -> Plan {
        Plan { kill_at: Some(stop), ..Plan::count(target) }
    }
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum End {
    /// Killed at the stop that the plan named.
    Killed,
    /// It ended by itself, before that stop was reached.
    Finished(ExitStatus),
    /// There was nothing to count: no mark, or no supervisor, until the program ended.
    NeverBegan,
    TimedOut,
}

/// One stop: which thread, which system call (its number), on its way in or out.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Stop {
    pub tid: i32,
    pub call: Option<u64>,
    pub entering: bool,
}

#[derive(Debug)]
pub struct Report {
    pub end: End,
    /// Pid of what was counted.
    pub target: i32,
    pub stops: u64,
    /// All of them if the plan said `record`, else the one at which it was killed.
    pub log: Vec<Stop>,
    /// Name of the thread at whose stop it was killed; empty if it was not.
    pub killed_in: String,
}

impl Report {
    fn of(target: i32) -> Report {
        Report { end: End::NeverBegan, target, stops: 0, log: Vec::new(), killed_in: String::new() }
    }
}

/// A run that goes on.
pub struct Traced {
    /// The program. Its status may have been taken by the driver: it is in the report then.
    pub child: Option<Child>,
    driver: thread::JoinHandle<Report>,
}

impl Traced {
    /// Starts the program under the driver, which goes on in a thread of its own.
    pub fn start(mut command: Command, plan: Plan) -> io::Result<Traced> {
        let (started, starting) = mpsc::channel();
        let driver = thread::Builder::new().name("ptrace".into()).spawn(move || {
            // SAFETY: one system call. The exec that follows stops for its tracer: this thread.
            unsafe { command.pre_exec(|| request(libc::PTRACE_TRACEME, 0, 0, 0).map(drop)) };
            // Addresses as always: an allocator gives back what is not aligned with more or fewer system calls.
            // SAFETY: as above.
            unsafe { command.pre_exec(|| sys::check(libc::personality(NO_RANDOM_ADDRESSES)).map(drop)) };
            let child = command.spawn();
            let pid = child.as_ref().map_or(0, |child| child.id() as i32);
            let failed = child.is_err();
            let _ = started.send(child);
            if failed {
                return Report::of(0);
            }
            Driver::new(pid, plan).drive()
        })?;
        let child = starting.recv().map_err(io::Error::other)??;
        Ok(Traced { child: Some(child), driver })
    }

    /// Waits for the target's end.
    pub fn report(self) -> Report {
        self.driver.join().expect("the driver's thread")
    }

    pub fn is_finished(&self) -> bool {
        self.driver.is_finished()
    }
}

/// Starts the program, waits for its end, reaps it.
pub fn run(command: Command, plan: Plan) -> io::Result<Report> {
    let mut traced = Traced::start(command, plan)?;
    let child = traced.child.take();
    let report = traced.report();
    let _ = child.map(|mut child| child.wait());
    Ok(report)
}

struct Driver {
    plan: Plan,
    program: i32,
    supervisor: Option<i32>,
    /// Tasks known to be ours to follow.
    followed: HashSet<i32>,
    /// The thread that made the marked call and has not come back from it.
    marking: Option<i32>,
    counting: bool,
    killed: bool,
    report: Report,
    /// What the watchdog kills.
    prey: Arc<Mutex<Vec<OwnedFd>>>,
}

const NO_RANDOM_ADDRESSES: libc::c_ulong = libc::ADDR_NO_RANDOMIZE as libc::c_ulong;
const SYSCALL_STOP: i32 = libc::SIGTRAP | 0x80;
const FOLLOW_THREADS: i32 = libc::PTRACE_O_TRACESYSGOOD | libc::PTRACE_O_TRACECLONE;
const FOLLOW_ALL: i32 =
    libc::PTRACE_O_TRACECLONE | libc::PTRACE_O_TRACEFORK | libc::PTRACE_O_TRACEVFORK | libc::PTRACE_O_TRACEEXEC;

impl Driver {
    fn new(program: i32, plan: Plan) -> Driver {
        let report = Report::of(program);
        let prey = Arc::new(Mutex::new(Vec::from_iter(sys::pidfd_open(program))));
        let counting = plan.target == Target::Program;
        let (supervisor, marking, followed) = (None, None, HashSet::from([program]));
        Driver { plan, program, supervisor, followed, marking, counting, killed: false, report, prey }
    }

    fn drive(mut self) -> Report {
        let timed_out = Arc::new(AtomicBool::new(false));
        let (over, watch) = mpsc::channel::<()>();
        let watchdog = {
            let (prey, timed_out, deadline) = (self.prey.clone(), timed_out.clone(), self.plan.deadline);
            thread::spawn(move || {
                if watch.recv_timeout(deadline) == Err(mpsc::RecvTimeoutError::Timeout) {
                    timed_out.store(true, Ordering::SeqCst);
                    for pidfd in prey.lock().expect("prey").iter() {
                        let _ = sys::pidfd_signal(pidfd.as_fd(), libc::SIGKILL);
                    }
                }
            })
        };
        self.seize().expect("take over the program at its exec");
        while let Some((task, status)) = next_event() {
            if libc::WIFSTOPPED(status) {
                self.stopped(task, status);
            } else {
                self.followed.remove(&task);
                if self.ended(task, status) {
                    break;
                }
            }
        }
        if timed_out.load(Ordering::SeqCst) {
            self.report.end = End::TimedOut;
        }
        drop(over);
        let _ = watchdog.join();
        self.report
    }

    /// From TRACEME, whose stops are ambiguous, to SEIZE: by way of an ordinary stop.
    fn seize(&self) -> io::Result<()> {
        let program = self.program;
        let wait = |options| sys::wait_pid(program, options | libc::__WALL);
        wait(0)?;
        request(libc::PTRACE_DETACH, program, 0, libc::SIGSTOP as usize)?;
        wait(libc::WUNTRACED)?;
        let options = if self.plan.target == Target::Supervisor { FOLLOW_ALL } else { FOLLOW_THREADS };
        request(libc::PTRACE_SEIZE, program, 0, options as usize)?;
        wait(0)?;
        sys::kill(program, libc::SIGCONT)?;
        self.resume(program, 0);
        Ok(())
    }

    /// True: what was to be watched is over.
    fn ended(&mut self, task: i32, status: i32) -> bool {
        let target = self.supervisor.unwrap_or(self.program);
        if task != target {
            return false;
        }
        let began = self.counting || self.killed;
        self.report.end = match (self.killed, began) {
            (true, _) => End::Killed,
            (false, true) => End::Finished(ExitStatus::from_raw(status)),
            (false, false) => End::NeverBegan,
        };
        true
    }

    fn stopped(&mut self, task: i32, status: i32) {
        let (signal, event) = (libc::WSTOPSIG(status), status >> 16);
        if self.is_to_be_left(task) {
            // A signal that it was about to take is its own.
            let own_signal = if event == 0 && signal != SYSCALL_STOP { signal } else { 0 };
            let _ = request(libc::PTRACE_DETACH, task, 0, own_signal as usize);
            self.followed.remove(&task);
            return;
        }
        match event {
            0 if signal == SYSCALL_STOP => {
                self.count(task);
                self.resume(task, 0);
            }
            0 => self.resume(task, signal),
            libc::PTRACE_EVENT_STOP if is_job_control(signal) => {
                let _ = request(libc::PTRACE_LISTEN, task, 0, 0);
            }
            libc::PTRACE_EVENT_EXEC if self.plan.target == Target::Supervisor => self.executed(task),
            _ => self.resume(task, 0),
        }
    }

    /// Whether this task is none of ours: another process, once we follow one only.
    fn is_to_be_left(&mut self, task: i32) -> bool {
        let only = match (self.plan.target, self.supervisor) {
            (Target::Supervisor, None) => {
                self.followed.insert(task);
                return false;
            }
            (Target::Supervisor, Some(supervisor)) => supervisor,
            _ => self.program,
        };
        if self.supervisor.is_none() && self.followed.contains(&task) {
            return false;
        }
        if status_field(task, "Tgid:").and_then(|tgid| tgid.parse().ok()) == Some(only) {
            self.followed.insert(task);
            return false;
        }
        true
    }

    /// An exec below the program: the supervisor, or a child of the program that we have no business with.
    fn executed(&mut self, task: i32) {
        let argv = fs::read(format!("/proc/{task}/cmdline")).unwrap_or_default();
        if task == self.program {
            return self.resume(task, 0);
        }
        if !argv.starts_with(b"spawn-supervisor\0") {
            self.followed.remove(&task);
            let _ = request(libc::PTRACE_DETACH, task, 0, 0);
            return;
        }
        let _ = request(libc::PTRACE_SETOPTIONS, task, 0, FOLLOW_THREADS as usize);
        self.prey.lock().expect("prey").extend(sys::pidfd_open(task));
        self.supervisor = Some(task);
        self.report.target = task;
        self.counting = true;
        // Everybody else stops once more, to be let go.
        for other in self.followed.drain().filter(|&other| other != task) {
            let _ = request(libc::PTRACE_INTERRUPT, other, 0, 0);
        }
        self.followed.insert(task);
        self.resume(task, 0);
    }

    fn count(&mut self, task: i32) {
        if !self.counting {
            match self.marking {
                Some(marking) if marking == task => self.counting = true,
                Some(_) => {}
                None if is_mark(task) => self.marking = Some(task),
                None => {}
            }
            return;
        }
        if self.killed {
            return;
        }
        self.report.stops += 1;
        let last = self.plan.kill_at == Some(self.report.stops);
        if last || self.plan.record {
            self.report.log.extend(stop_of(task));
        }
        if last {
            self.killed = true;
            self.report.killed_in = fs::read_to_string(format!("/proc/{task}/comm")).unwrap_or_default().trim().into();
            let _ = sys::kill(self.supervisor.unwrap_or(self.program), libc::SIGKILL);
        }
    }

    /// Lets it run on, to its next system call where those are counted. It may have been killed meanwhile.
    fn resume(&self, task: i32, signal: i32) {
        let follows_calls = self.plan.target != Target::Supervisor || self.supervisor.is_some();
        let how = if follows_calls { libc::PTRACE_SYSCALL } else { libc::PTRACE_CONT };
        let _ = request(how, task, 0, signal as usize);
    }
}

/// The next stop or end of a tracee or child of this thread. `None`: there is none left.
fn next_event() -> Option<(i32, i32)> {
    let mut status = 0;
    loop {
        // SAFETY: the status is ours.
        let task = unsafe { libc::waitpid(-1, &mut status, libc::__WALL | libc::__WNOTHREAD) };
        if task > 0 {
            return Some((task, status));
        }
        if io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
            return None;
        }
    }
}

fn is_job_control(signal: i32) -> bool {
    matches!(signal, libc::SIGSTOP | libc::SIGTSTP | libc::SIGTTIN | libc::SIGTTOU)
}

fn is_mark(task: i32) -> bool {
    let Some(info) = syscall_info(task) else { return false };
    // SAFETY: the kernel filled in the member that `op` names.
    info.op == libc::PTRACE_SYSCALL_INFO_ENTRY
        && unsafe { info.u.entry.nr == libc::SYS_prctl as u64 && info.u.entry.args[0] == TRACE_MARK }
}

fn stop_of(task: i32) -> Option<Stop> {
    let info = syscall_info(task)?;
    let entering = info.op == libc::PTRACE_SYSCALL_INFO_ENTRY;
    // SAFETY: as above.
    let call = if entering { Some(unsafe { info.u.entry.nr }) } else { None };
    Some(Stop { tid: task, call, entering })
}

fn syscall_info(task: i32) -> Option<libc::ptrace_syscall_info> {
    // SAFETY: all-zero is a valid record, and the kernel writes at most the size that it is given.
    unsafe {
        let mut info: libc::ptrace_syscall_info = std::mem::zeroed();
        let size = std::mem::size_of_val(&info);
        let data = ptr::from_mut(&mut info) as usize;
        request(libc::PTRACE_GET_SYSCALL_INFO as libc::c_uint, task, size, data).ok()?;
        Some(info)
    }
}

/// ptrace(2).
fn request(what: libc::c_uint, task: i32, address: usize, data: usize) -> io::Result<i64> {
    // SAFETY: pointers among the arguments are valid, as the callers see to; the calling thread is the tracer.
    let result = unsafe { libc::ptrace(what, task, address as *mut libc::c_void, data as *mut libc::c_void) };
    sys::check(result)
}

//! One line of `/proc/PID/stat` (proc_pid_stat(5)), read without allocation.

/// Big enough for any stat line: 52 numbers and a name of at most 64 bytes.
pub const LINE_BYTES: usize = 1024;

/// The task is on its way out (`PF_EXITING`, include/linux/sched.h).
pub const PF_EXITING: u32 = 0x4;
/// A kernel thread (`PF_KTHREAD`).
pub const PF_KTHREAD: u32 = 0x0020_0000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stat {
    pub pid: i32,
    /// `R S D T t Z X I ...`
    pub state: u8,
    pub ppid: i32,
    pub pgrp: i32,
    pub session: i32,
    pub flags: u32,
    /// Start after boot, in clock ticks of 10 ms, as the reader's time namespace shows it.
    pub start_ticks: u64,
}

impl Stat {
    /// The name may hold spaces, parentheses and any byte, so the fields begin after the *last* `)`.
    pub fn parse(line: &[u8]) -> Option<Stat> {
        let open = line.iter().position(|&c| c == b'(')?;
        let close = line.iter().rposition(|&c| c == b')')?;
        let pid = number(line.get(..open)?.strip_suffix(b" ")?)? as i32;
        let mut fields = line.get(close + 1..)?.split(|&c| c == b' ' || c == b'\n').filter(|f| !f.is_empty());
        let state = *fields.next()?.first()?;
        let ppid = number(fields.next()?)? as i32;
        let pgrp = number(fields.next()?)? as i32;
        let session = number(fields.next()?)? as i32;
        let flags = number(fields.nth(2)?)? as u32;
        let start_ticks = number(fields.nth(12)?)? as u64;
        Some(Stat { pid, state, ppid, pgrp, session, flags, start_ticks })
    }

    /// Neither a zombie nor dead. A process whose main thread has exited looks like a zombie here and is alive:
    /// whoever must be sure looks at its other tasks.
    pub fn runs(&self) -> bool {
        !matches!(self.state, b'Z' | b'X' | b'x')
    }
}

fn number(digits: &[u8]) -> Option<i64> {
    let (negative, digits) = match digits.strip_prefix(b"-") {
        Some(rest) => (true, rest),
        None => (false, digits),
    };
    if digits.is_empty() {
        return None;
    }
    let mut value = 0u64;
    for &c in digits {
        let digit = c.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value.checked_mul(10)?.checked_add(digit as u64)?;
    }
    let value = value as i64;
    Some(if negative { value.wrapping_neg() } else { value })
}

//! One line of `/proc/PID/stat` (proc_pid_stat(5)), read without allocation.

/// Big enough for any stat line: 52 numbers and a name of at most 64 bytes.
pub const LINE_BYTES: usize = 1024;

/// A kernel thread (`PF_KTHREAD`).
pub const PF_KTHREAD: u32 = 0x0020_0000;

/// Name of every supervisor and of its helpers: none of them is ever taken for somebody's child.
pub const SUPERVISOR_NAME: &[u8; 15] = b"spawn-superviso";

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
    /// The name may hold spaces, parentheses and any byte, so the fields begin after the *last* `)`. They are
    /// numbers, apart from the state, which comes first; one space stands before each.
    pub fn parse(line: &[u8]) -> Option<Stat> {
        const PPID: usize = 2;
        const PGRP: usize = 3;
        const SESSION: usize = 4;
        const FLAGS: usize = 7;
        const START: usize = 20;
        let close = line.iter().rposition(|&c| c == b')')?;
        let mut fields = [0i64; START + 2];
        let (mut at, mut state, mut sign) = (0, b'?', 1);
        for &c in line.get(close + 1..)? {
            match c {
                b' ' => (at, sign) = (at + 1, 1),
                b'0'..=b'9' => {
                    let field = fields.get_mut(at)?;
                    *field = field.wrapping_mul(10).wrapping_add(sign * (c - b'0') as i64);
                }
                b'-' => sign = -1,
                _ if at == 1 => state = c,
                _ => return None,
            }
            if at > START {
                return Some(Stat {
                    pid: leading_number(line),
                    state,
                    ppid: fields[PPID] as i32,
                    pgrp: fields[PGRP] as i32,
                    session: fields[SESSION] as i32,
                    flags: fields[FLAGS] as u32,
                    start_ticks: fields[START] as u64,
                });
            }
        }
        None
    }

    /// Neither a zombie nor dead. A process whose main thread has exited looks like a zombie here and is alive:
    /// whoever must be sure looks at its other tasks.
    pub fn runs(&self) -> bool {
        !matches!(self.state, b'Z' | b'X' | b'x')
    }
}

/// The number a line, or a name, begins with; 0 if it does not.
pub fn leading_number(line: &[u8]) -> i32 {
    line.iter()
        .take_while(|c| c.is_ascii_digit())
        .fold(0, |number: i32, &c| number.wrapping_mul(10).wrapping_add((c - b'0') as i32))
}

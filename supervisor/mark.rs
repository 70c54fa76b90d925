//! The mark in a child's environment, `HERMES_SPAWN=v1:<owner id>:<serial>`: 32 lower-case hex digits, then decimal.
//!
//! It is how a process that left its group, its session and its parents is still known as somebody's.

/// Name of the variable, with its equals sign.
pub const PREFIX: &[u8] = b"HERMES_SPAWN=";
/// What every mark of one owner begins with, its name included: up to the serial.
pub const OWNER_BYTES: usize = PREFIX.len() + 36;
/// Longest value: `v1:` + 32 + `:` + 10 digits.
pub const VALUE_BYTES: usize = 46;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    pub owner_id: [u64; 2],
    pub serial: u32,
}

impl Mark {
    /// Name, version and owner, as every mark of this owner begins.
    pub fn of_owner(owner_id: [u64; 2]) -> [u8; OWNER_BYTES] {
        let mut all = *b"HERMES_SPAWN=v1:................................:";
        for i in 0..32 {
            let nibble = (owner_id[i / 16] >> (60 - 4 * (i % 16)) & 15) as u8;
            all[PREFIX.len() + 3 + i] = nibble + if nibble < 10 { b'0' } else { b'a' - 10 };
        }
        all
    }

    /// Reads a value (without the name). `None`: not a mark of this version, so nobody's.
    pub fn parse(value: &[u8]) -> Option<Mark> {
        let rest = value.strip_prefix(b"v1:")?;
        if rest.len() < 34 || rest[32] != b':' {
            return None;
        }
        let owner_id = [hex(&rest[..16])?, hex(&rest[16..32])?];
        Some(Mark { owner_id, serial: decimal(&rest[33..])? })
    }

    /// Writes the value and returns its length.
    pub fn write(&self, out: &mut [u8; VALUE_BYTES]) -> usize {
        out[..36].copy_from_slice(&Mark::of_owner(self.owner_id)[PREFIX.len()..]);
        let mut digits = [0u8; 10];
        let mut at = digits.len();
        let mut rest = self.serial;
        loop {
            at -= 1;
            digits[at] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        let count = digits.len() - at;
        out[36..36 + count].copy_from_slice(&digits[at..]);
        36 + count
    }
}

fn hex(digits: &[u8]) -> Option<u64> {
    digits.iter().try_fold(0u64, |value, &c| {
        let nibble = match c {
            b'0'..=b'9' => c - b'0',
            b'a'..=b'f' => c - b'a' + 10,
            _ => return None,
        };
        Some(value << 4 | nibble as u64)
    })
}

fn decimal(digits: &[u8]) -> Option<u32> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0u32, |value, &c| {
        let digit = c.wrapping_sub(b'0');
        if digit > 9 { None } else { value.checked_mul(10)?.checked_add(digit as u32) }
    })
}

//! Numbers and strings as the C family of languages, Python among them, writes them.

/// `0x200`, `0o17`, `1_000`, `8L`, `0x8u32`.
pub fn number(text: &str) -> Option<i64> {
    let plain = text.replace(['_', '\''], "").to_ascii_lowercase();
    let (digits, radix) = match plain.get(..2) {
        Some("0x") => (&plain[2..], 16),
        Some("0o") => (&plain[2..], 8),
        Some("0b") => (&plain[2..], 2),
        _ => (plain.as_str(), 10),
    };
    let end = digits.find(|c: char| !c.is_digit(radix)).unwrap_or(digits.len());
    let suffix = &digits[end..];
    let known = suffix.chars().all(|c| "uln".contains(c)) || suffix.starts_with(['i', 'u']);
    known.then(|| i64::from_str_radix(&digits[..end], radix).ok()).flatten()
}

/// The escapes that matter to a shell: blanks, quotes, backslashes. A joined line is no newline.
pub fn unescape(text: &str) -> String {
    if !text.contains('\\') {
        return text.to_owned();
    }
    let mut result = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match (c, if c == '\\' { rest.next() } else { None }) {
            ('\\', Some('n')) => result.push('\n'),
            ('\\', Some('t')) => result.push('\t'),
            ('\\', Some('\n')) => {}
            ('\\', Some(escaped)) => result.push(escaped),
            (c, _) => result.push(c),
        }
    }
    result
}

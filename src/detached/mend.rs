//! What a compiler takes and a grammar does not know. It is replaced by something that means the same to every rule and
//! has the same length, so that every place stays where it is. Only a text that then parses as a whole is used.

use super::language::Language;

pub fn mended(text: &str, language: Language) -> Option<String> {
    match language {
        Language::Rust => Some(rust(text)),
        Language::JavaScript | Language::TypeScript | Language::Tsx => Some(javascript(text)),
        // A joined line is a blank; `! A=$(b)` is as much of a command as `A=$(b)`.
        Language::Shell => Some(text.replace("\\\n", "  ").replace("if ! ", "if   ")),
        _ => None,
    }
}

fn rust(text: &str) -> String {
    // A macro of this name is taken for the type, lone `$` and `~` for nothing; `safe fn` is of 2024.
    const WORDS: &[(&str, &str)] = &[
        ("str![", "xtr!["),
        ("$)", "_)"),
        ("[$]", "[_]"),
        ("~)", "_)"),
        ("[~]", "[_]"),
        (" ~ ", " _ "),
        (" safe fn", "      fn"),
        ("&raw const ", "&          "),
        ("&raw mut ", "&        "),
    ];
    let mut mended = text.to_owned();
    for (from, to) in WORDS {
        mended = mended.replace(from, to);
    }
    // An attribute on a field of a pattern. Those of tests stay: they are asked for.
    let mended = without(&mended, "#[cfg(", ")]", |inside| inside != "test" && !inside.starts_with("all(test"));
    // `struct Name where Bounds;`
    without(&mended, "\nwhere\n", ";", |inside| !inside.contains(['{', '}']))
}

/// A block that ends an arrow function ends its statement, too, if a bracket begins the next line.
fn javascript(text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for (at, _) in text.match_indices("}\n") {
        if text[at + 2..].trim_start().starts_with(['[', '(']) {
            bytes[at + 1] = b';';
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

/// Blanks in place of everything from `start` up to `end`, where what is between is as wanted. `;` stays.
fn without(text: &str, start: &str, end: &str, wanted: impl Fn(&str) -> bool) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for (at, _) in text.match_indices(start) {
        let inside = at + start.len();
        let Some(length) = text[inside..].find(end).filter(|length| wanted(&text[inside..inside + length])) else {
            continue;
        };
        let stop = inside + length + if end == ";" { 0 } else { end.len() };
        bytes[at..stop].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

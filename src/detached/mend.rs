//! What a compiler takes and a grammar does not know. It is replaced by something that means the same to every rule and
//! has the same length, so that every place stays where it is. Only a text that then parses as a whole is used.

use super::language::Language;

pub fn mended(text: &str, language: Language) -> Option<String> {
    match language {
        Language::Python => Some(python(text)),
        Language::Rust => Some(rust(text)),
        Language::JavaScript | Language::TypeScript | Language::Tsx => Some(javascript(&typescript(text))),
        // A joined line is a blank; `! A=$(b)` is as much of a command as `A=$(b)`; `$/` is no parameter.
        Language::Shell => Some(text.replace("\\\n", "  ").replace("if ! ", "if   ").replace("$/", "_/")),
        _ => None,
    }
}

/// `x.` at the end of a line within brackets. A comment that ends in a dot stays one.
fn python(text: &str) -> String {
    let joined = |line: &str| match line.strip_suffix(".\n") {
        Some(code) if !line.contains('#') && !code.ends_with('.') => format!("{code}. "),
        _ => line.to_owned(),
    };
    text.split_inclusive('\n').map(joined).collect()
}

fn rust(text: &str) -> String {
    // A macro of this name is taken for the type, lone `$` and any `~` for nothing; `try!` was no keyword before 2018,
    // `safe fn` is of 2024; `raw` is a name everywhere but in `&raw`; a bound on `()`, an `impl !Trait` in a function.
    const WORDS: &[(&str, &str)] = &[
        ("str![", "xtr!["),
        ("$)", "_)"),
        ("$ ", " $"),
        ("[$]", "[_]"),
        ("~", "_"),
        ("try!(", "tri!("),
        (" safe fn", "      fn"),
        ("&raw const ", "&          "),
        ("&raw mut ", "&        "),
        ("<raw>", "<rax>"),
        ("(raw)", "(rax)"),
        (" raw ", " rax "),
        (" (): ", " u8: "),
        ("impl ! ", "impl N "),
        ("impl !", "impl  "),
    ];
    let mut mended = text.to_owned();
    for (from, to) in WORDS {
        mended = mended.replace(from, to);
    }
    // An attribute on a field of a pattern, on an argument, in a macro. Those of tests stay: they are asked for.
    let mended = without(&mended, "#[", "]", |inside| !inside.contains(['[', '\n', '$']) && !inside.contains("test"));
    // `struct Name where Bounds;`
    without(&mended, "\nwhere\n", ";", |inside| !inside.contains(['{', '}']))
}

/// `export type *`, the declarations of `using`, and what says which way a type parameter varies.
fn typescript(text: &str) -> String {
    let mended = text
        .replace("export type *", "export      *")
        .replace("await using ", "      const ")
        .replace("(using ", "(const ")
        .replace("  using ", "  const ");
    let mut bytes = mended.clone().into_bytes();
    for (at, word) in mended.match_indices("out ").chain(mended.match_indices("in ")) {
        let before = mended[..at].trim_end().trim_end_matches("in").trim_end();
        let after = mended[at + word.len()..].trim_start_matches("out ");
        let name = after.starts_with(|c: char| c.is_ascii_uppercase() || c == '$' || c == '_');
        if name && (before.ends_with(['<', ',']) || before.ends_with("*/")) {
            bytes[at..at + word.len()].fill(b' ');
        }
    }
    String::from_utf8(bytes).unwrap_or(mended)
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

//! The committed header, as a text that tests can ask.

pub const TEXT: &str = include_str!("../../include/hermes_spawn.h");

#[derive(Debug)]
pub struct Function {
    pub name: String,
    /// The lines before it, without their slashes.
    pub comment: String,
    pub declaration: String,
}

/// Everything that is declared with brackets.
pub fn functions() -> Vec<Function> {
    let mut found = Vec::new();
    let mut comment = String::new();
    let mut declaration = String::new();
    for line in TEXT.lines() {
        if let Some(text) = line.strip_prefix("//") {
            comment.push_str(text.trim_start());
            comment.push('\n');
            continue;
        }
        let begins = line.contains("hermes_") && line.contains('(') && !line.starts_with([' ', '#']);
        if begins || !declaration.is_empty() {
            declaration.push_str(line.trim_start());
        }
        if declaration.ends_with(';') {
            let before = declaration.split('(').next().unwrap_or_default();
            let name = before.rsplit([' ', '*']).next().unwrap_or_default().to_string();
            let (comment, declaration) = (std::mem::take(&mut comment), std::mem::take(&mut declaration));
            found.push(Function { name, comment, declaration });
        }
        if declaration.is_empty() {
            comment.clear();
        }
    }
    found
}

/// The value of a macro.
pub fn defined(name: &str) -> &'static str {
    let value = |line: &'static str| line.strip_prefix("#define ")?.strip_prefix(name)?.strip_prefix(' ');
    TEXT.lines().find_map(value).unwrap_or_else(|| panic!("the header does not define {name}"))
}

/// The names of all structures whose fields it shows.
pub fn structures() -> Vec<&'static str> {
    TEXT.lines().filter_map(|line| line.strip_prefix("typedef struct ")?.strip_suffix(" {")).collect()
}

//! C and C++ before the preprocessor has run are not yet a language. What stands in a parser's way is blanked out,
//! byte for byte, so that every place stays where it is.

use std::ops::Range;

/// One line that steers what is compiled.
enum Step {
    /// Of a macro with parameters: its body is no code yet.
    Define,
    If {
        dead: bool,
        rest_dead: bool,
    },
    Else {
        dead: bool,
        rest_dead: bool,
    },
    End,
}

struct Directive {
    step: Step,
    /// With its continued lines.
    line: Range<usize>,
}

/// A conditional: its branches as ranges, in order.
struct Branch {
    text: Range<usize>,
    /// Never compiled: `#if 0`, what follows the branch of `#if 1`.
    dead: bool,
}

/// The text without what is never compiled. `None`: there is nothing of the kind.
pub fn without_dead(text: &str, cpp: bool) -> Option<String> {
    let groups = conditionals(text, cpp);
    let dead: Vec<Range<usize>> =
        groups.iter().flatten().filter(|branch| branch.dead).map(|branch| branch.text.clone()).collect();
    (!dead.is_empty()).then(|| blanked(text, &dead))
}

/// The text in which of each conditional only one branch is left, and no conditional: the `index`-th, where there are
/// so many, the last where there are fewer. `None`: the largest conditional has fewer branches.
pub fn one_branch(text: &str, cpp: bool, index: usize) -> Option<String> {
    let groups = conditionals(text, cpp);
    let most = groups.iter().map(Vec::len).max().unwrap_or(0);
    if index > 0 && index >= most.max(2) {
        return None;
    }
    let mut away: Vec<Range<usize>> = directives(text, cpp).into_iter().map(|directive| directive.line).collect();
    for group in groups {
        let live: Vec<&Branch> = group.iter().filter(|branch| !branch.dead).collect();
        // Without an #else, no branch is a choice too.
        let keep = if index < live.len() {
            Some(index)
        } else if group.len() > 1 {
            live.len().checked_sub(1)
        } else {
            None
        };
        away.extend(group.iter().filter(|branch| branch.dead).map(|branch| branch.text.clone()));
        away.extend(live.iter().enumerate().filter(|(at, _)| Some(*at) != keep).map(|(_, branch)| branch.text.clone()));
    }
    Some(blanked(text, &away))
}

/// These ranges as blanks; lines stay.
pub fn blanked(text: &str, away: &[Range<usize>]) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for range in away {
        bytes[range.clone()].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
    }
    // Ranges begin and end between characters.
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

fn conditionals(text: &str, cpp: bool) -> Vec<Vec<Branch>> {
    let mut open: Vec<(Vec<Branch>, usize, bool, bool)> = Vec::new();
    let mut groups = Vec::new();
    for directive in directives(text, cpp) {
        let (start, end) = (directive.line.start, directive.line.end);
        match directive.step {
            Step::If { dead, rest_dead } => open.push((Vec::new(), end, dead, rest_dead)),
            Step::Else { dead, rest_dead } => {
                if let Some((branches, from, was_dead, over)) = open.last_mut() {
                    branches.push(Branch { text: *from..start, dead: *was_dead });
                    (*from, *was_dead) = (end, dead || *over);
                    *over |= rest_dead;
                }
            }
            Step::End => {
                if let Some((mut branches, from, dead, _)) = open.pop() {
                    branches.push(Branch { text: from..start, dead });
                    groups.push(branches);
                }
            }
            Step::Define => {}
        }
    }
    groups
}

fn directives(text: &str, cpp: bool) -> Vec<Directive> {
    let mut found = Vec::new();
    let mut in_comment = false;
    let mut at = 0;
    while at < text.len() {
        let mut end = line_end(text, at);
        let line = text[at..end].trim_start();
        if !in_comment && line.starts_with('#') {
            while text[at..end].trim_end_matches(['\n', '\r']).ends_with('\\') && end < text.len() {
                end = line_end(text, end);
            }
            if let Some(step) = step(&text[at..end], cpp) {
                found.push(Directive { step, line: at..end });
            }
        }
        in_comment = comment_after(&text[at..end], in_comment);
        at = end;
    }
    found
}

fn step(line: &str, cpp: bool) -> Option<Step> {
    let line = line.trim_start().strip_prefix('#')?.trim_start();
    let (word, rest) = line.split_at(line.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(line.len()));
    let condition = rest.split("/*").next().unwrap_or("").split("//").next().unwrap_or("").trim();
    let never = !cpp && condition == "__cplusplus";
    let (dead, rest_dead) = match word {
        "if" | "elif" => {
            (condition == "0" || condition == "(0)" || (!cpp && condition == "defined(__cplusplus)"), condition == "1")
        }
        "ifdef" | "elifdef" => (never, cpp && condition == "__cplusplus"),
        "ifndef" | "elifndef" => (cpp && condition == "__cplusplus", never),
        _ => (false, false),
    };
    Some(match word {
        "if" | "ifdef" | "ifndef" => Step::If { dead, rest_dead },
        "elif" | "elifdef" | "elifndef" | "else" => Step::Else { dead, rest_dead },
        "endif" => Step::End,
        "define"
            if rest
                .trim_start()
                .find(|c: char| !c.is_alphanumeric() && c != '_')
                .is_some_and(|end| rest.trim_start()[end..].starts_with('(')) =>
        {
            Step::Define
        }
        _ => return None,
    })
}

fn line_end(text: &str, from: usize) -> usize {
    text[from..].find('\n').map_or(text.len(), |at| from + at + 1)
}

/// Is a block comment open after this line?
fn comment_after(line: &str, mut open: bool) -> bool {
    let mut rest = line;
    loop {
        let next = if open { rest.find("*/") } else { start_of_comment(rest) };
        let Some(at) = next else { return open };
        rest = &rest[at + 2..];
        open = !open;
    }
}

/// The next `/*` that is not in a string and not behind `//`.
fn start_of_comment(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut quote = None;
    let mut at = 0;
    while at < bytes.len() {
        match (quote, bytes[at]) {
            (Some(_), b'\\') => at += 1,
            (Some(open), byte) if byte == open => quote = None,
            (None, b'"' | b'\'') => quote = Some(bytes[at]),
            (None, b'/') if bytes.get(at + 1) == Some(&b'/') => return None,
            (None, b'/') if bytes.get(at + 1) == Some(&b'*') => return Some(at),
            _ => {}
        }
        at += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{one_branch, without_dead};

    fn words(text: &str) -> String {
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn what_is_never_compiled_is_blank_and_places_stay() {
        let text = "a\n#if 0\nb\n#ifdef X\nc\n#endif\n#else\nd\n#endif\ne\n";
        let live = without_dead(text, false).expect("dead code");
        assert_eq!(words(&live), "a #if 0 #else d #endif e");
        assert_eq!((live.len(), live.lines().count()), (text.len(), text.lines().count()));
        assert_eq!(
            without_dead("#if 1\na\n#else\nb\n#endif\n", false).map(|text| words(&text)).as_deref(),
            Some("#if 1 a #else #endif")
        );
        assert_eq!(without_dead("/*\n#if 0\n*/\na\n", false), None);
        assert_eq!(without_dead("#ifdef X\na\n#endif\n", false), None);
    }

    #[test]
    fn every_branch_is_left_once() {
        let text = "#ifdef __cplusplus\nx\n#endif\n#ifdef A\na\n#elif B\nb\n#else\nc\n#endif\n";
        let branch = |index| one_branch(text, false, index).map(|text| words(&text));
        assert_eq!((branch(0).as_deref(), branch(1).as_deref()), (Some("a"), Some("b")));
        assert_eq!((branch(2).as_deref(), branch(3)), (Some("c"), None));
    }
}

//! From a file's text to trees: one, or for C and C++ one for each way through the preprocessor.

use super::c::preprocess;
use super::code::Code;
use super::language::Language;
use super::mend::mended;
use std::ops::Range;
use tree_sitter::{Node, Parser, Tree};

/// A tree and the text it is of. Every place in it is the same place of the file.
pub struct Variant {
    pub text: String,
    pub tree: Tree,
}

pub struct Parsed {
    pub variants: Vec<Variant>,
    pub language: Language,
    /// Where it could not be parsed.
    pub broken: Option<usize>,
}

impl Variant {
    pub fn code(&self) -> Code<'_> {
        Code { text: &self.text, root: self.tree.root_node() }
    }

    fn errors(&self) -> Vec<Node<'_>> {
        let mut errors = Vec::new();
        self.code().walk(self.tree.root_node(), |node| {
            if node.is_error() || node.is_missing() {
                errors.push(node);
            }
            node.has_error() && !node.is_error()
        });
        errors
    }
}

/// `None` if the grammar cannot be used at all, which is a defect.
pub fn parse(text: &str, language: Language) -> Option<Parsed> {
    match language {
        Language::C | Language::Header | Language::Cpp => preprocessed(text, language),
        _ => plain(text, language),
    }
}

fn tree(text: String, language: Language) -> Option<Variant> {
    let mut parser = Parser::new();
    parser.set_language(&language.grammar()).ok()?;
    let tree = parser.parse(&text, None)?;
    Some(Variant { text, tree })
}

fn plain(text: &str, language: Language) -> Option<Parsed> {
    let mut variant = tree(text.to_owned(), language)?;
    let mut language = language;
    if variant.tree.root_node().has_error()
        && let Some(text) = mended(text, language)
    {
        let better = tree(text, language)?;
        if !better.tree.root_node().has_error() {
            variant = better;
        }
    }
    // Types in a .js file, or JSX in a .ts one.
    if variant.tree.root_node().has_error() && matches!(language, Language::JavaScript | Language::TypeScript) {
        let other = tree(text.to_owned(), Language::Tsx)?;
        if !other.tree.root_node().has_error() {
            (variant, language) = (other, Language::Tsx);
        }
    }
    let broken = variant.errors().first().map(|node| node.start_byte());
    Some(Parsed { variants: vec![variant], language, broken })
}

/// So many branches of a conditional are looked at.
const MOST_BRANCHES: usize = 4;

fn preprocessed(text: &str, language: Language) -> Option<Parsed> {
    let cpp = language == Language::Cpp;
    let live = preprocess::without_dead(text, cpp).unwrap_or_else(|| text.to_owned());
    let whole = tree(live, language)?;
    // An error in a text without a word that is looked for hides nothing, as long as no bracket is missing.
    if !whole.tree.root_node().has_error() || (!language.may_hold_one(text) && unbalanced(&whole).is_none()) {
        return Some(Parsed { variants: vec![whole], language, broken: None });
    }
    let mut variants = branches(text, language)?;
    // A header of C++ is called .h too.
    if language == Language::Header && errors_of(&variants) > 0 {
        let other = preprocessed(text, Language::Cpp)?;
        if other.broken.is_none() || errors_of(&other.variants) < errors_of(&variants) {
            return Some(other);
        }
    }
    let broken = variants.iter().find_map(unbalanced);
    // Where each way is broken in another place, the text as it stands may show what they hide.
    if errors_of(&variants) > 0 {
        variants.push(whole);
    }
    Some(Parsed { variants, language, broken })
}

/// One tree for each way through the preprocessor.
fn branches(text: &str, language: Language) -> Option<Vec<Variant>> {
    let mut texts: Vec<String> = Vec::new();
    for index in 0..MOST_BRANCHES {
        match preprocess::one_branch(text, language == Language::Cpp, index) {
            Some(text) if texts.contains(&text) => {}
            Some(text) => texts.push(text),
            None => break,
        }
    }
    texts.into_iter().map(|text| without_macros(tree(text, language)?, language)).collect()
}

fn errors_of(variants: &[Variant]) -> usize {
    variants.iter().map(|variant| variant.errors().len()).sum()
}

/// Macros that stand where no expression can are blanked out: `EXPORT int f(void)`, `static FORCE_INLINE int f(void)`.
fn without_macros(variant: Variant, language: Language) -> Option<Variant> {
    const ROUNDS: usize = 4;
    let mut best = variant;
    for _ in 0..ROUNDS {
        let errors = best.errors();
        let count = errors.len();
        if count == 0 {
            break;
        }
        let away: Vec<Range<usize>> = errors.iter().flat_map(|error| macros_near(&best.text, error)).collect();
        if away.is_empty() {
            break;
        }
        let next = tree(preprocess::blanked(&best.text, &away), language)?;
        if next.errors().len() > count {
            break;
        }
        best = next;
    }
    Some(best)
}

/// Words in capitals in the lines of an error and the one before it.
fn macros_near(text: &str, error: &Node) -> Vec<Range<usize>> {
    const LONGEST: usize = 4096;
    let line_start = |at: usize| text[..at].rfind('\n').map_or(0, |at| at + 1);
    let start = line_start(line_start(error.start_byte()).saturating_sub(1));
    let last = error.end_byte().min(error.start_byte() + LONGEST);
    let last = (0..=last).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let end = text[last..].find('\n').map_or(text.len(), |at| last + at);
    let region = &text[start..end];
    let word_char = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(begin) = region[at..].find(word_char).map(|offset| at + offset) {
        let stop = region[begin..].find(|c| !word_char(c)).map_or(region.len(), |offset| begin + offset);
        let word = &region[begin..stop];
        at = stop;
        let capitals = word.chars().filter(char::is_ascii_uppercase).count();
        let is_macro = capitals >= 2 && !word.chars().any(|c| c.is_ascii_lowercase());
        if !is_macro || in_string(region, begin) {
            continue;
        }
        let after = region[stop..].trim_start();
        // What follows decides: `X int`, `X *`, `X {`, `X;` at the end, `X(...) int`.
        let stop = match after.strip_prefix('(') {
            Some(_) => closing(region, region.len() - after.len()).unwrap_or(stop),
            None => stop,
        };
        found.push(start + begin..start + stop);
        at = at.max(stop);
    }
    found
}

fn in_string(region: &str, at: usize) -> bool {
    let line = region[..at].rfind('\n').map_or(0, |start| start + 1);
    region[line..at].matches('"').count() % 2 == 1
}

/// The place behind the parenthesis that closes the one at `open`.
fn closing(text: &str, open: usize) -> Option<usize> {
    let mut depth = 0;
    for (at, c) in text[open..].char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(open + at + 1);
        }
    }
    None
}

/// A bracket of C or C++ that nothing closes, or that closes nothing, in a text with errors: that is more than a macro.
fn unbalanced(variant: &Variant) -> Option<usize> {
    if !variant.tree.root_node().has_error() {
        return None;
    }
    let mut open: Vec<(&str, usize)> = Vec::new();
    let mut wrong = None;
    variant.code().walk(variant.tree.root_node(), |node| {
        let partner = match node.kind() {
            "(" | "[" | "{" if !node.is_missing() => {
                open.push((node.kind(), node.start_byte()));
                return true;
            }
            ")" => "(",
            "]" => "[",
            "}" => "{",
            "preproc_def" | "preproc_function_def" | "preproc_call" => return false,
            _ => return true,
        };
        if !node.is_missing() && wrong.is_none() && open.pop().is_none_or(|(kind, _)| kind != partner) {
            wrong = Some(node.start_byte());
        }
        true
    });
    wrong.or(open.first().map(|(_, at)| *at))
}

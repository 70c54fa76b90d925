//! The words of a command: quotes taken off, constants of the same script put in.

use super::super::code::{Code, all_children, children};
use super::super::scope::{Bound, Scopes};
use super::super::value::HOLE;
use tree_sitter::Node;

pub struct Words<'a, 't> {
    pub code: Code<'t>,
    pub scopes: &'a Scopes<'t>,
}

/// A constant that is made of constants, so many times.
const DEEPEST: usize = 8;

impl<'t> Words<'_, 't> {
    pub fn of_command(&self, command: Node<'t>) -> Vec<String> {
        let mut words = Vec::new();
        for part in children(command) {
            match part.kind() {
                "variable_assignment" | "file_redirect" | "herestring_redirect" | "heredoc_redirect" => {}
                "command_name" => children(part).into_iter().for_each(|word| self.add(word, &mut words)),
                _ => self.add(part, &mut words),
            }
        }
        words
    }

    fn add(&self, node: Node<'t>, words: &mut Vec<String>) {
        let text = self.text(node, 0);
        match node.kind() {
            // Not in quotes: a value of several words is several words.
            "simple_expansion" | "expansion" if !text.contains(HOLE) => {
                words.extend(text.split_whitespace().map(str::to_owned));
            }
            "array" => children(node).into_iter().for_each(|item| self.add(item, words)),
            _ => words.push(text),
        }
    }

    fn text(&self, node: Node<'t>, depth: usize) -> String {
        let all = |node| children(node).into_iter().map(|part| self.text(part, depth)).collect::<String>();
        match node.kind() {
            "word" | "number" => self.code.of(node).replace('\\', ""),
            "raw_string" => self.code.of(node).trim_matches('\'').to_owned(),
            "ansi_c_string" => self.code.of(node).trim_start_matches('$').trim_matches('\'').to_owned(),
            "string" => self.quoted(node, depth),
            "command_name" | "concatenation" => all(node),
            "simple_expansion" | "expansion" => self.constant(node, depth).unwrap_or(HOLE.to_string()),
            "array" => children(node).into_iter().map(|part| self.text(part, depth)).collect::<Vec<_>>().join(" "),
            _ => HOLE.to_string(),
        }
    }

    /// In double quotes: the text between the expansions counts, blanks and all.
    fn quoted(&self, node: Node<'t>, depth: usize) -> String {
        let mut text = String::new();
        let mut at = node.start_byte() + 1;
        for part in all_children(node) {
            if matches!(part.kind(), "simple_expansion" | "expansion" | "command_substitution" | "arithmetic_expansion")
            {
                text.push_str(self.code.text.get(at..part.start_byte()).unwrap_or(""));
                text.push_str(&self.text(part, depth));
                at = part.end_byte();
            }
        }
        text.push_str(self.code.text.get(at..node.end_byte().saturating_sub(1)).unwrap_or(""));
        text.replace("\\\"", "\"").replace("\\$", "$")
    }

    fn constant(&self, node: Node<'t>, depth: usize) -> Option<String> {
        let name =
            children(node).into_iter().find(|part| part.kind() == "variable_name" || part.kind() == "subscript")?;
        let plain = self.code.of(node).trim_start_matches(['$', '{']).trim_end_matches('}');
        let name = self.code.of(name).split('[').next()?;
        // `${x:-y}` and the like are not constants; `${x[@]}` is all of it.
        if depth > DEEPEST || plain.split('[').next() != Some(name) {
            return None;
        }
        let known: Option<Vec<String>> = self
            .scopes
            .of(name, node.start_byte())
            .into_iter()
            .map(|bound| match bound {
                Bound::To(value) => Some(self.text(*value, depth + 1)),
                _ => None,
            })
            .collect();
        // Of several values the first that is known and not empty stands for it.
        known?.into_iter().find(|text| !text.is_empty() && !text.contains(HOLE))
    }
}

//! A parsed file, and how to move about in its tree.

use std::ops::Range;
use tree_sitter::{Node, TreeCursor};

/// The text of a file and the root of its tree.
#[derive(Clone, Copy)]
pub struct Code<'t> {
    pub text: &'t str,
    pub root: Node<'t>,
}

impl<'t> Code<'t> {
    pub fn of(&self, node: Node<'t>) -> &'t str {
        self.text.get(node.byte_range()).unwrap_or("")
    }

    pub fn field(&self, node: Node<'t>, name: &str) -> &'t str {
        node.child_by_field_name(name).map_or("", |child| self.of(child))
    }

    /// Every node, parents first. `enter` says whether to look inside. Without recursion: trees can be deep.
    pub fn walk(&self, from: Node<'t>, mut enter: impl FnMut(Node<'t>) -> bool) {
        let mut cursor = from.walk();
        loop {
            if enter(cursor.node()) && cursor.goto_first_child() {
                continue;
            }
            if !next(&mut cursor, from) {
                return;
            }
        }
    }
}

/// The functions around a place of a walk. Asking a node for its parent searches from the root each time, which is
/// quadratic in a file of many items.
#[derive(Debug)]
pub struct Functions {
    whole: Range<usize>,
    kinds: &'static [&'static str],
    open: Vec<Range<usize>>,
}

impl Functions {
    pub fn of(code: Code, kinds: &'static [&'static str]) -> Functions {
        Functions { whole: code.root.byte_range(), kinds, open: Vec::new() }
    }

    /// The function that this node stands in, or the file. To be asked for every node of a walk, in its order.
    pub fn around(&mut self, node: Node) -> Range<usize> {
        while self.open.last().is_some_and(|function| function.end <= node.start_byte()) {
            self.open.pop();
        }
        let around = self.open.last().unwrap_or(&self.whole).clone();
        if self.kinds.contains(&node.kind()) {
            self.open.push(node.byte_range());
        }
        around
    }
}

fn next(cursor: &mut TreeCursor, from: Node) -> bool {
    loop {
        if cursor.node() == from {
            return false;
        }
        if cursor.goto_next_sibling() {
            return true;
        }
        if !cursor.goto_parent() {
            return false;
        }
    }
}

pub fn short(text: &str) -> String {
    const LONGEST: usize = 60;
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match words.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", &words[..end]),
        None => words,
    }
}

pub fn children<'t>(node: Node<'t>) -> Vec<Node<'t>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).filter(|child| !child.is_extra()).collect()
}

pub fn all_children<'t>(node: Node<'t>) -> Vec<Node<'t>> {
    let mut cursor = node.walk();
    node.children(&mut cursor).collect()
}

/// The nearest node around this one that is of one of these kinds.
pub fn around<'t>(node: Node<'t>, kinds: &[&str]) -> Option<Node<'t>> {
    std::iter::successors(node.parent(), Node::parent).find(|outer| kinds.contains(&outer.kind()))
}

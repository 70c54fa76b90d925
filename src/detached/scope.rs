//! What the names of a file stand for: constants, imports, functions. By function, not by block: two assignments of one
//! function are alternatives, whichever runs first.

use std::collections::HashMap;
use std::ops::Range;
use tree_sitter::Node;

#[derive(Clone, Debug)]
pub enum Bound<'t> {
    /// Assigned an expression.
    To(Node<'t>),
    /// A part of an expression, by its key: `const { spawn } = require('child_process')`.
    PartOf(Node<'t>, String),
    /// `x |= y`, `x += y`: more of what it was.
    More(Node<'t>),
    /// `x["key"] = y`, `x.key = y`.
    Entry(String, Node<'t>),
    /// Imported, under its full name.
    Import(String),
    Function(Node<'t>),
    /// A parameter, a loop's variable, what `with` or `except` names.
    Opaque,
}

#[derive(Debug)]
struct Binding<'t> {
    scope: Range<usize>,
    to: Bound<'t>,
}

#[derive(Debug, Default)]
pub struct Scopes<'t> {
    names: HashMap<String, Vec<Binding<'t>>>,
    /// Modules of which everything is imported.
    pub wildcards: Vec<String>,
}

impl<'t> Scopes<'t> {
    pub fn bind(&mut self, name: &str, scope: Range<usize>, to: Bound<'t>) {
        self.names.entry(name.to_owned()).or_default().push(Binding { scope, to });
    }

    pub fn all(&self) -> impl Iterator<Item = (&str, &Bound<'t>)> {
        self.names.iter().flat_map(|(name, bound)| bound.iter().map(|binding| (name.as_str(), &binding.to)))
    }

    /// What `name` can stand for at this place: everything it is bound to in the innermost scope that binds it.
    pub fn of(&self, name: &str, at: usize) -> Vec<&Bound<'t>> {
        let Some(all) = self.names.get(name) else { return Vec::new() };
        let holds = |binding: &&Binding| binding.scope.contains(&at);
        let makes = |binding: &&Binding| !matches!(binding.to, Bound::Entry(..) | Bound::More(_));
        // Additions do not make a name: the scope that makes it is the one they add to.
        let innermost = all
            .iter()
            .filter(holds)
            .filter(makes)
            .min_by_key(|binding| binding.scope.len())
            .or_else(|| all.iter().filter(holds).min_by_key(|binding| binding.scope.len()));
        let Some(scope) = innermost.map(|binding| binding.scope.clone()) else { return Vec::new() };
        let adds = |binding: &&Binding| {
            binding.scope == scope
                || (!makes(binding) && scope.start <= binding.scope.start && binding.scope.end <= scope.end)
        };
        all.iter().filter(adds).map(|binding| &binding.to).collect()
    }
}

//! What C's and C++'s names stand for: `#define`d constants, initialised variables, functions of the file.

use super::super::code::{Code, Functions, children};
use super::super::scope::{Bound, Scopes};
use tree_sitter::Node;

pub fn bindings<'t>(code: Code<'t>) -> Scopes<'t> {
    let mut scopes = Scopes::default();
    let whole = code.root.byte_range();
    let mut functions = Functions::of(code, &["function_definition", "lambda_expression"]);
    code.walk(code.root, |node| {
        let scope = functions.around(node);
        match node.kind() {
            // A macro's text is not parsed by the grammar; it is read when it is asked for.
            "preproc_def" => {
                let text = code.field(node, "value").trim().to_owned();
                scopes.bind(code.field(node, "name"), whole.clone(), Bound::Import(text));
            }
            "init_declarator" => {
                let name = node.child_by_field_name("declarator").and_then(|declarator| plain_name(declarator));
                if let (Some(name), Some(value)) = (name, node.child_by_field_name("value")) {
                    scopes.bind(code.of(name), scope, Bound::To(value));
                }
            }
            "assignment_expression" => {
                if let (Some(left), Some(right)) = (node.child_by_field_name("left"), node.child_by_field_name("right"))
                {
                    let to = if code.field(node, "operator") == "=" { Bound::To(right) } else { Bound::More(right) };
                    scopes.bind(code.of(left), scope, to);
                }
            }
            "enumerator" => {
                if let Some(value) = node.child_by_field_name("value") {
                    scopes.bind(code.field(node, "name"), whole.clone(), Bound::To(value));
                }
            }
            "function_definition" => {
                let name = node.child_by_field_name("declarator").and_then(|declarator| plain_name(declarator));
                if let Some(name) = name {
                    scopes.bind(code.of(name), whole.clone(), Bound::Function(node));
                }
            }
            "parameter_declaration" => {
                let name = node.child_by_field_name("declarator").and_then(|declarator| plain_name(declarator));
                // Outside of a function it is one of a declaration.
                if let Some(name) = name.filter(|_| scope != whole) {
                    scopes.bind(code.of(name), scope, Bound::Opaque);
                }
            }
            _ => {}
        }
        true
    });
    scopes
}

/// The name in `*name[]`, `name(...)`.
fn plain_name(declarator: Node) -> Option<Node> {
    let mut at = declarator;
    loop {
        if matches!(at.kind(), "identifier" | "field_identifier") {
            return Some(at);
        }
        at = match at.child_by_field_name("declarator") {
            Some(inner) => inner,
            None => children(at)
                .into_iter()
                .find(|part| matches!(part.kind(), "identifier" | "pointer_declarator" | "array_declarator"))?,
        };
    }
}

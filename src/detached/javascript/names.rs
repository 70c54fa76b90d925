//! What the names of JavaScript and TypeScript stand for: require, import, destructuring, assignments.

use super::super::code::{Code, Functions, children};
use super::super::scope::{Bound, Scopes};
use std::ops::Range;
use tree_sitter::Node;

const FUNCTIONS: &[&str] = &[
    "function_declaration",
    "function_expression",
    "arrow_function",
    "method_definition",
    "generator_function",
    "generator_function_declaration",
];

pub fn bindings<'t>(code: Code<'t>) -> Scopes<'t> {
    let mut scopes = Scopes::default();
    let mut functions = Functions::of(code, FUNCTIONS);
    code.walk(code.root, |node| {
        let scope = functions.around(node);
        match node.kind() {
            "import_statement" => imports(code, node, &mut scopes),
            "variable_declarator" => {
                if let Some(name) = node.child_by_field_name("name") {
                    bind(code, name, node.child_by_field_name("value"), &scope, &mut scopes);
                }
            }
            "assignment_expression" => {
                if let (Some(left), Some(right)) = (node.child_by_field_name("left"), node.child_by_field_name("right"))
                {
                    assign(code, left, right, &scope, &mut scopes);
                }
            }
            "for_in_statement" => each(code, node, &scope, &mut scopes),
            kind if FUNCTIONS.contains(&kind) => {
                let whole = node.byte_range();
                if matches!(kind, "function_declaration" | "generator_function_declaration") {
                    scopes.bind(code.field(node, "name"), scope.clone(), Bound::Function(node));
                }
                let parameters = node.child_by_field_name("parameters").or(node.child_by_field_name("parameter"));
                opaque(code, parameters, whole, &mut scopes);
            }
            _ => {}
        }
        true
    });
    scopes
}

fn bind<'t>(code: Code<'t>, name: Node<'t>, value: Option<Node<'t>>, scope: &Range<usize>, scopes: &mut Scopes<'t>) {
    match (name.kind(), value) {
        ("identifier", Some(value)) => scopes.bind(code.of(name), scope.clone(), Bound::To(value)),
        // `let x;`: what it becomes is assigned later.
        ("identifier", None) => {}
        ("object_pattern", Some(value)) => {
            for part in children(name) {
                match part.kind() {
                    "shorthand_property_identifier_pattern" => {
                        let name = code.of(part);
                        scopes.bind(name, scope.clone(), Bound::PartOf(value, name.to_owned()));
                    }
                    "pair_pattern" => {
                        let (key, to) = (code.field(part, "key"), code.field(part, "value"));
                        scopes.bind(to, scope.clone(), Bound::PartOf(value, key.to_owned()));
                    }
                    _ => opaque(code, Some(part), scope.clone(), scopes),
                }
            }
        }
        _ => opaque(code, Some(name), scope.clone(), scopes),
    }
}

/// The name of a loop over an array literal stands for each of its items.
fn each<'t>(code: Code<'t>, node: Node<'t>, scope: &Range<usize>, scopes: &mut Scopes<'t>) {
    let (Some(left), Some(right)) = (node.child_by_field_name("left"), node.child_by_field_name("right")) else {
        return;
    };
    if code.field(node, "operator") == "of" && right.kind() == "array" {
        for item in children(right) {
            bind(code, left, Some(item), scope, scopes);
        }
    } else {
        opaque(code, Some(left), scope.clone(), scopes);
    }
}

fn assign<'t>(code: Code<'t>, left: Node<'t>, right: Node<'t>, scope: &Range<usize>, scopes: &mut Scopes<'t>) {
    match left.kind() {
        // Declared outside, perhaps: an assignment counts for the whole file.
        "identifier" => scopes.bind(code.of(left), code.root.byte_range(), Bound::To(right)),
        "member_expression" => {
            scopes.bind(code.of(left), code.root.byte_range(), Bound::To(right));
            let key = code.field(left, "property").to_owned();
            scopes.bind(code.field(left, "object"), scope.clone(), Bound::Entry(key, right));
        }
        "object_pattern" | "array_pattern" => bind(code, left, Some(right), scope, scopes),
        _ => {}
    }
}

fn imports<'t>(code: Code<'t>, node: Node<'t>, scopes: &mut Scopes<'t>) {
    let module = module_name(code.field(node, "source"));
    code.walk(node, |part| {
        let whole = code.root.byte_range();
        match part.kind() {
            "import_specifier" => {
                let name = code.field(part, "name");
                let alias = if part.child_by_field_name("alias").is_some() { code.field(part, "alias") } else { name };
                scopes.bind(alias, whole, Bound::Import(format!("{module}.{name}")));
                false
            }
            // `import cp from`, `import * as cp from`.
            "identifier" => {
                scopes.bind(code.of(part), whole, Bound::Import(module.clone()));
                false
            }
            // TypeScript's `import cp = require('child_process')`.
            "import_require_clause" => {
                let module =
                    part.child_by_field_name("source").map_or(String::new(), |source| module_name(code.of(source)));
                if let Some(name) = children(part).first() {
                    scopes.bind(code.of(*name), whole, Bound::Import(module));
                }
                false
            }
            _ => true,
        }
    });
}

fn opaque<'t>(code: Code<'t>, pattern: Option<Node<'t>>, scope: Range<usize>, scopes: &mut Scopes<'t>) {
    let Some(pattern) = pattern else { return };
    code.walk(pattern, |node| {
        match node.kind() {
            "identifier" | "shorthand_property_identifier_pattern" => {
                scopes.bind(code.of(node), scope.clone(), Bound::Opaque);
            }
            "type_annotation" => return false,
            _ => {}
        }
        true
    });
}

/// `'node:child_process'` and `'child_process'` are one.
pub fn module_name(quoted: &str) -> String {
    let name = quoted.trim_matches(['\'', '"', '`']);
    name.strip_prefix("node:").unwrap_or(name).to_owned()
}

//! What Python's names stand for: imports under any alias, assignments, parameters.

use super::super::code::{Code, Functions, children};
use super::super::scope::{Bound, Scopes};
use std::ops::Range;
use tree_sitter::Node;

const FUNCTIONS: &[&str] = &["function_definition", "lambda"];

pub fn bindings<'t>(code: Code<'t>) -> Scopes<'t> {
    let mut scopes = Scopes::default();
    let mut functions = Functions::of(code, FUNCTIONS);
    code.walk(code.root, |node| {
        let scope = functions.around(node);
        match node.kind() {
            "import_statement" => imports(code, node, &scope, &mut scopes),
            "import_from_statement" => imports_from(code, node, &scope, &mut scopes),
            "assignment" => assignment(code, node, &scope, &mut scopes),
            "augmented_assignment" => {
                if let (Some(left), Some(right)) = (node.child_by_field_name("left"), node.child_by_field_name("right"))
                {
                    scopes.bind(code.of(left), scope.clone(), Bound::More(right));
                }
            }
            "named_expression" => {
                if let Some(value) = node.child_by_field_name("value") {
                    scopes.bind(code.field(node, "name"), scope.clone(), Bound::To(value));
                }
            }
            "function_definition" => {
                scopes.bind(code.field(node, "name"), scope.clone(), Bound::Function(node));
                parameters(code, node, &mut scopes);
            }
            "lambda" => parameters(code, node, &mut scopes),
            "for_statement" | "for_in_clause" => each(code, node, &scope, &mut scopes),
            "as_pattern" => opaque(code, node.child_by_field_name("alias"), &scope, &mut scopes),
            _ => {}
        }
        true
    });
    scopes
}

fn imports<'t>(code: Code<'t>, node: Node<'t>, scope: &Range<usize>, scopes: &mut Scopes<'t>) {
    for import in children(node) {
        match import.kind() {
            "aliased_import" => {
                let to = Bound::Import(code.field(import, "name").to_owned());
                scopes.bind(code.field(import, "alias"), scope.clone(), to);
            }
            // `import os.path` binds `os`.
            "dotted_name" => {
                let first = code.of(import).split('.').next().unwrap_or("");
                scopes.bind(first, scope.clone(), Bound::Import(first.to_owned()));
            }
            _ => {}
        }
    }
}

fn imports_from<'t>(code: Code<'t>, node: Node<'t>, scope: &Range<usize>, scopes: &mut Scopes<'t>) {
    let module_node = node.child_by_field_name("module_name");
    let module = module_node.map_or("", |module| code.of(module));
    for import in children(node) {
        match import.kind() {
            "aliased_import" => {
                let full = format!("{module}.{}", code.field(import, "name"));
                scopes.bind(code.field(import, "alias"), scope.clone(), Bound::Import(full));
            }
            "wildcard_import" => scopes.wildcards.push(module.to_owned()),
            "dotted_name" if Some(import) != module_node => {
                let name = code.of(import);
                scopes.bind(name, scope.clone(), Bound::Import(format!("{module}.{name}")));
            }
            _ => {}
        }
    }
}

fn assignment<'t>(code: Code<'t>, node: Node<'t>, scope: &Range<usize>, scopes: &mut Scopes<'t>) {
    let (Some(left), Some(mut right)) = (node.child_by_field_name("left"), node.child_by_field_name("right")) else {
        return;
    };
    // `a = b = value`.
    while let Some(inner) = right.child_by_field_name("right").filter(|_| right.kind() == "assignment") {
        right = inner;
    }
    match left.kind() {
        "identifier" => scopes.bind(code.of(left), scope.clone(), Bound::To(right)),
        // `self.x` is the same in every function of the file.
        "attribute" => scopes.bind(code.of(left), code.root.byte_range(), Bound::To(right)),
        "subscript" => {
            let key = left.child_by_field_name("subscript").and_then(|key| plain_string(code, key));
            if let (Some(key), Some(table)) = (key, left.child_by_field_name("value")) {
                scopes.bind(code.of(table), scope.clone(), Bound::Entry(key, right));
            }
        }
        _ => unpack(code, left, right, scope, scopes),
    }
}

/// `a, b = 1, 2` by place; anything else is not known.
fn unpack<'t>(code: Code<'t>, left: Node<'t>, right: Node<'t>, scope: &Range<usize>, scopes: &mut Scopes<'t>) {
    let (names, values) = (children(left), children(right));
    let paired = matches!(right.kind(), "expression_list" | "tuple" | "list") && names.len() == values.len();
    for (index, name) in names.into_iter().enumerate() {
        match paired && name.kind() == "identifier" {
            true => scopes.bind(code.of(name), scope.clone(), Bound::To(values[index])),
            false => opaque(code, Some(name), scope, scopes),
        }
    }
}

/// The name of a loop over a literal stands for each of its items.
fn each<'t>(code: Code<'t>, node: Node<'t>, scope: &Range<usize>, scopes: &mut Scopes<'t>) {
    let (Some(left), Some(right)) = (node.child_by_field_name("left"), node.child_by_field_name("right")) else {
        return;
    };
    let literal = matches!(right.kind(), "expression_list" | "tuple" | "list" | "set");
    for item in children(right).into_iter().filter(|_| literal) {
        match left.kind() {
            "identifier" => scopes.bind(code.of(left), scope.clone(), Bound::To(item)),
            _ => unpack(code, left, item, scope, scopes),
        }
    }
    if !literal {
        opaque(code, Some(left), scope, scopes);
    }
}

fn opaque<'t>(code: Code<'t>, pattern: Option<Node<'t>>, scope: &Range<usize>, scopes: &mut Scopes<'t>) {
    let Some(pattern) = pattern else { return };
    code.walk(pattern, |node| {
        if node.kind() == "identifier" {
            scopes.bind(code.of(node), scope.clone(), Bound::Opaque);
        }
        true
    });
}

fn parameters<'t>(code: Code<'t>, function: Node<'t>, scopes: &mut Scopes<'t>) {
    let Some(parameters) = function.child_by_field_name("parameters") else { return };
    for parameter in children(parameters) {
        let name = match parameter.kind() {
            "identifier" => Some(parameter),
            _ => parameter.child_by_field_name("name").or_else(|| children(parameter).into_iter().next()),
        };
        if let Some(name) = name {
            let name = code.of(name).trim_start_matches('*');
            scopes.bind(name, function.byte_range(), Bound::Opaque);
        }
    }
}

/// A string without a prefix and without holes.
pub fn plain_string(code: Code, node: Node) -> Option<String> {
    (node.kind() == "string").then(|| code.of(node).trim_matches(['\'', '"']).to_owned())
}

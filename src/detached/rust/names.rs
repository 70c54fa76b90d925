//! What Rust's names stand for: `use` under any alias, constants, let, functions.

use super::super::code::{Code, Functions, children};
use super::super::scope::{Bound, Scopes};
use tree_sitter::Node;

pub fn bindings<'t>(code: Code<'t>) -> Scopes<'t> {
    let mut scopes = Scopes::default();
    let mut functions = Functions::of(code, &["function_item", "closure_expression"]);
    code.walk(code.root, |node| {
        let scope = functions.around(node);
        match node.kind() {
            "use_declaration" => {
                if let Some(argument) = node.child_by_field_name("argument") {
                    uses(code, argument, "", &mut scopes);
                }
            }
            "let_declaration" | "const_item" | "static_item" => {
                let name = node.child_by_field_name("pattern").or(node.child_by_field_name("name"));
                if let Some(name) = name {
                    let to = node.child_by_field_name("value").map_or(Bound::Opaque, Bound::To);
                    scopes.bind(code.of(name).trim_start_matches("mut "), scope, to);
                }
            }
            "function_item" => {
                scopes.bind(code.field(node, "name"), scope, Bound::Function(node));
                parameters(code, node, &mut scopes);
            }
            "closure_expression" => parameters(code, node, &mut scopes),
            _ => {}
        }
        true
    });
    scopes
}

fn uses<'t>(code: Code<'t>, node: Node<'t>, before: &str, scopes: &mut Scopes<'t>) {
    let whole = code.root.byte_range();
    let full = |path: &str| if before.is_empty() { path.to_owned() } else { format!("{before}::{path}") };
    let last = |path: &str| path.rsplit("::").next().unwrap_or(path).to_owned();
    match node.kind() {
        "use_as_clause" => {
            let to = Bound::Import(full(code.field(node, "path")));
            scopes.bind(code.field(node, "alias"), whole, to);
        }
        "scoped_use_list" => {
            let path = full(code.field(node, "path"));
            if let Some(list) = node.child_by_field_name("list") {
                children(list).into_iter().for_each(|item| uses(code, item, &path, scopes));
            }
        }
        "use_list" => children(node).into_iter().for_each(|item| uses(code, item, before, scopes)),
        "use_wildcard" => scopes.wildcards.push(full(code.of(node).trim_end_matches("::*"))),
        "self" => scopes.bind(&last(before), whole, Bound::Import(before.to_owned())),
        "identifier" | "scoped_identifier" => {
            let path = code.of(node);
            scopes.bind(&last(path), whole, Bound::Import(full(path)));
        }
        _ => {}
    }
}

fn parameters<'t>(code: Code<'t>, function: Node<'t>, scopes: &mut Scopes<'t>) {
    let Some(parameters) = function.child_by_field_name("parameters") else { return };
    for parameter in children(parameters) {
        let name = parameter.child_by_field_name("pattern").unwrap_or(parameter);
        scopes.bind(code.of(name).trim_start_matches("mut "), function.byte_range(), Bound::Opaque);
    }
}

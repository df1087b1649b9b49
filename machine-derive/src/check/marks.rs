//! Views find a field by its name in the stored data. Where serde gives it another one, a mark could apply
//! to the data of another field.

use syn::{Attribute, Ident, meta::ParseNestedMeta};

use crate::{errors::Errors, message, model::Graph, parse::Audience};

/// Options of serde that change the names in the data of a state.
const ON_STATES: [&str; 5] = ["rename_all", "into", "remote", "tag", "transparent"];

/// Options of serde that change the names of a field, or merge the names of another type into them.
const ON_FIELDS: [&str; 2] = ["rename", "flatten"];

/// The data of a state with marks have the names of its fields.
pub(super) fn go_by_names(graph: &Graph<'_>, errors: &mut Errors) {
    for state in &graph.states {
        let written = state.written;
        if written.fields.iter().all(|field| field.audience == Audience::Internal) {
            continue;
        }
        let on_state = written.others.iter().flat_map(|attribute| options(attribute, &ON_STATES));
        let fields = written.fields.iter().flat_map(|field| &field.attrs);
        let on_fields = fields.flat_map(|attribute| options(attribute, &ON_FIELDS));
        for option in on_state.chain(on_fields) {
            errors.at(option.span(), message::marks_go_by_names(&option, state.name()));
        }
    }
}

/// The options of a serde attribute that are among these.
fn options(attribute: &Attribute, wanted: &[&str]) -> Vec<Ident> {
    let mut found = Vec::new();
    if attribute.path().is_ident("serde") {
        // What serde cannot read, it reports itself.
        let _ = attribute.parse_nested_meta(|meta| {
            let name = meta.path.get_ident().filter(|name| wanted.iter().any(|it| *name == it));
            found.extend(name.cloned());
            skip_value(&meta)
        });
    }
    found
}

fn skip_value(meta: &ParseNestedMeta<'_>) -> syn::Result<()> {
    if meta.input.peek(syn::token::Paren) {
        return meta.parse_nested_meta(|inner| skip_value(&inner));
    }
    if let Ok(value) = meta.value() {
        value.parse::<syn::Expr>()?;
    }
    Ok(())
}

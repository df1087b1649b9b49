//! The types of a durable machine that serde must write and read.
//!
//! Each is a bound of the implementations that serde derives, which rustc accepts until the code
//! uses them. So a type that does not fit makes one error, in [`requirements`], and not several of
//! serde's.

use std::rc::Rc;

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::{Attribute, Type, spanned::Spanned};

use super::names::Names;
use crate::{
    model::{Brought, State},
    parse::Field,
    text,
};

/// The attribute for a field or a payload item of this type, if it needs one.
pub(super) fn attribute<'a>(
    names: &Names<'_>,
    ty: &Type,
    attributes: impl IntoIterator<Item = &'a Attribute>,
) -> Option<TokenStream> {
    let bound = bound(names, ty, attributes)?;
    // The bound is text: the name of an alias in it resolves, where the type may not.
    let mut text = Literal::string(&bound.to_string());
    text.set_span(Span::mixed_site().located_at(ty.span()));
    Some(quote!(#[serde(bound = #text)]))
}

/// The bounds of all payloads, for implementations that call the derived ones.
pub(super) fn of_events(names: &Names<'_>) -> TokenStream {
    let items = names.graph.triggers.iter().flat_map(|trigger| &trigger.brought);
    let bounds = items.filter_map(|Brought { ty, .. }| bound(names, ty, &[]));
    let bounds: Vec<TokenStream> = bounds.collect();
    if bounds.is_empty() { TokenStream::new() } else { quote!(where #(#bounds),*) }
}

/// Requires the types of fields and payload items, and the context, to be data: each once.
pub(super) fn requirements(names: &Names<'_>) -> TokenStream {
    let types = names.graph.plain_types();
    let aliases = types.iter().map(|ty| {
        let alias = alias(names, ty);
        quote!(type #alias = #ty;)
    });
    let types = types.iter().map(|ty| hygienic_at!(ty.span() => stored::<#ty>));
    // A state whose fields have no such bounds is checked itself.
    let is_bound = |state: &&State<'_>| {
        let others = &state.written.others;
        let mut fields = state.written.fields.iter();
        let is_bound = |field: &Rc<Field>| {
            bound(names, &field.ty, others.iter().chain(&field.attrs)).is_some()
        };
        fields.len() > 0 && fields.all(is_bound)
    };
    let states = names.graph.states.iter().filter(|state| !is_bound(state)).map(|state| {
        let name = state.name();
        hygienic_at!(name.span() => stored::<#name>)
    });
    let context = names.has_context().then(|| {
        let ty = &names.context;
        hygienic_at!(ty.span() => let _ = data::<#ty>;)
    });
    hygienic! {
        #(#aliases)*
        const _: () = {
            fn stored<T: __machine::stored::Stored>() {}
            fn data<T: __machine::stored::Data>() {}
            #(let _ = #types;)*
            #(let _ = #states;)*
            #context
        };
    }
}

fn alias(names: &Names<'_>, ty: &Type) -> Option<Ident> {
    let text = text::of_type(ty.to_token_stream());
    let place = names.data.iter().position(|known| *known == text)?;
    Some(format_ident!("__Data{}", place))
}

/// The bound as tokens. Rustc does not check one with a `for` where it is declared.
fn bound<'a>(
    names: &Names<'_>,
    ty: &Type,
    attributes: impl IntoIterator<Item = &'a Attribute>,
) -> Option<TokenStream> {
    let alias = alias(names, ty).filter(|_| names.graph.is_plain(attributes))?;
    Some(quote!(for<'__> #alias: __machine::stored::Stored))
}

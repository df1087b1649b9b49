//! Shared fields as methods: of the typed machine in each state that has the field, and of the
//! erased one.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote};

use super::{names::Names, params::Used};
use crate::{parse::Shared, text::bare};

/// A sealed trait for each field, which the states that have it implement, and a method that
/// requires it. Groups whose states all have the field require it, too; see [`of_all`].
pub(super) fn emit(names: &Names<'_>) -> TokenStream {
    let shared = &names.graph.declaration.shared;
    // After a mistake, the name may be that of another method, which was reported.
    let fields =
        shared.iter().filter(|shared| !names.stub || !names.graph.is_method(&shared.field.name));
    let fields: Vec<Field<'_>> = fields.map(|shared| Field::of(names, shared)).collect();
    if fields.is_empty() {
        return TokenStream::new();
    }
    let seals = (!names.stub).then(|| {
        let traits = fields.iter().map(|field| field.declared(names));
        let members = fields.iter().map(|field| field.members(names));
        quote! {
            // Only the declaration says which states have a field: other code cannot name this
            // type.
            mod __fields {
                pub struct Seal;
            }
            #(#traits)*
            #(#members)*
        }
    });
    let of_typed = fields.iter().map(|field| field.of_typed(names));
    let of_any = fields.iter().map(|field| field.of_any(names));
    let (typed, any) = (names.typed_with(&names.state), names.any_type());
    let (generics_and_state, predicates) = names.for_all_and_state(&quote!());
    let (generics, _) = names.for_all();
    quote! {
        #seals

        impl #generics_and_state #typed #predicates {
            #(#of_typed)*
        }

        impl #generics #any #predicates {
            #(#of_any)*
        }
    }
}

/// The traits of the fields that all of these states have, as bounds. A group does not know the
/// parameters of the machine.
pub(super) fn of_all(names: &Names<'_>, states: &[usize]) -> Vec<TokenStream> {
    let shared = names.graph.declaration.shared.iter();
    let fields = shared.filter(|shared| states.iter().all(|state| shared.states.contains(state)));
    let fields = fields.map(|shared| Field::of(names, shared));
    fields.filter(|field| field.args.is_empty()).map(|field| field.bound()).collect()
}

struct Field<'a> {
    shared: &'a Shared,
    /// `HasGoal`
    name: Ident,
    /// The parameters of the machine that its type mentions.
    used: Used,
    args: TokenStream,
}

impl<'a> Field<'a> {
    fn of(names: &Names<'_>, shared: &'a Shared) -> Self {
        let name = format_ident!("{}", shared.trait_name());
        let used = names.params.in_types([&shared.field.ty]);
        let args = names.params.apply(&[], &used);
        Self { shared, name, used, args }
    }

    /// `HasGoal<T>`
    fn bound(&self) -> TokenStream {
        let (name, args) = (&self.name, &self.args);
        quote!(#name #args)
    }

    fn declared(&self, names: &Names<'_>) -> TokenStream {
        let (name, field, ty) = (&self.name, &self.shared.field.name, &self.shared.field.ty);
        let generics = names.params.declare(&[], &self.used);
        let predicates = names.params.where_clause(&self.used);
        let labels =
            self.shared.states.iter().map(|state| names.graph.states[*state].label.as_str());
        let about = format!("The states that have the field `{}`.", bare(field));
        let message = format!("`{{Self}}` has no field `{}`", bare(field));
        let note = format!("the states that have it: {}", labels.collect::<Vec<_>>().join(", "));
        quote! {
            #[diagnostic::on_unimplemented(message = #message, label = "no such field", note = #note)]
            #[doc = #about]
            pub trait #name #generics #predicates {
                #[doc(hidden)]
                fn __get(&self, _: __fields::Seal) -> &#ty;
            }
        }
    }

    fn members(&self, names: &Names<'_>) -> TokenStream {
        let (bound, field, ty) = (self.bound(), &self.shared.field.name, &self.shared.field.ty);
        let members = self.shared.states.iter().map(|state| {
            let (generics, here, predicates) = names.for_state(&names.graph.states[*state]);
            quote! {
                impl #generics #bound for #here #predicates {
                    fn __get(&self, _: __fields::Seal) -> &#ty {
                        &self.#field
                    }
                }
            }
        });
        quote!(#(#members)*)
    }

    fn of_typed(&self, names: &Names<'_>) -> TokenStream {
        let (bound, state) = (self.bound(), &names.state);
        let bounded = (!names.stub).then(|| quote!(where #state: #bound));
        self.method(
            |ty| quote!(&#ty),
            bounded.as_ref(),
            &quote!(<#state as #bound>::__get(&self.state, __fields::Seal)),
        )
    }

    fn of_any(&self, names: &Names<'_>) -> TokenStream {
        let field = &self.shared.field.name;
        let has = self.shared.states.iter().map(|state| names.graph.states[*state].name());
        if self.shared.states.len() == names.graph.states.len() {
            let found = quote!(match self { #(Self::#has(machine) => &machine.state.#field),* });
            return self.method(|ty| quote!(&#ty), None, &found);
        }
        let found = quote! {
            match self {
                #(Self::#has(machine) => ::core::option::Option::Some(&machine.state.#field),)*
                _ => ::core::option::Option::None,
            }
        };
        self.method(|ty| quote!(::core::option::Option<&#ty>), None, &found)
    }

    fn method(
        &self,
        returned: impl Fn(TokenStream) -> TokenStream,
        bounded: Option<&TokenStream>,
        body: &TokenStream,
    ) -> TokenStream {
        let field = &self.shared.field;
        let name = &field.name;
        let returned = returned(field.ty.to_token_stream());
        let docs: Vec<_> = field.attrs.iter().filter(|it| it.path().is_ident("doc")).collect();
        let deprecated = field.attrs.iter().filter(|it| it.path().is_ident("deprecated"));
        let about = docs.is_empty().then(|| {
            let about = format!("The field `{}` of the state.", bare(name));
            quote!(#[doc = #about])
        });
        quote! {
            #(#docs)*
            #about
            #(#deprecated)*
            #[must_use]
            pub fn #name(&self) -> #returned #bounded {
                #body
            }
        }
    }
}

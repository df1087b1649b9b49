use std::collections::BTreeSet;

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::{GenericParam, Generics, WherePredicate};

use crate::tokens::walk;

/// The machine's generic parameters, as each generated item needs them.
///
/// A state has only the parameters that its fields use, so that `Door<Closed, T>` needs no
/// `Closed<T>`.
pub(super) struct Params<'a> {
    generics: &'a Generics,
    all: BTreeSet<String>,
}

/// The parameters that an item uses.
pub(super) struct Used(BTreeSet<String>);

impl<'a> Params<'a> {
    pub(super) fn of(generics: &'a Generics) -> Self {
        Self {
            generics,
            all: generics.params.iter().map(|param| bare(param).to_string()).collect(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// A name for a generated parameter that differs from all of the user's.
    pub(super) fn free(&self, wanted: &[&str]) -> Ident {
        let free = wanted.iter().find(|name| !self.all.contains(**name));
        quote::format_ident!("{}", free.copied().unwrap_or("__Ours"))
    }

    pub(super) fn every(&self) -> Used {
        Used(self.all.clone())
    }

    /// The parameters that `types` use.
    pub(super) fn in_types(&self, types: impl IntoIterator<Item = impl ToTokens>) -> Used {
        let mut used = BTreeSet::new();
        for ty in types {
            mentions(ty.to_token_stream(), &self.all, &mut used);
        }
        Used(used)
    }

    /// `<'a, S, T: Bound, const N: usize>`, with `extra` where the state's parameter belongs.
    pub(super) fn declare(&self, extra: &[TokenStream], used: &Used) -> TokenStream {
        self.list(extra, used, |param| self.with_bounds(param, used))
    }

    /// The parameters in the definition of a type, where they can have defaults.
    pub(super) fn define(&self, extra: &[TokenStream], used: &Used) -> TokenStream {
        // A default may need a parameter that this type has not.
        let mut defaults = self.split(used).1.filter_map(default);
        let fits = defaults.all(|default| self.speaks_only_of(&default, used));
        self.list(extra, used, |param| {
            let declared = self.with_bounds(param, used);
            match default(param).filter(|_| fits) {
                Some(default) => quote!(#declared = #default),
                None => declared,
            }
        })
    }

    /// `<'a, Open, T, N>`, with `extra` where the state belongs.
    pub(super) fn apply(&self, extra: &[TokenStream], used: &Used) -> TokenStream {
        self.list(extra, used, bare)
    }

    /// The used parameters in angle brackets, with `extra` after the lifetimes.
    fn list(
        &self,
        extra: &[TokenStream],
        used: &Used,
        text: impl Fn(&GenericParam) -> TokenStream,
    ) -> TokenStream {
        let (lifetimes, others) = self.split(used);
        let others = others.map(&text);
        let all: Vec<_> = lifetimes.map(&text).chain(extra.iter().cloned()).chain(others).collect();
        if all.is_empty() { quote!() } else { quote!(<#(#all),*>) }
    }

    /// `::<T, N>`: every type and constant, for a call of a generated function. Lifetimes are
    /// inferred.
    pub(super) fn turbofish(&self) -> TokenStream {
        let every = self.every();
        let all: Vec<_> = self.split(&every).1.map(bare).collect();
        if all.is_empty() { quote!() } else { quote!(::<#(#all),*>) }
    }

    /// The predicates that mention only used parameters.
    pub(super) fn where_clause(&self, used: &Used) -> TokenStream {
        let predicates: Vec<&WherePredicate> = self
            .generics
            .where_clause
            .iter()
            .flat_map(|clause| &clause.predicates)
            .filter(|predicate| self.speaks_only_of(predicate, used))
            .collect();
        if predicates.is_empty() { quote!() } else { quote!(where #(#predicates),*) }
    }

    /// The type of a marker field that uses every parameter, if there are any. It affects neither
    /// the size nor `Send` and `Sync`.
    pub(super) fn marker(&self) -> Option<TokenStream> {
        let mentions: Vec<TokenStream> = self
            .generics
            .params
            .iter()
            .filter_map(|param| match param {
                GenericParam::Lifetime(param) => {
                    let lifetime = &param.lifetime;
                    Some(quote!(&#lifetime ()))
                }
                GenericParam::Type(param) => {
                    let name = &param.ident;
                    Some(quote!(*const #name))
                }
                GenericParam::Const(_) => None,
            })
            .collect();
        (!mentions.is_empty())
            .then(|| quote!(::core::marker::PhantomData<fn() -> (#(#mentions,)*)>))
    }

    fn split<'s>(
        &'s self,
        used: &'s Used,
    ) -> (impl Iterator<Item = &'a GenericParam> + 's, impl Iterator<Item = &'a GenericParam> + 's)
    {
        let is_lifetime = |param: &&GenericParam| matches!(param, GenericParam::Lifetime(_));
        let used = move || {
            let params: &'a _ = &self.generics.params;
            params.iter().filter(move |param| used.0.contains(&bare(param).to_string()))
        };
        (used().filter(is_lifetime), used().filter(move |param| !is_lifetime(param)))
    }

    /// The parameter with the bounds that mention only used parameters.
    fn with_bounds(&self, param: &GenericParam, used: &Used) -> TokenStream {
        let bounds: Vec<TokenStream> = match param {
            GenericParam::Type(param) => {
                param.bounds.iter().map(ToTokens::to_token_stream).collect()
            }
            GenericParam::Lifetime(param) => {
                param.bounds.iter().map(ToTokens::to_token_stream).collect()
            }
            GenericParam::Const(param) => {
                let (name, ty) = (&param.ident, &param.ty);
                return quote!(const #name: #ty);
            }
        };
        let name = bare(param);
        let mut bounds = bounds.iter().filter(|bound| self.speaks_only_of(bound, used)).peekable();
        let colon = bounds.peek().map(|_| quote!(:));
        quote!(#name #colon #(#bounds)+*)
    }

    fn speaks_only_of(&self, tokens: &impl ToTokens, used: &Used) -> bool {
        let mut spoken = BTreeSet::new();
        mentions(tokens.to_token_stream(), &self.all, &mut spoken);
        spoken.is_subset(&used.0)
    }
}

/// The default of a parameter.
fn default(param: &GenericParam) -> Option<TokenStream> {
    match param {
        GenericParam::Type(param) => param.default.as_ref().map(|(_, ty)| ty.to_token_stream()),
        GenericParam::Const(param) => {
            param.default.as_ref().map(|(_, value)| value.to_token_stream())
        }
        GenericParam::Lifetime(_) => None,
    }
}

/// `'a`, `T` or `N`.
fn bare(param: &GenericParam) -> TokenStream {
    match param {
        GenericParam::Lifetime(param) => param.lifetime.to_token_stream(),
        GenericParam::Type(param) => param.ident.to_token_stream(),
        GenericParam::Const(param) => param.ident.to_token_stream(),
    }
}

/// Adds the `names` that occur in `tokens` to `found`.
fn mentions(tokens: TokenStream, names: &BTreeSet<String>, found: &mut BTreeSet<String>) {
    walk(tokens, &mut |spot| {
        let tick = if spot.is(-1, '\'') { "'" } else { "" };
        let name = spot.ident().map(|ident| format!("{tick}{ident}"));
        found.extend(name.filter(|name| names.contains(name)));
    });
}

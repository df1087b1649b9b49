use std::collections::BTreeSet;

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::{
    Attribute, GenericArgument, GenericParam, Generics, PathArguments, ReturnType, TypeParamBound,
    WherePredicate,
};

use crate::tokens::{any, says, walk};

/// The machine's generic parameters, as each generated item needs them.
///
/// A state has only the parameters that its fields use, so that `Door<Closed, T>` needs no
/// `Closed<T>`.
pub(super) struct Params<'a> {
    generics: &'a Generics,
    all: BTreeSet<String>,
    bounds: Vec<Bound>,
}

struct Bound {
    of: String,
    /// The arguments of the trait: `R` in `Service<R>`.
    arguments: TokenStream,
    /// The types that it equates with associated ones: `U` in `Iterator<Item = U>`. For rustc, a
    /// type that has the bound uses the parameters in them.
    equal: TokenStream,
    /// False for traits that are known to have no associated types.
    has_types: bool,
}

/// Traits with an argument and without associated types.
const WITHOUT_TYPES: [&str; 10] = [
    "AsMut",
    "AsRef",
    "Borrow",
    "BorrowMut",
    "Extend",
    "From",
    "FromIterator",
    "Into",
    "PartialEq",
    "PartialOrd",
];

pub(super) struct Used(BTreeSet<String>);

impl<'a> Params<'a> {
    pub(super) fn of(generics: &'a Generics) -> Self {
        Self {
            generics,
            all: generics.params.iter().map(|param| bare(param).to_string()).collect(),
            bounds: bounds(generics),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// A name for the state's parameter that differs from all of the user's and those in `said`.
    pub(super) fn free(&self, said: &TokenStream) -> Ident {
        let is_free = |name: &&str| !self.all.contains(*name) && !says(said, name);
        let free = ["S", "State", "CurrentState"].into_iter().find(is_free);
        quote::format_ident!("{}", free.unwrap_or("__Ours"))
    }

    pub(super) fn every(&self) -> Used {
        Used(self.all.clone())
    }

    /// The parameters that `types` use, and those that bounds of these make equal to an associated
    /// type.
    pub(super) fn in_types(&self, types: impl IntoIterator<Item = impl ToTokens>) -> Used {
        let types = types.into_iter().map(|ty| self.mentions(ty.to_token_stream()));
        let mut used: BTreeSet<String> = types.flatten().collect();
        loop {
            let known = self.bounds.iter().filter(|bound| {
                used.contains(&bound.of) && self.speaks_only_of(&bound.arguments, &used)
            });
            let equal = known.flat_map(|bound| self.mentions(bound.equal.clone()));
            let new: Vec<String> = equal.filter(|name| !used.contains(name)).collect();
            if new.is_empty() {
                return Used(used);
            }
            used.extend(new);
        }
    }

    /// `<'a, S, T: Bound, const N: usize>`, with `extra` where the state's parameter belongs.
    pub(super) fn declare(&self, extra: &[TokenStream], used: &Used) -> TokenStream {
        self.list(extra, used, |param| self.with_bounds(param, used))
    }

    /// The parameters in the definition of a type, where they can have defaults.
    pub(super) fn define(&self, extra: &[TokenStream], used: &Used) -> TokenStream {
        // A default may need a parameter that this type has not.
        let mut defaults = self.split(used).1.filter_map(default);
        let fits = defaults.all(|default| self.speaks_only_of(&default, &used.0));
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

    /// The predicates about used parameters, with the bounds that mention only these.
    pub(super) fn where_clause(&self, used: &Used) -> TokenStream {
        let predicates = self.generics.where_clause.iter().flat_map(|clause| &clause.predicates);
        let predicates: Vec<_> = predicates.filter_map(|it| self.predicate(it, &used.0)).collect();
        if predicates.is_empty() { quote!() } else { quote!(where #(#predicates),*) }
    }

    fn predicate(
        &self,
        predicate: &WherePredicate,
        used: &BTreeSet<String>,
    ) -> Option<WherePredicate> {
        let mut predicate = predicate.clone();
        if let WherePredicate::Type(required) = &mut predicate {
            let bounds = std::mem::take(&mut required.bounds).into_iter();
            required.bounds = bounds.filter(|bound| self.speaks_only_of(bound, used)).collect();
            if required.bounds.is_empty() {
                return None;
            }
        }
        self.speaks_only_of(&predicate, used).then_some(predicate)
    }

    /// The type of a marker field that uses every parameter, if there are any. It affects neither
    /// the size nor `Send` and `Sync`.
    pub(super) fn marker(&self) -> Option<TokenStream> {
        let mentions: Vec<TokenStream> = self.generics.params.iter().filter_map(mention).collect();
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
        let mut bounds =
            bounds.iter().filter(|bound| self.speaks_only_of(bound, &used.0)).peekable();
        let colon = bounds.peek().map(|_| quote!(:));
        quote!(#name #colon #(#bounds)+*)
    }

    fn speaks_only_of(&self, tokens: &impl ToTokens, used: &BTreeSet<String>) -> bool {
        self.mentions(tokens.to_token_stream()).is_subset(used)
    }

    /// The parameters in `tokens`. An associated type, `S::Response`, also needs those in the
    /// bounds of `S`, any of which may be the trait that declares it.
    fn mentions(&self, tokens: TokenStream) -> BTreeSet<String> {
        let (mut found, mut owners, mut left) = (BTreeSet::new(), BTreeSet::new(), vec![tokens]);
        while let Some(tokens) = left.pop() {
            walk(tokens, &mut |spot| {
                let tick = if spot.is(-1, '\'') { "'" } else { "" };
                let name = spot.ident().map(|ident| format!("{tick}{ident}"));
                let Some(name) = name.filter(|name| self.all.contains(name)) else { return };
                if spot.is(1, ':') && spot.is(2, ':') && owners.insert(name.clone()) {
                    let own = self.bounds.iter().filter(|it| it.has_types && it.of == name);
                    left.extend(own.map(|bound| bound.arguments.clone()));
                }
                found.insert(name);
            });
        }
        found
    }
}

/// Unnamed fields that use the parameters, each under the `cfg` of its parameter.
pub(crate) fn markers(generics: &Generics) -> Vec<TokenStream> {
    let markers = generics.params.iter().filter_map(|param| {
        let attributes = match param {
            GenericParam::Lifetime(param) => &param.attrs,
            GenericParam::Type(param) => &param.attrs,
            GenericParam::Const(param) => &param.attrs,
        };
        let is_cfg = |attribute: &&Attribute| {
            attribute.path().is_ident("cfg") || attribute.path().is_ident("cfg_attr")
        };
        let conditions = attributes.iter().filter(is_cfg);
        let mention = mention(param)?;
        Some(quote!(#(#conditions)* ::core::marker::PhantomData<fn() -> #mention>))
    });
    markers.collect()
}

fn mention(param: &GenericParam) -> Option<TokenStream> {
    match param {
        GenericParam::Lifetime(param) => {
            let lifetime = &param.lifetime;
            Some(quote!(&#lifetime ()))
        }
        GenericParam::Type(param) => {
            let name = &param.ident;
            Some(quote!(*const #name))
        }
        GenericParam::Const(_) => None,
    }
}

/// The trait bounds of the type parameters, in both places.
fn bounds(generics: &Generics) -> Vec<Bound> {
    let declared = generics.type_params().map(|param| (param.ident.to_string(), &param.bounds));
    let predicates = generics.where_clause.iter().flat_map(|clause| &clause.predicates);
    let required = predicates.filter_map(|predicate| {
        let WherePredicate::Type(required) = predicate else { return None };
        Some((required.bounded_ty.to_token_stream().to_string(), &required.bounds))
    });
    let all = declared.chain(required).flat_map(|(of, bounds)| {
        bounds.iter().filter_map(move |bound| Bound::of(of.clone(), bound))
    });
    all.collect()
}

impl Bound {
    fn of(of: String, bound: &TypeParamBound) -> Option<Self> {
        let TypeParamBound::Trait(bound) = bound else { return None };
        let last = bound.path.segments.last()?;
        let has_types = WITHOUT_TYPES.iter().all(|known| last.ident != known);
        let (mut arguments, mut associated) = (TokenStream::new(), Vec::new());
        match &last.arguments {
            PathArguments::None => {}
            PathArguments::AngleBracketed(list) => {
                for argument in &list.args {
                    match argument {
                        GenericArgument::AssocType(assoc) => associated.push(&assoc.ty),
                        other => other.to_tokens(&mut arguments),
                    }
                }
            }
            PathArguments::Parenthesized(list) => {
                list.inputs.to_tokens(&mut arguments);
                if let ReturnType::Type(_, ty) = &list.output {
                    associated.push(ty);
                }
            }
        }
        let mut equal = TokenStream::new();
        for ty in associated {
            // `U::Item` says nothing about `U`.
            let is_path = any(ty.to_token_stream(), |spot| spot.is(0, ':') && spot.is(1, ':'));
            ty.to_tokens(if is_path { &mut arguments } else { &mut equal });
        }
        Some(Self { of, arguments, equal, has_types })
    }
}

fn default(param: &GenericParam) -> Option<TokenStream> {
    match param {
        GenericParam::Type(param) => param.default.as_ref().map(|(_, ty)| ty.to_token_stream()),
        GenericParam::Const(param) => {
            param.default.as_ref().map(|(_, value)| value.to_token_stream())
        }
        GenericParam::Lifetime(_) => None,
    }
}

fn bare(param: &GenericParam) -> TokenStream {
    match param {
        GenericParam::Lifetime(param) => param.lifetime.to_token_stream(),
        GenericParam::Type(param) => param.ident.to_token_stream(),
        GenericParam::Const(param) => param.ident.to_token_stream(),
    }
}

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;

use super::{
    invocations,
    names::{self, Names},
    serde, storable,
};
use crate::{parse::Upgrade, text::bare};

/// The implementations that let a store write the machine, and restore it after replaying its
/// journal.
pub(super) fn emit(names: &Names<'_>) -> TokenStream {
    // A generic durable machine was reported.
    if !names.durable || !names.params.is_empty() {
        return TokenStream::new();
    }
    let parts = [
        if names.stub { TokenStream::new() } else { storable::requirements(names) },
        states(names),
        durable(names),
        restore(names),
        never_read(names),
    ];
    quote!(#(#parts)*)
}

/// The data of each state as text, and the calls that it makes.
fn states(names: &Names<'_>) -> TokenStream {
    let (typed, text) = (&names.typed, written(&quote!(::std::string::String)));
    let calls = names.graph.invocations().next().map(|_| {
        quote! {
            fn __entered(_: &super::#typed<Self>) -> super::__machine::__private::Entered
            where
                Self: ::core::marker::Sized,
            {
                ::core::default::Default::default()
            }
        }
    });
    let states = names.graph.states.iter().enumerate().map(|(index, state)| {
        let name = names.state_type(state);
        let compared = state.written.fields.iter().filter(|field| !field.lossy).map(|field| {
            let (name, text) = (&field.name, bare(&field.name));
            quote!((#text, __machine::__private::Pair(&self.#name, &read.#name).differ()))
        });
        let compared: Vec<TokenStream> = compared.collect();
        let count = compared.len();
        let call = state.invocation.as_ref().map(|_| {
            let function = invocations::function_name(index);
            quote! {
                fn __entered(machine: &#typed<Self>) -> __machine::__private::Entered {
                    #function(machine)
                }
            }
        });
        quote! {
            impl __stored::State for #name {
                fn __text(&self) -> #text {
                    use __machine::__private::{Incomparable as _, Unstorable as _};
                    __machine::__private::Value(self).encode(
                        |read: &Self| -> [(&'static str, bool); #count] { [#(#compared),*] },
                    )
                }
                #call
            }
        }
    });
    quote! {
        mod __stored {
            pub trait State {
                fn __text(&self) -> ::core::result::Result<
                    ::std::string::String, super::__machine::__private::Unwritten,
                >;
                #calls
            }
        }
        #(#states)*
    }
}

fn written(text: &TokenStream) -> TokenStream {
    quote!(::core::result::Result<#text, __machine::__private::Unwritten>)
}

/// The methods of `Durable`, each with its signature, its body in the typed machine, and its body
/// in the erased one.
fn methods(names: &Names<'_>) -> Vec<(TokenStream, TokenStream, TokenStream)> {
    let Names { context, state, .. } = names;
    let (all, text) = (names.graph.names(), written(&quote!(::std::string::String)));
    let mut methods = vec![
        (
            quote!(fn definition(&self) -> &'static __machine::definition::Definition),
            quote!(DEFINITION),
            quote!(DEFINITION),
        ),
        (
            quote!(fn state_index(&self) -> usize),
            quote!(#state::INDEX),
            quote!(self.status() as usize),
        ),
        (
            quote!(fn journal(&self) -> &__machine::__private::Journal),
            quote!(self.core.__journal()),
            quote!(self.durable().journal()),
        ),
        (
            quote!(fn __rules(&self) -> &dyn __machine::__private::Rules),
            quote!(<#context as __machine::__private::Context>::__as_dyn(self.core.__context())),
            quote!(self.durable().__rules()),
        ),
        (
            quote! {
                fn __journal_mut(&mut self, pass: __machine::__private::Pass)
                -> &mut __machine::__private::Journal
            },
            quote!(self.core.__journal_mut(pass)),
            quote!(match self { #(Self::#all(machine) => machine.core.__journal_mut(pass)),* }),
        ),
        (
            quote!(fn __state_text(&self) -> #text),
            quote!(self.state.__text()),
            quote!(self.durable().__state_text()),
        ),
        (
            {
                let text = written(&quote!(::std::sync::Arc<str>));
                quote!(fn __context_text(&self) -> #text)
            },
            quote! {
                use __machine::__private::{Incomparable as _, Unstorable as _};
                __machine::__private::Value(&*self.core).context(
                    |kept: &#context, read: &#context| __machine::__private::Pair(kept, read).differ(),
                )
            },
            quote!(self.durable().__context_text()),
        ),
    ];
    if names.graph.invocations().next().is_some() {
        methods.push((
            quote!(fn __entered(&self) -> __machine::__private::Entered),
            quote!(<#state as __stored::State>::__entered(self)),
            quote!(self.durable().__entered()),
        ));
    }
    methods
}

fn durable(names: &Names<'_>) -> TokenStream {
    let Names { typed, any, context, state, .. } = names;
    let all = names.graph.names();
    let methods = methods(names);
    let of_typed = methods.iter().map(|(signature, body, _)| quote!(#signature { #body }));
    let of_any = methods.iter().map(|(signature, _, body)| quote!(#signature { #body }));
    let body = quote! {
        let claim = __machine::__private::Unverified::of(self)
            .map_err(__machine::__private::serde::ser::Error::custom)?;
        __machine::__private::serde::Serialize::serialize(&claim, serializer)
    };
    let serialize = serde::serialize(&quote!(#any), &quote!(), &body);
    quote! {
        impl<#state> #typed<#state> {
            // For the library alone, which moves a copy and commits it.
            #[doc(hidden)]
            #[must_use]
            pub fn __fork(&self, pass: __machine::__private::Pass) -> Self
            where
                #state: ::core::clone::Clone,
                for<'__> #context: ::core::clone::Clone,
            {
                let core = ::std::boxed::Box::new(self.core.__fork(pass));
                Self { core, state: ::core::clone::Clone::clone(&self.state) }
            }
        }

        impl<#state> __machine::__private::Durable for #typed<#state>
        where
            #state: AnyState + __stored::State + ::core::marker::Send,
        {
            #(#of_typed)*
        }

        impl #any {
            fn durable(&self) -> &dyn __machine::__private::Durable {
                match self { #(Self::#all(machine) => machine),* }
            }
        }

        impl __machine::__private::Durable for #any {
            #(#of_any)*
        }

        #serialize
    }
}

fn restore(names: &Names<'_>) -> TokenStream {
    let Names { typed, any, .. } = names;
    let states = names.graph.states.iter().enumerate().map(|(index, state)| {
        let (name, index) = (state.name(), names::index(index));
        let read = read_text(&quote!(#name));
        let data = upgrade_chain(&state.written.upgrades, &quote!(#name), &read);
        quote! {
            #index => {
                let state: #name = #data?;
                Self::#name(#typed { core, state })
            }
        }
    });
    let ty = &names.context;
    let result = quote! {
        ::core::result::Result<#ty, __machine::__private::serde_json::Error>
    };
    let fires = names.graph.moves.iter().any(|step| step.written.after.is_some()).then(|| {
        quote! {
            fn __fire_deadline(self, trigger: &str, now: __machine::clock::Millis)
            -> ::core::result::Result<Self, __machine::typed::Refused<Self>> {
                self.fire_deadline(trigger, now)
            }
        }
    });
    let outcomes: Vec<_> = names
        .graph
        .invocations()
        .map(|(state, invocation)| {
            let (state, tool) = (names::index(state), invocation.tool);
            quote!(#state => __machine::__private::OfTool::<#tool>::NEW.outcomes_of_calls(),)
        })
        .collect();
    let outcome = (!outcomes.is_empty()).then(|| {
        quote! {
            fn __outcomes(state: usize)
            -> ::core::option::Option<__machine::__private::OutcomeReader> {
                #[allow(unused_imports)]
                use __machine::__private::NotCallable as _;
                match state {
                    #(#outcomes)*
                    _ => ::core::option::Option::None,
                }
            }
        }
    });
    let upgrades = &names.graph.declaration.options.upgrades;
    let context = upgrade_chain(upgrades, ty, &read_text(ty));
    quote! {
        impl __machine::__private::Restore for #any {
            const DEFINITION: &'static __machine::definition::Definition = DEFINITION;

            #fires
            #outcome

            fn __restore(verified: __machine::__private::Verified)
            -> ::core::result::Result<Self, __machine::__private::Unread> {
                use __machine::__private::Unreadable as _;
                let __machine::__private::Parts { state, version, text, core } =
                    verified.__into_parts(DEFINITION, |version, text| -> #result { #context })?;
                let text = text.as_str();
                ::core::result::Result::Ok(match state {
                    #(#states)*
                    other => return ::core::result::Result::Err(
                        __machine::__private::Unread::unknown_state(other),
                    ),
                })
            }
        }
    }
}

/// Deserialization that never compiles; without it, rustc would suggest a derive.
fn never_read(names: &Names<'_>) -> TokenStream {
    let Names { typed, any, state, .. } = names;
    if !names.graph.derives("Deserialize") {
        return TokenStream::new();
    }
    let (any, typed) = (quote!(#any), quote!(#typed<#state>));
    let all = [(None, any), (Some(state), typed)].map(|(param, ty)| {
        let never = quote!(where for<'__> (): __machine::stored::ReadFromData<#ty>);
        serde::deserialize(param, &ty, &never, &quote!(loop {}))
    });
    quote!(#(#[doc(hidden)] #all)*)
}

fn read_text(ty: &TokenStream) -> TokenStream {
    quote!(__machine::__private::Reader::<#ty>(::core::marker::PhantomData).read(text))
}

/// The value of `text`, which was written by `version`, after all upgrades since that version.
fn upgrade_chain(upgrades: &[Upgrade], ty: &TokenStream, read: &TokenStream) -> TokenStream {
    if upgrades.is_empty() {
        return read.clone();
    }
    let mut upgrades: Vec<&Upgrade> = upgrades.iter().collect();
    upgrades.sort_by_key(|upgrade| upgrade.from);
    let arms = upgrades.iter().enumerate().map(|(position, first)| {
        let from = &first.number;
        let last = upgrades.len() - 1;
        let chain = (position..=last).fold(quote!(text), |value, step| {
            let path = &upgrades[step].path;
            // The type of the last step is known, so that rustc can name it.
            let next = if step == last { ty.clone() } else { quote!(_) };
            if step == position {
                // The path may stand in another macro than the enum.
                let text = Ident::new("text", Span::call_site().located_at(path.span()));
                return quote_spanned!(path.span()=>
                    __machine::stored::upgrade_from::<_, #next, _>(#path, #text)
                );
            }
            quote_spanned!(path.span()=>
                #value.and_then(|old| __machine::stored::upgrade::<_, #next, _>(#path, old))
            )
        });
        quote!(..=#from => #chain,)
    });
    quote!(match version { #(#arms)* _ => #read })
}

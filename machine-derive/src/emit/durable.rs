use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;

use super::names::{self, Names};
use crate::{
    model::{Graph, State},
    parse::Upgrade,
};

/// The implementations that let a store write the machine, and restore it after replaying its
/// journal.
pub(super) fn emit(graph: &Graph<'_>, names: &Names<'_>) -> TokenStream {
    if !names.durable {
        return TokenStream::new();
    }
    let parts = [typed(names), erased(graph, names), restore(graph, names)];
    quote!(#(#parts)*)
}

fn typed(names: &Names<'_>) -> TokenStream {
    let Names { typed, any, context, state, .. } = names;
    quote! {
        impl<#state> __machine::__private::Durable for #typed<#state>
        where
            #state: __machine::typed::State<Any = #any>
                + __machine::__private::serde::Serialize
                + __machine::__private::serde::de::DeserializeOwned
                + ::core::marker::Send,
        {
            fn definition(&self) -> &'static __machine::definition::Definition {
                DEFINITION
            }

            fn state_index(&self) -> usize {
                #state::INDEX
            }

            fn journal(&self) -> &__machine::__private::Journal {
                self.core.__journal()
            }

            fn __rules(&self) -> &dyn __machine::__private::Rules {
                <#context as __machine::__private::Context>::__as_dyn(self.core.__context())
            }

            fn __journal_mut(
                &mut self,
                pass: __machine::__private::Pass,
            ) -> &mut __machine::__private::Journal {
                self.core.__journal_mut(pass)
            }

            fn __state_text(&self) -> ::core::result::Result<
                ::std::string::String,
                __machine::__private::serde_json::Error,
            > {
                __machine::__private::encode(&self.state)
            }

            fn __context_text(&self) -> ::core::result::Result<
                ::std::sync::Arc<str>,
                __machine::__private::serde_json::Error,
            > {
                self.core.__context_text()
            }
        }
    }
}

fn erased(graph: &Graph<'_>, names: &Names<'_>) -> TokenStream {
    let any = &names.any;
    let all: Vec<_> = graph.states.iter().map(State::name).collect();
    quote! {
        impl #any {
            fn durable(&self) -> &dyn __machine::__private::Durable {
                match self { #(Self::#all(machine) => machine),* }
            }
        }

        impl __machine::__private::Durable for #any {
            fn definition(&self) -> &'static __machine::definition::Definition {
                DEFINITION
            }

            fn state_index(&self) -> usize {
                self.status() as usize
            }

            fn journal(&self) -> &__machine::__private::Journal {
                self.durable().journal()
            }

            fn __rules(&self) -> &dyn __machine::__private::Rules {
                self.durable().__rules()
            }

            fn __journal_mut(
                &mut self,
                pass: __machine::__private::Pass,
            ) -> &mut __machine::__private::Journal {
                match self { #(Self::#all(machine) => machine.core.__journal_mut(pass)),* }
            }

            fn __state_text(&self) -> ::core::result::Result<
                ::std::string::String,
                __machine::__private::serde_json::Error,
            > {
                self.durable().__state_text()
            }

            fn __context_text(&self) -> ::core::result::Result<
                ::std::sync::Arc<str>,
                __machine::__private::serde_json::Error,
            > {
                self.durable().__context_text()
            }
        }

        impl __machine::__private::serde::Serialize for #any {
            fn serialize<S: __machine::__private::serde::Serializer>(
                &self,
                serializer: S,
            ) -> ::core::result::Result<S::Ok, S::Error> {
                let claim = __machine::__private::Unverified::of(self)
                    .map_err(__machine::__private::serde::ser::Error::custom)?;
                __machine::__private::serde::Serialize::serialize(&claim, serializer)
            }
        }
    }
}

fn restore(graph: &Graph<'_>, names: &Names<'_>) -> TokenStream {
    let Names { typed, any, .. } = names;
    let states = graph.states.iter().enumerate().map(|(index, state)| {
        let (name, index) = (state.name(), names::index(index));
        let read = quote!(__machine::__private::serde_json::from_str(text));
        let data = upgraded(&state.written.upgrades, &quote!(#name), &read);
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
    let fires = graph.moves.iter().any(|step| step.after.is_some()).then(|| {
        quote! {
            fn __fire_deadline(
                self,
                trigger: &str,
                now: __machine::clock::Millis,
            ) -> ::core::result::Result<Self, __machine::typed::Refused<Self>> {
                self.fire_deadline(trigger, now)
            }
        }
    });
    let upgrades = &graph.declaration.options.upgrades;
    let context =
        upgraded(upgrades, ty, &quote!(<#ty as __machine::__private::Data>::__of_text(text)));
    quote! {
        impl __machine::__private::Restore for #any {
            const DEFINITION: &'static __machine::definition::Definition = DEFINITION;

            #fires

            fn __restore(
                verified: __machine::__private::Verified,
            ) -> ::core::result::Result<Self, __machine::__private::serde_json::Error> {
                let __machine::__private::Parts { state, version, text, core } =
                    verified.__into_parts(DEFINITION, |version, text| -> #result { #context })?;
                let text = text.as_str();
                ::core::result::Result::Ok(match state {
                    #(#states)*
                    other => return ::core::result::Result::Err(
                        __machine::__private::serde::de::Error::custom(other),
                    ),
                })
            }
        }
    }
}

/// The value of `text`, which was written by `version`, after all upgrades since that version.
fn upgraded(upgrades: &[Upgrade], ty: &TokenStream, read: &TokenStream) -> TokenStream {
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
                return quote_spanned!(path.span()=>
                    __machine::stored::upgrade_from::<_, #next, _>(#path, text)
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

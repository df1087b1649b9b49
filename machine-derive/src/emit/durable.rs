use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;

use super::{
    names::{self, Names},
    storable,
};
use crate::{
    model::{Graph, State},
    parse::Upgrade,
};

/// The implementations that let a store write the machine, and restore it after replaying its
/// journal.
pub(super) fn emit(graph: &Graph<'_>, names: &Names<'_>) -> TokenStream {
    // A generic durable machine was reported.
    if !names.durable || !names.params.is_empty() {
        return TokenStream::new();
    }
    let parts = [
        if names.stub { TokenStream::new() } else { storable::asked(graph, names) },
        states(graph),
        typed(names),
        erased(graph, names),
        restore(graph, names),
        never_read(graph, names),
    ];
    quote!(#(#parts)*)
}

/// The data of each state as text.
fn states(graph: &Graph<'_>) -> TokenStream {
    let names = graph.states.iter().map(State::name);
    quote! {
        mod __stored {
            pub trait State {
                fn __text(&self) -> ::core::result::Result<
                    ::std::string::String,
                    super::__machine::__private::serde_json::Error,
                >;
            }
        }
        #(
            impl __stored::State for #names {
                fn __text(&self) -> ::core::result::Result<
                    ::std::string::String,
                    __machine::__private::serde_json::Error,
                > {
                    use __machine::__private::Unstorable as _;
                    __machine::__private::Value(self).encode()
                }
            }
        )*
    }
}

fn typed(names: &Names<'_>) -> TokenStream {
    let Names { typed, any, context, state, .. } = names;
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
            #state: __machine::typed::State<Any = #any> + __stored::State + ::core::marker::Send,
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
                self.state.__text()
            }

            fn __context_text(&self) -> ::core::result::Result<
                ::std::sync::Arc<str>,
                __machine::__private::serde_json::Error,
            > {
                use __machine::__private::Unstorable as _;
                __machine::__private::Value(&*self.core).context()
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
        let read = read(&quote!(#name));
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
    let fires = graph.moves.iter().any(|step| step.written.after.is_some()).then(|| {
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
    let context = upgraded(upgrades, ty, &read(ty));
    quote! {
        impl __machine::__private::Restore for #any {
            const DEFINITION: &'static __machine::definition::Definition = DEFINITION;

            #fires

            fn __restore(
                verified: __machine::__private::Verified,
            ) -> ::core::result::Result<Self, __machine::__private::Unread> {
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

/// A machine is not read from data; without these implementations, serde would advise a derive.
fn never_read(graph: &Graph<'_>, names: &Names<'_>) -> TokenStream {
    let Names { typed, any, state, .. } = names;
    if !graph.derives("Deserialize") {
        return TokenStream::new();
    }
    let body = quote! {
        fn deserialize<__D: __machine::__private::serde::Deserializer<'de>>(
            _: __D,
        ) -> ::core::result::Result<Self, __D::Error> {
            loop {}
        }
    };
    quote! {
        #[doc(hidden)]
        impl<'de> __machine::__private::serde::Deserialize<'de> for #any
        where
            for<'__> (): __machine::stored::ReadFromData<#any>,
        {
            #body
        }

        #[doc(hidden)]
        impl<'de, #state> __machine::__private::serde::Deserialize<'de> for #typed<#state>
        where
            for<'__> (): __machine::stored::ReadFromData<#typed<#state>>,
        {
            #body
        }
    }
}

/// The value of `text`, if the type can be read.
fn read(ty: &TokenStream) -> TokenStream {
    quote!(__machine::__private::Reader::<#ty>(::core::marker::PhantomData).read(text))
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

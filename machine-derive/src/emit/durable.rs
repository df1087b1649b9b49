use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;

use super::{
    names::{self, Names},
    serde, storable,
};
use crate::{
    model::{Graph, State},
    parse::Upgrade,
};

/// The implementations that let a store write the machine, and restore it after replaying its
/// journal.
pub(super) fn emit(names: &Names<'_>) -> TokenStream {
    // A generic durable machine was reported.
    if !names.durable || !names.params.is_empty() {
        return TokenStream::new();
    }
    let parts = [
        if names.stub { TokenStream::new() } else { storable::requirements(names) },
        states(names.graph),
        typed(names),
        erased(names),
        restore(names),
        never_read(names),
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
    let durable = Durable {
        state_index: quote!(#state::INDEX),
        journal: quote!(self.core.__journal()),
        rules: quote! {
            <#context as __machine::__private::Context>::__as_dyn(self.core.__context())
        },
        journal_mut: quote!(self.core.__journal_mut(pass)),
        state_text: quote!(self.state.__text()),
        context_text: quote! {
            use __machine::__private::Unstorable as _;
            __machine::__private::Value(&*self.core).context()
        },
    };
    let bounds = quote! {
        where #state: __machine::typed::State<Any = #any> + __stored::State + ::core::marker::Send,
    };
    let durable = durable.implemented(&quote!(<#state>), &quote!(#typed<#state>), &bounds);
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

        #durable
    }
}

fn erased(names: &Names<'_>) -> TokenStream {
    let any = &names.any;
    let all: Vec<_> = names.graph.states.iter().map(State::name).collect();
    let durable = Durable {
        state_index: quote!(self.status() as usize),
        journal: quote!(self.durable().journal()),
        rules: quote!(self.durable().__rules()),
        journal_mut: quote! {
            match self { #(Self::#all(machine) => machine.core.__journal_mut(pass)),* }
        },
        state_text: quote!(self.durable().__state_text()),
        context_text: quote!(self.durable().__context_text()),
    };
    let durable = durable.implemented(&quote!(), &quote!(#any), &quote!());
    let body = quote! {
        let claim = __machine::__private::Unverified::of(self)
            .map_err(__machine::__private::serde::ser::Error::custom)?;
        __machine::__private::serde::Serialize::serialize(&claim, serializer)
    };
    let serialize = serde::serialize(&quote!(#any), &quote!(), &body);
    quote! {
        impl #any {
            fn durable(&self) -> &dyn __machine::__private::Durable {
                match self { #(Self::#all(machine) => machine),* }
            }
        }

        #durable
        #serialize
    }
}

/// The bodies of an implementation of `Durable`.
struct Durable {
    state_index: TokenStream,
    journal: TokenStream,
    rules: TokenStream,
    journal_mut: TokenStream,
    state_text: TokenStream,
    context_text: TokenStream,
}

impl Durable {
    fn implemented(
        &self,
        generics: &TokenStream,
        ty: &TokenStream,
        bounds: &TokenStream,
    ) -> TokenStream {
        let Self { state_index, journal, rules, journal_mut, state_text, context_text } = self;
        quote! {
            impl #generics __machine::__private::Durable for #ty #bounds {
                fn definition(&self) -> &'static __machine::definition::Definition {
                    DEFINITION
                }

                fn state_index(&self) -> usize {
                    #state_index
                }

                fn journal(&self) -> &__machine::__private::Journal {
                    #journal
                }

                fn __rules(&self) -> &dyn __machine::__private::Rules {
                    #rules
                }

                fn __journal_mut(
                    &mut self,
                    pass: __machine::__private::Pass,
                ) -> &mut __machine::__private::Journal {
                    #journal_mut
                }

                fn __state_text(&self) -> ::core::result::Result<
                    ::std::string::String,
                    __machine::__private::serde_json::Error,
                > {
                    #state_text
                }

                fn __context_text(&self) -> ::core::result::Result<
                    ::std::sync::Arc<str>,
                    __machine::__private::serde_json::Error,
                > {
                    #context_text
                }
            }
        }
    }
}

fn restore(names: &Names<'_>) -> TokenStream {
    let Names { typed, any, .. } = names;
    let states = names.graph.states.iter().enumerate().map(|(index, state)| {
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
    let fires = names.graph.moves.iter().any(|step| step.written.after.is_some()).then(|| {
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
    let upgrades = &names.graph.declaration.options.upgrades;
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

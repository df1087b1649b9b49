use proc_macro2::TokenStream;
use quote::quote;

use super::{names::Names, serde};

pub(super) fn emit(names: &Names<'_>) -> TokenStream {
    let typed = &names.typed;
    let about = format!("The state of a [`{typed}`], without its data.");
    let variants = names.graph.states.iter().map(|state| {
        let (docs, name) = (&state.written.docs, state.name());
        quote!(#(#docs)* #name)
    });
    let all = names.graph.names();
    let non_exhaustive = &names.graph.declaration.non_exhaustive;
    let ty = quote!(Status);
    let serialize = names.graph.derives("Serialize").then(|| {
        serde::serialize(&ty, &quote!(), &quote!(serializer.serialize_str(self.as_str())))
    });
    let deserialize = names.graph.derives("Deserialize").then(|| {
        let body = quote! {
            let text = <::std::string::String as
                __machine::__private::serde::Deserialize>::deserialize(deserializer)?;
            text.parse().map_err(__machine::__private::serde::de::Error::custom)
        };
        serde::deserialize(None, &ty, &quote!(), &body)
    });
    quote! {
        #[doc = #about]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[allow(missing_docs)]
        #non_exhaustive
        pub enum Status {
            #(#variants),*
        }

        impl Status {
            /// All states, in declaration order.
            pub const ALL: &'static [Self] = &[#(Self::#all),*];

            /// The name in stored data.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                __machine::__private::rows::name_of(DEFINITION, self as usize)
            }

            /// The definition of this state.
            #[must_use]
            pub const fn definition(self) -> &'static __machine::definition::StateDef {
                __machine::__private::rows::state_of(DEFINITION, self as usize)
            }
        }

        impl ::core::fmt::Display for Status {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl ::core::str::FromStr for Status {
            type Err = __machine::typed::UnknownStatus;

            // Spelled out, because `Self::Err` could be a state.
            fn from_str(
                text: &str,
            ) -> ::core::result::Result<Self, __machine::typed::UnknownStatus> {
                DEFINITION.state(text).map(|index| Self::ALL[index]).ok_or_else(|| {
                    __machine::typed::UnknownStatus::__new(DEFINITION, text)
                })
            }
        }

        #serialize
        #deserialize
    }
}

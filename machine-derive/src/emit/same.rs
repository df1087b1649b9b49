use proc_macro2::TokenStream;
use quote::quote;

use super::{body, names::Names};

/// A trait for each pair of types that must be the same and are written differently. It holds for
/// one type and itself, so the compiler decides, and its message names what does not fit.
pub(super) fn emit(names: &Names<'_>) -> TokenStream {
    if names.graph.same.is_empty() {
        return TokenStream::new();
    }
    let traits = names.graph.same.iter().map(|same| {
        let name = &same.name;
        let (message, note) = same.message.of_a_bound();
        quote! {
            #[diagnostic::on_unimplemented(
                message = #message, label = "not the same type", note = #note
            )]
            pub trait #name<T> {
                fn same(self) -> T;
            }

            #[diagnostic::do_not_recommend]
            impl<T> #name<T> for T {
                fn same(self) -> T { self }
            }
        }
    });
    let (generics, predicates) = names.for_all();
    let alone = names.graph.same.iter().filter(|same| same.alone).map(|same| {
        let asked = body::convert(same);
        quote! {
            const _: () = {
                fn asked #generics () #predicates {
                    let _ = #asked;
                }
            };
        }
    });
    quote! {
        // Rustc names the trait of a bound that does not hold, so these names are to be read.
        mod same {
            #(#traits)*
        }
        #(#alone)*
    }
}

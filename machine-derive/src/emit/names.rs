use heck::{ToPascalCase, ToSnakeCase};
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::Type;

use crate::model::{Graph, State, Trigger};

/// The names of what is generated.
pub(super) struct Names {
    /// `Execution`
    pub(super) typed: Ident,
    /// `AnyExecution`
    pub(super) any: Ident,
    /// `execution`
    pub(super) module: Ident,
    /// The type of the context, `()` if there is none.
    pub(super) context: TokenStream,
    pub(super) durable: bool,
}

impl Names {
    pub(super) fn of(graph: &Graph<'_>) -> Self {
        let typed = graph.declaration.name.clone();
        let options = &graph.declaration.options;
        Self {
            any: format_ident!("Any{}", typed),
            module: keyword_safe(&graph.stored(), &typed),
            context: options.context.as_ref().map_or_else(|| quote!(()), Type::to_token_stream),
            durable: options.durable.is_some(),
            typed,
        }
    }

    /// Wraps the items in the machine's module and re-exports the two that users name most.
    pub(super) fn module(&self, graph: &Graph<'_>, items: &TokenStream) -> TokenStream {
        let Self { typed, any, module, .. } = self;
        let vis = &graph.declaration.vis;
        let others = &graph.declaration.others;
        let about = format!("The states of [`{typed}`], its events, and who may move it.");
        quote! {
            #[doc = #about]
            #(#others)*
            #[allow(
                unused_imports,
                unused_variables,
                unreachable_pub,
                missing_docs,
                private_bounds,
                clippy::pedantic,
                clippy::empty_loop
            )]
            #vis mod #module {
                use super::*;
                #items
            }
            #[doc(inline)]
            #[allow(unused_imports)]
            #vis use #module::{#any, #typed};
        }
    }

    /// Whether the machine keeps a context.
    pub(super) fn has_context(graph: &Graph<'_>) -> bool {
        graph.declaration.options.context.is_some()
    }
}

/// `Succeed`, the variant of `Event`.
pub(super) fn event(trigger: &Trigger<'_>) -> Ident {
    variant(trigger.name)
}

/// `succeed` as a variant.
pub(super) fn variant(trigger: &Ident) -> Ident {
    format_ident!("{}", crate::model::bare(trigger).to_pascal_case())
}

/// `MaySucceed`, the trait of those who may.
pub(super) fn may(trigger: &Trigger<'_>) -> Ident {
    format_ident!("May{}", event(trigger))
}

/// `running_succeed`, the function that makes the move.
pub(super) fn step(state: &State<'_>, trigger: &Trigger<'_>) -> Ident {
    format_ident!("{}_{}", state.stored, crate::model::bare(trigger.name).to_snake_case())
}

/// A path as people write it.
pub(super) fn path_text(path: &syn::Path) -> String {
    path.to_token_stream().to_string().replace(' ', "")
}

fn keyword_safe(name: &str, like: &Ident) -> Ident {
    syn::parse_str::<Ident>(name)
        .unwrap_or_else(|_| format_ident!("r#{}", name, span = like.span()))
}

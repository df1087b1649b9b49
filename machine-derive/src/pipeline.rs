use proc_macro2::TokenStream;
use quote::quote;

use crate::{check, emit, errors::Errors, model, parse, paths};

/// The whole pipeline: parse what is written, resolve its names, check the graph, emit.
///
/// Each phase reports all mistakes and continues with the rest, so that one build shows every
/// mistake. Emission comes behind the gate and cannot fail. When there were mistakes, the user's
/// types are still emitted, as stubs, so that code that uses them adds no further errors.
pub(crate) fn expand(options: TokenStream, item: TokenStream) -> TokenStream {
    let (options, item) = (paths::one_level_down(options), paths::body_one_level_down(item));
    let mut errors = Errors::default();
    let Some(declaration) = parse::declaration(options, item, &mut errors) else {
        return errors.into_tokens();
    };
    if declaration.is_whole {
        let graph = model::resolve(&declaration, &mut errors);
        check::all(&graph, &mut errors);
        if errors.is_empty() {
            return emit::machine(&graph);
        }
    }
    let stubs = emit::stubs(&declaration);
    let errors = errors.into_tokens();
    quote! { #errors #stubs }
}

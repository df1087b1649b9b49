//! The `#[machine]` attribute. Its documentation stands on the re-export in the `machine` crate.

mod cfg;
mod check;
mod emit;
mod errors;
mod expand;
mod message;
mod model;
mod parse;

/// See the `machine` crate.
#[proc_macro_attribute]
pub fn machine(
    options: proc_macro::TokenStream,
    item: proc_macro::TokenStream,
) -> proc_macro::TokenStream {
    expand::machine(options.into(), item.into()).into()
}

/// The way back of a declaration with `#[cfg]` in it; see `cfg.rs`. Nobody writes it.
#[proc_macro_derive(
    Declaration,
    attributes(
        __machine,
        initial,
        __stable,
        terminal,
        on,
        group,
        only_after,
        never_after,
        serde,
        schemars
    )
)]
pub fn declaration(item: proc_macro::TokenStream) -> proc_macro::TokenStream {
    cfg::declaration(item.into()).into()
}

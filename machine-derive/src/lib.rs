//! The `#[machine]` attribute. Its documentation stands on the re-export in the `machine` crate.

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

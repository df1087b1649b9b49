//! The `#[machine]` attribute. Its documentation is on the re-export in the `machine` crate.

mod above;
mod cfg;
mod check;
mod class;
#[cfg(feature = "diagram")]
mod diagram;
mod emit;
mod errors;
mod expand;
mod message;
mod model;
mod parse;
mod paths;
mod pipeline;
mod role;
#[cfg(all(test, feature = "diagram", feature = "durable"))]
mod tests;
mod text;
mod tokens;
mod tool;

/// See the `machine` crate.
#[proc_macro_attribute]
pub fn machine(
    options: proc_macro::TokenStream,
    item: proc_macro::TokenStream,
) -> proc_macro::TokenStream {
    expand::machine(options.into(), item.into()).into()
}

/// See the trait of the same name in the `machine` crate.
#[proc_macro_derive(Tool, attributes(tool))]
pub fn tool(item: proc_macro::TokenStream) -> proc_macro::TokenStream {
    tool::derive(item.into()).into()
}

/// Expands a declaration with `#[cfg]` in it; see `cfg.rs`. Internal.
#[proc_macro_derive(Declaration, attributes(__carried, __written))]
pub fn declaration(item: proc_macro::TokenStream) -> proc_macro::TokenStream {
    cfg::declaration(item.into()).into()
}

/// The classes of the library's enums; see `class.rs`. Internal.
#[proc_macro_derive(Class, attributes(class))]
pub fn class(item: proc_macro::TokenStream) -> proc_macro::TokenStream {
    class::derive(item.into()).unwrap_or_else(|error| error.to_compile_error()).into()
}

/// Derives nothing, in place of `utoipa::ToSchema` without the feature `openapi`. Internal.
#[proc_macro_derive(NoSchema, attributes(schema))]
pub fn no_schema(_: proc_macro::TokenStream) -> proc_macro::TokenStream {
    proc_macro::TokenStream::new()
}

/// The drawing in a machine's documentation; see `diagram.rs`. Internal.
#[cfg(feature = "diagram")]
#[proc_macro]
pub fn svg(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    diagram::svg(input.into()).unwrap_or_else(|error| error.to_compile_error()).into()
}

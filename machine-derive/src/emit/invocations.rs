//! The calls that states make: the function that evaluates them on entry.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::{Expr, spanned::Spanned};

use super::{bindings, names::Names, proofs};
use crate::{
    model::{Invocation, State},
    parse::Approve,
};

pub(super) fn emit(names: &Names<'_>) -> TokenStream {
    if names.graph.invocations().next().is_none() {
        return TokenStream::new();
    }
    let functions = names.graph.invocations().map(|(index, it)| function(names, index, it));
    let proofs = proofs::emit(names);
    quote!(#(#functions)* #proofs)
}

pub(super) fn function_name(index: usize) -> Ident {
    format_ident!("invoke_{}", index)
}

fn function(names: &Names<'_>, index: usize, invocation: &Invocation<'_>) -> TokenStream {
    let state = &names.graph.states[index];
    let (function, here) = (function_name(index), names.typed_in(state));
    let (written, tool) = (invocation.written, invocation.tool);
    let scope = Scope { names, state };
    let duration = quote!(::core::time::Duration);
    let text = quote!(::std::string::String);
    let expires = scope.option(written.expires.as_ref(), &duration, |value| value);
    let within = scope.option(written.within.as_ref(), &duration, |value| value);
    let into_text = |value| hygienic!(::core::convert::Into::into(#value));
    let occurrence = scope.option(written.occurrence.as_ref(), &text, into_text);
    let session = scope.option(written.session.as_ref(), &text, into_text);
    let context = names.has_context().then(|| hygienic!(let context = machine.context();));
    let ask = match &written.approve {
        None => hygienic!(false),
        Some(Approve::Always) => hygienic!(true),
        Some(Approve::If(path)) => {
            let asks = hygienic_at!(path.span() => let asks: fn(&#tool) -> bool = #path;);
            hygienic!({ #asks asks(&tool) })
        }
    };
    let call = hygienic! {
        __machine::__private::Invoked {
            ask: #ask,
            tool,
            expires,
            within,
            occurrence: ::core::clone::Clone::clone(&occurrence),
            session: ::core::clone::Clone::clone(&session),
        }
    };
    let value = written.value.as_ref().map(ToTokens::to_token_stream);
    let value = value.unwrap_or_else(|| written.name.to_token_stream());
    let calls = if written.is_set {
        // Collected where the fields are bound, because the iterator may borrow from them.
        let members = |calls| hygienic_at!(value.span() => members::<#tool>(#calls));
        let members = scope.bound(value.clone(), members);
        hygienic! {
            fn members<T>(
                calls: impl ::core::iter::IntoIterator<Item = T>,
            ) -> ::std::vec::Vec<T> {
                ::core::iter::Iterator::collect(::core::iter::IntoIterator::into_iter(calls))
            }
            let calls = #members.into_iter().map(|tool| #call);
        }
    } else {
        let evaluated = scope.bound(value, |value| value);
        hygienic! {
            let tool: #tool = #evaluated;
            let calls = [#call];
        }
    };
    hygienic! {
        fn #function(machine: &#here) -> __machine::__private::Entered {
            let state = machine.state();
            #context
            let expires = #expires;
            let within = #within;
            let occurrence = #occurrence;
            let session = #session;
            #calls
            #[allow(unused_imports)]
            use __machine::__private::NotCallable as _;
            __machine::__private::OfTool::<#tool>::NEW.invoked(machine, calls)
        }
    }
}

/// The state on which the expressions are evaluated.
struct Scope<'a> {
    names: &'a Names<'a>,
    state: &'a State<'a>,
}

impl Scope<'_> {
    /// The code around an expression, after bindings of the names that the expression uses; each
    /// has its own copies of the fields.
    fn bound(
        &self,
        expression: TokenStream,
        code: impl FnOnce(TokenStream) -> TokenStream,
    ) -> TokenStream {
        let (bindings, expression) = bindings::of_state(self.names, self.state, expression);
        let code = code(expression);
        if bindings.is_empty() { code } else { hygienic!({ #bindings #code }) }
    }

    fn option(
        &self,
        written: Option<&Expr>,
        ty: &TokenStream,
        convert: impl FnOnce(TokenStream) -> TokenStream,
    ) -> TokenStream {
        match written {
            None => hygienic!(::core::option::Option::None::<#ty>),
            Some(written) => {
                let value = convert(self.bound(written.to_token_stream(), |value| value));
                hygienic!({ let value: #ty = #value; ::core::option::Option::Some(value) })
            }
        }
    }
}

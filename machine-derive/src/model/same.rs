//! Types that must be the same.

use proc_macro2::Span;
use quote::{ToTokens, format_ident};
use syn::{Ident, Type};

use super::Same;
use crate::{message::Message, text};

/// Has the compiler decide whether two types are the same, where their texts differ.
pub(super) fn require<'a>(
    same: &mut Vec<Same<'a>>,
    mut name: Ident,
    (found, expected): (&'a Type, &'a Type),
    span: Span,
    alone: bool,
    message: impl FnOnce(&str, &str) -> Message,
) -> Option<usize> {
    let (here, there) =
        (text::of_type(found.to_token_stream()), text::of_type(expected.to_token_stream()));
    if here == there {
        return None;
    }
    if same.iter().any(|other| other.name == name) {
        name = format_ident!("{}{}", name, same.len());
    }
    let message = message(&here, &there);
    same.push(Same { name, found, expected, message, span, alone });
    Some(same.len() - 1)
}

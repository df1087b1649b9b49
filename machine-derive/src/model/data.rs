//! The data of a durable machine that serde writes and reads.

use std::collections::BTreeSet;

use quote::ToTokens;
use syn::{Attribute, Type};

use super::Graph;
use crate::text;

impl Graph<'_> {
    /// The types of fields and payload items that serde writes as they are, each once.
    pub(crate) fn plain_types(&self) -> Vec<&Type> {
        let fields = self.states.iter().flat_map(|state| {
            let others = &state.written.others;
            let fields = state.written.fields.iter();
            let plain = fields.filter(|field| self.is_plain(others.iter().chain(&field.attrs)));
            plain.map(|field| &field.ty)
        });
        let items = self.triggers.iter().flat_map(|trigger| &trigger.brought);
        let items = items.map(|item| item.ty).filter(|_| self.is_plain(&[]));
        let mut seen = BTreeSet::new();
        fields.chain(items).filter(|ty| seen.insert(text::of_type(ty.to_token_stream()))).collect()
    }

    /// True if serde writes the type as it is, because no attribute changes that.
    pub(crate) fn is_plain<'t>(&self, attributes: impl IntoIterator<Item = &'t Attribute>) -> bool {
        let is_serde = |attribute: &Attribute| {
            let first = attribute.path().segments.first();
            first.is_some_and(|first| first.ident.to_string().starts_with("serde"))
        };
        let derived = self.derives("Serialize") && self.derives("Deserialize");
        derived && !attributes.into_iter().any(is_serde)
    }
}

use quote::ToTokens;
use syn::Type;

use crate::{
    parse::{self, Approve, Invoke},
    text,
};

pub(crate) struct Invocation<'a> {
    pub(crate) written: &'a Invoke,
    pub(crate) tool: &'a Type,
}

impl<'a> Invocation<'a> {
    /// `None` if the state makes no call, or it is unknown which.
    pub(super) fn of(state: &'a parse::State) -> Option<Self> {
        let written = state.invoke.as_ref()?;
        let field = state.field(&written.name);
        let tool = written.tool.as_ref().or(field.map(|field| &field.ty))?;
        (written.value.is_some() || field.is_some()).then_some(Self { written, tool })
    }

    /// What people read in drawings and documentation, as the definition says it:
    /// `payment: Charge, approve`.
    pub(crate) fn label(&self) -> String {
        let Invoke { name, is_set, approve, .. } = self.written;
        let (name, tool) = (text::bare(name), text::of_type(self.tool.to_token_stream()));
        let tool = if *is_set { format!("[{tool}]") } else { tool };
        let approve = match approve {
            None => String::new(),
            Some(Approve::Always) => ", approve".to_owned(),
            Some(Approve::If(path)) => {
                format!(", approve = {}", text::of_type(path.to_token_stream()))
            }
        };
        format!("{name}: {tool}{approve}")
    }
}

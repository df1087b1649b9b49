use core::fmt;

use super::{Rows, Text};

/// The call, or the set of calls, that a state makes when it is entered: see `#[invoke]`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "durable", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
#[allow(clippy::struct_excessive_bools, reason = "each is an option of the attribute")]
pub struct Invocation {
    /// The name that people read, such as `payment`.
    pub name: Text,
    /// The type of the tool as declared, such as `Charge`.
    pub tool: Text,
    /// The service of the tool; empty if the tool is known at run time only.
    #[cfg_attr(feature = "durable", serde(default))]
    pub service: Text,
    /// The method of the tool; empty if the tool is known at run time only.
    #[cfg_attr(feature = "durable", serde(default))]
    pub method: Text,
    /// Its effect cannot be undone. A tool that is known at run time only counts as irreversible.
    #[cfg_attr(feature = "durable", serde(default))]
    pub irreversible: bool,
    /// It makes several calls.
    #[cfg_attr(feature = "durable", serde(default))]
    pub set: bool,
    /// Which of its calls a person has to approve.
    #[cfg_attr(feature = "durable", serde(default))]
    pub approval: ApprovalDef,
    /// An irreversible call needs no person on the way to it.
    #[cfg_attr(feature = "durable", serde(default))]
    pub unattended: bool,
    /// A machine that entered the state before the state made calls makes them when a worker claims
    /// it.
    #[cfg_attr(feature = "durable", serde(default))]
    pub adopt: bool,
    /// The time for an approval, as declared.
    #[cfg_attr(feature = "durable", serde(default))]
    pub expires: Option<Text>,
    /// The time that the machine waits for a call, as declared. It does not limit the call.
    #[cfg_attr(feature = "durable", serde(default))]
    pub within: Option<Text>,
    /// The trigger that takes the receipt or, of a set, all outcomes.
    #[cfg_attr(feature = "durable", serde(default))]
    pub done: Option<Text>,
    /// The trigger that takes the error of a call without a receipt.
    #[cfg_attr(feature = "durable", serde(default))]
    pub failed: Option<Text>,
    /// The trigger that takes one outcome of a set, and its position.
    #[cfg_attr(feature = "durable", serde(default))]
    pub each: Option<Text>,
    /// The names that it had before.
    #[cfg_attr(feature = "durable", serde(default))]
    pub was: Rows<Text>,
}

impl Invocation {
    /// What people read in drawings and documentation: `payment: Charge, approve`, or
    /// `reads: [Read]` for a set.
    #[must_use]
    pub fn label(&self) -> impl fmt::Display + use<'_> {
        fmt::from_fn(|f| {
            let Self { name, tool, .. } = self;
            if self.set {
                write!(f, "{name}: [{tool}]")?;
            } else {
                write!(f, "{name}: {tool}")?;
            }
            match &self.approval {
                ApprovalDef::Never => Ok(()),
                ApprovalDef::Always => f.write_str(", approve"),
                ApprovalDef::When(function) => write!(f, ", approve = {function}"),
            }
        })
    }

    /// The name of its tool in stored data, such as `bank.charge`; `None` if it is known at run
    /// time only.
    #[cfg(feature = "alloc")]
    #[must_use]
    pub fn tool_name(&self) -> Option<alloc::string::String> {
        (!self.service.is_empty()).then(|| alloc::format!("{}.{}", self.service, self.method))
    }
}

/// Which calls of an invocation a person has to approve.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[cfg_attr(feature = "durable", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "durable", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum ApprovalDef {
    /// None.
    #[default]
    Never,
    /// Each.
    Always,
    /// Those for which the function returns `true`, as declared.
    When(Text),
}

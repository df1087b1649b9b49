use crate::{id::Id, store::backend::Rejected, stored::ToolUse};

/// The stored facts about a tool that was irreversible once.
///
/// The planner of an action with an identity has the type of the tool, so the plan counts. One
/// without may come from a model, so it counts only when it begins.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ToolRecord {
    /// `true` if its keys are made from an identity; `None` if no action has shown that yet.
    pub(crate) identity: Option<bool>,
}

impl ToolRecord {
    /// The stored facts about a tool after this use, by a machine with this id.
    pub(crate) fn after(
        known: Option<Self>,
        used: &ToolUse,
        id: Id,
    ) -> Result<Option<Self>, Rejected> {
        if !used.irreversible {
            let what = || format!("the tool `{}`", used.name);
            return known.map_or(Ok(None), |_| Err(Rejected::EffectLowered { id, what: what() }));
        }
        let known = known.unwrap_or_default().identity;
        if let Some(identity) = known.filter(|known| *known != used.identity) {
            return Err(Rejected::IdentityChanged { id, tool: used.name.clone(), identity });
        }
        let shows = known.is_some() || used.identity || used.begins;
        Ok(Some(Self { identity: shows.then_some(used.identity) }))
    }
}

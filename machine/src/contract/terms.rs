use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    Action, ActionType, Effect, IdempotencyKey, InvalidContract, Origin, ToolSpec,
    approval::{self, ApprovalRequest},
    callable::Maker,
    key,
};
use crate::{clock::millis, id::Id, journal::is_default};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Terms {
    pub(super) action: Action,
    pub(super) summary: String,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) summaries: BTreeMap<String, String>,
    /// The question to an approver in the words of the tool, by language; the default is under the
    /// empty code.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) questions: BTreeMap<String, String>,
    /// The effect of the tool; the contract may be more careful.
    pub(super) effect: Effect,
    pub(super) irreversible: bool,
    #[serde(
        rename = "idempotency_key",
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "key::read"
    )]
    pub(super) key: Option<IdempotencyKey>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) timeout_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) settling_ms: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) session: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) behind: Option<Id>,
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "approval::read_approval"
    )]
    pub(super) approves: Option<ApprovalRequest>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) retry_of: Option<Id>,
    /// The name of the person who decided on this retry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) decided_by: Option<String>,
    /// The execution that the decision is for, so that a copy of the contract cannot reuse it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) decided_for: Option<Id>,
    /// The machine that made it by `#[invoke]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) invoked: Option<Origin>,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub(super) metadata: Map<String, Value>,
    /// The name of the author, for the journal of a new execution.
    #[serde(skip)]
    pub(super) author: Unstored<Option<Box<str>>>,
    /// The maker of the action, if this program made it.
    #[serde(skip)]
    pub(super) made: Unstored<Option<Maker>>,
}

/// What is not stored. Equality ignores it, so that a loaded contract equals the stored one.
#[derive(Debug, Clone, Default)]
pub(super) struct Unstored<T>(pub(super) T);

impl<T> PartialEq for Unstored<T> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Terms {
    /// The terms of an action, with the limits of a tool call where it is one.
    pub(super) fn new(
        action: Action,
        summary: String,
        effect: Effect,
        author: Unstored<Option<Box<str>>>,
    ) -> Self {
        let irreversible = effect.is_irreversible();
        let is_call = action.tool().is_some();
        let mut terms = Self {
            action,
            summary,
            summaries: BTreeMap::new(),
            questions: BTreeMap::new(),
            effect,
            irreversible,
            key: None,
            timeout_ms: is_call.then(|| millis(ToolSpec::DEFAULT_TIMEOUT)),
            settling_ms: if is_call { millis(ToolSpec::DEFAULT_SETTLING_TIME) } else { 0 },
            session: None,
            behind: None,
            approves: None,
            retry_of: None,
            decided_by: None,
            decided_for: None,
            invoked: None,
            metadata: Map::new(),
            author,
            made: Unstored(None),
        };
        terms.key = terms.derived_key();
        terms
    }

    /// The key of the action. Tool calls and irreversible actions have one.
    pub(super) fn derived_key(&self) -> Option<IdempotencyKey> {
        let has_key = self.irreversible || self.action.tool().is_some();
        has_key.then(|| IdempotencyKey::of(&self.action))
    }

    pub(super) fn forget_decision(&mut self) {
        (self.retry_of, self.decided_by, self.decided_for) = (None, None, None);
    }

    /// Checks terms that were read.
    ///
    /// # Errors
    ///
    /// [`InvalidContract::Inconsistent`] if they contradict themselves.
    pub(super) fn check(&self) -> Result<(), InvalidContract> {
        let wrong = |what| Err(InvalidContract::Inconsistent(what));
        if self.effect.is_irreversible() && !self.irreversible {
            return wrong("its tool is irreversible, but the contract says otherwise");
        }
        if self.key != self.derived_key() {
            return wrong("its idempotency key does not match its action");
        }
        if self.approves.is_some()
            && (self.irreversible || *self.action.action_type() != ActionType::EcsRequest)
        {
            return wrong("it asks for an approval but is not a question");
        }
        let decided = [self.decided_by.is_some(), self.decided_for.is_some()];
        if decided != [self.retry_of.is_some(); 2] {
            return wrong("a retry must carry a decision, and no other execution may");
        }
        Ok(())
    }
}

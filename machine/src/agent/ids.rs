use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Id, journal::Digest};

macro_rules! ids {
    ($($(#[$meta:meta])* $name:ident),+ $(,)?) => {
        $(
            $(#[$meta])*
            #[derive(
                Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
            )]
            #[serde(transparent)]
            pub struct $name(pub Id);

            impl fmt::Display for $name {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    self.0.fmt(f)
                }
            }
        )+
    };
}

ids! {
    /// The identity of a turn. The runtime makes it when the turn is enqueued.
    TurnId,
    /// The identity of a box.
    BoxId,
    /// The identity of a card.
    CardId,
}

/// The name of an agent. All turns of an agent have the same head.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AgentId(pub String);

impl AgentId {
    /// The id of the machine that is the head of the agent.
    #[must_use]
    pub fn head(&self) -> Id {
        Id::derived(0, Digest::of(&[b"agent", self.0.as_bytes()]).bytes())
    }
}

impl fmt::Display for AgentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&crate::id::shortened(&self.0))
    }
}

/// The identity of a call in its turn. The `tool_call_id` of a model provider is data: it is unique
/// only within one answer of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct MemberId {
    /// The turn that made the call.
    pub turn: TurnId,
    /// The step of the turn, from 1.
    pub step: u32,
    /// The place among the calls of the step, from 0.
    pub index: u32,
}

impl MemberId {
    /// The turn that this call delegates. A worker does not choose its id.
    #[must_use]
    pub fn delegated(&self) -> TurnId {
        TurnId(self.derived(b"delegated"))
    }

    /// The record of its answer from outside.
    pub(super) fn answer(&self) -> Id {
        self.derived(b"answer")
    }

    /// Its id in messages to a model: at most 40 letters, digits and hyphens.
    pub(super) fn in_messages(&self) -> Id {
        self.derived(b"called")
    }

    fn derived(&self, role: &[u8]) -> Id {
        let (step, index) = (self.step.to_le_bytes(), self.index.to_le_bytes());
        Id::derived(0, Digest::of(&[role, self.turn.0.bytes(), &step, &index]).bytes())
    }
}

impl fmt::Display for MemberId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.turn, self.step, self.index)
    }
}

/// The turn that a worker holds, and the epoch in which it took it. A write under another epoch is
/// refused, so that a worker whose turn was reclaimed changes nothing.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TurnEpoch {
    /// The agent.
    pub agent: AgentId,
    /// Its active turn.
    pub turn: TurnId,
    /// The epoch of its head.
    pub epoch: u64,
}

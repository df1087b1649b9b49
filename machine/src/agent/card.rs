use serde::{Deserialize, Serialize};

use super::{BoxId, CardId, MemberId, TurnId};
use crate::{clock::Millis, journal::Digest};

/// The largest body of a card, in bytes.
pub const MAX_CARD: u64 = 1 << 20;

/// A card that a request writes. The protocol chooses its box and its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct NewCard {
    /// The identity of the card.
    pub id: CardId,
    /// The digest of its body.
    pub digest: Digest,
    /// The length of its body, in bytes.
    pub size: u64,
}

/// A card, without its body. Cards are never changed. A body that is nested more than 120 levels
/// deep is its text, because no program could read it again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Card {
    /// Its identity, digest and length.
    pub header: NewCard,
    /// The box that has it.
    pub box_id: BoxId,
    /// The kind of its body.
    pub kind: CardKind,
    /// The turn that wrote it.
    pub turn: TurnId,
    /// The epoch in which it was written.
    pub epoch: u64,
    /// The step of the turn.
    pub step: u32,
    /// The place among the cards of this kind in the step.
    pub index: u32,
    /// When its turn was [pruned](super::Agents::prune). From then on its body is `null`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pruned_at: Option<Millis>,
}

impl Card {
    /// The call that it is about, if it is about one.
    pub(super) fn member(&self) -> MemberId {
        MemberId { turn: self.turn, step: self.step, index: self.index }
    }
}

/// The kind of a card that a turn writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum CardKind {
    /// The answer of a model: text, calls, reasoning, usage.
    #[serde(rename = "model.answer")]
    Answer,
    /// A call.
    #[serde(rename = "tool.call")]
    ToolCall,
    /// The one result of a call.
    #[serde(rename = "tool.result")]
    ToolResult,
    /// The result of the turn.
    #[serde(rename = "task.deliverable")]
    Deliverable,
}

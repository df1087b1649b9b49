//! What a model is asked in a step of a turn.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use self::answer::Answer;
use super::{
    ActiveTurn, Agents, Card, CardId, CardKind, MemberId, TurnId,
    stored::{self, CARD},
};
use crate::store::{LoadError, Store, backend::Records};

mod answer;
mod outcome;

#[doc = include_str!("../docs/conversation.md")]
#[derive(Debug, Clone, PartialEq)]
pub struct Conversation {
    openai: Vec<Value>,
    anthropic: Vec<Value>,
}

/// The reason why a turn has no [`Conversation`].
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum ConversationError {
    /// Calls of the turn have no result.
    #[error("these calls have no result: {}; ask the model when they have one", list(members))]
    Open {
        /// All of them, in order.
        members: Vec<MemberId>,
    },
    /// The cards were not read.
    #[error(transparent)]
    Load(#[from] LoadError),
}

fn list(members: &[MemberId]) -> String {
    members.iter().map(MemberId::to_string).collect::<Vec<_>>().join(", ")
}

struct Bodies<'a> {
    calls: BTreeMap<MemberId, &'a Value>,
    results: BTreeMap<MemberId, &'a Value>,
    all: BTreeMap<CardId, &'a Value>,
}

impl Conversation {
    /// Reads the cards of the output box of a turn, and makes its conversation. `task` returns the
    /// instructions of a turn for the model, the same each time; earlier turns of the box are
    /// included.
    ///
    /// # Errors
    ///
    /// [`ConversationError::Open`] if a call has no result, and [`ConversationError::Load`] if the
    /// cards cannot be read now, or one of them was edited.
    pub async fn load(
        store: &Store,
        turn: &ActiveTurn,
        task: impl FnMut(TurnId) -> String,
    ) -> Result<Self, ConversationError> {
        let mut cards = Agents::of(store).cards(turn.task.output_box, usize::MAX).await?;
        let named = cards.iter().filter_map(|(_, body)| outcome::deliverable(body));
        let named = named.map(|card| (CARD, card.0)).collect();
        cards.extend(stored::cards(store, Records::Of(named)).await?);
        Self::of(turn, &cards, task)
    }

    /// Makes the conversation of a turn from all cards of its output box, in the order in which
    /// they were written, and from the deliverables of the turns that it delegated.
    ///
    /// # Errors
    ///
    /// [`ConversationError::Open`] if a call has no result.
    pub fn of(
        turn: &ActiveTurn,
        cards: &[(Card, Value)],
        mut task: impl FnMut(TurnId) -> String,
    ) -> Result<Self, ConversationError> {
        // A worker that has lost the turn may find its deliverable, and later turns.
        let is_end = |card: &Card| card.kind == CardKind::Deliverable && card.turn == turn.id;
        let kept = cards.iter().filter(|(card, _)| card.pruned_at.is_none());
        // A result can name a card of this box, which is then there twice.
        let mut known = BTreeSet::new();
        let own = kept.clone().filter(|(card, _)| card.box_id == turn.task.output_box);
        let own = own.filter(|(card, _)| known.insert(card.header.id));
        let own: Vec<_> = own.take_while(|(card, _)| !is_end(card)).collect();
        let of_kind = |kind: CardKind| {
            let found = own.iter().copied().filter(|(card, _)| card.kind == kind);
            found.map(|(card, body)| (card.member(), body)).collect::<BTreeMap<_, _>>()
        };
        let (calls, results) = (of_kind(CardKind::ToolCall), of_kind(CardKind::ToolResult));
        let mut open: BTreeSet<MemberId> = calls.keys().copied().collect();
        open.retain(|call| !results.contains_key(call));
        let in_step = |index| MemberId { turn: turn.id, step: turn.step, index };
        open.extend(turn.unanswered().into_iter().map(in_step));
        if !open.is_empty() {
            return Err(ConversationError::Open { members: open.into_iter().collect() });
        }
        let all = kept.map(|(card, body)| (card.header.id, body)).collect();
        let bodies = Bodies { calls, results, all };
        let (mut asked, mut begun) = (Self { openai: Vec::new(), anthropic: Vec::new() }, None);
        for (card, body) in own {
            if begun.replace(card.turn) != Some(card.turn) {
                asked.say(&task(card.turn));
            }
            match card.kind {
                CardKind::Answer => {
                    let has_calls = Answer::of(card, body, &bodies).end(body, &mut asked);
                    if !has_calls {
                        asked.say("The task has not ended: this answer makes no call. Continue.");
                    }
                }
                CardKind::Deliverable => {
                    let mut answer = Answer::new(card, &bodies);
                    answer.say(&outcome::plain(body));
                    answer.end(&Value::Null, &mut asked);
                }
                CardKind::ToolCall | CardKind::ToolResult => {}
            }
        }
        if begun != Some(turn.id) {
            asked.say(&task(turn.id));
        }
        Ok(asked)
    }

    /// The messages of the chat API of OpenAI. Put the instructions of the system in front.
    #[must_use]
    pub fn openai(&self) -> &[Value] {
        &self.openai
    }

    /// The messages of the API of Anthropic.
    #[must_use]
    pub fn anthropic(&self) -> &[Value] {
        &self.anthropic
    }

    fn say(&mut self, text: &str) {
        let message = json!({ "role": "user", "content": answer::visible(text) });
        self.openai.push(message.clone());
        self.anthropic.push(message);
    }
}

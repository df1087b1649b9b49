use crate::store::inbox::protocol::{
    Attempted, Claim, Delivery, Effects, Event, EventOutcome, EventRefusal, Fail, InboxState,
    Moved, MovedBy, Switch, Wait, WorkChange, step,
};

/// A defect of a protocol that the checker must reject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Defect {
    /// A former lease holder may write.
    ChecksNoToken,
    /// A takeover by time alone: the new holder gets the token of the old one.
    KeepsTokenAtClaim,
    /// A message is handled as soon as a worker takes it.
    AcknowledgesAtClaim,
    /// A holder may park in spite of later messages.
    ParksIgnoringNews,
    /// A holder that fails lets the machine wait in spite of later messages.
    FailsIgnoringNews,
    /// Turning to something else resets the attempt count.
    ForgivesAtTurn,
    /// Taking over resets the attempt count.
    ForgivesAtTakeover,
    /// A message wakes no worker.
    SendsWithoutWaking,
    /// A crash in the middle of an attempt leaves no trace.
    CountsAfterwards,
    /// Work that was tried too often is dropped.
    DropsPoison,
    /// A crash sets a message aside, however often it may be tried.
    GivesUpEarly,
    /// A requeue restores a handled message.
    RequeuesHandled,
    /// A machine that ends keeps its queue.
    EndsWithQueue,
    /// No worker takes a lease over.
    NeverReclaims,
    /// Whatever comes under a known correlation id is a duplicate.
    SuppressesOthers,
    /// Whatever comes under a known correlation id takes it.
    ReplacesAll,
}

/// The protocol: the real one, or a broken twin of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Protocol(pub(super) Option<Defect>);

impl Protocol {
    pub(super) fn step(self, state: &InboxState, event: &Event) -> Result<Effects, EventRefusal> {
        let Some(defect) = self.0 else { return step(state, event) };
        let (mut state, mut event) = (state.clone(), event.clone());
        defect.spoil_question(&mut state, &mut event);
        if defect == Defect::NeverReclaims && is_takeover(&state, &event) {
            return Err(EventRefusal::Taken);
        }
        let mut effects = step(&state, &event)?;
        defect.spoil_answer(&state, &event, &mut effects);
        Ok(effects)
    }
}

impl Defect {
    fn spoil_question(self, state: &mut InboxState, event: &mut Event) {
        let Some(work) = &state.work else { return };
        match self {
            Self::ChecksNoToken => {
                if let Some(token) = event.held_token_mut() {
                    *token = work.token;
                }
            }
            Self::ParksIgnoringNews => {
                if let Event::Wait(Wait { revision, .. }) = event {
                    *revision = work.revision;
                }
            }
            Self::FailsIgnoringNews => {
                if let Event::Fail(Fail { revision, .. }) = event {
                    *revision = work.revision;
                }
            }
            Self::ForgivesAtTakeover => {
                if let Event::Moved(Moved { by, .. }) = event {
                    *by = MovedBy::Handler;
                }
            }
            Self::GivesUpEarly => {
                if let Event::Claim(Claim { max_attempts, .. }) = event {
                    *max_attempts = 1;
                }
            }
            Self::SuppressesOthers => {
                if let Event::Send { message, .. } = event
                    && let Some(known) = state.messages.get_mut(&message.correlation)
                {
                    known.sent = Some(std::sync::Arc::clone(message));
                }
            }
            Self::ReplacesAll => {
                if let Event::Send { message, .. } = event
                    && let Some(known) = state.messages.get_mut(&message.correlation)
                {
                    known.status = Delivery::SetAside;
                }
            }
            Self::RequeuesHandled => {
                if let Event::Requeue { messages, .. } = event {
                    for name in messages {
                        if let Some(message) = state.messages.get_mut(name) {
                            message.status = Delivery::SetAside;
                        }
                    }
                }
            }
            _ => {}
        }
    }

    fn spoil_answer(self, state: &InboxState, event: &Event, effects: &mut Effects) {
        match (self, event) {
            (Self::KeepsTokenAtClaim, Event::Claim(Claim { token, .. })) => {
                if let WorkChange::Set(work) = &mut effects.work {
                    work.token = *token;
                }
                if let EventOutcome::Claimed { token: given, .. } = &mut effects.outcome {
                    *given = *token;
                }
            }
            (Self::AcknowledgesAtClaim, Event::Claim(Claim { on: Attempted::Message(_), .. })) => {
                for (_, message) in &mut effects.messages {
                    message.status = Delivery::Handled;
                }
            }
            (Self::ForgivesAtTurn, Event::Switch(_)) => {
                if let WorkChange::Set(work) = &mut effects.work {
                    work.handler.attempts = work.handler.attempts.min(1);
                }
            }
            (Self::SendsWithoutWaking, Event::Send { .. }) => effects.work = WorkChange::Keep,
            (Self::CountsAfterwards, Event::Claim(_)) => {
                for (name, message) in &mut effects.messages {
                    message.attempts = state.messages.get(name).map_or(0, |it| it.attempts);
                }
                if let (WorkChange::Set(work), Some(before)) = (&mut effects.work, &state.work) {
                    work.handler.attempts = before.handler.attempts;
                    work.deadline.attempts = before.deadline.attempts;
                }
            }
            (Self::DropsPoison, Event::Claim(_)) if effects.outcome == EventOutcome::SetAside => {
                for (_, message) in &mut effects.messages {
                    message.status = Delivery::Handled;
                }
            }
            (Self::EndsWithQueue, Event::End) => {
                *effects = Effects { work: WorkChange::Remove, ..Effects::default() };
            }
            _ => {}
        }
    }
}

fn is_takeover(state: &InboxState, event: &Event) -> bool {
    matches!(event, Event::Claim(_)) && state.work.as_ref().is_some_and(|it| it.lease.is_some())
}

impl Event {
    /// The token under which a holder acts.
    pub(super) fn held_token(&self) -> Option<u64> {
        self.clone().held_token_mut().copied()
    }

    fn held_token_mut(&mut self) -> Option<&mut u64> {
        match self {
            Self::Renew { token, .. }
            | Self::Moved(Moved { token, .. })
            | Self::Acknowledge { token, .. }
            | Self::Switch(Switch { token, .. })
            | Self::Wait(Wait { token, .. })
            | Self::Fail(Fail { token, .. })
            | Self::HandBack { token, .. } => Some(token),
            Self::Drive { .. }
            | Self::Send { .. }
            | Self::Notify { .. }
            | Self::ChildEnded { .. }
            | Self::Left
            | Self::End
            | Self::Claim { .. }
            | Self::Requeue { .. } => None,
        }
    }
}

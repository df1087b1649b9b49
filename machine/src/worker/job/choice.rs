use std::collections::BTreeSet;

use super::{Handler, Job};
use crate::{
    actor::{Actor, Call},
    definition::Fit,
    id::shortened,
    store::{
        Unavailable,
        inbox::{
            message::Queued,
            protocol::{Attempted, Pending, Turn, earliest},
        },
    },
    stored::Restore,
    typed::Erased,
};

pub(super) enum MessageFit {
    Takes,
    Later(String),
    /// Another worker may take it.
    UnsupportedHere(String),
    Never(String),
    /// Nothing depends on it any more.
    Stale,
}

impl<H: Handler> Job<'_, H> {
    /// Finds out which of the unknown triggers another version knows.
    pub(super) async fn learn(&mut self) -> Result<(), Unavailable> {
        let own = <H::Machine as Restore>::DEFINITION;
        let is_unknown = |trigger: &str| own.edges_of(trigger).next().is_none();
        let mut triggers = self.messages.iter().filter_map(|message| message.trigger.as_deref());
        if triggers.any(is_unknown) {
            self.known_elsewhere = self.shared.store.triggers_of_others(own).await?;
        }
        self.learn_calls().await
    }

    /// Decides what to do next, and sorts out the messages that cannot be taken now, or never.
    pub(super) fn choose(&mut self) {
        let now = self.shared.store.now();
        self.kept.clear();
        self.behind = 0;
        let mut on = None;
        let may_fire = self.work.may_fire(now) && !self.waits_on(&Attempted::Deadline);
        let due_at = self.due_at.filter(|at| may_fire && *at <= now);
        let waits = self.waits_on(&Attempted::State);
        let may_handle = self.work.may_handle(now) && !waits;
        // The handler has let it wait, and nothing has changed: it is ready for another program
        // only.
        let rests = self.work.others_at.is_some() && self.work.rests(now);
        self.timer = self.work.wake.filter(|_| rests);
        let is_over = self.work.handler.set_aside || waits;
        let ended_at = self.work.ended_at().filter(|_| !is_over);
        let pending = Pending { sent_at: None, ended_at, is_failing: !may_handle, due_at };
        // One that has failed lets the others pass.
        self.messages.sort_by_key(|message| message.attempts);
        for message in std::mem::take(&mut self.messages) {
            let correlation = &message.correlation;
            let turn = earliest(Pending { sent_at: Some(message.sent_at), ..pending });
            let is_next = on.is_none() && turn == Some(Turn::Message);
            let is_behind = on.is_none() && turn == Some(Turn::Handler);
            let is_taken_later = is_behind && matches!(self.judge(&message), MessageFit::Takes);
            self.behind += usize::from(is_taken_later);
            if is_next && !self.passed.contains(correlation) {
                let verdict = match self.judge(&message) {
                    MessageFit::Never(why) if self.is_of_other && message.intact => {
                        MessageFit::UnsupportedHere(why)
                    }
                    // A child that cannot be cancelled continues.
                    MessageFit::Never(_) if message.is_of_parent() && message.intact => {
                        MessageFit::Stale
                    }
                    verdict => verdict,
                };
                self.is_for_others |= matches!(verdict, MessageFit::UnsupportedHere(_));
                match verdict {
                    MessageFit::Takes => on = Some(Attempted::Message(correlation.clone())),
                    MessageFit::Later(why) | MessageFit::UnsupportedHere(why)
                        if message.fault.as_ref().is_none_or(|fault| fault.error != why) =>
                    {
                        self.kept.push((correlation.clone(), why));
                    }
                    MessageFit::Later(_) | MessageFit::UnsupportedHere(_) => {}
                    MessageFit::Stale => {
                        self.stale.push(correlation.clone());
                        continue;
                    }
                    MessageFit::Never(why) => {
                        self.refused.push((correlation.clone(), why));
                        continue;
                    }
                }
            }
            self.messages.push(message);
        }
        self.on = match (on, earliest(pending)) {
            (Some(message), _) => message,
            (None, Some(Turn::Deadline)) => Attempted::Deadline,
            _ if may_handle && !rests => Attempted::State,
            _ => Attempted::Recheck,
        };
        self.attempt = match &self.on {
            Attempted::Message(correlation) => {
                let mut all = self.messages.iter();
                let message = all.find(|message| message.correlation == *correlation);
                message.map_or(0, |message| message.attempts).saturating_add(1)
            }
            Attempted::Deadline => self.work.deadline.attempts.saturating_add(1),
            Attempted::State | Attempted::Recheck => self.work.handler.attempts.saturating_add(1),
        };
    }

    pub(super) fn waits_on(&self, work: &Attempted) -> bool {
        self.waits.iter().any(|(waiting, _)| waiting == work)
    }

    fn judge(&self, message: &Queued) -> MessageFit {
        if !message.intact {
            return MessageFit::Never("its status was changed: the seal does not match".to_owned());
        }
        let attempted = Attempted::Message(message.correlation.clone());
        if let Some((_, call)) = self.waits.iter().find(|(work, _)| *work == attempted) {
            return MessageFit::Later(format!("it waits for the call {call}"));
        }
        if message.actor == Call::KIND {
            return self.judge_outcome(message);
        }
        let Some(machine) = &self.machine else {
            return MessageFit::Later("the machine cannot be read".to_owned());
        };
        let definition = <H::Machine as Restore>::DEFINITION;
        // The body explains the error.
        let Some(trigger) = message.trigger.as_deref() else { return MessageFit::Takes };
        let (state, kind) = (Erased::state_index(machine), message.actor.as_str());
        let fit = definition.fit(Some(state), trigger, kind);
        if fit == Fit::Unknown {
            let all: Vec<&str> = definition.edges.iter().map(|edge| &*edge.trigger).collect();
            let known: BTreeSet<_> = all.into_iter().collect();
            let known = known.into_iter().collect::<Vec<_>>().join(", ");
            let why = format!(
                "`{}` is not a trigger of {}; its triggers: {known}",
                shortened(trigger),
                definition.name
            );
            return if self.known_elsewhere.contains(trigger) {
                MessageFit::UnsupportedHere(why)
            } else {
                MessageFit::Never(why)
            };
        }
        if matches!(fit, Fit::NotFor(_)) {
            return MessageFit::Never(format!("an actor of kind `{kind}` may never `{trigger}`"));
        }
        if self.shared.senders.get(kind, None).is_none() {
            return MessageFit::UnsupportedHere(format!(
                "this worker does not know actors of kind `{kind}`; add them with `Worker::sender`"
            ));
        }
        if fit == Fit::Now {
            return MessageFit::Takes;
        }
        let legal = definition.legal_moves(state);
        MessageFit::Later(format!(
            "`{trigger}` by `{kind}` is not legal in {}; {legal}",
            definition.states[state].label
        ))
    }
}

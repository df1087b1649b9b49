use std::collections::BTreeSet;

use super::{Handler, Job};
use crate::{
    definition::Fit,
    id::shortened,
    store::{
        Unavailable,
        inbox::{message::Queued, protocol::On},
    },
    stored::Restore,
    typed::Erased,
};

/// The handling of a message in the current state.
enum Verdict {
    Takes,
    Later(String),
    /// Another worker may take it.
    Elsewhere(String),
    Never(String),
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
        Ok(())
    }

    /// Decides what to do next, and sorts out the messages that cannot be taken now, or never.
    pub(super) fn choose(&mut self) {
        let now = self.shared.store.now();
        self.kept.clear();
        let mut on = None;
        if self.work.deadline.may(now) && self.due_at.is_some_and(|at| at <= now) {
            on = Some(On::Deadline);
        }
        // One that failed before lets the others pass.
        self.messages.sort_by_key(|message| message.attempts);
        for message in std::mem::take(&mut self.messages) {
            let correlation = &message.correlation;
            if on.is_none() && !self.passed.contains(correlation) {
                let verdict = match self.judge(&message) {
                    Verdict::Never(why) if self.is_of_other && message.intact => {
                        Verdict::Elsewhere(why)
                    }
                    verdict => verdict,
                };
                self.is_for_others |= matches!(verdict, Verdict::Elsewhere(_));
                match verdict {
                    Verdict::Takes => on = Some(On::Message(correlation.clone())),
                    Verdict::Later(why) | Verdict::Elsewhere(why)
                        if message.fault.as_ref().is_none_or(|fault| fault.error != why) =>
                    {
                        self.kept.push((correlation.clone(), why));
                    }
                    Verdict::Later(_) | Verdict::Elsewhere(_) => {}
                    Verdict::Never(why) => {
                        self.refused.push((correlation.clone(), why));
                        continue;
                    }
                }
            }
            self.messages.push(message);
        }
        let handler = if self.work.handler.may(now) { On::State } else { On::Look };
        self.on = on.unwrap_or(handler);
        self.attempt = match &self.on {
            On::Message(correlation) => {
                let mut all = self.messages.iter();
                let message = all.find(|message| message.correlation == *correlation);
                message.map_or(0, |message| message.attempts).saturating_add(1)
            }
            On::Deadline => self.work.deadline.attempts.saturating_add(1),
            On::State | On::Look => self.work.handler.attempts.saturating_add(1),
        };
    }

    fn judge(&self, message: &Queued) -> Verdict {
        if !message.intact {
            return Verdict::Never("its status was changed: the seal does not match".to_owned());
        }
        let Some(machine) = &self.machine else {
            return Verdict::Later("the machine cannot be read".to_owned());
        };
        let definition = <H::Machine as Restore>::DEFINITION;
        // The body says what is wrong with it.
        let Some(trigger) = message.trigger.as_deref() else { return Verdict::Takes };
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
                Verdict::Elsewhere(why)
            } else {
                Verdict::Never(why)
            };
        }
        if matches!(fit, Fit::NotFor(_)) {
            return Verdict::Never(format!("an actor of kind `{kind}` may never `{trigger}`"));
        }
        if self.shared.senders.get(kind, None).is_none() {
            return Verdict::Elsewhere(format!(
                "this worker does not know actors of kind `{kind}`; add them with `Worker::sender`"
            ));
        }
        let cancels = trigger == "cancel" && self.handler.__can_cancel(machine);
        if cancels || fit == Fit::Now {
            return Verdict::Takes;
        }
        let legal = definition.legal_moves(state);
        Verdict::Later(format!(
            "`{trigger}` by `{kind}` is not legal in {}; {legal}",
            definition.states[state].label
        ))
    }
}

//! Generated events on stored machines.

use std::{sync::Arc, time::Duration};

use serde::Deserialize;
use serde_json::Value;

use super::{TestEnvironment, TestEvent, environment::run, tool, walks::Source};
use crate::{
    actor::{Actor, Anyone},
    clock::Millis,
    contract::{CallError, FoundBy},
    id::Id,
    journal::Fact,
    store::{Message, inbox::message::Outgoing},
    worker::Worker,
};

impl TestEnvironment {
    /// Plays an event of [`walks`](super::walks) on a machine, and runs until nothing is ready.
    /// Returns whether the machine has moved.
    ///
    /// | event | how it is played |
    /// |---|---|
    /// | of an actor | a message, by the first kind that may send it; one of the program needs [`Worker::sender`] |
    /// | of a deadline | time passes until it is due |
    /// | the outcome of a call | the [`TestTool`](super::TestTool) gives the reply that leads to it: a receipt, a refusal, or that the call was in doubt and did not take effect; a person approves the call before, or declines it |
    ///
    /// Calls of states begin only when an event brings their outcome. An event that no state takes
    /// now is refused and not sent; one that a guard refuses waits, as with [`send`](Self::send).
    ///
    /// ```
    /// use machine::{actor::Human, contract::{CallError, Tool}, machine};
    /// use machine::testing::{Coverage, TestEnvironment, TestTool, payload_of, walks};
    /// use proptest::strategy::{Strategy, ValueTree};
    /// use proptest::test_runner::TestRunner;
    /// use serde::{Deserialize, Serialize};
    ///
    /// #[machine(durable)]
    /// #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    /// enum Order {
    ///     #[initial]
    ///     #[on(place(cents: u32, charge = Charge { cents }) => Paying, by = Human)]
    ///     Cart,
    ///     #[invoke(charge, done = paid, failed = refused)]
    ///     #[on(paid(receipt) => Paid)]
    ///     #[on(refused(why) => Unpaid)]
    ///     Paying { charge: Charge },
    ///     #[terminal]
    ///     Paid { receipt: String },
    ///     #[terminal]
    ///     Unpaid { why: CallError },
    /// }
    ///
    /// #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tool)]
    /// #[tool(bank.charge, irreversible)]
    /// struct Charge {
    ///     cents: u32,
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() {
    /// let mut coverage = Coverage::of::<AnyOrder>();
    /// let (events, mut runner) = (walks::<AnyOrder>(0..4, payload_of), TestRunner::deterministic());
    /// for _ in 0..20 {
    ///     let bank = TestTool::<Charge>::new();
    ///     let calls = bank.clone();
    ///     let shop = TestEnvironment::new(move |worker| {
    ///         worker.machine::<AnyOrder>().tool(bank.clone())
    ///     });
    ///     let order = shop.create(Order::new()).await;
    ///     for event in events.new_tree(&mut runner).unwrap().current() {
    ///         shop.play(order, &event).await;
    ///     }
    ///     assert!(calls.calls().len() <= 1);
    ///     shop.cover(&mut coverage).await;
    /// }
    /// assert!(coverage.is_complete(), "{coverage}");
    /// # }
    /// ```
    ///
    /// # Panics
    ///
    /// If the worker does not start, or the machine cannot be read; and as
    /// [`advance`](Self::advance) does.
    pub async fn play(&self, id: Id, event: &TestEvent) -> bool {
        run(self.without_calls()).await;
        let before = self.detail(id).await;
        if !before.machine.moves.iter().any(|it| it.trigger == event.trigger) {
            self.note_refusal(&before.machine, &event.trigger);
            return false;
        }
        let transitions = before.machine.transition_count;
        match &event.source {
            Source::Actor => self.act(id, event).await,
            Source::Deadline => match self.due_at(id, &event.trigger).await {
                Some(at) => self.advance(millis(at.saturating_sub(self.store().now()))).await,
                // It does not run, and code can call its trigger.
                None => self.act(id, event).await,
            },
            Source::Call { tool, outcomes } => {
                self.answer(id, transitions, tool.as_deref(), outcomes).await;
            }
        }
        run(self.without_calls()).await;
        self.transitions(id).await != transitions
    }

    fn without_calls(&self) -> Worker {
        self.worker().only_tools(|_| false)
    }

    async fn transitions(&self, id: Id) -> u64 {
        self.detail(id).await.machine.transition_count
    }

    async fn act(&self, id: Id, event: &TestEvent) {
        let kind = event.actors.first().map_or(Anyone::KIND, String::as_str);
        let message = Message(Arc::new(Outgoing {
            correlation: Id::fresh().to_string(),
            actor: kind.to_owned(),
            name: (kind != Anyone::KIND).then(|| NAME.to_owned()),
            body: event.json.to_string(),
            seen: None,
        }));
        self.deliver(id, &message, self.without_calls()).await;
    }

    async fn due_at(&self, id: Id, trigger: &str) -> Option<Millis> {
        let history = self.store().history(id).await;
        let history = history.unwrap_or_else(|error| panic!("{error}"));
        let mut newest_first = history.entries.iter().rev();
        let running = newest_first.find_map(|entry| match &entry.fact {
            Fact::Created { deadlines, .. } | Fact::Moved { deadlines, .. } => Some(deadlines),
            _ => None,
        })?;
        running.iter().find(|due| due.trigger == trigger && !due.paused)?.due_at
    }

    /// Lets the open calls end with these outcomes, until the machine has moved.
    async fn answer(&self, id: Id, transitions: u64, tool: Option<&str>, outcomes: &[Value]) {
        let children = self.store().children(id).await;
        let children = children.unwrap_or_else(|error| panic!("{error}"));
        let (mut played, mut may_wait) = (Vec::new(), false);
        for call in children.iter().filter(|it| !it.has_ended) {
            let place = call.position.and_then(|it| usize::try_from(it).ok());
            let outcome = place.and_then(|it| outcomes.iter().cycle().nth(it));
            let Some(outcome) = outcome else { continue };
            let error = outcome.get("Err").map(CallError::<Value>::deserialize);
            let declined = match error {
                Some(Ok(CallError::Declined { reason, .. })) => Some(reason),
                Some(Ok(CallError::Failed(_))) => None,
                None
                | Some(Ok(CallError::Refused(_) | CallError::NotApplied(FoundBy::Service(_)))) => {
                    may_wait = true;
                    None
                }
                // No service makes it.
                Some(_) => continue,
            };
            if !self.decide(call.id, declined.as_deref()).await {
                continue;
            }
            tool::play(call.id, Some(outcome.clone()));
            played.push(call.id);
        }
        let mut wait = Duration::from_mins(1);
        while !played.is_empty() && self.transitions(id).await == transitions {
            let worker = self.worker().only_tools(|it| tool.is_none() || it == tool);
            if !self.step_of(worker).await {
                // A call in doubt is settled after a while.
                if !may_wait || wait > LONGEST_WAIT {
                    break;
                }
                self.advance(wait).await;
                wait *= 2;
            }
        }
        for call in played {
            tool::play(call, None);
        }
    }

    /// A person answers the gate of a call, if it has one. Returns whether that can lead to the
    /// outcome.
    async fn decide(&self, call: Id, declined: Option<&str>) -> bool {
        let gate = self.detail(call).await.gate.as_ref().map(|gate| gate.id);
        let Some(gate) = gate else { return declined.is_none() };
        let Ok(gate) = self.store().gate(gate).await else { return false };
        let person = self.person(NAME);
        match (declined, gate.whole_question()) {
            (Some(reason), _) => self.store().decline(gate, reason, &person).await.is_ok(),
            (None, Some(shown)) => self.store().approve(gate, shown.digest, &person).await.is_ok(),
            (None, None) => false,
        }
    }
}

const NAME: &str = "test";

/// The longest of the waits for a call in doubt, each twice as long as the one before.
const LONGEST_WAIT: Duration = Duration::from_hours(24);

fn millis(time: Millis) -> Duration {
    Duration::from_millis(u64::try_from(time).unwrap_or(0))
}

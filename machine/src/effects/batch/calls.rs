//! The calls that a machine makes by entering a state.

use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::{Value, json};

use crate::{
    contract::{CallError, Contract, IdempotencyKey},
    effects::{batch::batch::Batch, error::EffectError, leave::invokes},
    future::panic_text,
    id::Id,
    journal::{Digest, Fact},
    store::{
        backend::{Attempts, CallRow, Kinship, NewChild},
        handle::Store,
        inbox::{message::Message, outcome::OutcomePlace, protocol::Event},
        write::attempt::{CONTRACTS, KeyState, key_state},
    },
    stored::{Durable, Entered, EnteredCall, NewCall, check_session},
};

const MAX_CALLS: usize = 256;

/// The newest entry of a machine into a state, which a batch is to write.
pub(super) struct Entry {
    machine: Id,
    number: u64,
    is_new: bool,
}

/// What entries into states add to a batch.
#[derive(Default)]
pub(super) struct Calls {
    pub(super) new: Vec<(Option<NewChild>, Box<dyn Durable>)>,
    pub(super) joined: Vec<(Id, Kinship)>,
    /// Outcomes that need no call.
    pub(super) events: Vec<(Id, Event)>,
}

/// What becomes of a call that an entry makes.
enum Place {
    New,
    /// An execution of an earlier entry is this very call.
    Joins(Id),
    /// It has an outcome already.
    Answered(CallError<Value>),
}

impl Entry {
    /// The entry, and what it brings; `None` if the machine enters no state.
    ///
    /// A machine that goes through a state with a call, and leaves it in the same commit, is
    /// refused: its table says that the call is made there.
    pub(super) fn of(machine: &dyn Durable) -> Result<Option<(Self, Entered)>, EffectError> {
        let (definition, journal) = (machine.definition(), machine.journal());
        let mut newest: Option<(u64, &str)> = None;
        for entry in journal.uncommitted() {
            let state = match &entry.fact {
                Fact::Created { state, .. } => state,
                Fact::Moved { to, stays: false, .. } => to,
                Fact::Moved { .. } | Fact::Fenced { .. } | Fact::Recorded { .. } => continue,
            };
            let through = newest.replace((entry.number, state));
            if let Some((_, state)) = through.filter(|(_, state)| invokes(definition, state)) {
                let state = state.to_owned();
                return Err(EffectError::Skipped { id: journal.id(), state });
            }
        }
        let Some((number, state)) = newest else { return Ok(None) };
        let is_new = journal.stored().version == 0;
        let entered = calls_of(machine, state)?;
        Ok(Some((Self { machine: journal.id(), number, is_new }, entered)))
    }

    /// The entry of a stored machine into the state that it is in, and the calls that it would
    /// bring today.
    fn again(machine: &dyn Durable) -> Result<(Self, Entered), EffectError> {
        let (journal, states) = (machine.journal(), &machine.definition().states);
        let entered = calls_of(machine, &states[machine.state_index()].name)?;
        let number = journal.past().entered;
        Ok((Self { machine: journal.id(), number, is_new: false }, entered))
    }

    /// The version of the machine with the entry.
    fn since(&self) -> u64 {
        self.number + 1
    }
}

/// The calls of the state that a machine is in. This runs expressions of the program.
fn calls_of(machine: &dyn Durable, state: &str) -> Result<Entered, EffectError> {
    let id = machine.journal().id();
    let failed = |reason| EffectError::NotInvoked { id, state: state.to_owned(), reason };
    let entered = catch_unwind(AssertUnwindSafe(|| machine.__entered()))
        .map_err(|panic| failed(format!("their expression panicked: {}", panic_text(&*panic))))?;
    let calls = entered.calls.as_deref().unwrap_or_default();
    if calls.len() > MAX_CALLS {
        let count = calls.len();
        return Err(failed(format!("there are {count} of them, the limit is {MAX_CALLS}")));
    }
    for call in calls.iter().filter_map(|made| made.call.as_ref().ok()) {
        let contract = call.execution.__rules().__any().downcast_ref::<Contract>();
        let checked = contract.and_then(Contract::session_id).map_or(Ok(()), check_session);
        checked.map_err(|breach| failed(format!("option `session`: {breach}")))?;
    }
    Ok(entered)
}

impl Batch<'_> {
    /// The calls of the states that the machines of the batch enter.
    pub(super) async fn enter(&mut self) -> Result<Calls, EffectError> {
        let mut calls = Calls::default();
        if let Some((entry, entered)) = self.adopts.as_deref().map(Entry::again).transpose()? {
            calls.add(self.store, &entry, entered.calls.unwrap_or_default()).await?;
        }
        for item in &mut self.items {
            let Some((entry, entered)) = Entry::of(item.machine())? else { continue };
            if let Some(made) = entered.calls {
                calls.add(self.store, &entry, made).await?;
            }
        }
        Ok(calls)
    }
}

impl Calls {
    async fn add(
        &mut self,
        store: &Store,
        entry: &Entry,
        calls: Vec<EnteredCall>,
    ) -> Result<(), EffectError> {
        if calls.is_empty() {
            self.answer(store, entry, None, &json!({ "entry": entry.number, "empty": true }));
        }
        for EnteredCall { position, call } in calls {
            let answer = match call {
                Ok(call) => {
                    match store.place(entry, &self.joined, Wanted::of(&*call.execution)).await? {
                        Place::New => {
                            self.create(entry, position, call);
                            continue;
                        }
                        Place::Joins(child) => {
                            let (parent, since) = (entry.machine, entry.since());
                            let position = Some(position);
                            self.joined.push((child, Kinship { parent, since, position }));
                            continue;
                        }
                        Place::Answered(error) => json!(error),
                    }
                }
                Err(error) => error,
            };
            let body = json!({ "entry": entry.number, "index": position, "error": answer });
            self.answer(store, entry, Some(position), &body);
        }
        Ok(())
    }

    fn create(&mut self, entry: &Entry, position: u32, NewCall { execution, gate }: NewCall) {
        self.new.extend(gate.map(|gate| (None, gate)));
        let child = NewChild {
            child: execution.journal().id(),
            parent: entry.machine,
            since: Some(entry.since()),
            position: Some(position),
        };
        self.new.push((Some(child), execution));
    }

    fn answer(&mut self, store: &Store, entry: &Entry, position: Option<u32>, body: &Value) {
        let place = OutcomePlace::Entry { entry: entry.number, position };
        let message = Message::answered(entry.machine, place, body).into();
        self.events.push((entry.machine, Event::Send { message, now: store.now() }));
    }
}

impl Store {
    /// Decides whether a call is made. Only one that is irreversible has a key that keeps it from
    /// running twice.
    async fn place(
        &self,
        entry: &Entry,
        joined: &[(Id, Kinship)],
        wanted: Option<Wanted>,
    ) -> Result<Place, EffectError> {
        let Some(Wanted { id, key, action }) = wanted else { return Ok(Place::New) };
        let attempts = self.inner.backend.attempts(Attempts::OfKey(key.to_string())).await?;
        // One that cannot be read keeps the call from beginning, which says more than an error
        // here.
        let Ok(attempts) = attempts.into_iter().collect::<Result<Vec<_>, _>>() else {
            return Ok(Place::New);
        };
        // The calls with this key that earlier entries of the machine have made, oldest first.
        let own: Vec<CallRow> = if entry.is_new {
            Vec::new()
        } else {
            let own = self.inner.backend.same_call(entry.machine, key.to_string()).await?;
            own.into_iter().flatten().collect()
        };
        let is_joined = |call| joined.iter().any(|(child, _)| *child == call);
        let (by, is_applied) = match key_state(&attempts, CONTRACTS, id) {
            KeyState::Free => (None, false),
            KeyState::Held { by } => (Some(by), false),
            KeyState::Applied { by } => (Some(by), true),
        };
        if let Some(by) = by {
            let holder = self.readable(by).await?;
            let is_same = holder.is_none_or(|of| of.context().action().digest() == action);
            // A call of an earlier entry, whose outcome the machine has not taken.
            if own.iter().any(|it| it.id == by && !it.is_taken()) {
                match (is_same, is_joined(by)) {
                    (false, _) => return Ok(Place::Answered(CallError::Differs { by })),
                    (true, false) => return Ok(Place::Joins(by)),
                    // An equal call of the set has it.
                    (true, true) => {}
                }
            }
            match (is_applied, is_same) {
                (true, true) => return Ok(Place::Answered(CallError::AlreadyDone { by })),
                (true, false) => return Ok(Place::Answered(CallError::Differs { by })),
                // It waits until the other one has ended.
                (false, _) => {}
            }
        }
        // The machine does not know that a person declined it: nobody is asked again.
        let newest = own.iter().rfind(|it| !is_joined(it.id));
        let unknown = newest.filter(|it| it.ended_at.is_some() && !it.is_taken());
        if let Some(call) = unknown
            && self.declined_action(call.id).await? == Some(action)
        {
            return Ok(Place::Joins(call.id));
        }
        Ok(Place::New)
    }
}

/// An irreversible call that an entry wants to make.
struct Wanted {
    id: Id,
    key: IdempotencyKey,
    action: Digest,
}

impl Wanted {
    fn of(execution: &dyn Durable) -> Option<Self> {
        let contract: &Contract = execution.__rules().__any().downcast_ref()?;
        let key = contract.idempotency_key().filter(|_| contract.is_irreversible())?.clone();
        Some(Self { id: execution.journal().id(), key, action: contract.action().digest() })
    }
}

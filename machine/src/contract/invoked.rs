//! The calls that a machine makes when it enters a state.

use std::time::Duration;

use serde_json::json;

use super::{
    Action, CallError, Callable, Contract, Effect, EffectType, Execution, Gate, InvalidContract,
    Irreversible, Origin, Planned, Tool, ToolCall,
};
use crate::{
    actor::{EcsNode, GraphRunner, ReasoningNode},
    clock::{Millis, millis},
    definition::rows::{INVOCATION, InvocationRow},
    id::Id,
    journal::Digest,
    stored::{Durable, Entered, EnteredCall, Index, NewCall},
};

/// What `#[invoke]` can name: a tool, a call of one that is known at run time only, or any action.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is neither a tool nor an action, so a state cannot invoke it",
    label = "this type declares neither service nor effect",
    note = "implement `machine::contract::Tool` for it; a set of calls is written `name: [Tool]`"
)]
pub trait Invoke: Callable {
    // That of a call whose tool is known at run time only is empty.
    const SERVICE: &'static str = "";
    const METHOD: &'static str = "";
    type Effect: EffectType;

    /// # Errors
    ///
    /// See [`Contract::of`].
    fn contract(&self, author: &ReasoningNode) -> Result<Contract, InvalidContract>;

    /// Returns whether each call is an occurrence.
    fn is_per_call(&self) -> bool {
        false
    }
}

impl<T: Tool> Invoke for T {
    const SERVICE: &'static str = T::SERVICE;
    const METHOD: &'static str = T::METHOD;
    type Effect = T::Effect;

    fn contract(&self, author: &ReasoningNode) -> Result<Contract, InvalidContract> {
        Contract::of(self, author)
    }
}

impl Invoke for Action {
    type Effect = Irreversible;

    fn contract(&self, author: &ReasoningNode) -> Result<Contract, InvalidContract> {
        Contract::action_of(self.clone(), Effect::Irreversible, author)
    }
}

/// Whether it can be repeated is known when it is made.
impl Invoke for ToolCall {
    type Effect = Irreversible;

    fn contract(&self, author: &ReasoningNode) -> Result<Contract, InvalidContract> {
        Self::contract(self, author)
    }

    fn is_per_call(&self) -> bool {
        self.per_call
    }
}

/// The part of an invocation's row that its tool says.
#[doc(hidden)]
#[must_use]
pub const fn row_of<T: Invoke>() -> InvocationRow {
    InvocationRow {
        service: T::SERVICE,
        method: T::METHOD,
        irreversible: matches!(T::Effect::EFFECT, Effect::Irreversible),
        ..INVOCATION
    }
}

/// A call that the data of a state make.
#[doc(hidden)]
#[derive(Debug)]
pub struct Invoked<T> {
    pub tool: T,
    /// A person has to approve it.
    pub ask: bool,
    /// The time for the approval.
    pub expires: Option<Duration>,
    /// The time that the machine waits for it.
    pub within: Option<Duration>,
    /// Distinguishes it from an equal one.
    pub occurrence: Option<String>,
    /// That of the machine, if it is not given.
    pub session: Option<String>,
}

/// The calls that a machine makes with its newest entry. The ids of their executions depend on
/// nothing else.
pub(crate) fn invoked<T: Invoke>(
    machine: &dyn Durable,
    calls: impl IntoIterator<Item = Invoked<T>>,
) -> Entered {
    let Some((invocation, entry)) = newest_entry(machine) else { return Entered::default() };
    let made = calls.into_iter().zip(0..).map(|(call, position)| {
        let place = Place { machine, invocation, entry, position };
        let call = place.call(&call).map_err(|error| {
            let error = CallError::<String>::Invalid(error.to_string());
            serde_json::to_value(error)
                .unwrap_or_else(|error| json!({"invalid": error.to_string()}))
        });
        EnteredCall { position, call }
    });
    Entered { calls: Some(made.collect()) }
}

/// The name of the invocation of the current state, and the number and the time of the entry that
/// came into it.
fn newest_entry(machine: &dyn Durable) -> Option<(&'static str, (u64, Millis))> {
    let definition = machine.definition();
    let invocation = definition.states[machine.state_index()].invocation.as_ref()?;
    let past = machine.journal().past();
    Some((&invocation.name, (past.entered, past.entered_at)))
}

struct Place<'a> {
    machine: &'a dyn Durable,
    invocation: &'static str,
    entry: (u64, Millis),
    position: u32,
}

impl Place<'_> {
    fn call<T: Invoke>(&self, call: &Invoked<T>) -> Result<NewCall, InvalidContract> {
        let mut contract = call.tool.contract(&ReasoningNode::STORE)?;
        let (id, execution) = (self.machine.journal().id(), self.id(b"execution"));
        let place = || format!("{id}/{}/{}", self.entry.0, self.position);
        let own = call.tool.is_per_call().then(place);
        if let Some(occurrence) = call.occurrence.as_ref().or(own.as_ref()) {
            contract = contract.occurrence(occurrence, &GraphRunner::STORE)?;
        }
        let session = call.session.clone().or_else(|| Index::of(self.machine).ok()?.session);
        contract = contract.session(session.unwrap_or_else(|| id.to_string()));
        contract.0.invoked = Some(Origin {
            machine: self.machine.definition().name.to_string(),
            id,
            entry: self.entry.0,
            invocation: self.invocation.to_owned(),
            position: self.position,
            within_ms: call.within.map(millis),
            execution,
        });
        contract.check_size()?;
        if !call.ask {
            let execution = Box::new(Execution::new(contract));
            return Ok(NewCall { execution, gate: None });
        }
        let (gate, planned): (Gate, Planned<T>) =
            contract.ask_as(self.id(b"gate"), call.expires, &EcsNode::STORE)?;
        let gate: Box<dyn Durable> = Box::new(gate.into_execution());
        Ok(NewCall { execution: Box::new(planned.into_execution()), gate: Some(gate) })
    }

    /// An id that is the same whenever the entry is the same, and in the order of time.
    fn id(&self, role: &[u8]) -> Id {
        let (number, at) = self.entry;
        let machine = self.machine.journal().id();
        let parts = [role, machine.bytes(), &number.to_be_bytes(), &self.position.to_be_bytes()];
        Id::derived(at, Digest::of(&parts).bytes())
    }
}

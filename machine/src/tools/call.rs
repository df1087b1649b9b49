use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{
    actor::Actor,
    definition::Definition,
    typed::{Erased, Illegal, Refused},
};

/// Why a tool call moved nothing, in words that the model that made it can use.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// No move has this name, in any state.
    #[error("there is no move `{name}`; {legal}")]
    Unknown {
        /// What was called.
        name: String,
        /// What can be called.
        legal: String,
    },
    /// The arguments are not what the move takes.
    #[error("`{name}` cannot be called like this: {reason}; look at its input schema")]
    Arguments {
        /// What was called.
        name: String,
        /// What is wrong.
        reason: String,
    },
    /// The move is not legal now.
    #[error(transparent)]
    Illegal(Illegal),
}

/// Makes the move that a tool call asks for.
///
/// `arguments` is the JSON object that came with the call; an empty text counts as `{}`.
///
/// # Errors
///
/// The machine as it was, and why: no such move, wrong arguments, or not legal now.
pub fn call<M>(
    machine: M,
    name: &str,
    arguments: &str,
    by: &impl Actor,
) -> Result<M, Refused<M, CallError>>
where
    M: Erased<Event: DeserializeOwned>,
{
    let event = match event::<M>(&machine, name, arguments) {
        Ok(event) => event,
        Err(error) => return Err(Refused::new(machine, error)),
    };
    machine
        .apply(event, by)
        .map_err(|Refused { machine, reason }| Refused::new(machine, CallError::Illegal(reason)))
}

fn event<M>(machine: &M, name: &str, arguments: &str) -> Result<M::Event, CallError>
where
    M: Erased<Event: DeserializeOwned>,
{
    let definition: &Definition = M::DEFINITION;
    if definition.edges.iter().all(|edge| edge.trigger != *name) {
        // The error quotes at most 40 characters of what came from outside.
        let name = name.chars().take(40).collect();
        let legal = definition.legal_moves(machine.state_index()).to_string();
        return Err(CallError::Unknown { name, legal });
    }
    let wrong = |reason: String| CallError::Arguments { name: name.to_owned(), reason };
    let arguments = if arguments.trim().is_empty() { "{}" } else { arguments };
    let Value::Object(mut fields) =
        serde_json::from_str(arguments).map_err(|error| wrong(error.to_string()))?
    else {
        return Err(wrong("the arguments are no JSON object".to_owned()));
    };
    fields.insert("trigger".to_owned(), name.into());
    serde_json::from_value(Value::Object(fields)).map_err(|error| wrong(error.to_string()))
}

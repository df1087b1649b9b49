use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{
    actor::Actor,
    definition::Definition,
    typed::{Erased, Illegal, Refused},
};

/// Why a tool call was refused. The texts are written for the model that made the call.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum MoveError {
    /// No state has a move with this name.
    #[error("unknown move `{name}`; {legal}")]
    Unknown {
        /// The name that was called.
        name: String,
        /// The moves that are legal.
        legal: String,
    },
    /// The arguments do not match the input schema of the move.
    #[error("invalid arguments for `{name}`: {reason}; see its input schema")]
    Arguments {
        /// The name that was called.
        name: String,
        /// The reason that they do not match.
        reason: String,
    },
    /// The move is not legal now.
    #[error(transparent)]
    Illegal(Illegal),
}

/// Makes the move of a tool call.
///
/// `arguments` is the JSON object of the call; an empty text counts as `{}`.
///
/// # Errors
///
/// The unchanged machine, and why: unknown move, invalid arguments, or not legal now.
pub fn call<M>(
    machine: M,
    name: &str,
    arguments: &str,
    by: &impl Actor,
) -> Result<M, Refused<M, MoveError>>
where
    M: Erased<Event: DeserializeOwned>,
{
    let event = match event::<M>(&machine, name, arguments) {
        Ok(event) => event,
        Err(error) => return Err(Refused::new(machine, error)),
    };
    machine
        .apply(event, by)
        .map_err(|Refused { machine, reason }| Refused::new(machine, MoveError::Illegal(reason)))
}

fn event<M>(machine: &M, name: &str, arguments: &str) -> Result<M::Event, MoveError>
where
    M: Erased<Event: DeserializeOwned>,
{
    let definition: &Definition = M::DEFINITION;
    if definition.edges.iter().all(|edge| edge.trigger != *name) {
        // The error quotes at most 40 characters of external input.
        let name = name.chars().take(40).collect();
        let legal = definition.legal_moves(machine.state_index()).to_string();
        return Err(MoveError::Unknown { name, legal });
    }
    let wrong = |reason: String| MoveError::Arguments { name: name.to_owned(), reason };
    let arguments = if arguments.trim().is_empty() { "{}" } else { arguments };
    let Value::Object(mut fields) =
        serde_json::from_str(arguments).map_err(|error| wrong(error.to_string()))?
    else {
        return Err(wrong("the arguments are not a JSON object".to_owned()));
    };
    fields.insert("trigger".to_owned(), name.into());
    serde_json::from_value(Value::Object(fields)).map_err(|error| wrong(error.to_string()))
}

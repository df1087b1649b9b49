use super::Refused;
use crate::{actor::Actor, definition::Definition};

/// A machine whose state is known only at run time. `#[machine]` implements it for the erased type,
/// such as `AnyDoor`.
///
/// For code that is generic over machines. The methods are those of the type itself, and `apply`
/// always takes an actor.
pub trait Erased: Sized {
    /// The definition of the machine.
    const DEFINITION: &'static Definition;

    /// The triggers with their payloads.
    type Event;

    /// The current state, as an index into the definition's states.
    fn state_index(&self) -> usize;

    /// Makes the move of `event`.
    ///
    /// # Errors
    ///
    /// The unchanged machine, and why the move was refused.
    fn apply(self, event: Self::Event, by: &impl Actor) -> Result<Self, Refused<Self>>;
}

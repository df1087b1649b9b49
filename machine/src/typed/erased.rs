use super::Refused;
use crate::{actor::Actor, definition::Definition};

/// A machine whose state is known at run time only. `#[machine]` implements it for `AnyDoor`.
///
/// It lets code be generic over machines; the methods are those that the type itself has.
pub trait Erased: Sized {
    /// The one table.
    const DEFINITION: &'static Definition;

    /// The triggers with their payloads.
    type Event;

    /// Where the machine is, as an index into the definition's states.
    fn state_index(&self) -> usize;

    /// Makes the move that `event` asks for.
    ///
    /// # Errors
    ///
    /// The machine as it was, and why.
    fn apply(self, event: Self::Event, by: &impl Actor) -> Result<Self, Refused<Self>>;
}

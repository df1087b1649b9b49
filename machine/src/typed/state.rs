/// A state of a machine, as a type. `#[machine]` implements it.
///
/// It lets a function be generic over the state, and the store return the state that was asked for.
pub trait State: Sized + 'static {
    /// The typed machine in this state, such as `Execution<Waiting>`.
    type Machine;
    /// The erased machine, such as `AnyExecution`.
    type Any;
    /// The index of this state in the definition.
    const INDEX: usize;

    /// The typed machine, if the erased one is in this state.
    ///
    /// # Errors
    ///
    /// The erased machine as it was, when it is in another state.
    fn narrow(any: Self::Any) -> Result<Self::Machine, Self::Any>;

    /// The erased machine.
    fn widen(machine: Self::Machine) -> Self::Any;
}

/// A state that is never left.
pub trait Terminal: State {}

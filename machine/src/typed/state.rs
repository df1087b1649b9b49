/// A state of a machine, as a type. `#[machine]` implements it.
///
/// For functions that are generic over the state, such as those of a store that load a machine in a
/// given state.
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
    /// The unchanged erased machine, if it is in another state.
    fn narrow(any: Self::Any) -> Narrowed<Self>;

    /// Erases the state.
    fn widen(machine: Self::Machine) -> Self::Any;
}

/// The typed machine, or the unchanged erased one, which is in another state.
pub type Narrowed<S> = Result<<S as State>::Machine, <S as State>::Any>;

/// A terminal state: it has no outgoing transitions.
pub trait Terminal: State {}

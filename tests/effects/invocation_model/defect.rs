/// A defect of the rules that the checker must find.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Defect {
    /// A new entry takes over no call.
    NoJoin,
    /// A transition leaves whatever is under way.
    NoWait,
    /// What was left by `detach` does not keep the machine from ending.
    EndsOverDetached,
    /// A call is joined whatever its arguments are.
    JoinsOtherArguments,
    /// A call is joined that ended without effect.
    JoinsEnded,
    /// A call waits for one of its own machine that has other arguments.
    WaitsForOtherArguments,
    /// A call is joined whose outcome was taken.
    JoinsTaken,
    /// A call of another machine is joined.
    JoinsOtherMachine,
    /// Two members of a set join one call.
    JoinsTwice,
    /// An idempotent call is joined.
    JoinsIdempotent,
    /// Whoever has applied the key is `AlreadyDone`, with other arguments too.
    DoneWithOtherArguments,
    /// The outcome of an earlier entry is taken for the current one.
    TakesOldOutcome,
    /// A message is for the entry in which its call ended.
    BindsMessageToEntry,
    /// An outcome that the state does not take counts as taken.
    StaleIsTaken,
    /// A stale message is acknowledged without a transition.
    AcknowledgesAlone,
    /// A transition on `Overdue` leaves like one on a refusal.
    OverdueIsRefusal,
    /// A transition on one outcome of a set leaves without `detach`.
    EachLeavesFreely,
    /// A transition on one outcome of a set that leaves waits for the others.
    EachWaits,
    /// What is withdrawn leaves its gate open.
    LeavesGateOpen,
    /// A person is asked about what they declined before the machine learned it.
    AsksAgain,
    /// A call begins while another one has its key.
    IgnoresKey,
}

#[cfg(feature = "alloc")]
use alloc::boxed::Box;
use core::{error, fmt};

use super::words::{Words, keep};
use crate::definition::Definition;

/// A refused step: the unchanged machine, and why.
///
/// ```
/// use machine::actor::Actors;
/// use machine::contract::{AnyExecution, Contract, Execution, ToolSpec, execution::Event};
///
/// let actors = Actors::issue("reader")?;
/// let tool = ToolSpec::idempotent("files", "read")?;
/// let contract = Contract::tool_call(&tool, r#"{"path": "notes.txt"}"#, &actors.reasoning_node)?;
/// let pending = AnyExecution::from(Execution::new(contract));
///
/// let refused = pending.apply(Event::Resume, &actors.graph_runner).unwrap_err();
/// assert_eq!(
///     refused.to_string(),
///     "PENDING cannot `resume`; from PENDING you can: start -> RUNNING"
/// );
/// let running = refused.machine.apply(Event::Start, &actors.tool_node)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Refused<M, E = Illegal> {
    /// The machine, unchanged.
    pub machine: M,
    /// Why the step was refused.
    pub reason: E,
}

impl<M, E> Refused<M, E> {
    /// Pairs the machine with the reason.
    #[cfg(feature = "durable")]
    pub(crate) fn new(machine: M, reason: E) -> Self {
        Self { machine, reason }
    }
}

impl<M, E: fmt::Debug> fmt::Debug for Refused<M, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reason.fmt(f)
    }
}

impl<M, E: fmt::Display> fmt::Display for Refused<M, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reason.fmt(f)
    }
}

impl<M, E: error::Error> error::Error for Refused<M, E> {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        self.reason.source()
    }
}

/// A move that the definition does not allow.
#[derive(Clone, PartialEq, Eq)]
pub struct Illegal(Kept);

/// Boxed, so that `Result`s of moves stay small.
#[cfg(feature = "alloc")]
type Kept = Box<Details>;
#[cfg(not(feature = "alloc"))]
type Kept = Details;

#[derive(Debug, Clone, PartialEq, Eq)]
struct Details {
    definition: &'static Definition,
    state: usize,
    trigger: &'static str,
    reason: Reason,
}

/// Why a move is illegal.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// The state is never left.
    Terminal,
    /// The state has no such move.
    NotFromHere,
    /// The state has this move, but this kind of actor may not make it.
    Actor(&'static str),
    /// The move is legal, but its guard refused it for this reason.
    Guard(Words),
    /// Firing a deadline that the state does not have.
    NoDeadline,
    /// Firing a deadline that is due only in this many milliseconds.
    NotDue(u64),
    /// The deadline is due, but the guard refused the move for this reason. The deadline stays due.
    DueButRefused(Words),
}

impl Reason {
    /// A guard refused the move of a due deadline.
    #[doc(hidden)]
    #[must_use]
    #[cold]
    pub fn __due_but_refused(reason: &dyn fmt::Display) -> Self {
        Self::DueButRefused(keep(reason))
    }
}

impl Illegal {
    fn of(details: Details) -> Self {
        #[cfg(feature = "alloc")]
        let details = Box::new(details);
        Self(details)
    }

    /// A guard refused the move.
    #[doc(hidden)]
    #[must_use]
    #[cold]
    pub fn __guard(
        definition: &'static Definition,
        state: usize,
        trigger: &'static str,
        reason: &dyn fmt::Display,
    ) -> Self {
        let reason = Reason::Guard(keep(reason));
        Self::of(Details { definition, state, trigger, reason })
    }

    /// A deadline cannot fire: it does not exist, is not due yet, or a guard refused the move.
    #[doc(hidden)]
    #[must_use]
    #[cold]
    pub fn __deadline(
        definition: &'static Definition,
        state: usize,
        trigger: &str,
        reason: Reason,
    ) -> Self {
        let trigger = definition.edges_of(trigger).next().map_or("?", |edge| &*edge.trigger);
        Self::of(Details { definition, state, trigger, reason })
    }

    /// Determines why `actor` cannot `trigger` in `state`.
    #[doc(hidden)]
    #[must_use]
    #[cold]
    pub fn __new(
        definition: &'static Definition,
        state: usize,
        trigger: &'static str,
        actor: &'static str,
    ) -> Self {
        let reason = if definition.states[state].terminal {
            Reason::Terminal
        } else if definition.find_move(state, trigger).is_some() {
            Reason::Actor(actor)
        } else {
            Reason::NotFromHere
        };
        Self::of(Details { definition, state, trigger, reason })
    }

    /// The label of the current state.
    #[must_use]
    pub fn state(&self) -> &'static str {
        &self.0.definition.states[self.0.state].label
    }

    /// The trigger that was refused.
    #[must_use]
    pub fn trigger(&self) -> &'static str {
        self.0.trigger
    }

    /// Why it was refused.
    #[must_use]
    pub fn reason(&self) -> &Reason {
        &self.0.reason
    }
}

impl fmt::Display for Illegal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let details: &Details = &self.0;
        let Details { definition, state, trigger, reason } = details;
        let label = &definition.states[*state].label;
        match reason {
            Reason::Terminal => write!(f, "{label} is terminal: it cannot `{trigger}`"),
            Reason::NotFromHere => {
                write!(f, "{label} cannot `{trigger}`; {}", definition.legal_moves(*state))
            }
            Reason::Guard(reason) => write!(f, "{label} cannot `{trigger}` now: {reason}"),
            Reason::NoDeadline => write!(f, "{label} has no deadline for `{trigger}`"),
            Reason::NotDue(ms) => {
                write!(f, "`{trigger}` of {label} is due in {ms} ms; fire it then")
            }
            Reason::DueButRefused(reason) => {
                write!(
                    f,
                    "{label} is due to `{trigger}`, but its guard refused: {reason}; it stays due"
                )
            }
            Reason::Actor(actor) => {
                write!(f, "`{actor}` may not `{trigger}` from {label}")?;
                let legal = definition.find_move(*state, trigger);
                let actors = legal.iter().flat_map(|legal| &*legal.edge().actors);
                for (position, actor) in actors.enumerate() {
                    let separator = if position == 0 { "; these may: " } else { ", " };
                    write!(f, "{separator}{actor}")?;
                }
                Ok(())
            }
        }
    }
}

impl error::Error for Illegal {}

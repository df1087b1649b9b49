use std::fmt;

use serde::{Deserialize, Serialize};

/// The effect of a call on the outside world.
///
/// Effects are ordered by risk. Hints raise an effect and never lower it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// A repeated call does no harm, such as reading a file. The call runs at least once.
    Idempotent,
    /// A call cannot be undone, such as sending a mail. The call runs at most once per idempotency
    /// key.
    Irreversible,
}

/// The effect of a [`Tool`](trait@super::Tool), as a type: [`Idempotent`], [`Irreversible`] or
/// [`AnswersLater`].
pub trait EffectType: sealed::Sealed + 'static {
    /// The effect as a value.
    const EFFECT: Effect;

    /// Its service may accept a call and report the outcome later.
    #[doc(hidden)]
    const __ANSWERS_LATER: bool = false;
}

/// The effect of tools that can safely be called again. See [`Effect::Idempotent`].
#[derive(Debug)]
pub enum Idempotent {}

/// The effect of tools whose calls cannot be undone. See [`Effect::Irreversible`].
#[derive(Debug)]
pub enum Irreversible {}

/// The effect of irreversible tools whose service may accept a call and report the outcome later,
/// such as a deployment: [`Call::accepted`](super::Call::accepted). Calls of these tools have a
/// [token](super::Call::callback_token) for the report. A tool that is known only at run time
/// always answers in its call. See [`Effect::Irreversible`].
///
/// No other tool can answer so:
///
/// ```compile_fail
/// use machine::contract::{Call, Irreversible, Tool, ToolAnswer};
/// use std::time::Duration;
///
/// fn accepted<T: Tool<Effect = Irreversible>>(call: &Call<T>) -> ToolAnswer<T> {
///     call.accepted("rollout 12", Duration::from_mins(1))
/// }
/// ```
///
/// ```
/// use machine::contract::{AnswersLater, Call, Tool, ToolAnswer};
/// use std::time::Duration;
///
/// fn accepted<T: Tool<Effect = AnswersLater>>(call: &Call<T>) -> ToolAnswer<T> {
///     call.accepted("rollout 12", Duration::from_mins(1))
/// }
/// ```
#[derive(Debug)]
pub enum AnswersLater {}

impl EffectType for AnswersLater {
    const EFFECT: Effect = Effect::Irreversible;
    const __ANSWERS_LATER: bool = true;
}

impl EffectType for Idempotent {
    const EFFECT: Effect = Effect::Idempotent;
}

impl EffectType for Irreversible {
    const EFFECT: Effect = Effect::Irreversible;
}

/// An effect that needs no permit: only [`Idempotent`].
#[diagnostic::on_unimplemented(
    message = "an irreversible tool cannot be started, retried or repeated without a permit",
    label = "the effect of this tool is `{Self}`",
    note = "`Store::perform` and `Store::begin` run it under a permit, at most once; after a failure, \
            a person decides: `Contract::retry(&failed, &human)`"
)]
pub trait NeedsNoPermit: EffectType {}

impl NeedsNoPermit for Idempotent {}

/// Implemented by types of this crate only; so are the traits that need it.
pub(super) mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Idempotent {}
    impl Sealed for super::Irreversible {}
    impl Sealed for super::AnswersLater {}
}

impl Effect {
    pub(crate) fn is_irreversible(self) -> bool {
        self == Self::Irreversible
    }
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Idempotent => "idempotent",
            Self::Irreversible => "irreversible",
        })
    }
}

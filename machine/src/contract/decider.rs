use serde::{Deserialize, Deserializer, Serialize};

use crate::actor::{Actor, GraphRunner, Human, InvalidName, Name};

/// The one who decided to retry an action: a [`Human`], or a [`Policy`]. It is made from one of them, and
/// from nothing else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Decider(Basis);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Basis {
    Human(String),
    Policy(String),
}

impl Decider {
    /// The name of the person or the policy.
    #[must_use]
    pub fn name(&self) -> &str {
        match &self.0 {
            Basis::Human(name) | Basis::Policy(name) => name,
        }
    }

    /// Returns `true` if it is a person.
    #[must_use]
    pub fn is_human(&self) -> bool {
        matches!(self.0, Basis::Human(_))
    }
}

/// Reads a decider as a part of a contract.
pub(super) fn read<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Decider>, D::Error> {
    Ok(Option::<Basis>::deserialize(deserializer)?.map(Decider))
}

/// A type that can decide about a retry: a person, or a policy of the program.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot decide about a retry",
    label = "neither a person nor a policy",
    note = "a person (`&Human`) or a policy of the program (`&Policy`) decides whether a failed \
            action is retried"
)]
pub trait Decides: sealed::Sealed {
    /// The decision, for the contract.
    #[doc(hidden)]
    fn __decider(&self) -> Decider;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Human {}
    impl Sealed for super::Policy {}
}

/// A rule of the program that decides about retries without a person, by name.
///
/// ```
/// use machine::actor::GraphRunner;
/// use machine::contract::{Contract, Execution, Policy, execution::Failed};
///
/// fn retry_if_refused(failed: &Execution<Failed>, runner: &GraphRunner) -> Option<Contract> {
///     let policy = Policy::new("retry mails that the server did not accept", runner).ok()?;
///     failed.state().error.starts_with("SMTP").then(|| Contract::retry(failed, &policy))
/// }
/// ```
#[derive(Debug, Clone)]
pub struct Policy(Name);

impl Policy {
    /// The policy with this name.
    ///
    /// # Errors
    ///
    /// [`InvalidName`] if the name is not a line of visible text.
    pub fn new(name: &str, _by: &GraphRunner) -> Result<Self, InvalidName> {
        Name::new(name).map(Self)
    }
}

impl Decides for Human {
    fn __decider(&self) -> Decider {
        Decider(Basis::Human(self.name().unwrap_or_default().to_owned()))
    }
}

impl Decides for Policy {
    fn __decider(&self) -> Decider {
        Decider(Basis::Policy(self.0.as_str().to_owned()))
    }
}

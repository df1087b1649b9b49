use serde::{Deserialize, Serialize};

use super::{
    AnyExecution,
    execution::{self, Status},
};

/// The release state of an execution behind a gate, as it was when the execution was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, crate::ToSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Release {
    /// The execution is PENDING, and its gate waits for an answer.
    Deferred,
    /// The execution is PENDING, and its gate was approved: it may start.
    Released,
    /// The gate was declined or withdrawn, or has expired; the execution was CANCELLED with it and
    /// never runs.
    Refused,
}

impl Release {
    /// The release state of an execution; `None` if it has no gate, or has started.
    ///
    /// ```
    /// use machine::actor::{Actors, Human};
    /// use machine::contract::{Action, AnyExecution, Contract, Release, ToolSpec};
    /// use machine::store::Store;
    ///
    /// # pollster::block_on(async {
    /// let (store, actors) = (Store::memory(), Actors::issue("assistant")?);
    /// let email = ToolSpec::irreversible("email", "send")?;
    /// let mail = Contract::tool_call(&email, r#"{"to": "bob@example.com"}"#, &actors.reasoning_node)?;
    /// let (mut gate, mut mail) = mail.ask::<Action>(None, &actors.ecs_node)?;
    /// store.ask(&mut gate, &mut mail).await?;
    /// let deferred: AnyExecution = store.load(mail.id()).await?;
    /// assert_eq!(Release::of(&deferred), Some(Release::Deferred));
    ///
    /// store.decline(gate, "wrong address", &Human::new("ann@example.com")?).await?;
    /// let refused: AnyExecution = store.load(mail.id()).await?;
    /// assert_eq!(Release::of(&refused), Some(Release::Refused));
    /// let AnyExecution::Cancelled(refused) = refused else { panic!("it ended with its gate") };
    /// assert_eq!(refused.state().reason, "not approved: wrong address");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn of(execution: &AnyExecution) -> Option<Self> {
        execution.context().behind()?;
        let gate = execution.journal().stored().gate.as_deref();
        Self::between(execution.status(), gate.and_then(|gate| gate.parse().ok()))
    }

    /// The statuses of an execution and of its gate that make it. A gate that is not there has the
    /// empty one.
    pub(crate) fn statuses(self) -> Vec<(String, String)> {
        let all = || execution::DEFINITION.states.iter().map(|state| state.name.to_string());
        let gates = || all().chain([String::new()]);
        let pairs = all().flat_map(|it| gates().map(move |gate| (it.clone(), gate)));
        pairs
            .filter(|(status, gate)| {
                let status = status.parse().ok();
                status.and_then(|status| Self::between(status, gate.parse().ok())) == Some(self)
            })
            .collect()
    }

    /// The release state, from the states of an execution and of its gate; a missing gate is
    /// `None`.
    pub(crate) fn between(execution: Status, gate: Option<Status>) -> Option<Self> {
        match (execution, gate) {
            (Status::Pending, None | Some(Status::Pending | Status::Running | Status::Waiting)) => {
                Some(Self::Deferred)
            }
            (Status::Pending, Some(Status::Completed)) => Some(Self::Released),
            (
                Status::Pending | Status::Cancelled,
                Some(Status::Failed | Status::Rejected | Status::Cancelled),
            ) => Some(Self::Refused),
            _ => None,
        }
    }
}

use super::{Error, ErrorKind, Operator};
use crate::{contract::execution, id::Id, line::OneLine, observe::Observer};

/// The most commands for children in a refusal.
const MAX_CHILDREN: usize = 6;

impl Operator<'_> {
    /// Refuses an act that is only for executions of the library, with the kind and the state of
    /// the machine.
    pub(super) async fn is_execution(&self, operation: &str, id: Id) -> Result<(), Error> {
        let observed = self.store.observed_one(id).await?;
        let kind = &observed.definition.name;
        if *kind == execution::DEFINITION.name {
            return Ok(());
        }
        let (_, label) = observed.state();
        let refused = Error::refused(format!(
            "{id} is of the kind `{}`, in {}; `{operation}` applies only to executions of the library",
            OneLine(kind),
            OneLine(label)
        ));
        Err(self.with_commands(id, refused).await)
    }

    /// Adds the commands that do apply to a refusal.
    pub(super) async fn or_instead<T>(
        &self,
        id: Id,
        checked: Result<T, Error>,
    ) -> Result<T, Error> {
        match checked {
            Err(error) if error.kind() == ErrorKind::Refused => {
                Err(self.with_commands(id, error).await)
            }
            checked => checked,
        }
    }

    async fn with_commands(&self, id: Id, error: Error) -> Error {
        // It is an addition only.
        let observer = Observer::new(&self.store);
        let mut steps = Box::pin(observer.next(id)).await.unwrap_or_default();
        // The gate or the question may be that of a child.
        let of_children = Box::pin(observer.next_of_children(id)).await.unwrap_or_default();
        steps.extend(of_children.into_iter().take(MAX_CHILDREN));
        let steps: Vec<_> = steps.iter().map(|step| format!("`{step}`")).collect();
        if steps.is_empty() { error } else { error.hint(format!("instead: {}", steps.join(", "))) }
    }
}

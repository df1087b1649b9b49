use super::{AgentError, Agents, TurnId, TurnStop};
use crate::operate::{Error, ErrorKind, Operator};

impl Operator<'_> {
    /// Stops a turn of an agent, as [`Agents::stop`] does.
    ///
    /// # Errors
    ///
    /// [`Error`]: nothing was changed.
    pub async fn stop_turn(&self, turn: TurnId) -> Result<TurnStop, Error> {
        Ok(Agents::of(&self.store).stop(turn, self.by).await?)
    }
}

impl From<AgentError> for Error {
    fn from(error: AgentError) -> Self {
        match error {
            AgentError::Load(error) => error.into(),
            AgentError::Commit(error) => error.into(),
            error if error.is_unknown() => Self::of(ErrorKind::NotFound, error),
            error => Self::of(ErrorKind::Refused, error),
        }
    }
}

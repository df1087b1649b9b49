use super::{Error, Operator};
use crate::{
    contract::Question,
    effects::{Resume, Resumed},
    id::Id,
};

impl Operator<'_> {
    /// The question that waits with this id, for this act: `respond` or `continue`. One that has
    /// waited for longer than these checks allow is refused; [`proceed`](Self::proceed) checks it
    /// again.
    ///
    /// # Errors
    ///
    /// [`Error`]: nothing was changed, unless its text names what was done before.
    pub async fn question(
        &self,
        operation: &'static str,
        id: Id,
        checks: Resume,
    ) -> Result<Question, Error> {
        let question = self.load_question(operation, id).await;
        let question = self.checked(operation, &[id], "", question).await?;
        self.store.age(id, question.journal().past().entered_at, checks)?;
        Ok(question)
    }

    async fn load_question(&self, operation: &str, id: Id) -> Result<Question, Error> {
        self.is_execution(operation, id).await?;
        let question = self.store.question(id).await.map_err(Error::from);
        self.or_instead(id, question).await
    }

    /// Stores the answer to a question.
    ///
    /// # Errors
    ///
    /// [`Error`]: nothing was changed, unless its text names what was done before.
    pub async fn respond(&self, question: Question, response: &str) -> Result<Question, Error> {
        if response.is_empty() {
            let empty = Err(Error::invalid("the response is empty; give an answer"));
            return self.checked("respond", &[question.id()], "", empty).await;
        }
        let stored = self.store.respond(question, response, self.by).await;
        stored.map_err(|refused| refused.reason.into())
    }

    /// Resumes a question with its stored answer.
    ///
    /// # Errors
    ///
    /// [`Error`]: nothing was changed, unless its text names what was done before.
    pub async fn proceed(&self, question: Question, checks: Resume) -> Result<Resumed, Error> {
        let id = question.id();
        let act = self.act("continue", &[id], "");
        let resumed = act.proceed(question, checks, &self.actors.graph_runner).await;
        self.store.log_refusal(act.act, resumed).await.map_err(|refused| refused.reason.into())
    }
}

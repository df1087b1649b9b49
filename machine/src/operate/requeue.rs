use super::{Error, Operator, operator::distinct};
use crate::{
    id::{Id, shortened},
    line::OneLine,
    observe::NextStep,
    store::{Received, SetAside},
};

impl Operator<'_> {
    /// Returns to the workers what was set aside, and machines that nothing can move. All are
    /// checked before anything is changed.
    ///
    /// # Errors
    ///
    /// [`Error`]: nothing was changed, unless its text names what was done before.
    pub async fn requeue(&self, ids: &[Id], messages: &[String]) -> Result<(), Error> {
        let ids = &*distinct(ids);
        let checked = self.set_aside(ids, messages).await;
        self.checked("requeue", ids, "", checked).await?;
        let messages: Vec<&str> = messages.iter().map(String::as_str).collect();
        for (done, id) in ids.iter().enumerate() {
            let act = self.act("requeue", &[*id], "");
            let requeued = act.requeue(*id, &messages).await.map_err(Error::from);
            let requeued = self.checked("requeue", &[*id], "", requeued).await;
            requeued.map_err(|error| error.after(&ids[..done]))?;
        }
        Ok(())
    }

    async fn set_aside(&self, ids: &[Id], messages: &[String]) -> Result<(), Error> {
        let set_aside = self.store.set_aside().await?;
        for id in ids {
            self.can_requeue(*id, messages, &set_aside).await?;
        }
        Ok(())
    }

    /// Refuses a machine that is not stuck and of which nothing was set aside.
    async fn can_requeue(
        &self,
        id: Id,
        messages: &[String],
        set_aside: &SetAside,
    ) -> Result<(), Error> {
        let machine = self.store.observed_one(id).await?;
        if machine.has_ended() {
            let (_, label) = machine.state();
            return Err(Error::refused(format!(
                "{id} is {}, which is terminal, so workers retry nothing of it",
                OneLine(label)
            )));
        }
        let aside: Vec<&Received> =
            set_aside.messages.iter().filter(|message| message.to == id).collect();
        for name in messages {
            if aside.iter().any(|message| message.correlation == *name) {
                continue;
            }
            let inbox = self.store.inbox(id).await?.into_iter().flatten();
            let shown = shortened(name);
            let newest = inbox.filter(|message| message.correlation == *name).last();
            return Err(Error::refused(match newest {
                Some(message) => {
                    format!("the message `{shown}` to {id} is {}, not set aside", message.status)
                }
                None => {
                    format!("{id} has no message `{shown}`; `show {id}` lists its messages")
                }
            }));
        }
        let schedule = self.store.schedule(id).await?;
        if !messages.is_empty() || schedule.is_some_and(|schedule| schedule.needs_requeue()) {
            return Ok(());
        }
        let aside = aside.into_iter().filter(|message| !machine.has_moved_since(message));
        let messages: Vec<_> = aside.map(|message| message.correlation.clone()).collect();
        Err(Error::refused(if messages.is_empty() {
            format!(
                "nothing of {id} was set aside, and it is not stuck, so there is nothing to requeue"
            )
        } else {
            let step = NextStep::Requeue { id, messages };
            format!("only messages to {id} were set aside; name them: `{step}`")
        }))
    }
}

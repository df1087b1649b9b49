use std::{collections::BTreeMap, time::Duration};

use crate::{
    clock::{Millis, earlier},
    id::Id,
    store::{
        backend::{Attempts, FoundRow, Schedules},
        error::{LoadError, Unavailable},
        handle::Store,
        inbox::protocol::{Cause, Schedule},
        read::query::Query,
        write::attempt::CONTRACTS,
    },
};

/// A machine whose handler, or whose deadline, failed when it was last tried.
#[derive(Debug)]
pub(crate) struct Failing {
    pub(crate) id: Id,
    pub(crate) cause: Cause,
    /// The error, in the words of the program, which may repeat data.
    pub(crate) error: String,
    pub(crate) attempts: u32,
    /// When it was last tried (milliseconds since the Unix epoch, by the clock of the store).
    pub(crate) at: Millis,
    /// It was tried too often, and is not tried again before a person [requeues](Store::requeue)
    /// it.
    pub(crate) set_aside: bool,
    pub(crate) retry_at: Option<Millis>,
}

impl Failing {
    pub(crate) fn of(id: Id, work: &Schedule) -> Option<Self> {
        let failed = work.failed.as_ref()?;
        let tries = [&work.handler, &work.deadline];
        Some(Self {
            id,
            cause: failed.fault.cause,
            error: failed.fault.error.clone(),
            attempts: failed.attempts,
            at: failed.at,
            set_aside: tries.iter().any(|tries| tries.set_aside),
            retry_at: tries.iter().filter_map(|tries| tries.retry_at).min(),
        })
    }
}

impl Store {
    /// The machines whose handler or deadline failed in its last attempt, oldest first: those to be
    /// retried, and those set aside.
    pub(crate) async fn failing(&self) -> Result<Vec<Failing>, LoadError> {
        let found = self.inner.backend.schedules(Schedules::Failing).await?;
        Ok(found.iter().filter_map(|(id, work)| Failing::of(*id, work)).collect())
    }

    /// The machines that nothing can move, for this time or longer, each with the time since when,
    /// longest first.
    pub(crate) async fn stuck(
        &self,
        patience: Duration,
        limit: usize,
    ) -> Result<Vec<(Id, Millis)>, Unavailable> {
        let which = Schedules::Stuck(earlier(self.now(), patience), limit);
        let found = self.inner.backend.schedules(which).await?;
        Ok(found.into_iter().filter_map(|(id, work)| Some((id, work.stuck_at?))).collect())
    }

    /// The schedule of a machine for workers, with its last failure; `None` if it has none.
    pub(crate) async fn schedule(&self, id: Id) -> Result<Option<Schedule>, Unavailable> {
        let (_, work, _) = self.inner.backend.task(id).await?;
        Ok(work)
    }

    /// The executions that may be in doubt, contradicted or overdue, with the time until which a
    /// call that is in flight may run.
    pub(crate) async fn suspects(&self) -> Result<BTreeMap<Id, Option<Millis>>, LoadError> {
        let unanswered = self.inner.backend.attempts(Attempts::Unanswered).await?;
        let unanswered = unanswered.into_iter().flatten();
        let mut suspects: BTreeMap<Id, Option<Millis>> = unanswered
            .filter(|attempt| attempt.space == CONTRACTS)
            .map(|attempt| (attempt.by, attempt.expires_at))
            .collect();
        let mut next = Some(Query::new().contradicted().limit(1000));
        while let Some(rows) = self.next_rows(&mut next, false).await? {
            for (_, found) in rows {
                if let FoundRow::Row(row, _) = found {
                    suspects.entry(row.id).or_default();
                }
            }
        }
        Ok(suspects)
    }
}

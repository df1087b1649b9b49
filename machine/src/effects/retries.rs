use crate::{
    contract::{AnyExecution, Progress, execution::Status},
    id::Id,
    store::{error::LoadError, handle::Store, read::query::Query},
};

/// Another attempt at the same action, because of which an execution is not retried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OtherAttempt {
    /// It has not ended.
    Open(Id),
    /// It took effect.
    Applied(Id),
    /// It failed later.
    Newer(Id),
}

impl Store {
    /// Finds an attempt that keeps a person from retrying an execution. For a retry by a program, the key
    /// decides when it begins.
    pub(crate) async fn other_attempt(
        &self,
        id: Id,
        key: &str,
    ) -> Result<Option<OtherAttempt>, LoadError> {
        let mut query = Query::new().key(key);
        let mut found = None;
        loop {
            let page = self.load_all::<AnyExecution>(&query).await?;
            let others = page.items.iter().flatten().filter(|other| other.id() != id);
            for other in others {
                match other.status() {
                    status if !status.definition().terminal => {
                        return Ok(Some(OtherAttempt::Open(other.id())));
                    }
                    status if status == Status::Completed || Progress::of(other).is_applied() => {
                        found = Some(OtherAttempt::Applied(other.id()));
                    }
                    Status::Failed if other.id() > id => {
                        found.get_or_insert(OtherAttempt::Newer(other.id()));
                    }
                    _ => {}
                }
            }
            match page.next {
                Some(next) => query = query.after(next),
                None => return Ok(found),
            }
        }
    }
}

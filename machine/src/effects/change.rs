//! Changes of the library's own executions: each moves a copy, and commits the copy.

use std::fmt;

use crate::{
    effects::{error::EffectError, gate_state::GateState, retry::Retry},
    future::BoxFuture,
    id::Id,
    store::{backend::Condition, handle::Store, operation::Act},
    stored::Durable,
    typed::Refused,
};

/// A part of a [`Batch`](crate::effects::Batch): the start of an execution, the outcome of a call,
/// or the answer to a gate. It moves a copy of `B`, which becomes `A` if the batch is written.
///
/// ```
/// # use machine::{actor::ToolNode, contract::{Execution, execution::Pending}, effects::{Change, EffectError}, store::Store};
/// # use machine::stored::Durable;
/// # async fn example(store: &Store, order: &mut dyn Durable, mail: Execution<Pending>, by: &ToolNode) -> Result<(), EffectError> {
/// let mut begin = Change::begin(mail.into(), by);
/// store.batch().commit(order).change(&mut begin).write().await?;
/// if let Ok((running, permit)) = begin.finish() {
///     assert_eq!(permit.attempt().execution_id, running.id());
/// }
/// # Ok(())
/// # }
/// ```
pub struct Change<'a, B, A>(pub(super) Box<dyn Finish<B, A> + 'a>);

impl<B, A> Change<'_, B, A> {
    /// Returns the result, if the batch was written.
    ///
    /// # Errors
    ///
    /// The unchanged original, if the batch was not written.
    pub fn finish(self) -> Result<A, B> {
        self.0.finish()
    }
}

impl<B, A> fmt::Debug for Change<'_, B, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Change").finish_non_exhaustive()
    }
}

pub(crate) trait Finish<B, A>: ForkChange {
    /// The result if it was written, otherwise the original.
    fn finish(self: Box<Self>) -> Result<A, B>;
}

/// A part of a batch that moves a copy of its machine. If nothing is written, the copy is dropped,
/// and the original was never touched.
pub(crate) trait ForkChange: Send {
    /// Makes the copy, unless there is one from an earlier try. `approved` are the gates that the
    /// same batch approves, with the name of the person.
    fn prepare<'a>(
        &'a mut self,
        store: &'a Store,
        approved: &'a [(Id, String)],
    ) -> BoxFuture<'a, Result<(), EffectError>>;

    /// The copy, or the original if there is no copy yet.
    fn machine(&mut self) -> &mut dyn Durable;

    /// The gate that it approves, and the name of the person.
    fn approval(&self) -> Option<(Id, String)> {
        None
    }

    /// The gate that it needs, as it was loaded.
    fn gate(&self) -> Option<GateState> {
        None
    }

    fn act(&self) -> Option<Act> {
        None
    }

    fn conditions(&self) -> Vec<Condition> {
        Vec::new()
    }

    /// The copy is on disk; its last entry has this sequence number.
    fn committed(&mut self, store: &Store, sequence: u64);

    /// Nothing was written: drops the copy.
    fn discard(&mut self);

    /// A better error, if another commit came first.
    fn explain<'a>(
        &'a mut self,
        _store: &'a Store,
        error: EffectError,
    ) -> BoxFuture<'a, EffectError> {
        Box::pin(async { error })
    }
}

pub(crate) struct Fork<B, A> {
    pub(crate) before: B,
    pub(crate) next: Option<A>,
    pub(crate) is_written: bool,
}

impl<B, A> Fork<B, A> {
    pub(crate) fn new(before: B) -> Self {
        Self { before, next: None, is_written: false }
    }

    pub(crate) fn committed(&mut self) -> Option<&mut A> {
        self.is_written = true;
        self.next.as_mut()
    }

    /// The copy if it was written, otherwise the original.
    pub(crate) fn finish(self) -> Result<A, B> {
        self.next.filter(|_| self.is_written).ok_or(self.before)
    }
}

impl Store {
    /// Writes a batch of this change alone.
    pub(super) async fn change<B, A>(
        &self,
        mut change: Change<'_, B, A>,
        retry: Retry,
    ) -> Result<A, Refused<B, EffectError>> {
        let written = self.batch().change(&mut change).write_with(retry).await;
        match (change.finish(), written) {
            (Ok(after), _) => Ok(after),
            (Err(before), Err(error)) => Err(Refused::new(before, error)),
            (Err(_), Ok(())) => unreachable!("a batch that was written has committed its change"),
        }
    }

    /// Commits `next` with the line of the act. Tries an indeterminate commit again, which finds
    /// out whether it was written. Returns `before`, untouched, if it was not.
    pub(crate) async fn advance<B, A: Durable>(
        &self,
        before: B,
        mut next: A,
    ) -> Result<A, Refused<B, EffectError>> {
        let batch = self.batch().act(self.act.clone());
        let batch = match next.journal().stored().version {
            0 => batch.create(&mut next),
            _ => batch.commit(&mut next),
        };
        let written = batch.write_with(Retry::default()).await;
        written.map(|()| next).map_err(|error| Refused::new(before, error))
    }
}

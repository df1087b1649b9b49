use std::{any::Any, fmt, fs::File, io, sync::Arc, time::Duration};

use super::{Evidence, call_record::CallRecord};
use crate::{future::BoxFuture, id::Id};

/// Kept alive: the worker of a store, which has the lock of the process, or the store.
pub(crate) type Owner = Arc<dyn Any + Send + Sync>;

/// The operations that a permit needs from the store that issued it.
pub(crate) trait PermitCheck: fmt::Debug + Send + Sync {
    /// Checks that the permit of this execution and epoch is still valid; the error says why not.
    fn check(&self, execution: Id, epoch: u64) -> BoxFuture<'static, Result<(), String>>;

    /// Ends after this time, counted on a clock that does not stop while the machine is suspended.
    fn sleep(&self, time: Duration) -> BoxFuture<'static, ()>;

    /// Writes evidence whose future was dropped, in the background.
    fn keep(&self, execution: Id, epoch: u64, evidence: Evidence, record: &Arc<CallRecord>);

    /// Keeps the store open. `None` if it is closed.
    fn open(&self) -> Option<Owner>;

    /// Another handle of the lock of this process. `None` without a file.
    fn lock(&self) -> io::Result<Option<File>>;
}

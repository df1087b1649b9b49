use std::sync::{Arc, Mutex, PoisonError};

use coding_agent::{
    planner::Lasting,
    workspace::refusal::{Code, Refusal},
};
use machine::worker::{Failure, Handled, Handler, Task};

/// A handler, with the code of its last failure, and whether that one lasts: a worker reports only
/// the text.
pub struct Noted<H>(pub H, pub Arc<Mutex<Option<(Code, bool)>>>);

impl<H: Handler> Handler for Noted<H> {
    type Machine = H::Machine;

    async fn handle(&self, machine: H::Machine, task: &mut Task) -> Handled<H::Machine> {
        let handled = self.0.handle(machine, task).await;
        let note = |failure: &Failure| {
            let refusal = failure.downcast_ref::<Refusal>();
            // All other errors are those of the planner.
            (refusal.map_or(Code::E_MODEL, |refusal| refusal.code), failure.is::<Lasting>())
        };
        let noted = handled.as_ref().err().map(note);
        *self.1.lock().unwrap_or_else(PoisonError::into_inner) = noted;
        handled
    }
}

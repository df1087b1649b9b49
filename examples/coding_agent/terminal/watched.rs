use std::sync::{Arc, Mutex};

use coding_agent::{
    plan::{
        hands::lock,
        job::{AnyJob, job::Status},
        trouble::Trouble,
    },
    workspace::refusal::Code::E_MODEL,
};
use machine::worker::{Failure, Handled, Handler, Task};

use super::face::{Face, Told};

/// What a session has told of its job, and why its last attempt has failed: a worker reports only
/// the text.
pub struct Log {
    face: Face,
    status: Option<Status>,
    acts: usize,
    /// With `true` if another attempt is of no use.
    pub failed: Option<(Trouble, bool)>,
}

impl Log {
    /// Begins after the acts that the job has taken.
    pub fn new(job: &AnyJob, face: Face) -> Self {
        let acts = job.work().map_or(0, |work| work.ended.len());
        Self { face, status: None, acts, failed: None }
    }

    /// Tells the acts that the job has taken since then, and its state, if that is another.
    pub fn tell(&mut self, job: &AnyJob) {
        let (work, status) = (job.work(), job.status());
        for entry in work.iter().flat_map(|work| work.ended.iter().skip(self.acts)) {
            self.face.tell(&Told::Act(entry));
        }
        self.acts = work.map_or(self.acts, |work| work.ended.len());
        if self.status.replace(status) != Some(status) {
            self.face.tell(&Told::State { state: status.as_str() });
        }
    }
}

/// The handler of a session, with its log.
pub struct Watched<H>(pub H, pub Arc<Mutex<Log>>);

impl<H: Handler<Machine = AnyJob>> Handler for Watched<H> {
    type Machine = AnyJob;

    async fn handle(&self, job: AnyJob, task: &mut Task) -> Handled<AnyJob> {
        lock(&self.1).tell(&job);
        let handled = self.0.handle(job, task).await;
        // An error without a code is one of the planner.
        let trouble = |error: &Failure| Trouble::told(error, task.id(), E_MODEL);
        let failed = handled.as_ref().err().map(|error| (trouble(error), error.is::<Trouble>()));
        lock(&self.1).failed = failed;
        handled
    }
}

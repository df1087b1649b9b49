//! Nothing is wedged: people can end every state without any worker.

use machine_tests::stores::assert_intact;

use super::{
    reference::{Call, Model, Reply, Request, Status},
    step::{Answer, At, Said, Step},
    system::Inner,
};

impl Inner {
    /// People end everything. Only then do the workers thaw.
    pub(super) async fn end(&mut self, mut model: Model) {
        for at in 0..model.attempts.len() {
            while let Some(step) = next_of_people(&model, at) {
                model = self.must(model, step).await;
            }
        }
        let nothing_left = Answer::Found(Vec::new(), Vec::new());
        model = self.compared(model, Step::Recover(None)).await;
        assert_eq!(model.answer, nothing_left, "{model:?}");

        for at in 0..model.attempts.len() {
            while let Some(step) = next_of_worker(&model, at) {
                model = self.must(model, step).await;
            }
        }
        // Late answers change no state, and nothing is in doubt again.
        model = self.compared(model, Step::Recover(None)).await;
        assert_eq!(model.answer, nothing_left, "{model:?}");
        assert_intact(&self.observer).await;
    }

    /// A step that nothing may refuse.
    async fn must(&mut self, model: Model, step: Step) -> Model {
        let model = self.compared(model, step).await;
        assert_eq!(model.answer, Answer::Done, "{step:?}: {model:?}");
        model
    }

    async fn compared(&mut self, model: Model, step: Step) -> Model {
        let model = model.after(&step);
        self.check(&model, step).await;
        model
    }
}

/// The next step of people or the operator to end an attempt.
fn next_of_people(model: &Model, at: At) -> Option<Step> {
    let attempt = &model.attempts[at];
    if attempt.gate.is_some_and(|gate| gate.answer == Reply::Waiting) {
        return Some(Step::Withdraw(at));
    }
    match attempt.status {
        Status::Pending => Some(Step::Cancel(at)),
        Status::Running | Status::Waiting => Some(Step::Fence(at)),
        Status::InDoubt if attempt.receipt => Some(Step::ConfirmApplied(at)),
        Status::InDoubt => Some(Step::Override(at)),
        Status::Completed | Status::Failed | Status::Cancelled => None,
    }
}

/// The next step of a worker that has thawed: it does all that it can.
fn next_of_worker(model: &Model, at: At) -> Option<Step> {
    let attempt = &model.attempts[at];
    match (attempt.call, attempt.request) {
        (Call::Permitted, _) => Some(Step::Call(at)),
        (Call::In, Request::NotSent) => Some(Step::Send(at)),
        (Call::CutOff, Request::NotSent) if !attempt.said => Some(Step::Send(at)),
        (Call::In, Request::Refused) => Some(Step::Answer(at, Said::Refusal)),
        (Call::In | Call::CutOff, Request::OnItsWay) => Some(Step::Arrive(at)),
        (Call::In, Request::Arrived) => Some(Step::Answer(at, Said::Receipt)),
        (Call::CutOff, Request::Arrived) if attempt.guarded => {
            Some(Step::Answer(at, Said::Receipt))
        }
        (Call::NotBegun | Call::CutOff | Call::Over, _) => None,
    }
}

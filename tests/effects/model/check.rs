//! Everything that can be seen is as the model says.

use machine::{
    contract::{AnyExecution, Evidence},
    effects::{Change, EffectError},
    store::CommitError,
    view::{ConsequenceView, Label, Prompt, View},
};
use machine_tests::{actors::tool_node, prompt_lines};

use super::{
    reference::{Attempt, KEYS, Model, Reply, Status},
    rules::Key,
    step::Said,
    system::Inner,
};
use crate::effects::support::late;

impl Inner {
    pub(super) async fn compare(&mut self, model: &Model) {
        for key in 0..KEYS {
            self.compare_key(model, key).await;
        }
        for (known, attempt) in self.attempts.iter().zip(&model.attempts) {
            let any: AnyExecution = self.observer.load(known.id).await.unwrap();
            compare_view(&ConsequenceView::of(&any), attempt);
            let said: Vec<_> = late(&self.observer, known.id).await.iter().map(said).collect();
            assert_eq!(said, attempt.late, "{attempt:?}");
            if attempt.status == Status::InDoubt {
                let doubt = self.observer.in_doubt(known.id).await.unwrap();
                let says_so = doubt.question().starts_with("It took effect: receipt.");
                assert_eq!(says_so, attempt.receipt, "{}", doubt.question());
            }
        }
    }

    /// Without an override at most one payment, and a key that is free exactly if it is proven that
    /// none was made, or overridden.
    async fn compare_key(&mut self, model: &Model, key: usize) {
        let mut attempts = model.attempts.iter().filter(|attempt| attempt.key == key);
        let overridden = attempts.any(|attempt| attempt.overridden);
        let paid = self.paid[key];
        assert!(paid <= 1 || overridden, "it was paid {paid} times: {model:?}");

        // Could it be begun? The last one of the batch cannot, so nothing is written.
        let mut begin = Change::begin(self.probes[key].take().unwrap(), tool_node());
        let mut never = Change::begin(self.probes[KEYS].take().unwrap(), tool_node());
        let written = self.observer.batch().change(&mut begin).change(&mut never).write().await;
        self.probes[key] = begin.finish().err();
        self.probes[KEYS] = never.finish().err();
        let last = self.probes[KEYS].as_ref().unwrap().id();
        let found = match written {
            Err(EffectError::Commit(CommitError::AlreadyDone { id, .. })) if id == last => {
                Key::Free
            }
            Err(EffectError::Commit(CommitError::AlreadyDone { .. })) => Key::Applied,
            Err(EffectError::Commit(CommitError::KeyHeld { .. })) => Key::Held,
            other => panic!("{other:?}"),
        };
        assert_eq!(found, model.key(key, None), "the key {key}: {model:?}");
    }
}

/// Compares the view of a reasoner, as an object and as a line of a prompt.
fn compare_view(view: &View<ConsequenceView>, attempt: &Attempt) {
    let contradicted = attempt.status == Status::Failed && attempt.receipt;
    let label = match attempt.status {
        Status::Pending if attempt.gate.is_some_and(|gate| gate.answer == Reply::Waiting) => {
            Label::Deferred
        }
        Status::Pending => Label::NotStarted,
        Status::Running => Label::InProgress,
        Status::Waiting => Label::Waiting,
        Status::InDoubt => Label::InDoubt,
        Status::Completed => Label::Success,
        Status::Failed if contradicted => Label::Contradicted,
        Status::Failed => Label::Failed,
        Status::Cancelled => Label::Cancelled,
    };
    assert_eq!(view.consequence_label, label, "{attempt:?}");
    assert_eq!(view.has_side_effects, attempt.receipt || attempt.says_applied, "{attempt:?}");
    assert_eq!(view.human_confirmed, attempt.approved, "{attempt:?}");

    // A line says first that it did happen.
    let rendered = Prompt::new(std::slice::from_ref(view)).to_string();
    let happened = attempt.receipt || attempt.says_applied;
    let marked = format!("[{label} ⚠️ IRREVERSIBLE");
    assert_eq!(prompt_lines(&rendered)[0].starts_with(&marked), happened, "{rendered}");
    assert_eq!(rendered.contains("cannot be undone"), happened, "{rendered}");
    let twice = rendered.contains("it took effect, perhaps more than once: receipt");
    assert_eq!(twice, contradicted, "{rendered}");
    // The risk that a person took is visible until the worker has said that nothing happened.
    let risked = attempt.overridden && !attempt.receipt && !attempt.refusal;
    assert_eq!(rendered.contains("it may still take effect"), risked, "{rendered}");
    // Nor is it lost that the worker says that the person was wrong.
    let refuted = attempt.status == Status::Completed && attempt.refusal;
    let says_so =
        rendered.contains("its worker or its service reports that it did not take effect");
    assert_eq!(says_so, refuted, "{rendered}");
}

fn said(evidence: &Evidence) -> Said {
    match evidence {
        Evidence::Applied(_) => Said::Receipt,
        Evidence::NotApplied(_) => Said::Refusal,
        Evidence::Unknown(_) => Said::Unknown,
    }
}

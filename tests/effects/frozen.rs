//! A worker is frozen in its call. Nothing is paid twice, unless a person overrides it by name:
//! then every view says so.

use machine::view::Prompt;
use machine_tests::{process::Process, prompt_lines};

use crate::effects::{
    bank::Dedup,
    office::Office,
    prelude::*,
    tool::{Step, Teller, pay},
    worker::Report,
};

/// The time limit of the worker. The others wait until it is over.
const TIMEOUT: Duration = Duration::from_millis(50);

/// Whatever the server recognizes.
#[tokio::test]
async fn a_frozen_worker_pays_once() {
    for dedup in Dedup::ALL {
        pays_once(dedup).await;
    }
}

async fn pays_once(dedup: Dedup) {
    let office = Office::open(dedup).await;
    let id = office.planned(pay("bob").timeout_after(TIMEOUT)).await;
    let mut worker = office.follows(id, &[Step::Freeze, Step::Pay]);
    worker.freeze_between_commits(&office.file());

    // This process declares it overdue. The outcome is unknown, and no person may decide that it
    // did not take effect: the worker would do it.
    let doubt = office.overdue(id).await;
    let question = doubt.question();
    assert!(question.contains("could still be running in process "), "{question}");
    assert_eq!(office.label(id).await, Label::InDoubt);
    assert_is!(office.refuses_denial(doubt).await.1, EffectError::WorkerAlive { .. });

    // The retry of another process does not get the key.
    let again = office.planned(pay("bob")).await;
    assert_eq!(office.pays(again), Report::NotBegun("KeyHeld".to_owned()));
    assert_eq!(office.bank.count(), 0);

    // It thaws, pays, and its receipt is kept. From now on a claim that nothing was paid is
    // refused.
    worker.thaw();
    office.hears_late(worker, id, &Office::receipt(1)).await;
    let doubt = office.store.in_doubt(id).await.unwrap();
    let question = doubt.question();
    assert!(question.starts_with("It took effect: receipt 1."), "{question}");
    let view = office.view(id).await.to_string();
    assert!(view.starts_with("[IN_DOUBT ⚠️ IRREVERSIBLE] bank.pay"), "{view}");
    let (doubt, refused) = office.refuses_denial(doubt).await;
    assert_is!(refused, EffectError::Commit(CommitError::Refused { .. }));
    let refused = office.store.override_not_applied(doubt, "I do not see it", ann()).await;
    assert_is!(refused.unwrap_err().reason, EffectError::Commit(CommitError::Refused { .. }));

    office.is_completed_late(id, "receipt 1").await;
    assert_eq!(office.label(id).await, Label::Success);
    assert_eq!(office.pays(again), Report::NotBegun("AlreadyDone".to_owned()));
    assert_eq!(office.bank.count(), 1);
    office.assert_intact().await;
}

/// A payment whose worker freezes, is fenced, and is overridden by name.
async fn overridden(office: &Office, script: &[Step]) -> (Id, Process, Execution<Failed>) {
    let id = office.planned(pay("bob")).await;
    let mut worker = office.follows(id, script);
    worker.freeze_between_commits(&office.file());
    let doubt = office.fenced(id).await;
    let failed = office.store.override_not_applied(doubt, "the customer waits", ann()).await;
    let view = office.view(id).await;
    // The person freed the key, and that stays visible. No approval was given.
    let line = "[FAILED] bank.pay: a person declared it not done without proof, so it may \
                still take effect: the customer waits";
    assert_eq!(view.to_string(), line);
    assert!(!view.human_confirmed);
    (id, worker, failed.unwrap())
}

/// Every view says first that it did happen, perhaps twice.
async fn assert_contradicted(office: &Office, id: Id, receipt: usize) {
    let view = office.view(id).await;
    assert_eq!(view.consequence_label, Label::Contradicted);
    assert!(view.has_side_effects && !view.human_confirmed);
    let line = format!(
        "[CONTRADICTED ⚠️ IRREVERSIBLE] bank.pay: it took effect, perhaps more than once: \
         receipt {receipt}: recorded earlier as not done: the customer waits"
    );
    assert_eq!(view.to_string(), line);
    let rendered = Prompt::new(&[view]).to_string();
    assert!(
        prompt_lines(&rendered)[0] == line && rendered.contains("cannot be undone"),
        "{rendered}"
    );
    assert!(office.late(id).await.contains(&Office::receipt(receipt)));
}

#[tokio::test]
async fn only_an_override_can_pay_twice() {
    for dedup in Dedup::ALL {
        retries_and_thaws(dedup).await;
    }
}

async fn retries_and_thaws(dedup: Dedup) {
    let office = Office::open(dedup).await;
    let other = office.planned(pay("bob")).await;
    let (first, mut frozen, failed) = overridden(&office, &[Step::Freeze, Step::Pay]).await;

    // The key is free, so the retry pays, in another process.
    let again = office.retried(&failed).await.unwrap();
    assert_eq!(office.pays(again), Report::Completed("receipt 1".to_owned()));
    let done = office.view(again).await.to_string();
    assert_eq!(done, "[SUCCESS ⚠️ IRREVERSIBLE (human-confirmed)] bank.pay: receipt 1");

    // Only the bank can stop the thawed worker now.
    frozen.thaw();
    let Report::Late(evidence) = frozen.hear() else { panic!("it was fenced") };
    frozen.join();
    assert_eq!(office.late(first).await, std::slice::from_ref(&evidence));
    let paid = match dedup {
        // The person's risk has materialized: it is paid twice.
        Dedup::Nothing => {
            assert_contradicted(&office, first, 2).await;
            2
        }
        // The bank recognizes the key, which both attempts have. The worker has the receipt of the
        // payment, so what the person said of it is contradicted all the same.
        Dedup::Key => {
            assert_contradicted(&office, first, 1).await;
            1
        }
        // The token of the retry is higher, so the bank refuses the worker: the person was right.
        Dedup::Token => {
            assert_is!(evidence, Evidence::NotApplied(_));
            let view = office.view(first).await;
            assert_eq!(view.to_string(), "[FAILED] bank.pay: the customer waits");
            1
        }
    };
    assert_eq!(office.bank.count(), paid);

    // Nothing pays a third time: neither a further retry nor what was planned before.
    let refused = office.retried(&failed).await;
    assert_err!(refused, EffectError::Commit(CommitError::AlreadyDone { .. }));
    assert_eq!(office.pays(other), Report::NotBegun("AlreadyDone".to_owned()));
    assert_eq!(office.bank.count(), paid);
    assert_eq!(office.recovered().await.len(), 0);
    office.assert_intact().await;
}

/// A service that asks right before it pays finds out that it was fenced while it was frozen.
#[tokio::test]
async fn a_worker_that_asks_after_it_thawed_does_not_pay() {
    let cases = Dedup::ALL.into_iter().flat_map(|dedup| [(dedup, true), (dedup, false)]);
    for (dedup, retries) in cases {
        let office = Office::open(dedup).await;
        let script = [Step::Freeze, Step::AskIfValid, Step::Pay];
        let (id, mut frozen, failed) = overridden(&office, &script).await;
        if retries {
            office.retry_pays_once(&failed).await;
        }
        frozen.thaw();
        let refused = Evidence::NotApplied(Refusal::of(&"the permit is no longer valid"));
        office.hears_late(frozen, id, &refused).await;
        assert_eq!(office.bank.count(), usize::from(retries), "{dedup:?}");
        // The worker itself says that the person was right.
        assert_eq!(office.label(id).await, Label::Failed);
    }
}

/// A worker that froze with its permit in its hands does not call the service at all.
#[tokio::test]
async fn a_worker_that_froze_before_its_call_does_not_call() {
    let office = Office::open(Dedup::Nothing).await;
    let id = office.planned(pay("bob")).await;
    let mut frozen = office.start("freezes_and_pays", id, Teller::pays(&office.bank));
    frozen.freeze_between_commits(&office.file());
    let _ = office.fenced(id).await;
    frozen.thaw();
    let Report::Late(Evidence::NotApplied(reason)) = frozen.hear() else { panic!("it was called") };
    assert!(reason.message.contains("fenced"), "{reason}");
    frozen.join();

    // The answer is proof, so the key is free without a person.
    assert_eq!(office.store.recover().await.unwrap().settled.len(), 1);
    assert_eq!(office.label(id).await, Label::Failed);
    let second = office.planned(pay("bob")).await;
    assert_eq!(office.pays(second), Report::Completed("receipt 1".to_owned()));
    assert_eq!(office.bank.count(), 1);
}

//! A person overrides a frozen worker by name: only then can an action take effect twice, and then
//! every view says so.

use machine::{
    Id,
    contract::{Evidence, Execution, Planned, execution::Failed},
    store::{CommitError, Store},
    view::{Label, Prompt},
};
use machine_tests::{
    actors::{ann, graph_runner},
    assert_err, prompt_lines,
};

use crate::effects::{
    bank::{Bank, Dedup},
    support::{assert_intact, late, new_store, stored, view},
    tool::{Pay, Step, Teller, pay},
    worker::{self, Report},
};
use crate::process::Process;

/// Fences a worker that has frozen itself, and overrides it by name.
async fn overridden(store: &Store, worker: &mut Process, id: Id) -> Execution<Failed> {
    worker.freeze();
    let doubt = store.fence(id, "it does not answer", graph_runner()).await.unwrap();
    let failed = store.override_not_applied(doubt, "the customer waits", ann()).await.unwrap();
    let view = view(store, id).await;
    // The person freed the key, and that stays visible. No approval was given.
    let line = "[FAILED] bank.pay: a person declared it not done before that could be known, and it \
                may still take place: the customer waits";
    assert_eq!(view.to_string(), line);
    assert!(!view.human_confirmed);
    failed
}

/// Stores a retry that a person decided.
async fn retry(store: &Store, failed: &Execution<Failed>) -> Result<Id, CommitError> {
    let mut retry: Planned<Pay> = Planned::retry(failed, ann()).unwrap();
    store.batch().create(retry.machine()).write().await.map(|()| retry.id())
}

/// Every view says first that it did happen, perhaps twice.
async fn assert_contradicted(store: &Store, id: Id, receipt: &str) {
    let view = view(store, id).await;
    assert_eq!(view.consequence_label, Label::Contradicted);
    assert!(view.has_side_effects && !view.human_confirmed);
    let line = format!(
        "[CONTRADICTED ⚠️ IRREVERSIBLE] bank.pay: it took place, perhaps more than once: {receipt}: \
         recorded before as not done: the customer waits"
    );
    assert_eq!(view.to_string(), line);
    let rendered = Prompt::new(&[view]).to_string();
    assert!(
        prompt_lines(&rendered)[0] == line && rendered.contains("cannot be taken back"),
        "{rendered}"
    );
    assert!(late(store, id).await.contains(&Evidence::Applied(receipt.to_owned())));
}

async fn a_retry_and_a_thawed_worker(dedup: Dedup) {
    let (_folder, file, store) = new_store().await;
    let bank = Bank::open(dedup);
    let first = stored::<Pay>(&store, pay("bob")).await.id();
    let other = stored::<Pay>(&store, pay("bob")).await.id();
    let mut frozen =
        worker::start("pays", &file, first, Teller::new(&bank, &[Step::Freeze, Step::Pay]));
    let failed = overridden(&store, &mut frozen, first).await;

    // The key is free, so the retry pays, in another process.
    let again = retry(&store, &failed).await.unwrap();
    let report = worker::run("pays", &file, again, Teller::pays(&bank));
    assert_eq!(report, Report::Completed("receipt 1".to_owned()));
    let done = view(&store, again).await.to_string();
    assert_eq!(done, "[SUCCESS ⚠️ IRREVERSIBLE (human-confirmed)] bank.pay: receipt 1");

    // Only the bank can stop the thawed worker now.
    frozen.thaw();
    let Report::Late(evidence) = frozen.hear() else { panic!("it was fenced") };
    frozen.join();
    assert_eq!(late(&store, first).await, std::slice::from_ref(&evidence));
    match dedup {
        // The person's risk has materialized: it is paid twice.
        Dedup::Nothing => {
            assert_eq!(bank.count(), 2);
            assert_contradicted(&store, first, "receipt 2").await;
        }
        // The bank recognizes the key, which both attempts have. The worker has the receipt of the
        // payment, so what the person said of it is contradicted all the same.
        Dedup::Key => {
            assert_eq!(bank.count(), 1);
            assert_contradicted(&store, first, "receipt 1").await;
        }
        // The token of the retry is higher, so the bank refuses the worker: the person was right.
        Dedup::Token => {
            assert_eq!(bank.count(), 1);
            assert!(matches!(evidence, Evidence::NotApplied(_)), "{evidence:?}");
            let view = view(&store, first).await;
            assert_eq!(view.to_string(), "[FAILED] bank.pay: the customer waits");
        }
    }

    // Nothing pays a third time: neither a further retry nor what was planned before.
    let count = bank.count();
    assert_err!(retry(&store, &failed).await, CommitError::AlreadyDone { .. });
    let report = worker::run("pays", &file, other, Teller::pays(&bank));
    assert_eq!(report, Report::NotBegun("AlreadyDone".to_owned()));
    assert_eq!(bank.count(), count);
    assert!(store.recover().await.unwrap().in_doubt.is_empty());
    assert_intact(&store).await;
}

#[tokio::test]
async fn with_a_server_that_recognizes_nothing() {
    a_retry_and_a_thawed_worker(Dedup::Nothing).await;
}

#[tokio::test]
async fn with_a_server_that_recognizes_keys() {
    a_retry_and_a_thawed_worker(Dedup::Key).await;
}

#[tokio::test]
async fn with_a_server_that_recognizes_tokens() {
    a_retry_and_a_thawed_worker(Dedup::Token).await;
}

/// A service that asks right before it pays finds out that it was fenced while it was frozen.
#[tokio::test]
async fn a_worker_that_asks_after_it_thawed_does_not_pay() {
    for (dedup, retries) in Dedup::ALL.into_iter().flat_map(|dedup| [(dedup, true), (dedup, false)])
    {
        let (_folder, file, store) = new_store().await;
        let bank = Bank::open(dedup);
        let first = stored::<Pay>(&store, pay("bob")).await.id();
        let asks = Teller::new(&bank, &[Step::Freeze, Step::AskIfValid, Step::Pay]);
        let mut frozen = worker::start("pays", &file, first, asks);
        let failed = overridden(&store, &mut frozen, first).await;
        if retries {
            let again = retry(&store, &failed).await.unwrap();
            let report = worker::run("pays", &file, again, Teller::pays(&bank));
            assert_eq!(report, Report::Completed("receipt 1".to_owned()));
        }

        frozen.thaw();
        let refused = Evidence::NotApplied("the permit is no longer valid".to_owned());
        assert_eq!(frozen.hear::<Report>(), Report::Late(refused));
        frozen.join();
        assert_eq!(bank.count(), usize::from(retries), "{dedup:?}");
        // The worker itself says that the person was right.
        assert_eq!(view(&store, first).await.consequence_label, Label::Failed);
    }
}

/// A worker that froze with its permit in its hands does not call the service at all.
#[tokio::test]
async fn a_worker_that_froze_before_its_call_does_not_call() {
    let (_folder, file, store) = new_store().await;
    let bank = Bank::open(Dedup::Nothing);
    let first = stored::<Pay>(&store, pay("bob")).await.id();
    let mut frozen = worker::start("freezes_and_pays", &file, first, Teller::pays(&bank));
    frozen.freeze();
    let _ = store.fence(first, "it does not answer", graph_runner()).await.unwrap();
    frozen.thaw();
    let Report::Late(Evidence::NotApplied(reason)) = frozen.hear() else { panic!("it was called") };
    assert!(reason.contains("fenced"), "{reason}");
    frozen.join();

    // The answer is proof, so the key is free without a person.
    assert_eq!(store.recover().await.unwrap().settled.len(), 1);
    assert_eq!(view(&store, first).await.consequence_label, Label::Failed);
    let second = stored::<Pay>(&store, pay("bob")).await.id();
    let report = worker::run("pays", &file, second, Teller::pays(&bank));
    assert_eq!(report, Report::Completed("receipt 1".to_owned()));
    assert_eq!(bank.count(), 1);
}

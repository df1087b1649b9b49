//! What runs is what was approved, also in a program whose tools have changed since.

use std::sync::atomic::AtomicU32;

use machine::{
    contract::{InvalidContract, Secret, Settled},
    effects::{EffectError, PerformError, StateError},
    observe::{ConcernReason, Observer},
    view::Internal,
    worker::WorkerError,
};
use serde::Deserializer;
use serde_json::{Value, json};

use crate::worker::prelude::*;

/// At most 100.
fn clamped<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
    Ok(u32::deserialize(from)?.min(100))
}

fn yes() -> bool {
    true
}

/// Another number each time.
fn next() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    NEXT.fetch_add(1, Ordering::SeqCst)
}

// `Charge` in newer programs.
tool!(
    Clamped {
        #[serde(deserialize_with = "clamped")]
        cents: u32
    } = "bank",
    "charge",
    Irreversible
);
tool!(
    Express {
        cents: u32,
        #[serde(default = "yes")]
        express: bool
    } = "bank",
    "charge",
    Irreversible
);
tool!(
    Changing {
        cents: u32,
        #[serde(default = "next")]
        number: u32
    } = "bank",
    "charge",
    Irreversible
);

// A tool whose identity has the cents, in an older and in a newer program.
tool!(
    Wire { cents: u32 } = "bank",
    "wire",
    Irreversible,
    fn identity(&self) -> Option<Value> {
        Some(json!([self.cents]))
    }
);
tool!(
    ClampedWire {
        #[serde(deserialize_with = "clamped")]
        cents: u32
    } = "bank",
    "wire",
    Irreversible,
    fn identity(&self) -> Option<Value> {
        Some(json!([self.cents]))
    }
);

/// The cents of each call.
#[derive(Clone, Default)]
pub(super) struct Bank(pub(super) Arc<Mutex<Vec<u32>>>);

impl Bank {
    pub(super) fn paid(&self) -> Vec<u32> {
        self.0.lock().unwrap().clone()
    }
}

impl Perform<Charge> for Bank {
    async fn perform(&self, call: &Call<Charge>) -> Answer {
        self.0.lock().unwrap().push(call.arguments.cents);
        Ok(Applied::new("paid"))
    }
}

/// A charge of 500 that Ann has approved.
async fn approved(store: &Store) -> Id {
    let (mut gate, mut action) = charge(500).ask::<Charge>(None, ecs_node()).unwrap();
    store.ask(&mut gate, &mut action).await.unwrap();
    let gate = store.gate(gate.id()).await.unwrap();
    machine_tests::approve(store, gate, ann()).await.unwrap();
    action.id()
}

/// It is set aside for this reason.
pub(super) async fn needs_attention(store: &Store, id: Id, reason: &str) {
    let aside = async || store.set_aside().await.unwrap().machines;
    until("it is set aside", async || !aside().await.is_empty()).await;
    let attention = Observer::new(store).attention::<Internal>(&Query::new()).await.unwrap();
    let [concern] = &attention.concerns[..] else { panic!("{attention:?}") };
    assert_eq!((concern.id, concern.reason), (Some(id), ConcernReason::SetAside));
    let error = concern.error.as_deref().unwrap();
    assert!(error.contains(reason), "{error}");
}

/// What needs attention has the place.
#[test]
fn a_secret_that_is_read_differently_is_not_shown() {
    fn shouted<'de, D: Deserializer<'de>>(from: D) -> Result<Secret<String>, D::Error> {
        Ok(Secret::new(String::deserialize(from)?.to_uppercase()))
    }
    tool!(Login { password: Secret<String> } = "accounts", "login", Irreversible);
    tool!(
        Shouted {
            #[serde(deserialize_with = "shouted")]
            password: Secret<String>
        } = "accounts",
        "login",
        Irreversible
    );
    each(async |store| {
        let accounts = Service::default();
        let running = worker(&store).attempts(1).tool::<Shouted>(accounts.clone()).start();
        until("it is listed", async || !store.workers().await.unwrap().is_empty()).await;
        let login = Login { password: Secret::new("correct horse".to_owned()) };
        let contract = Contract::of(&login, reasoning_node()).unwrap();
        let id = plan::<Login>(&store, contract).await;
        needs_attention(&store, id, "`password` of `accounts.login` is stored with another").await;
        let attention = Observer::new(&store).attention::<Internal>(&Query::new()).await.unwrap();
        let shown = format!("{attention:?}").to_lowercase();
        assert!(!shown.contains("horse"), "{shown}");
        running.stop().await.unwrap();
        assert_eq!(accounts.calls(), 0);
    });
}

/// A program without a worker neither loads nor begins it.
#[test]
fn a_program_does_not_begin_other_arguments() {
    each(async |store| {
        let id = approved(&store).await;
        let refused = store.planned::<Clamped>(id).await;
        assert_err!(refused, StateError::Contract { source, .. }
            if matches!(**source, InvalidContract::OtherArguments { .. }));
        let planned = store.planned::<Express>(id).await;
        assert_err!(planned, StateError::Contract { source, .. }
            if matches!(**source, InvalidContract::AddedArguments { .. }));
        let bank = Bank::default();
        settle(worker(&store).tool::<Charge>(bank.clone())).await;
        assert_eq!(bank.paid(), [500]);
    });
}

/// A service that knows that an earlier call has paid.
fn paid_after_all() -> Service {
    let bank = Service::default();
    bank.finds(Ok(Applied::new("paid after all")));
    bank
}

/// A status query does not run the call.
#[test]
fn a_service_is_asked_about_other_arguments() {
    let newer: [fn(Worker, Service) -> Worker; 2] =
        [|worker, bank| worker.tool::<Clamped>(bank), |worker, bank| worker.tool::<Changing>(bank)];
    for newer in newer {
        timed(async |store, hand| {
            let (id, bank) = (approved(&store).await, Service::unknown());
            settle(worker(&store).tool::<Charge>(bank.clone())).await;
            is(&store, id, "waiting").await;
            let asked = paid_after_all();
            let worker = newer(worker(&store), asked.clone());
            assert!(worker.check().await.unwrap().is_clean());
            hand.pass(Duration::from_hours(1));
            settle(worker).await;
            is(&store, id, "completed").await;
            assert_eq!((bank.calls(), asked.calls()), (1, 0));
        });
    }
}

/// A worker that makes another key does not start, and its check says so; the query itself needs no
/// key.
#[test]
fn a_service_is_asked_about_a_call_with_another_key() {
    each(async |store| {
        let wire = Contract::of(&Wire { cents: 500 }, reasoning_node()).unwrap();
        let id = create(&store, Execution::new(wire)).await;
        let older = || worker(&store).tool::<Wire>(Service::unknown());
        settle(older()).await;
        is(&store, id, "waiting").await;
        let bank = paid_after_all();
        let newer = || worker(&store).tool::<ClampedWire>(bank.clone());
        let check = newer().check().await.unwrap();
        assert!(!check.is_clean() && check.tools[0].blocked.is_empty(), "{check}");
        assert!(check.to_string().contains("`bank.wire` has a different identity"), "{check}");
        let refused = newer().run_until_idle().await;
        assert_err!(refused, WorkerError::Effect(EffectError::OtherIdentity { by, .. }) if *by == id);
        assert!(older().check().await.unwrap().is_clean());
        let doubt = store.in_doubt(id).await.unwrap();
        let settled = store.ask_service::<ClampedWire>(doubt, &bank, tool_node()).await.unwrap();
        assert!(matches!(settled, Settled::Completed(_)), "{settled:?}");
        assert_eq!(bank.calls(), 0);
    });
}

/// A call whose worker is gone.
async fn interrupted(store: &Store) -> Id {
    let id = plan::<Weigh>(store, weigh("salt")).await;
    let planned = store.planned::<Weigh>(id).await.unwrap();
    drop(store.begin(planned, tool_node()).await.unwrap());
    id
}

/// A call that was interrupted runs again with the stored arguments only.
#[test]
fn other_arguments_do_not_run_again() {
    fn shouted<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
        Ok(String::deserialize(from)?.to_uppercase())
    }
    tool!(
        Shouted {
            #[serde(deserialize_with = "shouted")]
            what: String
        } = "post",
        "weigh",
        Idempotent
    );
    each(async |store| {
        let post = Service::default();
        let id = interrupted(&store).await;
        let running = async || match store.load::<AnyExecution>(id).await.unwrap() {
            AnyExecution::Running(running) => running,
            other => panic!("{other:?}"),
        };
        let again = store.perform_again::<Shouted>(running().await, post.clone(), tool_node());
        assert_err!(
            again.await,
            PerformError::NotResumed {
                source: EffectError::Contract {
                    source: InvalidContract::OtherArguments { .. },
                    ..
                }
            }
        );
        let check = worker(&store).tool::<Shouted>(post.clone()).check().await.unwrap();
        assert!(!check.is_clean() && post.calls() == 0, "{check}");
        let again = store.perform_again::<Weigh>(running().await, post.clone(), tool_node());
        drop(again.await.unwrap());
        is(&store, id, "completed").await;
        assert_eq!(post.calls(), 1);
    });
}

/// An interrupted call with another key is left to the program that began it.
#[test]
fn an_interrupted_call_with_another_key_is_not_set_aside() {
    tool!(
        Named { what: String } = "post",
        "weigh",
        Idempotent,
        fn identity(&self) -> Option<Value> {
            Some(json!(self.what))
        }
    );
    each(async |store| {
        let post = Service::default();
        let id = interrupted(&store).await;
        let newer = || worker(&store).attempts(1).tool::<Named>(post.clone());
        assert!(newer().check().await.unwrap().is_clean());
        settle(newer()).await;
        assert_eq!((post.calls(), store.set_aside().await.unwrap().machines), (0, vec![]));
        settle(worker(&store).tool::<Weigh>(post.clone())).await;
        is(&store, id, "completed").await;
        assert_eq!(post.calls(), 1);
    });
}

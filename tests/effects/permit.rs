//! A permit is lent for one call, in one store.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use machine::{
    Id,
    contract::{
        Action, Answer, AnyExecution, Applied, Call, Contract, Execution, NotDone, Perform,
        Planned, Settled, Token,
    },
    store::{CommitError, Store},
    stored::Unverified,
};
use machine_tests::{actors::tool_node, assert_err};

use crate::effects::{
    bank::{self, Bank, Dedup, Payment, Reply, Request},
    support::{name, new_store, stored},
    tool::{Pay, Teller, pay},
    worker::{self, Report},
};
use crate::process::{Process, orders, say};

/// The parts of a call that a service can keep: all but the call itself.
#[derive(Debug, Clone)]
struct Kept {
    id: Id,
    key: String,
    token: Token,
    action: Action,
}

/// A service that keeps what it can.
#[derive(Debug, Clone)]
struct Keeper {
    bank: std::net::SocketAddr,
    kept: Arc<Mutex<Vec<Kept>>>,
    answers: bool,
}

impl Perform<Action> for Keeper {
    async fn perform(&self, call: &Call<Action>) -> Answer {
        let kept = Kept {
            id: call.execution_id(),
            key: call.key().unwrap().to_string(),
            token: call.token(),
            action: call.arguments().clone(),
        };
        let payment = Payment {
            key: kept.key.clone(),
            token: kept.token.to_string(),
            to: "bob".to_owned(),
            amount: 10,
        };
        self.kept.lock().unwrap().push(kept);
        match bank::ask(self.bank, &Request::Pay(payment))? {
            Reply::Receipt(receipt) if self.answers => Ok(Applied::new(receipt)),
            _ => Err(NotDone::unknown("the connection was lost")),
        }
    }
}

/// Everything that the library takes to call again, with what was kept.
async fn calls_again(store: &Store, keeper: &Keeper, contract: &Contract) -> Vec<String> {
    let kept = keeper.kept.lock().unwrap()[0].clone();
    let mut refused = Vec::new();
    // The same execution.
    let same: AnyExecution = store.load(kept.id).await.unwrap();
    refused.push(match same {
        AnyExecution::Pending(_) => "pending".to_owned(),
        other => other.status().definition().name.to_string(),
    });
    // The same action again, from the kept action or from the contract.
    assert_eq!(contract.action(), &kept.action);
    assert_eq!(contract.idempotency_key().unwrap().as_str(), kept.key);
    let mut again = Execution::new(contract.clone());
    if let Err(error) = store.create(&mut again).await {
        refused.push(name(&error));
    } else {
        let performed = store.perform::<Action>(again, keeper.clone(), tool_node()).await;
        refused.push(name(performed.unwrap_err().reason()));
    }
    refused
}

#[tokio::test]
async fn what_a_service_keeps_calls_nothing() {
    for (answers, status, error) in
        [(true, "completed", "AlreadyDone"), (false, "waiting", "KeyHeld")]
    {
        let (_folder, _, store) = new_store().await;
        let bank = Bank::open(Dedup::Nothing);
        let keeper = Keeper { bank: bank.address(), kept: Arc::default(), answers };
        let contract = pay("bob");
        let planned = stored::<Action>(&store, contract.clone()).await;
        let settled = store.perform(planned, keeper.clone(), tool_node()).await.unwrap();
        assert_eq!(matches!(settled, Settled::Completed(_)), answers);
        assert_eq!(calls_again(&store, &keeper, &contract).await, [status, error]);
        assert_eq!((bank.count(), keeper.kept.lock().unwrap().len()), (1, 1));
        // The token of a later attempt is higher than what was kept.
        let other = stored::<Pay>(&store, pay("ann")).await;
        let (_running, permit) = store.begin(other, tool_node()).await.unwrap();
        assert!(permit.token() > keeper.kept.lock().unwrap()[0].token);
    }
}

/// The outcome of one call does not settle another.
#[tokio::test]
async fn an_outcome_settles_its_own_execution() {
    let (_folder, _, store) = new_store().await;
    let bank = Bank::open(Dedup::Nothing);
    let first = stored::<Pay>(&store, pay("bob")).await;
    let other = stored::<Pay>(&store, pay("ann")).await;
    let (running, permit) = store.begin(first, tool_node()).await.unwrap();
    let (other, other_permit) = store.begin(other, tool_node()).await.unwrap();
    let outcome = permit.call(Teller::pays(&bank)).await;
    let refused = store.settle(other, outcome, tool_node()).await.unwrap_err();
    assert_err!(Err::<(), _>(&refused.reason), CommitError::OtherOutcome { .. });
    let (other, outcome) = refused.machine;
    let settled = store.settle(running, outcome, tool_node()).await.unwrap();
    assert!(matches!(settled, Settled::Completed(_)));
    let outcome = other_permit.call(Teller::pays(&bank)).await;
    let settled = store.settle(other, outcome, tool_node()).await.unwrap();
    assert!(matches!(settled, Settled::Completed(_)));
    assert_eq!(bank.count(), 2);
}

/// Another program with its own file, which gets an execution as data.
#[tokio::test]
#[ignore = "other tests run it as another process"]
async fn importer() {
    let (file, claim, teller): (PathBuf, Unverified, Teller) = orders();
    let store = Store::sqlite(file).await.unwrap();
    let mut copy: AnyExecution = claim.verify().unwrap();
    let created = store.create(&mut copy).await.map_err(|error| name(&error));
    let AnyExecution::Pending(pending) = copy else { panic!("it is pending") };
    let planned: Planned<Pay> = Planned::of(pending).unwrap();
    let performed = store.perform(planned, teller, tool_node()).await;
    say(&(created, performed.map(drop).map_err(|error| name(error.reason()))));
}

type Imported = (Result<(), String>, Result<(), String>);

fn imported(folder: &Path, claim: &Unverified, bank: &Bank) -> Imported {
    let file = folder.join("elsewhere.db");
    let mut other = Process::start("effects::permit::importer", &(file, claim, Teller::pays(bank)));
    let tried = other.hear();
    other.join();
    tried
}

/// One PENDING execution, begun in two files, gets one permit.
#[tokio::test]
async fn a_pending_execution_is_begun_in_one_file() {
    let (folder, file, store) = new_store().await;
    let bank = Bank::open(Dedup::Nothing);
    let refused = (Err("Imported".to_owned()), Err("NeverStored".to_owned()));

    // Exported from the file that has it.
    let id = stored::<Pay>(&store, pay("bob")).await.id();
    let claim = store.export(id).await.unwrap();
    assert_eq!(imported(folder.path(), &claim, &bank), refused);
    let report = worker::run("pays", &file, id, Teller::pays(&bank));
    assert_eq!(report, Report::Completed("receipt 1".to_owned()));
    assert_eq!(imported(folder.path(), &claim, &bank), refused);

    // As JSON, before any file had it.
    let mut planned: Planned<Pay> = Planned::new(pay("ann")).unwrap();
    let claim = Unverified::of(planned.execution()).unwrap();
    assert_eq!(imported(folder.path(), &claim, &bank), refused);
    store.batch().create(planned.machine()).write().await.unwrap();
    assert_eq!(imported(folder.path(), &claim, &bank), refused);
    let report = worker::run("pays", &file, planned.id(), Teller::pays(&bank));
    assert_eq!(report, Report::Completed("receipt 2".to_owned()));
    assert_eq!(bank.count(), 2);

    // The machine itself, created in two stores.
    let elsewhere = Store::memory();
    let mut planned = stored::<Pay>(&store, pay("eve")).await;
    let twice = elsewhere.batch().create(planned.machine()).write().await;
    assert_err!(twice, CommitError::OtherStore { .. });
    let refused = elsewhere.begin(planned, tool_node()).await.unwrap_err();
    assert!(matches!(refused.reason, CommitError::OtherStore { .. }), "{refused}");
    let (_running, _permit) = store.begin(refused.machine, tool_node()).await.unwrap();
}

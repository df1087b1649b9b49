//! Entries that take outcomes are compared with the calls that they are of: a forger who edits one
//! in a file without a key, and recomputes every digest, is found all the same.

use machine::{
    Id,
    actor::{Actors, Human},
    contract::{Applied, Call, CallError, NoReceipt, Outcome, Perform, ToolAnswer},
    journal::Entry,
    machine,
    store::{LoadError, Message, OpenOptions},
    worker::Worker,
};
use machine_tests::{invoked::Charge, samples::Ticket};
use serde::{Deserialize, Serialize};

use crate::store::{
    forger::{derived, forge},
    support::{Place, blob, drop_triggers, new_file},
};

#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Bill {
    #[initial]
    #[on(pay(charge) => Paying, by = Human)]
    #[on(pay_parts(parts) => PayingParts, by = Human)]
    Open,
    #[invoke(charge, done = paid, failed = refused)]
    #[on(paid(receipt) => Paid)]
    #[on(refused(why) => Unpaid)]
    Paying { charge: Charge },
    #[invoke(parts: [Charge], each = part, done = all)]
    #[on(part(outcome: Outcome<Charge>, index: usize) => Self)]
    #[on(all(outcomes) => Settled)]
    PayingParts { parts: Vec<Charge> },
    #[terminal]
    Paid { receipt: String },
    #[terminal]
    Unpaid { why: CallError },
    #[terminal]
    Settled { outcomes: Vec<Outcome<Charge>> },
}

/// It refuses two cents.
struct Bank;

impl Perform<Charge> for Bank {
    async fn perform(&self, call: &Call<Charge>) -> ToolAnswer<Charge> {
        match call.arguments.cents {
            2 => Err(NoReceipt::NotApplied("no money".to_owned())),
            cents => Ok(Applied::new(format!("receipt {cents}"))),
        }
    }
}

/// Bills in a file, and their calls.
struct Bills {
    place: Place,
    paid: Id,
    refused: Id,
    /// Its charge was another bill's, too.
    again: Id,
    parts: Id,
}

impl Bills {
    async fn new() -> Self {
        let place = Place::with(OpenOptions::new().machine::<AnyBill>()).await;
        let paid = sent(&place, &bill::Event::Pay { charge: Charge { cents: 1 } }).await;
        let refused = sent(&place, &bill::Event::Pay { charge: Charge { cents: 2 } }).await;
        let again = sent(&place, &bill::Event::Pay { charge: Charge { cents: 1 } }).await;
        let parts = vec![Charge { cents: 3 }, Charge { cents: 2 }];
        let parts = sent(&place, &bill::Event::PayParts { parts }).await;
        assert!(place.store.verify_all(|_| {}).await.unwrap().is_clean());
        Self { place, paid, refused, again, parts }
    }

    async fn call(&self, bill: Id) -> Id {
        self.place.store.children(bill).await.unwrap()[0].id
    }

    /// What a verification of this bill says of a copy of the file in which the forger replaces a
    /// text of an entry.
    async fn forged(&self, bill: Id, entry: u64, (from, to): (&str, &str)) -> String {
        let sql = format!(
            "UPDATE journal SET body = replace(body, '{from}', '{to}')
             WHERE instance = (SELECT no FROM instance WHERE id = ?1) AND number = {entry}"
        );
        self.edited(bill, &[&sql]).await
    }

    async fn edited(&self, bill: Id, edits: &[&str]) -> String {
        let (_folder, file) = new_file();
        let raw = self.place.raw();
        raw.execute("VACUUM INTO ?1", [file.to_str().unwrap()]).unwrap();
        let raw = rusqlite::Connection::open(&file).unwrap();
        drop_triggers(&raw);
        let before = derived(&raw, None).unwrap();
        for sql in edits {
            assert_eq!(raw.execute(sql, [blob(bill)]).unwrap(), 1, "{sql}");
        }
        assert!(forge(&before, &raw).unwrap(), "nothing was edited");
        drop(raw);
        let store = OpenOptions::new().machine::<AnyBill>().sqlite(&file).await.unwrap();
        let verified = store.verify::<AnyBill>(bill).await;
        let error = verified.unwrap_err();
        assert!(matches!(error, LoadError::Unreadable(_)), "{error}");
        let error = error.to_string();
        let problems = store.verify_all(|_| {}).await.unwrap().problems;
        let said: Vec<_> = problems.iter().map(|it| (it.id, &*it.reason)).collect();
        assert_eq!(said, [(Some(bill), &*error)], "and nothing else");
        let error =
            error.strip_prefix(&format!("{bill} failed verification: ")).unwrap().to_owned();
        error.strip_suffix("; restore it from a backup").unwrap().to_owned()
    }
}

/// A bill that a worker has driven as far as it goes.
async fn sent(place: &Place, event: &bill::Event) -> Id {
    let id = place.created(Bill::new()).await.id();
    let event = Message::new(event, &Human::new("ann").unwrap()).unwrap();
    place.store.send(id, &event).await.unwrap();
    let worker = Worker::new(&place.store, Actors::issue("office").unwrap());
    worker.machine::<AnyBill>().tool(Bank).run_until_idle().await.unwrap();
    id
}

#[tokio::test]
async fn a_receipt_that_was_edited_is_found() {
    let bills = Bills::new().await;
    let said = bills.forged(bills.paid, 2, ("receipt 1", "receipt 9")).await;
    let call = bills.call(bills.paid).await;
    let another = format!("{call} has another receipt than the entry");
    assert_eq!(said, format!("entry 2 takes the outcome of a call, but {another}"));
    // The outcomes of the set come in any order.
    let history = bills.place.store.history(bills.parts).await.unwrap();
    let has_receipt = |entry: &&Entry| format!("{:?}", entry.fact).contains("receipt 3");
    let part = history.entries.iter().find(has_receipt).unwrap().number;
    let said = bills.forged(bills.parts, part, ("receipt 3", "receipt 9")).await;
    assert!(said.ends_with("has another receipt than the entry"), "{said}");
    let said = bills.forged(bills.parts, 4, ("receipt 3", "receipt 9")).await;
    assert!(said.ends_with("has another receipt than the entry"), "{said}");
}

#[tokio::test]
async fn a_refusal_that_was_edited_is_found() {
    let bills = Bills::new().await;
    let said = bills.forged(bills.refused, 2, ("no money", "no time")).await;
    assert!(said.ends_with("has another error than the entry"), "{said}");
    // That of the first of two equal calls, which needs no call.
    let (from, to) = (bills.call(bills.paid).await, bills.call(bills.refused).await);
    let (from, to) = (from.to_string(), to.to_string());
    let said = bills.forged(bills.again, 2, (&from, &to)).await;
    assert!(said.ends_with("call 0 of the state has another outcome"), "{said}");
}

#[tokio::test]
async fn a_call_of_another_machine_and_one_that_never_was_are_found() {
    let bills = Bills::new().await;
    let own = bills.call(bills.paid).await.to_string();
    for (by, wrong) in [
        (bills.call(bills.refused).await, "is not a call of this machine"),
        (Ticket::new().id(), "its inbox has no outcome of"),
        (bills.paid, "call 0 of the state has no outcome"),
    ] {
        let said = bills.forged(bills.paid, 2, (&own, &by.to_string())).await;
        assert!(said.contains(wrong), "{said}");
    }
}

/// A bill whose charge was refused says that it is paid.
#[tokio::test]
async fn a_payment_that_was_refused_is_found() {
    let bills = Bills::new().await;
    let paid = bill::DEFINITION.edges.iter().position(|edge| edge.trigger == "paid").unwrap();
    let call = bills.call(bills.refused).await;
    let entry = format!(
        "UPDATE journal SET edge = {paid}, body = '{{\"by\":\"{call}\",\"payload\":{{\"receipt\":\"mine\"}}}}'
         WHERE instance = (SELECT no FROM instance WHERE id = ?1) AND number = 2"
    );
    let row = "UPDATE instance SET status = 'paid', state = '{\"receipt\":\"mine\"}',
         summary = replace(summary, 'refused', 'paid') WHERE id = ?1";
    let said = bills.edited(bills.refused, &[&entry, row]).await;
    assert!(said.ends_with(&format!("{call} is `failed`, and the entry has a receipt")), "{said}");
}

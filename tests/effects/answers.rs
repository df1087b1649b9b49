//! What a tool answered is what a program reads: a receipt or a refusal of its type, also from a
//! file that was opened again.

use std::{error::Error, fmt, sync::Mutex};

use machine::contract::{
    AnswersLater, CallError, Effect, EffectType, FoundBy, Idempotent, Irreversible, OrRefused,
    Report, outcome, receipt, refusal,
};
use proptest::{prelude::*, strategy::ValueTree, test_runner::TestRunner};
use serde::{Deserialize, Serialize};

use crate::effects::{
    prelude::*,
    support::{assert_is, stored},
};

on_file! {
    an_answer_comes_back_as_it_was,
    a_refusal_is_for_people_and_for_programs,
    a_refusal_that_comes_late_or_from_a_query,
    a_refusal_in_a_report,
    what_a_service_has_accepted_is_held_until_its_limit,
    a_question_mark_on_a_refusal_is_unknown,
    what_a_person_says_is_no_refusal_of_the_tool,
    a_refusal_of_an_action,
    a_longer_receipt_is_cut_and_never_read,
    a_longer_refusal_is_cut_and_never_read,
    a_longer_receipt_of_an_idempotent_call_is_refused,
}

const MEBIBYTE: usize = 1024 * 1024;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Declined {
    Limit { left: u32 },
    Account(String),
    Closed,
}

impl fmt::Display for Declined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Limit { left } => write!(f, "only {left} are left"),
            Self::Account(name) => write!(f, "there is no account {name}"),
            Self::Closed => f.write_str("the bank is closed"),
        }
    }
}

impl Error for Declined {}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Paid {
    lines: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

/// A charge with this effect.
#[derive(Debug, Serialize, Deserialize)]
#[serde(bound = "")]
struct Charge<E = Irreversible> {
    cents: u32,
    #[serde(skip)]
    effect: std::marker::PhantomData<fn() -> E>,
}

impl<E: EffectType> Tool for Charge<E> {
    const SERVICE: &'static str = "bank";
    const METHOD: &'static str = match E::EFFECT {
        Effect::Irreversible => "charge",
        Effect::Idempotent => "rate",
    };
    type Effect = E;
    type Receipt = Paid;
    type Refusal = Declined;
    const SETTLING_TIME: Duration = Duration::ZERO;
}

fn charge<E: EffectType>(cents: u32) -> Contract {
    let charge = Charge::<E> { cents, effect: std::marker::PhantomData };
    Contract::of(&charge, reasoning_node()).unwrap()
}

/// Gives this answer to each call and query.
struct Bank(Mutex<Answer<Paid, Declined>>);

impl Bank {
    fn new(answer: Answer<Paid, Declined>) -> Self {
        Self(Mutex::new(answer))
    }
}

impl<E: EffectType> Perform<Charge<E>> for Bank {
    async fn perform(&self, _: &Call<Charge<E>>) -> Answer<Paid, Declined> {
        self.0.lock().unwrap().clone()
    }

    async fn find(&self, _: &Attempt<Charge<E>>) -> Answer<Paid, Declined> {
        self.0.lock().unwrap().clone()
    }
}

/// Charges, and reads the execution from a store that was opened again.
async fn charged<E: EffectType>(
    place: &mut Place,
    cents: u32,
    answer: Answer<Paid, Declined>,
) -> AnyExecution {
    let planned = stored::<Charge<E>>(&place.store, charge::<E>(cents)).await;
    let id = planned.id();
    let settled = place.store.perform(planned, Bank::new(answer), tool_node()).await.unwrap();
    drop(settled);
    place.open_again().await.load(id).await.unwrap()
}

fn refused(refusal: Declined) -> Answer<Paid, Declined> {
    Err(refusal).or_refused()
}

fn failed(execution: AnyExecution) -> Execution<Failed> {
    match execution {
        AnyExecution::Failed(failed) => failed,
        other => panic!("expected FAILED, found {other:?}"),
    }
}

fn any_answer() -> impl Strategy<Value = Result<Paid, Declined>> {
    let text = || any::<String>();
    let paid = (prop::collection::vec(text(), 0..4), prop::option::of(text()));
    prop_oneof![
        paid.prop_map(|(lines, note)| Ok(Paid { lines, note })),
        any::<u32>().prop_map(|left| Err(Declined::Limit { left })),
        text().prop_map(|name| Err(Declined::Account(name))),
        Just(Err(Declined::Closed)),
    ]
}

async fn an_answer_comes_back_as_it_was(mut place: Place) {
    let mut runner = TestRunner::deterministic();
    for cents in 0..40 {
        let answer = any_answer().new_tree(&mut runner).unwrap().current();
        let given = answer.clone().map(Applied::new).or_refused();
        let read = match charged::<Irreversible>(&mut place, cents, given).await {
            AnyExecution::Completed(done) => Ok(receipt::<Paid>(&done).unwrap()),
            other => Err(refusal::<Declined>(&failed(other)).unwrap().unwrap()),
        };
        assert_eq!(read, answer);
    }
    place.assert_intact().await;
}

async fn a_refusal_is_for_people_and_for_programs(mut place: Place) {
    let failed =
        failed(charged::<Irreversible>(&mut place, 5, refused(Declined::Limit { left: 3 })).await);
    assert_eq!(failed.state().error, "only 3 are left");
    assert_eq!(refusal::<Declined>(&failed).unwrap(), Some(Declined::Limit { left: 3 }));
    // That of another type is an error.
    assert!(refusal::<u32>(&failed).is_err());
    let facts = place.facts(failed.id()).await;
    let said = |fact: &CallFact| match fact {
        CallFact::Evidence { evidence: Evidence::NotApplied(refusal), .. } => refusal.data.clone(),
        _ => None,
    };
    assert_eq!(facts.iter().find_map(said), Some(serde_json::json!({ "Limit": { "left": 3 } })));
}

async fn a_refusal_that_comes_late_or_from_a_query(place: Place) {
    let planned = stored::<Charge>(&place.store, charge::<Irreversible>(1)).await;
    let lost = Bank::new(Err(NoReceipt::unknown("the line is dead")));
    let Settled::InDoubt(doubt) = place.store.perform(planned, lost, tool_node()).await.unwrap()
    else {
        panic!("it is in doubt")
    };
    let bank = Bank::new(refused(Declined::Closed));
    let settled = place.store.ask_service::<Charge>(doubt, &bank, tool_node()).await.unwrap();
    let Settled::Failed(failed) = settled else { panic!("{settled:?}") };
    assert_eq!(refusal::<Declined>(&failed).unwrap(), Some(Declined::Closed));
    let read =
        |execution: AnyExecution| outcome::<Charge>(&execution).unwrap().unwrap().unwrap_err();
    let found = CallError::NotApplied(FoundBy::Service(Declined::Closed));
    assert_eq!(read(place.store.load(failed.id()).await.unwrap()), found);

    let planned = stored::<Charge>(&place.store, charge::<Irreversible>(2)).await;
    let id = planned.id();
    let begun = place.store.begin(planned, tool_node()).await.unwrap();
    // Longer than what the summary keeps of it.
    let account = Declined::Account("x".repeat(1000));
    let outcome = begun.1.call(Slow(place.store.clone(), refused(account.clone()))).await;
    let refused = place.store.settle(begun.0, outcome, tool_node()).await;
    assert_err!(refused, Refused { reason: EffectError::Fenced { .. }, .. });
    place.store.recover().await.unwrap();
    let failed = self::failed(place.store.load(id).await.unwrap());
    assert_eq!(refusal::<Declined>(&failed).unwrap(), Some(account.clone()));
    assert_eq!(read(failed.into()), CallError::Refused(account));
}

/// Answers after its worker was fenced.
struct Slow(Store, Answer<Paid, Declined>);

impl Perform<Charge> for Slow {
    async fn perform(&self, call: &Call<Charge>) -> Answer<Paid, Declined> {
        drop(self.0.fence(call.execution_id, "too slow", graph_runner()).await?);
        self.1.clone()
    }
}

/// Accepts each call.
struct Later;

impl Perform<Charge<AnswersLater>> for Later {
    async fn perform(&self, call: &Call<Charge<AnswersLater>>) -> Answer<Paid, Declined> {
        call.accepted("17", Duration::from_mins(1))
    }
}

async fn a_refusal_in_a_report(place: Place) {
    let planned = stored::<Charge<AnswersLater>>(&place.store, charge::<AnswersLater>(1)).await;
    let id = planned.id();
    let settled = place.store.perform(planned, Later, tool_node()).await.unwrap();
    assert_is!(settled, Settled::Accepted(_));
    let report = Report::NotApplied(Declined::Closed);
    drop(place.store.report::<Charge<AnswersLater>>(id, report, tool_node()).await.unwrap());
    let failed = failed(place.store.load(id).await.unwrap());
    assert_eq!(failed.state().error, "the bank is closed");
    assert_eq!(refusal::<Declined>(&failed).unwrap(), Some(Declined::Closed));
}

/// Also without a settling time, its service may carry it out until then.
async fn what_a_service_has_accepted_is_held_until_its_limit(place: Place) {
    let (place, clock) = place.clocked().await;
    let planned = stored::<Charge<AnswersLater>>(&place.store, charge::<AnswersLater>(1)).await;
    let id = planned.id();
    let settled = place.store.perform(planned, Later, tool_node()).await.unwrap();
    assert_is!(settled, Settled::Accepted(_));
    let (doubt, reason) = place.refuses_denial(place.fenced(id).await).await;
    assert_is!(reason, EffectError::NotSettled { left_ms: 60_000, .. });
    clock.advance(60_000);
    let _ = place.deny(doubt).await;
}

async fn a_question_mark_on_a_refusal_is_unknown(mut place: Place) {
    let asked: Result<(), Declined> = Err(Declined::Closed);
    let answer = asked.map_err(NoReceipt::from).map(|()| unreachable!());
    let execution = charged::<Irreversible>(&mut place, 1, answer).await;
    assert_eq!(Label::of(&execution), Label::InDoubt);
    // Which is no outcome.
    assert!(outcome::<Charge>(&execution).unwrap().is_none());
}

async fn what_a_person_says_is_no_refusal_of_the_tool(place: Place) {
    let doubt = place.doubtful(mail("bob")).await;
    let failed = place.store.override_not_applied(doubt, "not sent", ann()).await.unwrap();
    assert_eq!(failed.state().error, "not sent");
    let read = outcome::<Action>(&place.store.load(failed.id()).await.unwrap()).unwrap().unwrap();
    let by_ann = CallError::Cancelled { by: Some("ann".into()), reason: "not sent".into() };
    assert_eq!(read.unwrap_err(), by_ann);
    assert_eq!(refusal::<ActionRefusal>(&failed).unwrap(), None);

    let doubt = place.doubtful(mail("eve")).await;
    let failed = place.store.confirm_not_applied(doubt, "not sent", ann()).await.unwrap();
    let read = outcome::<Action>(&place.store.load(failed.id()).await.unwrap()).unwrap().unwrap();
    let found = FoundBy::Person { by: "ann".into(), reason: "not sent".into() };
    assert_eq!(read.unwrap_err(), CallError::NotApplied(found));
}

async fn a_refusal_of_an_action(place: Place) {
    let (running, permit) = place.begun(mail("bob")).await;
    let busy = ActionRefusal::new("the server is busy").code("retry");
    let given = busy.clone();
    let service = service_fn(move |_: &Call<Action>| {
        let refusal = given.clone();
        Box::pin(async move { Err(refusal).or_refused() })
    });
    let outcome = permit.call(service).await;
    let settled = place.settled(running, outcome).await;
    let Settled::Failed(failed) = settled else { panic!("{settled:?}") };
    assert_eq!(failed.state().error, "the server is busy");
    assert_eq!(refusal::<ActionRefusal>(&failed).unwrap(), Some(busy));
}

/// A receipt whose JSON has this many bytes.
fn paid(bytes: usize) -> Paid {
    let paid = |length| Paid { lines: vec!["x".repeat(length)], note: None };
    let around = serde_json::to_string(&paid(0)).unwrap().len();
    paid(bytes - around)
}

async fn a_longer_receipt_is_cut_and_never_read(mut place: Place) {
    let answer = Ok(Applied::new(paid(MEBIBYTE + 1)));
    let execution = charged::<Irreversible>(&mut place, 1, answer).await;
    let AnyExecution::Completed(done) = execution else { panic!("{:?}", execution.status()) };
    assert!(done.state().result.ends_with("… (cut from 1048577 bytes)"));
    let error = receipt::<Paid>(&done).unwrap_err().to_string();
    assert_eq!(error, "the receipt was cut because it has more than 1048576 bytes");
    // It took effect, so its key is held.
    let mut again = Planned::<Charge>::new(charge::<Irreversible>(1)).unwrap();
    let refused = place.store.plan(&mut again).await;
    assert_err!(refused, EffectError::Commit(CommitError::AlreadyDone { .. }));
}

async fn a_longer_refusal_is_cut_and_never_read(mut place: Place) {
    let answer = refused(Declined::Account("x".repeat(MEBIBYTE)));
    let failed = failed(charged::<Irreversible>(&mut place, 1, answer).await);
    let error = refusal::<Declined>(&failed).unwrap_err().to_string();
    assert_eq!(error, "the refusal was cut because it has more than 1048576 bytes");
}

async fn a_longer_receipt_of_an_idempotent_call_is_refused(mut place: Place) {
    let answer = Ok(Applied::new(paid(MEBIBYTE + 1)));
    let failed = failed(charged::<Idempotent>(&mut place, 1, answer).await);
    assert!(failed.state().error.contains("more than 1048576 bytes"), "{}", failed.state().error);
    assert_eq!(refusal::<Declined>(&failed).unwrap(), None);
}

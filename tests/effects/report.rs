//! Services that accept a call and report its outcome later.

use std::sync::Mutex;

use machine::{
    contract::{CallbackToken, Report, receipt as receipt_of},
    effects::{ReportError, Reported},
};
use machine_tests::cluster::{Deploy, LIMIT, Live, REFERENCE, Request, accepted, deploy, live};

use crate::{
    effects::{prelude::*, support::stored, tools::Post},
    store::prune::{everything, newest, prune},
};

on_file! {
    a_report_of_a_receipt_completes_the_execution,
    reports_after_the_limit_settle_the_doubt,
    a_wrong_token_and_an_unknown_id_are_the_same,
    the_program_reports_without_a_token,
    only_a_report_settles_an_accepted_call,
    an_accepted_call_is_not_pruned,
    reports_do_not_fill_the_file,
    nothing_but_the_digest_of_the_token_is_stored,
    an_accepted_call_is_the_whole_call,
}

/// The limit of the service, in milliseconds.
const LIMIT_MS: i64 = 600_000;

fn done() -> Report<Live> {
    Report::Applied(live(17))
}

fn refused() -> Report<Live> {
    Report::NotApplied("quota exceeded".to_owned())
}

impl Place {
    async fn report(&self, call: &Request, what: Report<Live>) -> Result<Reported, ReportError> {
        self.store.report::<Deploy>(call.id, what, &call.token).await
    }

    /// The report settles the execution.
    async fn is_settled_by(&self, call: &Request, what: Report<Live>) -> AnyExecution {
        match self.report(call, what).await {
            Ok(Reported::Settled(execution)) => execution,
            other => panic!("{other:?}"),
        }
    }

    /// The report is kept, and settles nothing.
    async fn keeps(&self, call: &Request, what: Report<Live>) {
        assert_is!(self.report(call, what).await, Ok(Reported::Kept(_)));
    }

    /// A call that the service has accepted, and a clock.
    async fn waiting(&self) -> (Self, Hand, Request) {
        let (place, clock) = self.clocked().await;
        let call = accepted(&place.store, 17).await;
        (place, clock, call)
    }
}

async fn a_report_of_a_receipt_completes_the_execution(place: Place) {
    let (place, _, call) = place.waiting().await;
    assert_eq!(place.label(call.id).await, Label::Waiting);
    place.is_held(deploy(17), call.id).await;
    // The end of this process proves nothing.
    let place = place.reopened().await;
    assert_eq!(place.recovered().await.len(), 0);
    place.is_held(deploy(17), call.id).await;
    let AnyExecution::Completed(ended) = place.is_settled_by(&call, done()).await else { panic!() };
    assert_eq!(receipt_of::<Live>(&ended).unwrap(), live(17));
    let entries = place.entries(call.id).await;
    let evidence = entries
        .iter()
        .find(|entry| matches!(CallFact::of(entry), Some(CallFact::Evidence { late: false, .. })));
    assert_eq!(evidence.unwrap().actor.as_deref(), Some("callback"));
    place.is_done(deploy(17), call.id).await;
}

async fn reports_after_the_limit_settle_the_doubt(place: Place) {
    for (what, status) in [(done(), Status::Completed), (refused(), Status::Failed)] {
        let (place, clock, call) = place.waiting().await;
        clock.advance(LIMIT_MS);
        assert_eq!(place.recovered().await.len(), 0, "it is still in time");
        clock.advance(1);
        let found = recovered(&place.open_again().await).await;
        let [doubt] = &found[..] else { panic!("{found:?}") };
        assert!(doubt.question().contains("has not reported"), "{}", doubt.question());
        assert!(!doubt.question().contains(REFERENCE), "{}", doubt.question());
        assert_eq!(place.label(call.id).await, Label::InDoubt);
        place.is_held(deploy(17), call.id).await;
        place.is_settled_by(&call, what).await;
        assert_eq!(place.status(call.id).await, status);
    }
}

async fn a_wrong_token_and_an_unknown_id_are_the_same(place: Place) {
    let call = accepted(&place.store, 17).await;
    let other = accepted(&place.store, 18).await;
    let no_callback = place.begun(mail("bob")).await.0.id();
    let pending = place.stored(deploy(19)).await.id();
    let before = place.dump();
    let unknown = "01890a5d-ac96-774b-bcce-b302099a8057".parse().unwrap();
    for (id, token) in [
        (call.id, other.token.clone()),
        (call.id, CallbackToken::new("")),
        (call.id, CallbackToken::new("0".repeat(48))),
        (unknown, call.token.clone()),
        (no_callback, call.token.clone()),
        (no_callback, CallbackToken::new("")),
        (pending, call.token.clone()),
    ] {
        let taken = place.store.report::<Deploy>(id, done(), &token).await;
        let error = taken.unwrap_err();
        assert_is!(error, ReportError::NoSuchCall { id: of } if *of == id);
        let text = error.to_string().replace(&id.to_string(), "ID");
        let none = "no call with the id ID has this token; send the id and the token of the call";
        assert_eq!(text, none);
    }
    // Of another tool.
    let taken =
        place.store.report::<Post>(call.id, Report::NotApplied("no".to_owned()), &call.token).await;
    assert_err!(taken, ReportError::Contract { .. });
    assert_eq!(place.dump(), before);
}

async fn the_program_reports_without_a_token(place: Place) {
    let call = accepted(&place.store, 17).await;
    let no_callback = place.begun(mail("bob")).await.0.id();
    let pending = place.stored(deploy(19)).await.id();
    let taken = place.store.report::<Deploy>(pending, done(), tool_node()).await;
    assert_err!(taken, ReportError::NoCallback { id } if *id == pending);
    let taken = place.store.report::<Deploy>(no_callback, done(), tool_node()).await;
    assert_err!(taken, ReportError::Contract { .. });
    let taken = place.store.report::<Deploy>(call.id, done(), tool_node()).await;
    assert_is!(taken, Ok(Reported::Settled(_)));
}

/// Neither a program nor a person moves it past its report.
async fn only_a_report_settles_an_accepted_call(place: Place) {
    let call = accepted(&place.store, 17).await;
    let id = call.id;
    let text = || "no".to_owned();
    let no_more = [
        vec![Event::Cancel { reason: text() }],
        vec![Event::Resume],
        vec![Event::Resume, Event::Succeed { result: text() }],
        vec![Event::Resume, Event::Fail { error: text(), refusal: None }],
        vec![Event::Resume, Event::Suspend { prompt: text() }],
    ];
    for events in no_more {
        let mut moved: AnyExecution = place.store.load(id).await.unwrap();
        for event in events {
            moved.apply_mut(event, graph_runner()).unwrap();
        }
        let refused = place.refuses_machine(&mut moved).await;
        assert_is!(refused, EffectError::Commit(CommitError::Refused { .. }));
    }
    assert_err!(place.store.resume::<Waiting>(id).await, StateError::AwaitsReport { .. });
    assert_err!(place.store.question(id).await, StateError::NotAQuestion { .. });
    assert_err!(place.store.in_doubt(id).await, StateError::NotInDoubt { .. });
}

async fn an_accepted_call_is_not_pruned(place: Place) {
    let (place, clock, call) = place.waiting().await;
    let _ = place.overrule(place.fenced(call.id).await).await;
    newest(&place).await;
    assert_eq!(prune(&place.store, &everything()).await.machines, 0);
    clock.advance(LIMIT_MS + 1);
    assert_eq!(prune(&place.store, &everything()).await.machines, 1);
    assert_err!(place.report(&call, done()).await, ReportError::NoSuchCall { .. });
}

/// A holder of the token can report many times, up to a limit.
async fn reports_do_not_fill_the_file(place: Place) {
    let call = accepted(&place.store, 17).await;
    place.is_settled_by(&call, done()).await;
    let mut taken = 0;
    let refusal = loop {
        match place.report(&call, Report::Applied(live(taken))).await {
            Ok(_) => taken += 1,
            Err(error) => break error,
        }
    };
    assert_is!(refusal, ReportError::TooMany { .. });
    assert!(taken < 20, "{taken}");
    // The first one of the other kind is always kept.
    place.keeps(&call, refused()).await;
    let rest = place.report(&call, Report::NotApplied("never".to_owned())).await;
    assert_err!(rest, ReportError::TooMany { .. });
}

async fn nothing_but_the_digest_of_the_token_is_stored(place: Place) {
    let call = accepted(&place.store, 17).await;
    assert!(call.token.as_str().len() >= 32, "at least 128 bits");
    assert!(!place.dump().contains(call.token.as_str()));
    let [one, other] = [accepted(&place.store, 18).await, accepted(&place.store, 19).await];
    assert_ne!(one.token.as_str(), other.token.as_str());
    let facts = place.facts(call.id).await;
    let accepted = facts.iter().find_map(|fact| match fact {
        CallFact::Accepted { reference, .. } => Some(reference.as_str()),
        _ => None,
    });
    assert_eq!(accepted, Some(REFERENCE));
}

/// While a part of the call is running, its answer that the service accepted it says nothing.
async fn an_accepted_call_is_the_whole_call(place: Place) {
    let parts = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&parts);
    let service = service_fn(move |call: &Call<Deploy>| {
        kept.lock().unwrap().push((call.in_flight(), call.callback_token().clone()));
        let answer = call.accepted(REFERENCE, LIMIT);
        Box::pin(async move { answer })
    });
    let planned: Planned<Deploy> = stored(&place.store, deploy(17)).await;
    let id = planned.id();
    let ended = place.store.perform(planned, service, tool_node()).await.unwrap();
    assert_is!(ended, Settled::InDoubt(_));
    let (guard, token) = parts.lock().unwrap().pop().unwrap();
    let call = Request { id, path: String::new(), token };
    // A part of it may still send something.
    place.keeps(&call, refused()).await;
    place.is_held(deploy(17), id).await;
    drop(guard);
    assert_eq!(place.store.recover().await.unwrap().settled.len(), 1);
    place.keeps(&call, done()).await;
    let evidence = Evidence::Applied(serde_json::to_value(live(17)).unwrap().to_string());
    let late = CallFact::Evidence { epoch: 0, evidence, late: true };
    assert!(place.facts(id).await.contains(&late));
}

//! Services that accept a call and report its outcome later (EX-8).

use std::time::Duration;

use machine::{
    contract::{
        AnyExecution, Applied, CallFact, CallbackToken, Evidence, NotDone, Report, Settled,
        execution::Status, receipt,
    },
    effects::{ReportError, Reported},
    store::{CommitError, Kept, LoadError, Store},
    typed::Refused,
    view::Label,
};
use machine_tests::{
    actors::{ann, graph_runner, tool_node},
    assert_err,
    cluster::{
        Cluster, Deploy, LIMIT, Live, REFERENCE, Request, accepted, deploy, live, performed,
    },
    samples::mail,
};

use crate::effects::tools::Post;
use crate::store::{
    prune::{everything, newest, prune},
    support::{Hand, Place, on_both, recovered},
};

on_both! {
    a_report_of_a_receipt_completes_the_execution,
    a_report_of_a_refusal_frees_the_key,
    a_report_before_the_answer_settles_or_is_kept,
    a_report_is_taken_whatever_the_call_answers,
    a_refusal_counts_only_when_the_call_has_ended,
    the_first_report_wins,
    reports_after_the_limit_settle_the_doubt,
    a_report_contradicts_a_person,
    a_wrong_token_and_an_unknown_id_are_the_same,
    the_program_reports_without_a_token,
    what_waits_for_a_report_has_no_other_way_out,
    a_status_query_settles_after_the_limit,
    a_person_can_end_the_wait_but_not_free_the_key,
    what_can_be_reported_is_not_pruned,
    reports_do_not_fill_the_file,
    nothing_but_the_digest_of_the_token_is_stored,
    an_accepted_call_is_the_whole_call,
}

type Taken = Result<Reported, ReportError>;

async fn report(store: &Store, call: &Request, report: Report<Live>) -> Taken {
    store.report::<Deploy>(call.id, report, &call.token).await
}

fn done() -> Report<Live> {
    Report::Applied(live(17))
}

fn refused(reason: &str) -> Report<Live> {
    Report::NotApplied(reason.to_owned())
}

#[track_caller]
fn settled(taken: Taken) -> AnyExecution {
    match taken {
        Ok(Reported::Settled(execution)) => execution,
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn kept(taken: &Taken) {
    assert!(matches!(taken, Ok(Reported::Kept(_))), "{taken:?}");
}

#[track_caller]
fn known(taken: &Taken) {
    assert!(matches!(taken, Ok(Reported::Known(_))), "{taken:?}");
}

/// The key is held: no other execution begins the action.
async fn is_held(place: &Place) {
    let other = place.stored(deploy(17)).await;
    let begun = place.store.begin(other, tool_node()).await;
    assert_err!(begun, Refused { reason: CommitError::KeyHeld { .. }, .. });
}

/// The action runs again.
async fn is_free(place: &Place) {
    assert!(matches!(performed(&place.store, 17, &Cluster::default()).await, Settled::Accepted(_)));
}

async fn label(place: &Place, call: &Request) -> Label {
    place.view(call.id).await.consequence_label
}

async fn waiting(place: &Place) -> (Place, Hand, Request) {
    let (place, clock) = place.clocked().await;
    let call = accepted(&place.store, 17).await;
    (place, clock, call)
}

fn past(limit: Duration) -> i64 {
    i64::try_from(limit.as_millis()).unwrap() + 1
}

async fn a_report_of_a_receipt_completes_the_execution(place: Place) {
    let (place, _, call) = waiting(&place).await;
    assert_eq!(label(&place, &call).await, Label::Waiting);
    is_held(&place).await;
    // The end of this process proves nothing.
    let place = place.reopened().await;
    assert_eq!(recovered(&place.store).await.len(), 0);
    is_held(&place).await;
    let AnyExecution::Completed(ended) = settled(report(&place.store, &call, done()).await) else {
        panic!()
    };
    assert_eq!(receipt::<Live>(&ended).unwrap(), live(17));
    let entries = place.entries(call.id).await;
    let evidence = entries
        .iter()
        .find(|entry| matches!(CallFact::of(entry), Some(CallFact::Evidence { late: false, .. })));
    assert_eq!(evidence.unwrap().actor.as_deref(), Some("callback"));
    let mut again = machine::contract::Execution::new(deploy(17));
    let created = place.store.create(&mut again).await;
    assert_err!(created, CommitError::AlreadyDone { .. });
}

async fn a_report_of_a_refusal_frees_the_key(place: Place) {
    let (place, _, call) = waiting(&place).await;
    let ended = settled(report(&place.store, &call, refused("quota exceeded")).await);
    let AnyExecution::Failed(failed) = ended else { panic!("{ended:?}") };
    assert_eq!(failed.state().error, "quota exceeded");
    is_free(&place).await;
}

/// The report comes while the service has not answered yet.
async fn a_report_before_the_answer_settles_or_is_kept(place: Place) {
    for receipt in [true, false] {
        let place = place.another().await;
        let cluster = Cluster::held();
        let early = async {
            let call = cluster.called().await;
            if receipt {
                settled(report(&place.store, &call, done()).await);
            } else {
                kept(&report(&place.store, &call, refused("quota exceeded")).await);
                // It may do something yet.
                assert_eq!(place.status(call.id).await, Status::Running);
                is_held(&place).await;
                known(&report(&place.store, &call, refused("quota exceeded")).await);
            }
            cluster.release();
            call
        };
        let (ended, call) = tokio::join!(performed(&place.store, 17, &cluster), early);
        match ended {
            Settled::Completed(_) if receipt => {}
            Settled::Failed(failed) if !receipt => {
                assert_eq!(failed.state().error, "quota exceeded");
                is_free(&place).await;
            }
            other => panic!("{other:?}"),
        }
        assert!(place.store.verify::<AnyExecution>(call.id).await.is_ok());
    }
}

/// A receipt wins over every answer of the call itself; a different answer is kept.
async fn a_report_is_taken_whatever_the_call_answers(place: Place) {
    let answers = [
        (Ok(Applied::new(live(17))), 1),
        (Ok(Applied::new(live(18))), 2),
        (Err(NotDone::not_applied("no")), 2),
        (Err(NotDone::unknown("reset")), 1),
        (Err(NotDone::still_running("reset")), 1),
    ];
    for (answer, pieces) in answers {
        let place = place.another().await;
        let cluster = Cluster::held().answering(answer.clone());
        let early = async {
            let call = cluster.called().await;
            settled(report(&place.store, &call, done()).await);
            cluster.release();
            call
        };
        let (ended, call) = tokio::join!(performed(&place.store, 17, &cluster), early);
        let Settled::Completed(ended) = ended else { panic!("{ended:?}") };
        assert_eq!(receipt::<Live>(&ended).unwrap(), live(17), "{answer:?}");
        let facts = place.facts(call.id).await;
        let evidence = facts.iter().filter(|fact| matches!(fact, CallFact::Evidence { .. }));
        assert_eq!(evidence.count(), pieces, "{answer:?}");
    }
}

/// The worker ends before it has recorded that the service accepted the call.
async fn a_refusal_counts_only_when_the_call_has_ended(place: Place) {
    let cluster = Cluster::held();
    let mut planned = machine::contract::Planned::<Deploy>::new(deploy(17)).unwrap();
    place.store.plan(&mut planned).await.unwrap();
    let (running, permit) = place.store.begin(planned, tool_node()).await.unwrap();
    let mut call = permit.call(cluster.clone());
    let request = tokio::select! {
        _ = &mut call => panic!("it is held"),
        request = cluster.called() => request,
    };
    kept(&report(&place.store, &request, refused("quota exceeded")).await);
    let doubt = place.store.fence(running.id(), "overdue", graph_runner()).await.unwrap();
    let confirmed = place.store.confirm_not_applied(doubt, "no", ann()).await;
    assert_err!(confirmed, Refused { reason: CommitError::WorkerAlive { .. }, .. });
    assert_eq!(label(&place, &request).await, Label::InDoubt);
    assert_eq!(recovered(&place.store).await.len(), 1);
    is_held(&place).await;
    // The service is confined to its future.
    drop(call);
    drop(running);
    let found = place.store.recover().await.unwrap();
    let [AnyExecution::Failed(failed)] = &found.settled[..] else { panic!("{found:?}") };
    assert_eq!(failed.state().error, "quota exceeded");
    is_free(&place).await;
}

async fn the_first_report_wins(place: Place) {
    for (first, second, label_after) in [
        (done(), refused("no"), Label::Success),
        (refused("no"), done(), Label::Contradicted),
        (done(), Report::Applied(live(18)), Label::Success),
    ] {
        let place = place.another().await;
        let call = accepted(&place.store, 17).await;
        settled(report(&place.store, &call, first.clone()).await);
        let status = place.status(call.id).await;
        known(&report(&place.store, &call, first).await);
        kept(&report(&place.store, &call, second.clone()).await);
        known(&report(&place.store, &call, second).await);
        assert_eq!(place.status(call.id).await, status);
        assert_eq!(label(&place, &call).await, label_after);
    }
}

async fn reports_after_the_limit_settle_the_doubt(place: Place) {
    for (what, status) in [(done(), Status::Completed), (refused("no"), Status::Failed)] {
        let (place, clock, call) = waiting(&place).await;
        clock.advance(past(LIMIT) - 1);
        assert_eq!(recovered(&place.store).await.len(), 0, "it is still in time");
        clock.advance(1);
        let found = recovered(&place.open_again().await).await;
        assert_eq!(found.len(), 1);
        assert!(found[0].question().contains("has not reported"), "{}", found[0].question());
        assert!(!found[0].question().contains(REFERENCE), "{}", found[0].question());
        assert_eq!(label(&place, &call).await, Label::InDoubt);
        is_held(&place).await;
        settled(report(&place.store, &call, what).await);
        assert_eq!(place.status(call.id).await, status);
    }
}

async fn a_report_contradicts_a_person(place: Place) {
    let (place, clock, call) = waiting(&place).await;
    clock.advance(past(LIMIT));
    let doubt = recovered(&place.store).await.pop().unwrap();
    let early = place.store.confirm_not_applied(doubt, "no", ann()).await.unwrap_err();
    assert_err!(Err::<(), _>(early.reason), CommitError::NotSettled { .. });
    let overridden = place.store.override_not_applied(early.machine, "no", ann()).await;
    drop(overridden.unwrap());
    kept(&report(&place.store, &call, done()).await);
    assert_eq!(label(&place, &call).await, Label::Contradicted);
    let mut again = machine::contract::Execution::new(deploy(17));
    assert_err!(place.store.create(&mut again).await, CommitError::AlreadyDone { .. });
}

async fn a_wrong_token_and_an_unknown_id_are_the_same(place: Place) {
    let call = accepted(&place.store, 17).await;
    let other = accepted(&place.store, 18).await;
    let no_callback = place.begun(mail("bob")).await.0.id();
    let pending = place.stored(deploy(19)).await.id();
    let before = place.dump().await;
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
        assert!(matches!(error, ReportError::NoSuchCall { id: of } if of == id), "{error:?}");
        let text = error.to_string().replace(&id.to_string(), "ID");
        assert_eq!(
            text,
            "no call with the id ID has this token; send the id and the token of the call"
        );
    }
    // Of another tool.
    let taken =
        place.store.report::<Post>(call.id, Report::NotApplied("no".to_owned()), &call.token).await;
    assert_err!(taken, ReportError::Contract { .. });
    assert_eq!(place.dump().await, before);
}

async fn the_program_reports_without_a_token(place: Place) {
    let call = accepted(&place.store, 17).await;
    let (no_callback, pending) =
        (place.begun(mail("bob")).await.0.id(), place.stored(deploy(19)).await.id());
    let taken = place.store.report::<Deploy>(pending, done(), tool_node()).await;
    assert_err!(taken, ReportError::NoCallback { id } if *id == pending);
    let taken = place.store.report::<Deploy>(no_callback, done(), tool_node()).await;
    assert_err!(taken, ReportError::Contract { .. });
    settled(place.store.report::<Deploy>(call.id, done(), tool_node()).await);
}

/// Neither a program nor a person moves it past its report.
async fn what_waits_for_a_report_has_no_other_way_out(place: Place) {
    use machine::contract::execution::Waiting;

    let call = accepted(&place.store, 17).await;
    let id = call.id;
    let load = async || match place.store.load::<AnyExecution>(id).await.unwrap() {
        AnyExecution::Waiting(waiting) => waiting,
        other => panic!("{other:?}"),
    };
    let by = graph_runner();
    let before = place.dump().await;
    let mut cancelled = load().await.cancel("no".to_owned(), by);
    assert_err!(place.store.commit(&mut cancelled).await, CommitError::Refused { .. });
    let mut resumed = load().await.resume(by);
    assert_err!(place.store.commit(&mut resumed).await, CommitError::Refused { .. });
    let mut done = load().await.resume(by).succeed("done".to_owned(), by);
    assert_err!(place.store.commit(&mut done).await, CommitError::Refused { .. });
    let mut failed = load().await.resume(by).fail("no".to_owned(), by);
    assert_err!(place.store.commit(&mut failed).await, CommitError::Refused { .. });
    let mut asked = load().await.resume(by).suspend("again?".to_owned(), by);
    assert_err!(place.store.commit(&mut asked).await, CommitError::Refused { .. });
    assert_err!(place.store.resume::<Waiting>(id).await, LoadError::AwaitsReport { .. });
    assert_err!(place.store.question(id).await, LoadError::NotAQuestion { .. });
    assert_err!(place.store.in_doubt(id).await, LoadError::NotInDoubt { .. });
    assert_eq!(place.dump().await, before);
}

async fn a_status_query_settles_after_the_limit(place: Place) {
    let (place, clock, call) = waiting(&place).await;
    let cluster = Cluster::default();
    cluster.finds(Err(NotDone::not_applied("unknown rollout")));
    clock.advance(past(LIMIT));
    let doubt = recovered(&place.store).await.pop().unwrap();
    let asked = place.store.ask_service::<Deploy>(doubt, &cluster, tool_node()).await;
    let asked = asked.unwrap_err();
    assert_err!(Err::<(), _>(asked.reason), CommitError::NotSettled { .. });
    is_held(&place).await;
    clock.advance(60_000);
    let asked = place.store.ask_service::<Deploy>(asked.machine, &cluster, tool_node()).await;
    assert!(matches!(asked, Ok(Settled::Failed(_))), "{asked:?}");
    kept(&report(&place.store, &call, done()).await);
    assert_eq!(label(&place, &call).await, Label::Contradicted);
}

/// The service may carry it out until its limit, whatever a person knows before.
async fn a_person_can_end_the_wait_but_not_free_the_key(place: Place) {
    let (place, clock, call) = waiting(&place).await;
    let mut doubt = place.store.fence(call.id, "the cluster burnt", graph_runner()).await.unwrap();
    is_held(&place).await;
    let limit = i64::try_from(LIMIT.as_millis()).unwrap();
    for time in [0, limit, 59_999] {
        clock.advance(time);
        let refused = place.store.confirm_not_applied(doubt, "no", ann()).await.unwrap_err();
        assert_err!(Err::<(), _>(refused.reason), CommitError::NotSettled { .. });
        doubt = refused.machine;
    }
    clock.advance(1);
    drop(place.store.confirm_not_applied(doubt, "no", ann()).await.unwrap());
    kept(&report(&place.store, &call, done()).await);
    assert_eq!(label(&place, &call).await, Label::Contradicted);
}

async fn what_can_be_reported_is_not_pruned(place: Place) {
    let (place, clock, call) = waiting(&place).await;
    let doubt = place.store.fence(call.id, "the cluster burnt", graph_runner()).await.unwrap();
    drop(place.store.override_not_applied(doubt, "no", ann()).await.unwrap());
    newest(&place).await;
    let pruned = prune(&place.store, &everything()).await;
    assert_eq!((pruned.machines, pruned.kept.get(&Kept::Unanswered)), (0, Some(&1)));
    clock.advance(past(LIMIT));
    assert_eq!(prune(&place.store, &everything()).await.machines, 1);
    let late = report(&place.store, &call, done()).await;
    assert_err!(late, ReportError::NoSuchCall { .. });
}

/// Whoever has the token can say a lot, and not for ever.
async fn reports_do_not_fill_the_file(place: Place) {
    let call = accepted(&place.store, 17).await;
    settled(report(&place.store, &call, done()).await);
    let mut taken = 0;
    let refusal = loop {
        match report(&place.store, &call, Report::Applied(live(taken))).await {
            Ok(_) => taken += 1,
            Err(error) => break error,
        }
    };
    assert!(matches!(refusal, ReportError::TooMany { .. }), "{refusal:?}");
    assert!(taken < 20, "{taken}");
    // The first one of the other kind is always kept.
    kept(&report(&place.store, &call, refused("no")).await);
    let rest = report(&place.store, &call, refused("never")).await;
    assert_err!(rest, ReportError::TooMany { .. });
}

async fn nothing_but_the_digest_of_the_token_is_stored(place: Place) {
    let call = accepted(&place.store, 17).await;
    assert!(call.token.as_str().len() >= 32, "at least 128 bits");
    assert!(!place.dump().await.contains(call.token.as_str()));
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
    let guards = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let tokens = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let (kept_guards, sent) = (guards.clone(), tokens.clone());
    let service = machine::contract::service_fn(move |call: &machine::contract::Call<Deploy>| {
        kept_guards.lock().unwrap().push(call.in_flight());
        sent.lock().unwrap().push(call.callback_token().clone());
        let answer = call.accepted(REFERENCE, LIMIT);
        Box::pin(async move { answer })
    });
    let mut planned = machine::contract::Planned::<Deploy>::new(deploy(17)).unwrap();
    place.store.plan(&mut planned).await.unwrap();
    let id = planned.id();
    let ended = place.store.perform(planned, service, tool_node()).await.unwrap();
    assert!(matches!(ended, Settled::InDoubt(_)), "{ended:?}");
    let token = tokens.lock().unwrap().pop().unwrap();
    let call = Request { id, path: String::new(), token };
    // A part of it may still send something.
    kept(&report(&place.store, &call, refused("no")).await);
    is_held(&place).await;
    guards.lock().unwrap().clear();
    let found = place.store.recover().await.unwrap();
    assert_eq!(found.settled.len(), 1, "{found:?}");
    kept(&report(&place.store, &call, done()).await);
    let evidence = place.facts(id).await;
    let late = CallFact::Evidence {
        epoch: 0,
        evidence: Evidence::Applied(serde_json::to_value(live(17)).unwrap().to_string()),
        late: true,
    };
    assert!(evidence.contains(&late), "{evidence:?}");
}

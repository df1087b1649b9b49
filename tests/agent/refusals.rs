//! The refusals of the protocol, also of `submit_result` as a call (TN-10). `decide` only reads the
//! rows, so that a refusal changes nothing.

use std::mem::discriminant;

use machine::agent::{
    AfterExecution, MAX_CARD, MAX_MEMBERS, MAX_NAME, MAX_REJECTED, MemberId, NewAnswer, NewCard,
    NewDelivery, NewMember, NewSource, NewTurn, Phase, SUBMIT_RESULT, StopReason, TurnEnd,
    TurnEpoch, TurnRefusal, TurnRequest, WaitOutcome,
};

use super::support::{
    DEADLINE, Desk, EARLY, IN_TIME, LATE, agent, card, child, delegation, member, new_turn, turn,
};

/// A situation, a request, and why it is refused.
type Row = (Desk, TurnRequest, TurnRefusal);

fn enqueue(name: &str, number: u64, output: u64) -> TurnRequest {
    TurnRequest::Enqueue { new: new_turn(name, number, output), now: EARLY }
}

fn in_the_queue() -> Vec<Row> {
    let new = Desk::new();
    let mut queued = new.clone();
    queued.write(&enqueue("planner", 1, 1));
    let busy = Desk::running(new_turn("planner", 1, 1));
    let mut ended = busy.clone();
    ended.write(&TurnRequest::Deliver(ended.delivery()));
    let (end, deliverable) = (TurnEnd::Done, card(400).id);
    let mut same_box = new_turn("planner", 1, 1);
    same_box.task.context_box = same_box.task.output_box;
    let mut early = new_turn("planner", 1, 1);
    early.task.context_cards = 1;
    let missing = TurnRefusal::MissingCards { box_id: early.task.context_box, cards: 1 };
    let unknown = TurnRefusal::UnknownAgent { agent: agent("cook") };
    let dispatch = |name| TurnRequest::Dispatch { agent: agent(name), now: EARLY };
    let stop = |number| TurnRequest::Stop { turn: turn(number), why: StopReason::Requested };
    let mut stopped = queued.clone();
    stopped.write(&stop(1));
    let ui_action = TurnRequest::UiAction { new: new_turn("planner", 3, 3), now: EARLY };
    let mut waits = busy.clone();
    waits.write(&enqueue("planner", 3, 3));
    let of_helper = TurnEpoch { agent: agent("helper"), ..busy.by() };
    vec![
        (new.clone(), enqueue("cook", 1, 1), unknown.clone()),
        (new.clone(), dispatch("cook"), unknown),
        (new.clone(), stop(7), TurnRefusal::UnknownTurn { turn: turn(7) }),
        (queued.clone(), enqueue("planner", 1, 3), TurnRefusal::TurnIdConflict { turn: turn(1) }),
        (queued.clone(), enqueue("helper", 1, 1), TurnRefusal::TurnIdConflict { turn: turn(1) }),
        (
            queued.clone(),
            enqueue("helper", 2, 1),
            TurnRefusal::BoxTaken {
                box_id: new_turn("", 0, 1).task.output_box,
                agent: agent("planner"),
            },
        ),
        (new.clone(), TurnRequest::Enqueue { new: early, now: EARLY }, missing),
        (
            new,
            TurnRequest::Enqueue { new: same_box.clone(), now: EARLY },
            TurnRefusal::SameBox { box_id: same_box.task.output_box },
        ),
        (busy.clone(), ui_action.clone(), TurnRefusal::Busy { turn: turn(1) }),
        (waits.clone(), ui_action, TurnRefusal::Busy { turn: turn(1) }),
        (waits, dispatch("planner"), TurnRefusal::Busy { turn: turn(1) }),
        (
            busy.clone(),
            TurnRequest::Reclaim { by: of_helper },
            TurnRefusal::NotActive { turn: turn(1) },
        ),
        (stopped, stop(1), TurnRefusal::Stopped { turn: turn(1), why: StopReason::Requested }),
        (ended.clone(), stop(1), TurnRefusal::Ended { turn: turn(1), end, deliverable }),
        (
            ended,
            TurnRequest::Claim { by: busy.by() },
            TurnRefusal::Ended { turn: turn(1), end, deliverable },
        ),
    ]
}

/// Every request of a worker, under an epoch that has passed.
fn of_another_epoch() -> Vec<Row> {
    let mut desk = Desk::running(new_turn("planner", 1, 1));
    let by = desk.by();
    let old = desk.clone();
    desk.write(&TurnRequest::Reclaim { by: by.clone() });
    let refusal = TurnRefusal::StaleEpoch { turn: turn(1), epoch: by.epoch, current: by.epoch + 1 };
    let requests = [
        TurnRequest::Claim { by: by.clone() },
        TurnRequest::Reclaim { by },
        old.answer(100, 0),
        old.call(vec![member(0)]),
        old.report(0, IN_TIME, EARLY),
        TurnRequest::Deliver(old.delivery()),
    ];
    let mut last = desk.clone();
    last.rows.heads.get_mut(&agent("planner")).unwrap().epoch = u64::MAX;
    let reclaim = TurnRequest::Reclaim { by: last.by() };
    let mut rows: Vec<Row> =
        requests.into_iter().map(|request| (desk.clone(), request, refusal.clone())).collect();
    rows.push((last, reclaim, TurnRefusal::NoEpoch { epoch: u64::MAX }));
    rows
}

fn in_a_step() -> Vec<Row> {
    let running = Desk::running(new_turn("planner", 1, 1));
    let answered = Desk::answered(new_turn("planner", 1, 1), 1);
    let two = Desk::answered(new_turn("planner", 1, 1), 2);
    let waiting = Desk::waiting(vec![member(0)]);
    let mut stopped = answered.clone();
    stopped.write(&TurnRequest::Stop { turn: turn(1), why: StopReason::Attempts });
    let why = StopReason::Attempts;
    let is_running = Phase::Running { answer: None };
    let has_answer = Phase::Running { answer: Some(card(100).id) };
    let is_answered = TurnRefusal::WrongPhase { turn: turn(1), phase: has_answer };
    let submit = NewMember { tool: SUBMIT_RESULT.to_owned(), ..member(0) };
    let last = NewMember { after: AfterExecution::Terminate, ..member(0) };
    let mut terminated = Desk::waiting(vec![last]);
    terminated.finish(0);
    let same_id = NewMember { call_id: member(0).call_id, ..member(1) };
    let NewTurn { agent, task, .. } = new_turn("planner", 2, 2);
    let own = NewSource::Turn { agent, task };
    let first = MemberId { turn: turn(1), step: 1, index: 0 };
    let named = |tool: &str, call_id: &str| NewMember {
        tool: tool.to_owned(),
        call_id: call_id.to_owned(),
        ..member(0)
    };
    let long = "x".repeat(MAX_NAME + 1);
    let bad_name = || TurnRefusal::BadName { member: first };
    let mut waits_stopped = waiting.clone();
    waits_stopped.write(&TurnRequest::Stop { turn: turn(1), why: StopReason::Attempts });
    let large = NewCard { size: MAX_CARD + 1, ..card(100) };
    let call = |desk: &Desk, members, refusal| (desk.clone(), desk.call(members), refusal);
    vec![
        (
            running.clone(),
            TurnRequest::Claim { by: running.by() },
            TurnRefusal::WrongPhase { turn: turn(1), phase: is_running },
        ),
        (
            waiting.clone(),
            TurnRequest::Deliver(waiting.delivery()),
            TurnRefusal::WrongPhase { turn: turn(1), phase: Phase::Suspended },
        ),
        (answered.clone(), answered.answer(101, 0), is_answered.clone()),
        call(
            &running,
            vec![member(0)],
            TurnRefusal::WrongPhase { turn: turn(1), phase: is_running },
        ),
        (
            running.clone(),
            running.answer(100, MAX_MEMBERS + 1),
            TurnRefusal::TooManyCalls { count: MAX_MEMBERS + 1 },
        ),
        call(&answered, vec![], TurnRefusal::CallCount { count: 0, calls: 1 }),
        call(&two, vec![member(0)], TurnRefusal::CallCount { count: 1, calls: 2 }),
        call(&answered, vec![member(0), member(1)], TurnRefusal::CallCount { count: 2, calls: 1 }),
        call(
            &two,
            vec![member(0), same_id],
            TurnRefusal::RepeatedCall { call_id: member(0).call_id },
        ),
        call(&answered, vec![named("", "call")], bad_name()),
        call(&answered, vec![named("tool", "")], bad_name()),
        call(&answered, vec![named(&long, "call")], bad_name()),
        call(&answered, vec![named("tool", &long)], bad_name()),
        call(&two, vec![submit, member(1)], TurnRefusal::SubmitResult),
        call(
            &answered,
            vec![NewMember { source: own, ..member(0) }],
            TurnRefusal::OwnAgent { member: first },
        ),
        call(
            &answered,
            vec![NewMember { deadline: None, ..delegation() }],
            TurnRefusal::NoDeadline { member: first },
        ),
        (stopped.clone(), stopped.answer(101, 0), is_answered.clone()),
        (
            waits_stopped.clone(),
            waits_stopped.answer(101, 0),
            TurnRefusal::Stopped { turn: turn(1), why },
        ),
        call(&stopped, vec![member(0)], TurnRefusal::Stopped { turn: turn(1), why }),
        (terminated.clone(), terminated.answer(101, 0), TurnRefusal::MustDeliver { turn: turn(1) }),
        (
            running.clone(),
            TurnRequest::Answered(NewAnswer {
                by: running.by(),
                card: large,
                calls: 0,
                tokens: 0,
                cost: 0,
                now: EARLY,
            }),
            TurnRefusal::TooLarge { card: large.id, size: MAX_CARD + 1 },
        ),
    ]
}

fn of_a_result() -> Vec<Row> {
    let mut desk =
        Desk::waiting(vec![member(0), member(1), NewMember { deadline: None, ..member(2) }]);
    desk.finish(0);
    let mut is_late = desk.clone();
    is_late.end(1, DEADLINE);
    let mut in_time = desk.clone();
    in_time.end(1, EARLY);
    let id = |index| MemberId { turn: turn(1), step: 1, index };
    let foreign = MemberId { turn: turn(9), ..id(1) };
    let of_foreign = TurnRequest::Report {
        by: desk.by(),
        member: foreign,
        outcome: IN_TIME,
        card: card(300),
        now: EARLY,
    };
    let mut next = Desk::waiting(vec![member(0)]);
    next.finish(0);
    next.write(&next.answer(101, 2));
    let mut stopped = desk.clone();
    stopped.write(&TurnRequest::Stop { turn: turn(1), why: StopReason::Requested });
    let why = StopReason::Requested;
    let delegated = Desk::waiting(vec![delegation()]);
    let wrong = |index| TurnRefusal::WrongOutcome { member: id(index) };
    let mut lost = delegated.clone();
    lost.rows.turns.remove(&child());
    let mut delivered = delegated.clone();
    let helper = || agent("helper");
    delivered.write(&TurnRequest::Dispatch { agent: helper(), now: EARLY });
    let by = TurnEpoch { agent: helper(), turn: child(), epoch: 1 };
    delivered.write(&TurnRequest::Claim { by: by.clone() });
    let delivery = NewDelivery { by, now: EARLY, ..delivered.delivery() };
    delivered.write(&TurnRequest::Deliver(delivery));
    let row = |desk: &Desk, (index, outcome, now), refusal| {
        (desk.clone(), desk.report(index, outcome, now), refusal)
    };
    vec![
        (desk.clone(), of_foreign, TurnRefusal::UnknownCall { member: foreign }),
        row(&desk, (3, IN_TIME, EARLY), TurnRefusal::UnknownCall { member: id(3) }),
        row(&desk, (0, IN_TIME, EARLY), TurnRefusal::FinishedCall { member: id(0) }),
        row(&desk, (0, WaitOutcome::TimedOut, LATE), TurnRefusal::FinishedCall { member: id(0) }),
        row(&next, (0, IN_TIME, EARLY), TurnRefusal::FinishedCall { member: id(0) }),
        row(&is_late, (1, IN_TIME, LATE), wrong(1)),
        row(&desk, (1, WaitOutcome::TimedOut, EARLY), wrong(1)),
        row(&desk, (2, WaitOutcome::TimedOut, LATE), wrong(2)),
        row(&stopped, (1, IN_TIME, EARLY), TurnRefusal::Stopped { turn: turn(1), why }),
        row(&delegated, (0, IN_TIME, EARLY), wrong(0)),
        row(&lost, (0, IN_TIME, EARLY), wrong(0)),
        row(&desk, (1, IN_TIME, EARLY), wrong(1)),
        row(&in_time, (1, WaitOutcome::TimedOut, LATE), wrong(1)),
        row(&delivered, (0, WaitOutcome::TimedOut, LATE), wrong(0)),
    ]
}

fn of_a_delivery() -> Vec<Row> {
    let mut new = new_turn("planner", 1, 1);
    new.task.terms.result_fields = vec!["summary".to_owned(), "links".to_owned()];
    let desk = Desk::answered(new, 0);
    let mut rejected = desk.clone();
    for number in 0..u64::from(MAX_REJECTED) {
        rejected.write(&rejected.call(vec![]));
        rejected.write(&rejected.answer(101 + number, 0));
    }
    let two = Desk::answered(new_turn("planner", 1, 1), 2);
    let mut unmade = two.clone();
    unmade.write(&TurnRequest::Stop { turn: turn(1), why: StopReason::Requested });
    let delivery = |change: NewDelivery| TurnRequest::Deliver(change);
    let fields = vec!["links".to_owned()];
    let mut stopped = Desk::waiting(vec![member(0), member(1)]);
    stopped.finish(0);
    stopped.write(&TurnRequest::Stop { turn: turn(1), why: StopReason::Requested });
    let id = |index| MemberId { turn: turn(1), step: 1, index };
    let with = |results: &[u32]| {
        let results = results.iter().map(|index| (*index, card(300 + u64::from(*index) + 10)));
        let results = results.collect();
        delivery(NewDelivery { results, ..stopped.delivery() })
    };
    let some = NewDelivery { fields: vec!["summary".to_owned()], ..desk.delivery() };
    vec![
        (desk.clone(), delivery(some), TurnRefusal::MissingFields { fields }),
        (rejected.clone(), rejected.call(vec![]), TurnRefusal::Rejected { turn: turn(1) }),
        (two.clone(), delivery(two.delivery()), TurnRefusal::OpenCall { member: id(0) }),
        (unmade.clone(), with(&[1]), TurnRefusal::OpenCall { member: id(0) }),
        (
            unmade.clone(),
            unmade.report(0, IN_TIME, EARLY),
            TurnRefusal::UnknownCall { member: id(0) },
        ),
        (stopped.clone(), with(&[]), TurnRefusal::OpenCall { member: id(1) }),
        (stopped.clone(), with(&[0, 1]), TurnRefusal::FinishedCall { member: id(0) }),
        (stopped.clone(), with(&[1, 1]), TurnRefusal::FinishedCall { member: id(1) }),
        (stopped.clone(), with(&[1, 7]), TurnRefusal::UnknownCall { member: id(7) }),
    ]
}

/// The reasons.
const REASONS: &str = include_str!("../../machine/src/agent/refusal.rs");

#[test]
fn each_reason_has_a_row_and_says_what_to_do() {
    let rows = [in_the_queue(), of_another_epoch(), in_a_step(), of_a_result(), of_a_delivery()];
    let mut reasons = Vec::new();
    for (desk, request, expected) in rows.into_iter().flatten() {
        let found = desk.refused(&request);
        assert_eq!(found, expected, "{request:?}");
        let text = found.to_string();
        assert!(text.contains("; "), "{text}");
        let reason = discriminant(&found);
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    assert_eq!(reasons.len(), REASONS.matches("#[error(").count());
}

/// The text of a model or a program is shortened.
#[test]
fn long_names_do_not_fill_a_refusal() {
    let long = "x".repeat(10_000);
    let desk = Desk::answered(new_turn("planner", 1, 1), 2);
    let calls = [0, 1].map(|number| NewMember { call_id: long.clone(), ..member(number) });
    let unknown = desk.refused(&enqueue(&long, 2, 2));
    let repeated = desk.refused(&desk.call(calls.into()));
    for text in [unknown.to_string(), repeated.to_string()] {
        assert!(text.len() < 200, "{text}");
    }
}

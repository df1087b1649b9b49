//! The calls of a step (TN-6, TN-7, TN-10): made, closed, joined, never started; and the limits.

use machine::agent::{
    AfterExecution, CallSource, CardKind, Limits, MAX_REJECTED, MemberId, NewDelivery, NewMember,
    NewSource, Phase, Resource, SUBMIT_RESULT, StopReason, TurnEnd, TurnRefusal, TurnRequest,
    TurnStatus, WaitOutcome,
};

use super::support::{
    DEADLINE, Desk, EARLY, IN_TIME, LATE, agent, card, child, delegation, member, new_turn, turn,
};

fn closed(number: u64) -> NewMember {
    NewMember { source: NewSource::Closed(card(300 + number)), ..member(number) }
}

fn submitted() -> NewMember {
    NewMember { tool: SUBMIT_RESULT.to_owned(), ..closed(0) }
}

fn stop() -> TurnRequest {
    TurnRequest::Stop { turn: turn(1), why: StopReason::Requested }
}

fn results(indexes: &[u32]) -> Vec<(u32, machine::agent::NewCard)> {
    indexes.iter().map(|index| (*index, card(310 + u64::from(*index)))).collect()
}

fn limited(limits: Limits, calls: u32) -> Desk {
    let mut new = new_turn("planner", 1, 1);
    new.task.terms.limits = limits;
    Desk::answered(new, calls)
}

#[test]
fn an_answer_that_was_paid_for_is_kept_after_a_stop() {
    let mut desk = Desk::running(new_turn("planner", 1, 1));
    desk.write(&stop());
    let batch = desk.write(&desk.answer(100, 1));
    assert_eq!(batch.cards.len(), 1);
    assert_eq!((desk.active().usage.tokens, desk.active().unanswered()), (10, vec![0]));
    let results = results(&[0]);
    let batch = desk.write(&TurnRequest::Deliver(NewDelivery { results, ..desk.delivery() }));
    assert_eq!(batch.event.unwrap().end, TurnEnd::Stopped(StopReason::Requested));
}

/// A denied call does not keep the others from being made.
#[test]
fn a_closed_call_has_its_result_in_the_batch_of_the_calls() {
    let mut desk = Desk::answered(new_turn("planner", 1, 1), 2);
    let batch = desk.write(&desk.call(vec![closed(0), member(1)]));
    let kinds: Vec<_> = batch.cards.iter().map(|card| (card.kind, card.index)).collect();
    let call = CardKind::ToolCall;
    assert_eq!(kinds, [(call, 0), (CardKind::ToolResult, 0), (call, 1)]);
    assert_eq!((desk.active().unanswered(), desk.active().usage.calls), (vec![1], 1));
    desk.finish(1);
    assert_eq!((desk.active().step, desk.active().phase), (2, Phase::Running { answer: None }));
}

/// What is wrong with a call does not matter if it is closed.
#[test]
fn the_next_step_begins_if_all_calls_are_closed() {
    let mut desk = Desk::answered(new_turn("planner", 1, 1), 2);
    let nameless = NewMember { tool: String::new(), ..closed(0) };
    let last = NewMember { after: AfterExecution::Terminate, ..closed(1) };
    let repeated = NewMember { call_id: String::new(), ..last };
    desk.write(&desk.call(vec![nameless, repeated]));
    assert_eq!((desk.active().step, desk.active().phase), (2, Phase::Running { answer: None }));
    assert!(!desk.active().must_deliver());
    assert_eq!(desk.active().rejected, 1);
}

/// Otherwise a model that insists would never end. A call that is made begins the count anew.
#[test]
fn answers_of_which_no_call_is_made_are_rejected_twice_in_a_row() {
    let mut desk = Desk::answered(new_turn("planner", 1, 1), 1);
    let denied = |at: u64| {
        let source = NewSource::Closed(card(600 + at));
        NewMember { card: card(500 + at), source, ..member(at) }
    };
    let limit = u64::from(MAX_REJECTED);
    for at in 0..limit {
        desk.write(&desk.call(vec![denied(at)]));
        desk.write(&desk.answer(101 + at, 1));
    }
    assert_eq!(desk.active().rejected, MAX_REJECTED);
    let refused = desk.refused(&desk.call(vec![denied(limit)]));
    assert_eq!(refused, TurnRefusal::Rejected { turn: turn(1) });
    desk.write(&desk.call(vec![member(0)]));
    assert_eq!(desk.active().rejected, 0);
}

/// A result that lacks fields is rejected twice, with a call of `submit_result` and without.
#[test]
fn missing_fields_are_answered_twice_and_then_the_turn_fails() {
    let mut new = new_turn("planner", 1, 1);
    new.task.terms.result_fields = vec!["summary".to_owned()];
    let mut desk = Desk::answered(new, 1);
    desk.write(&desk.call(vec![submitted()]));
    desk.write(&desk.answer(101, 0));
    desk.write(&desk.call(vec![]));
    assert_eq!((desk.active().step, desk.active().rejected), (3, MAX_REJECTED));
    desk.write(&desk.answer(102, 0));
    let done = desk.clone();
    let fields = vec!["summary".to_owned()];
    let delivery = NewDelivery { fields, ..done.delivery() };
    let batch = done.clone().write(&TurnRequest::Deliver(delivery));
    assert_eq!(batch.event.unwrap().end, TurnEnd::Done);
    let failure = NewDelivery { is_failure: true, ..desk.delivery() };
    let batch = desk.write(&TurnRequest::Deliver(failure));
    assert_eq!(batch.event.unwrap().end, TurnEnd::Failed, "a failure has no fields");
    let mut stopped = done;
    stopped.write(&stop());
    stopped.write(&TurnRequest::Deliver(stopped.delivery()));
}

/// The executions of a step have places without a gap, which closed calls and delegations have not.
/// Each delegation is a turn.
#[test]
fn each_execution_has_its_place() {
    let mut desk = Desk::answered(new_turn("planner", 1, 1), 5);
    let delegation = |number| NewMember { source: delegation().source, ..member(number) };
    let members = vec![closed(0), member(1), delegation(2), member(3), delegation(4)];
    let batch = desk.write(&desk.call(members));
    assert_eq!(batch.turns.len(), 2);
    let turns = [2, 4].map(|index| MemberId { turn: turn(1), step: 1, index }.delegated());
    let sources: Vec<_> = desk.active().waiting.iter().map(|member| member.source).collect();
    let [first, second] = [0, 1].map(CallSource::Execution);
    let [one, other] = turns.map(CallSource::Turn);
    assert_eq!(sources, [first, one, second, other]);
}

/// The turn remembers it, to stop it if it is stopped itself.
#[test]
fn an_overdue_call_times_out_although_the_record_of_its_turn_is_lost() {
    let mut desk = Desk::waiting(vec![delegation()]);
    desk.rows.turns.remove(&child());
    desk.write(&desk.report(0, WaitOutcome::TimedOut, DEADLINE));
    assert_eq!(desk.active().overdue, [child()]);
}

/// The clock has jumped back since the calls ended. Nothing is due later than it ended.
#[test]
fn a_call_that_has_ended_is_reported_whatever_the_clock_says() {
    let mut desk = Desk::waiting(vec![member(0), member(1)]);
    desk.end(0, DEADLINE - 1);
    desk.write(&desk.report(0, IN_TIME, EARLY));
    desk.end(1, DEADLINE);
    desk.refused(&desk.report(1, IN_TIME, EARLY));
    desk.write(&desk.report(1, WaitOutcome::TimedOut, EARLY));
}

/// That the calls which exceed it are not made is tested in `sets`.
#[test]
fn a_limit_of_calls_counts_those_that_are_made() {
    let limits = Limits { calls: Some(1), ..Limits::default() };
    let mut denied = limited(limits, 2);
    // Closed calls use nothing. Those of all steps count.
    denied.write(&denied.call(vec![closed(0), member(1)]));
    assert_eq!(denied.active().stop, None);
    denied.finish(1);
    denied.write(&denied.answer(101, 1));
    denied.write(&denied.call(vec![NewMember { card: card(220), ..member(2) }]));
    assert_eq!(denied.active().stop, Some(StopReason::Limit(Resource::Calls)));
}

/// The step in which the time has passed is the last one.
#[test]
fn a_time_limit_stops_the_turn_in_the_batch_of_a_step() {
    let limits = Limits { time_ms: Some(DEADLINE), ..Limits::default() };
    let stop = Some(StopReason::Limit(Resource::Time));
    let mut desk = limited(limits, 2);
    let TurnRequest::Call { by, members, .. } = desk.call(vec![member(0), member(1)]) else {
        unreachable!()
    };
    let mut late = desk.clone();
    let batch = late.write(&TurnRequest::Call { by, members: members.clone(), now: DEADLINE });
    assert_eq!((batch.cards.len(), late.active().stop), (0, stop));

    desk.write(&desk.call(members));
    desk.end(0, EARLY);
    let mut in_time = desk.clone();
    in_time.write(&in_time.report(0, IN_TIME, DEADLINE - 1));
    assert_eq!(in_time.active().stop, None);
    let batch = desk.write(&desk.report(0, IN_TIME, DEADLINE));
    assert_eq!((batch.cards.len(), desk.active().stop), (1, stop));
    assert_eq!(desk.active().phase, Phase::Running { answer: None });
    assert_eq!(desk.active().unanswered(), [1], "the delivery has its result");
}

/// A turn that delivers next uses nothing more: its own end stays.
#[test]
fn a_limit_does_not_stop_a_turn_that_has_done_its_last_call() {
    let limits = Limits { time_ms: Some(DEADLINE), ..Limits::default() };
    let mut desk = limited(limits, 1);
    let last = NewMember { after: AfterExecution::Terminate, ..member(0) };
    desk.write(&desk.call(vec![last]));
    desk.end(0, EARLY);
    desk.write(&desk.report(0, IN_TIME, LATE));
    assert_eq!(desk.active().stop, None);
}

/// A person who asks for a queued turn need not wait for the queue.
#[test]
fn an_action_of_a_person_dispatches_a_queued_turn() {
    let mut desk = Desk::new();
    for number in [1, 2] {
        let new = new_turn("planner", number, 1);
        desk.write(&TurnRequest::Enqueue { new, now: EARLY });
    }
    let ui_action = TurnRequest::UiAction { new: new_turn("planner", 2, 1), now: LATE };
    desk.write(&ui_action);
    assert_eq!((desk.active().id, desk.by().epoch), (turn(2), 1));
    let batch = desk.write(&ui_action);
    assert_eq!(batch.head, None, "a repetition writes nothing");
}

/// Only a stop is passed on: the answer of a delegated turn may still be of use to a person.
#[test]
fn a_turn_that_ends_by_itself_leaves_its_queued_turns_alone() {
    let mut desk = Desk::waiting(vec![delegation()]);
    desk.write(&desk.report(0, WaitOutcome::TimedOut, DEADLINE));
    desk.write(&TurnRequest::Deliver(desk.delivery()));
    assert_eq!(desk.rows.turns[&child()].status, TurnStatus::Queued);
    assert_eq!(desk.rows.turns[&child()].stop, None);
}

/// A delegated turn is a call's, and not one that a program enqueued.
#[test]
fn a_delegated_turn_is_not_enqueued_again() {
    let mut desk = Desk::waiting(vec![delegation()]);
    let mut new = new_turn("helper", 2, 2);
    new.id = child();
    desk.refused(&TurnRequest::Enqueue { new, now: EARLY });
    desk.write(&TurnRequest::Dispatch { agent: agent("helper"), now: EARLY });
}

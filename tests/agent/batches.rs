//! The records of each batch: of the queue (TN-3), edges (TN-4), and of the delivery (TN-8).

use machine::agent::{
    AfterExecution, CardKind, EdgePhase, MemberId, NewDelivery, NewMember, NewSource, Phase,
    Primitive, TurnBatch, TurnEnd, TurnEpoch, TurnRequest, TurnStatus, WaitOutcome,
};

use super::support::{
    DEADLINE, Desk, EARLY, IN_TIME, LATE, agent, card, child, delegation, id, member, new_turn,
    turn,
};

fn edges(batch: &TurnBatch) -> Vec<(Primitive, EdgePhase)> {
    batch.edges.iter().map(|edge| (edge.primitive, edge.phase)).collect()
}

fn kinds(batch: &TurnBatch) -> Vec<(CardKind, u32, u32)> {
    batch.cards.iter().map(|card| (card.kind, card.step, card.index)).collect()
}

/// Cards, edges and states of a turn with one step of calls.
#[test]
fn a_turn_from_its_enqueueing_to_its_deliverable() {
    let mut desk = Desk::new();
    let enqueue = TurnRequest::Enqueue { new: new_turn("planner", 1, 1), now: EARLY };
    let batch = desk.write(&enqueue);
    assert_eq!(edges(&batch), [(Primitive::Enqueue, EdgePhase::Request)]);
    assert_eq!(batch.head, None, "the queue does not touch the head");
    assert_eq!(desk.write(&enqueue), TurnBatch::default(), "a repetition writes nothing");

    desk.write(&TurnRequest::Dispatch { agent: agent("planner"), now: EARLY });
    assert_eq!((desk.active().phase, desk.by().epoch), (Phase::Dispatched, 1));
    desk.write(&TurnRequest::Claim { by: desk.by() });
    let batch = desk.write(&desk.answer(100, 2));
    assert_eq!(kinds(&batch), [(CardKind::Answer, 1, 0)]);

    let batch = desk.write(&desk.call(vec![member(0), member(1)]));
    assert_eq!(kinds(&batch), [(CardKind::ToolCall, 1, 0), (CardKind::ToolCall, 1, 1)]);
    assert_eq!(desk.active().phase, Phase::Suspended);
    let batch = desk.finish(1);
    assert_eq!(edges(&batch), [(Primitive::Report, EdgePhase::Response)]);
    assert_eq!(desk.active().phase, Phase::Suspended);
    desk.write(&desk.report(0, WaitOutcome::TimedOut, DEADLINE));
    assert_eq!(desk.active().phase, Phase::Running { answer: None });

    let batch = desk.write(&desk.answer(101, 0));
    assert_eq!(kinds(&batch), [(CardKind::Answer, 2, 0)]);
    let batch = desk.write(&TurnRequest::Deliver(desk.delivery()));
    assert_eq!(kinds(&batch), [(CardKind::Deliverable, 2, 0)]);
    let event = batch.event.unwrap();
    assert_eq!((event.turn, event.epoch, event.end), (turn(1), 1, TurnEnd::Done));
    assert_eq!((event.deliverable, event.parent), (card(400).id, None));
    let TurnStatus::Delivered { deliverable, at, .. } = desk.rows.turns[&turn(1)].status else {
        panic!("{:?}", desk.rows.turns)
    };
    assert_eq!((deliverable, at), (card(400).id, LATE));
    assert!(desk.rows.boxes.values().all(|used| used.live == 0), "another agent may write to it");
}

/// The oldest first; the epoch rises with each of them.
#[test]
fn queued_turns_run_one_after_the_other() {
    let mut desk = Desk::new();
    for (number, now) in [(1, 2), (2, 1), (3, 3)] {
        desk.write(&TurnRequest::Enqueue { new: new_turn("planner", number, 1), now });
    }
    for (number, epoch) in [(2, 1), (1, 2), (3, 3)] {
        desk.write(&TurnRequest::Dispatch { agent: agent("planner"), now: LATE });
        assert_eq!(desk.by(), TurnEpoch { agent: agent("planner"), turn: turn(number), epoch });
        desk.write(&TurnRequest::Claim { by: desk.by() });
        let deliverable = card(400 + number);
        desk.write(&TurnRequest::Deliver(NewDelivery { deliverable, ..desk.delivery() }));
    }
}

/// The batch of the calls enqueues it, and its delivery reports to the call.
#[test]
fn a_delegated_turn_answers_its_call() {
    let mut desk = Desk::waiting(vec![delegation()]);
    let call = MemberId { turn: turn(1), step: 1, index: 0 };
    let record = &desk.rows.turns[&child()];
    assert_eq!((record.status, record.parent), (TurnStatus::Queued, Some(call)));

    let helper = || agent("helper");
    desk.write(&TurnRequest::Dispatch { agent: helper(), now: EARLY });
    let by = TurnEpoch { agent: helper(), turn: child(), epoch: 1 };
    desk.write(&TurnRequest::Claim { by: by.clone() });
    let delivery = NewDelivery { by, now: DEADLINE - 1, ..desk.delivery() };
    let batch = desk.write(&TurnRequest::Deliver(delivery));
    assert_eq!(edges(&batch), [(Primitive::Join, EdgePhase::Response)]);
    assert_eq!(batch.event.unwrap().parent, Some(call));

    // The record of the turn counts, although the report is late.
    desk.write(&desk.report(0, IN_TIME, LATE));
    assert_eq!(desk.active().phase, Phase::Running { answer: None });
}

#[test]
fn a_delegation_has_two_edges_and_the_trace_of_its_parent() {
    let mut desk = Desk::answered(new_turn("planner", 1, 1), 1);
    let mut other = new_turn("helper", 2, 2);
    other.task.trace = id(77);
    let source = NewSource::Turn { agent: other.agent, task: other.task };
    let batch = desk.write(&desk.call(vec![NewMember { source, ..member(0) }]));
    let request = EdgePhase::Request;
    assert_eq!(edges(&batch), [(Primitive::Enqueue, request), (Primitive::Join, request)]);
    let trace = new_turn("planner", 1, 1).task.trace;
    assert!(batch.edges.iter().all(|edge| edge.trace == trace));
    assert_eq!(batch.turns[&child()].task.trace, trace);
}

/// The field of the result wins over the option of the call. A timeout says nothing.
#[test]
fn a_result_can_end_the_turn() {
    let terminate = NewMember { after: AfterExecution::Terminate, ..member(0) };
    let says = |after| WaitOutcome::Ended { after };
    for (call, outcome, ends) in [
        (member(0), says(None), false),
        (member(0), says(Some(AfterExecution::Terminate)), true),
        (terminate.clone(), says(None), true),
        (terminate.clone(), says(Some(AfterExecution::Suspend)), false),
        (terminate, WaitOutcome::TimedOut, false),
    ] {
        let mut desk = Desk::waiting(vec![call]);
        if outcome != WaitOutcome::TimedOut {
            desk.end(0, EARLY);
        }
        desk.write(&desk.report(0, outcome, LATE));
        assert_eq!(desk.active().must_deliver(), ends, "{outcome:?}");
        assert_eq!(desk.active().step, if ends { 1 } else { 2 });
    }
}

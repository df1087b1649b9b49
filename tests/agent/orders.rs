//! Every order of the results of five calls: one is applied, one is refused, one is in doubt until
//! a person confirms it, and two are overdue, of which one stays in doubt and one answers late.

use machine::{
    agent::{
        AgentCall, AnyAgentHead, BoxId, CardKind, Driver, MemberId, Phase, TurnEnd, TurnRefusal,
        WaitOutcome,
    },
    testing::TestClock,
    worker::{Handled, Handler, Task},
};
use serde_json::json;

use super::{
    queue::{queued, story},
    scenarios::{Script, call, done, look, results, send, tools},
    support::{Desk, EARLY, IN_TIME, LATE, agent, id, member, turn},
};
use crate::worker::prelude::{
    AnyExecution, Count, Delivery, Duration, Next, OpenOptions, Store, ann, inbox, worker,
};

/// All orders of these.
fn orders(of: &[u32]) -> Vec<Vec<u32>> {
    let Some((first, rest)) = of.split_first() else { return vec![Vec::new()] };
    let inserted = |order: Vec<u32>| {
        (0..=order.len()).map(move |at| {
            let mut order = order.clone();
            order.insert(at, *first);
            order
        })
    };
    orders(rest).into_iter().flat_map(inserted).collect()
}

/// Loses every other decision about a result, so that each is decided again.
struct Forgetful {
    driver: Driver<Script>,
    decided: Count,
}

impl Handler for Forgetful {
    type Machine = AnyAgentHead;

    async fn handle(&self, head: AnyAgentHead, task: &mut Task) -> Handled<AnyAgentHead> {
        let waits = matches!(head, AnyAgentHead::Suspended(_));
        let next = self.driver.handle(head, task).await?;
        if waits && matches!(next, Next::Commit(_)) && self.decided.add().is_multiple_of(2) {
            return Err("the decision is lost".into());
        }
        Ok(next)
    }
}

/// The seconds between two results.
const SLOT: u64 = 4;

/// The call that a person confirms.
const CONFIRMED: u32 = 2;

async fn confirm(store: &Store) {
    for call in store.children(agent("planner").head()).await.unwrap() {
        let execution: AnyExecution = store.load(call.id).await.unwrap();
        if execution.context().action().arguments().unwrap()["index"] == json!(CONFIRMED) {
            let doubt = store.in_doubt(call.id).await.unwrap();
            drop(store.confirm_applied(doubt, "seen", ann()).await.unwrap());
        }
    }
}

async fn check(order: &[u32]) {
    let store = OpenOptions::new().clock(TestClock::start()).memory();
    let agents = queued(&store, 1).await;
    let at = |index: u32| {
        let rank = order.iter().zip(1..).find_map(|(it, rank)| (*it == index).then_some(rank));
        SLOT * rank.unwrap_or(0)
    };
    let within = |index| Some(Duration::from_secs(at(index)));
    let calls = vec![
        call(0, &look(), "applied", at(0)),
        call(1, &send(), "refused", at(1)),
        call(2, &send(), "unknown", 0),
        AgentCall { within: within(3), ..call(3, &send(), "unknown", 0) },
        AgentCall { within: within(4), ..call(4, &look(), "applied", at(4) + SLOT * 3 / 4) },
    ];
    let (driver, decided) = (Driver(Script(vec![calls])), Count::default());
    let handler = Forgetful { driver, decided: decided.clone() };
    let running = worker(&store).handler(handler).other_tools(tools()).start();

    // Looks are between the results.
    let half = Duration::from_secs(SLOT / 2);
    tokio::time::sleep(half).await;
    for (left, index) in (0..5).rev().zip(order) {
        tokio::time::sleep(half).await;
        if *index == CONFIRMED {
            confirm(&store).await;
        }
        tokio::time::sleep(half).await;
        let active = agents.head(&agent("planner")).await.unwrap().active;
        assert_eq!(active.map_or(0, |turn| turn.waiting.len()), left, "{order:?}");
    }
    let cards = agents.cards(BoxId(id(1)), 100).await.unwrap();
    tokio::time::sleep(half).await;
    running.stop().await.unwrap();

    let (moves, events) = story(&store, "planner").await;
    let expected = ["dispatch", "claim", "call"].into_iter().chain(["report"; 5]);
    assert_eq!(moves, expected.chain(["deliver"]).collect::<Vec<_>>(), "{order:?}");
    assert_eq!(events[0].end, TurnEnd::Done);
    assert!(decided.get() >= 10, "{order:?}: {}", decided.get());
    let kinds: Vec<_> = cards.iter().map(|(card, _)| (card.kind, card.step, card.index)).collect();
    let made = (0..5).map(|index| (CardKind::ToolCall, 1, index));
    let ended = order.iter().map(|index| (CardKind::ToolResult, 1, *index));
    let expected = std::iter::once((CardKind::Answer, 1, 0)).chain(made).chain(ended);
    let expected: Vec<_> = expected.chain([(CardKind::Deliverable, 2, 0)]).collect();
    assert_eq!(kinds, expected, "each has one result, which is written when it comes");
    let after = agents.cards(BoxId(id(1)), 100).await.unwrap();
    assert_eq!(after, cards, "{order:?}: the late answer changes nothing");

    let results = results(&agents).await;
    let [applied, refused, confirmed, overdue @ ..] = &results[..] else { panic!("{results:?}") };
    assert_eq!([applied, confirmed], [&done(), &json!({ "receipt": "seen" })]);
    assert!(refused["error"]["refused"].to_string().contains("exit code 1"), "{refused}");
    for overdue in overdue {
        assert!(overdue["error"]["overdue"]["execution"].is_string(), "{order:?}: {overdue}");
    }
    let head = agent("planner").head();
    let calls = store.children(head).await.unwrap();
    let mut statuses: Vec<_> = calls.iter().map(|call| &*call.status).collect();
    statuses.sort_unstable();
    let expected = ["completed", "completed", "completed", "failed", "waiting"];
    assert_eq!(statuses, expected, "{order:?}: no call is cancelled");
    let messages = inbox(&store, head).await;
    assert!(messages.iter().all(|it| it.status == Delivery::Handled), "{order:?}: {messages:?}");
    assert!(store.verify_all(|_| ()).await.unwrap().is_clean());
}

/// Of parallel results only the last one survived a resume, and one that failed cancelled its
/// siblings (`t04`, claude-code 64346).
#[tokio::test(start_paused = true)]
async fn t03_claude_code_31330_five_results_come_in_every_order() {
    let orders = orders(&[0, 1, 2, 3, 4]);
    assert_eq!(orders.len(), 120);
    for order in orders {
        check(&order).await;
    }
}

/// Also if the answer of the call that was overdue comes later.
#[test]
fn a_repeated_result_is_refused_in_every_order() {
    const OVERDUE: u32 = 4;
    let id = |index| MemberId { turn: turn(1), step: 1, index };
    for order in orders(&[0, 1, 2, 3, OVERDUE]) {
        let mut desk = Desk::waiting((0..5).map(member).collect());
        for (place, index) in order.iter().enumerate() {
            let early = desk.refused(&desk.report(*index, IN_TIME, LATE));
            assert_eq!(early, TurnRefusal::WrongOutcome { member: id(*index) });
            let outcome = if *index == OVERDUE { WaitOutcome::TimedOut } else { IN_TIME };
            if outcome == IN_TIME {
                desk.end(*index, EARLY);
            }
            let batch = desk.write(&desk.report(*index, outcome, LATE));
            let cards: Vec<_> = batch.cards.iter().map(|card| (card.kind, card.index)).collect();
            assert_eq!(cards, [(CardKind::ToolResult, *index)]);
            let active = desk.active();
            assert_eq!(active.waiting.len(), 4 - place);
            assert_eq!(active.phase == Phase::Suspended, place < 4, "{order:?}");

            desk.end(*index, EARLY);
            for known in &order[..=place] {
                for outcome in [IN_TIME, WaitOutcome::TimedOut] {
                    let refusal = desk.refused(&desk.report(*known, outcome, LATE));
                    assert_eq!(refusal, TurnRefusal::FinishedCall { member: id(*known) });
                }
            }
        }
        assert_eq!((desk.active().step, desk.active().unanswered()), (2, vec![]));
    }
}

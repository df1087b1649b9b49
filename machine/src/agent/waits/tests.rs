use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

use super::*;
use crate::{
    actor::Actors,
    agent::{
        AgentCall, AgentId, Agents, AnyAgentHead, BoxId, CallTarget, ModelAnswer, NewTurn, Task,
        Terms, TurnEpoch, TurnId, TurnRequest, Work, written::Written,
    },
    clock::Clock,
    contract::ToolSpec,
    store::{OpenOptions, memory::Memory},
};

#[derive(Debug, Clone, Default)]
struct Hand(Arc<AtomicI64>);

impl Clock for Hand {
    fn now(&self) -> Millis {
        self.0.load(Ordering::Relaxed)
    }
}

/// A head whose turn waits for this number of calls.
async fn waiting(store: &Store, calls: u32) -> AnyAgentHead {
    let (agent, turn) = (AgentId("planner".to_owned()), TurnId(Id::fresh()));
    let output_box = BoxId(Id::fresh());
    let task = Task {
        context_box: BoxId(Id::fresh()),
        context_cards: 0,
        output_box,
        trace: Id::fresh(),
        terms: Terms::default(),
    };
    let agents = Agents::of(store);
    agents.create(&agent).await.unwrap();
    agents.enqueue(NewTurn { id: turn, agent: agent.clone(), task }).await.unwrap();
    let head: AnyAgentHead = store.load(agent.head()).await.unwrap();
    let mut stored = StoredRows::of(&head);
    stored.load(store, &[turn], &[output_box]).await.unwrap();
    let by = TurnEpoch { agent, turn, epoch: *head.epoch() };
    let mut written = Written::new(std::mem::take(&mut stored.rows));
    written.add(&TurnRequest::Claim { by: by.clone() }).unwrap();
    let head = head.moved(&written.batch, Vec::new(), None);
    let look = ToolSpec::idempotent("files", "look").unwrap();
    let calls = (0..calls).map(|number| AgentCall {
        tool: "look".to_owned(),
        call_id: format!("call_{number}"),
        target: CallTarget::Tool(ToolCall::new(&look, "{}").unwrap()),
        within: None,
        after: AfterExecution::Suspend,
    });
    let answer = ModelAnswer { calls: calls.collect(), ..ModelAnswer::default() };
    written.work(&by, &Work::Call(answer), store.now()).unwrap();
    let records = stored.records(&written.batch, &written.bodies);
    let mut head = head.moved(&written.batch, written.calls, None);
    store.batch().commit(&mut head).records(records).write().await.unwrap();
    store.load(by.agent.head()).await.unwrap()
}

/// The rows of the calls tell which one is next, so that a set whose calls have all ended reads
/// each result once, and not all of them for each report.
#[test]
fn a_result_is_read_only_to_be_reported() {
    const CALLS: u32 = 20;
    pollster::block_on(async {
        let clock = Hand::default();
        let options = OpenOptions::new().clock(clock.clone());
        let memory = Arc::new(Memory::new(options.settings()));
        let store = options.store(Arc::<Memory>::clone(&memory), None, false);
        let head = waiting(&store, CALLS).await;
        let visit = Visit { head: head.id(), entered: head.waits_since() };
        let actors = Actors::issue("office").unwrap();
        let made = calls(&store, visit).await.unwrap();
        for (at, call) in (1..).zip(made.into_iter().rev()) {
            clock.0.store(at, Ordering::Relaxed);
            let AnyExecution::Pending(call) = store.load(call.unwrap().id).await.unwrap() else {
                panic!("it has begun");
            };
            drop(store.cancel(call, "not needed", &actors.tool_node).await.unwrap());
        }

        let (mut turn, mut stored) = (head.turn().cloned().unwrap(), StoredRows::of(&head));
        let mut reported = Vec::new();
        memory.uses();
        while !turn.waiting.is_empty() {
            let report = next(&store, visit, &turn, &mut stored).await.unwrap().unwrap();
            let (read, _) = memory.uses();
            reported.push((report.member.index, report.ended_at, read.len()));
            turn.waiting.retain(|member| member.id != report.member);
        }
        let expected = (0..CALLS).rev().zip(1..).map(|(index, at)| (index, Some(at), 1));
        assert_eq!(reported, expected.collect::<Vec<_>>());
    });
}

use serde_json::json;

use super::*;
use crate::{
    actor::Human,
    agent::{
        AfterExecution, Agents, Member, NewTurn, StopReason, Task, Terms, TurnRequest, TurnStop,
        decide,
    },
};

fn task() -> Task {
    Task {
        context_box: BoxId(Id::fresh()),
        context_cards: 0,
        output_box: BoxId(Id::fresh()),
        trace: Id::fresh(),
        terms: Terms::default(),
    }
}

/// The rest of the task is enough to deliver the turn.
#[test]
fn the_terms_of_a_task_may_be_of_another_form() {
    pollster::block_on(async {
        let (store, agent) = (Store::memory(), AgentId("planner".to_owned()));
        let agents = Agents::of(&store);
        agents.create(&agent).await.unwrap();
        let task = task();
        let ids = [(); 2].map(|()| TurnId(Id::fresh()));
        for id in ids {
            let new = NewTurn { id, agent: agent.clone(), task: task.clone() };
            agents.enqueue(new).await.unwrap();
        }
        let which = Records::Of(vec![(TURN, ids[1].0)]);
        let mut record = store.inner.backend.records(which).await.unwrap().remove(0).unwrap();
        let mut body: Value = serde_json::from_str(&record.body).unwrap();
        let mut rewrite = async |body: &Value| {
            record.version += 1;
            record.body = body.to_string();
            store.batch().records([record.clone()]).write().await.unwrap();
        };

        body["task"]["terms"] = json!({ "limits": 7 });
        rewrite(&body).await;
        let mut stored = StoredRows::default();
        assert_eq!(stored.queue(&store, &agent, 10).await.unwrap(), [ids[1]]);
        let unreadable = Terms { unreadable: true, ..Terms::default() };
        assert_eq!(stored.rows.turns[&ids[1]].task, Task { terms: unreadable, ..task });

        for task in [json!({ "terms": 7 }), json!(7)] {
            body["task"] = task;
            rewrite(&body).await;
            let refused = agents.turn(ids[1]).await.unwrap_err().to_string();
            assert!(refused.ends_with("; run the program that wrote it"), "{refused}");
        }
    });
}

/// Also those for which the turn waits no longer.
#[test]
fn queued_turns_are_stopped_with_the_turn_that_has_delegated_them() {
    pollster::block_on(async {
        let (store, agent) = (Store::memory(), AgentId("planner".to_owned()));
        let (agents, turn) = (Agents::of(&store), TurnId(Id::fresh()));
        agents.create(&agent).await.unwrap();
        let head: AnyAgentHead = store.load(agent.head()).await.unwrap();
        let stored = StoredRows::of(&head);
        let new = NewTurn { id: turn, agent: agent.clone(), task: task() };
        let mut batch = decide(&stored.rows, &TurnRequest::UiAction { new, now: 0 }).unwrap();
        let active = batch.head.as_mut().and_then(|(_, head)| head.active.as_mut()).unwrap();
        let calls = [(1, 0), (3, 1)].map(|(step, index)| MemberId { turn, step, index });
        active.overdue = vec![calls[0].delegated()];
        active.waiting = vec![Member {
            id: calls[1],
            call_id: String::new(),
            source: CallSource::Turn(calls[1].delegated()),
            deadline: None,
            after: AfterExecution::Suspend,
        }];
        for call in calls {
            let agent = AgentId("helper".to_owned());
            let (task, parent, status) = (task(), Some(call), TurnStatus::Queued);
            let (enqueued_at, stop, pruned_at) = (0, None, None);
            let child = TurnRecord { agent, task, parent, enqueued_at, stop, status, pruned_at };
            batch.turns.insert(call.delegated(), child);
        }
        let records = stored.records(&batch, &Bodies::new());
        let mut head = head.moved(&batch, Vec::new(), None);
        store.batch().commit(&mut head).records(records).write().await.unwrap();

        let answer = agents.stop(turn, &Human::new("ann").unwrap()).await.unwrap();
        assert_eq!(answer, TurnStop::Stopped(StopReason::Requested));
        for call in calls {
            let child = agents.turn(call.delegated()).await.unwrap().unwrap();
            assert_eq!(child.stop, Some(StopReason::Parent), "{call}");
        }
    });
}

use super::*;
use crate::agent::{Agents, Head, NewTurn, Task, TurnRequest, decide};

/// The rest of its task is enough to deliver it.
#[test]
fn a_turn_whose_terms_cannot_be_read_is_stopped() {
    pollster::block_on(async {
        let (store, agent) = (Store::memory(), AgentId("planner".to_owned()));
        let agents = Agents::of(&store);
        agents.create(&agent).await.unwrap();
        let task = Task {
            context_box: BoxId(Id::fresh()),
            context_cards: 0,
            output_box: BoxId(Id::fresh()),
            trace: Id::fresh(),
            terms: Terms::default(),
        };
        let ids = [(); 2].map(|()| TurnId(Id::fresh()));
        for id in ids {
            let new = NewTurn { id, agent: agent.clone(), task: task.clone() };
            agents.enqueue(new).await.unwrap();
        }
        let which = Records::Of(TURN, vec![ids[1].0]);
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
        stored.rows.heads.insert(agent.clone(), Head::default());
        let request = TurnRequest::Dispatch { agent: agent.clone(), now: 0 };
        let batch = decide(&stored.rows, &request).unwrap();
        let active = batch.head.unwrap().1.active.unwrap();
        assert_eq!((active.task, active.stop), (task, Some(StopReason::Unreadable)));

        for task in [json!({ "terms": 7 }), json!(7)] {
            body["task"] = task;
            rewrite(&body).await;
            let refused = agents.turn(ids[1]).await.unwrap_err().to_string();
            assert!(refused.contains("is of another form"), "{refused}");
        }
    });
}

//! Calls of tools that are known at run time only do not begin with arguments that no longer match
//! the schema.

use machine::{
    contract::{Registry, ToolSpec},
    operate::Operator,
    worker::WorkerError,
};
use serde_json::json;

use super::approved::needs_attention;
use crate::worker::prelude::*;

/// The tool `mail.send`, known at run time only, whose schema requires this argument.
fn registry(required: &str) -> Registry {
    let schema = json!({ "type": "object", "required": [required] });
    let spec = ToolSpec::irreversible("mail", "send").unwrap().schema(schema);
    let mut registry = Registry::new();
    registry.add(spec, |_| Box::pin(async { Ok(Applied::new("250 queued")) })).unwrap();
    registry
}

/// The call of a program whose schema required a `to`.
async fn mail_to_bob(store: &Store) -> Id {
    let call = registry("to").call("mail.send", r#"{"to": "bob"}"#).unwrap();
    create(store, Execution::new(call.contract(reasoning_node()).unwrap())).await
}

const MISMATCH: &str = "\"subject\" is a required property";

/// The schema has changed since the call was planned.
#[test]
fn a_worker_whose_schema_does_not_match_does_not_start() {
    each(async |store| {
        let id = mail_to_bob(&store).await;
        let newer = || worker(&store).other_tools(registry("subject"));
        let check = newer().check().await.unwrap();
        let [tool] = &check.tools[..] else { panic!("{check}") };
        assert_eq!((&*tool.tool, tool.checked, tool.blocked[0].id), ("other tools", 1, id));
        assert!(check.to_string().contains(MISMATCH), "{check}");
        let refused = newer().run_until_idle().await;
        assert_err!(refused, WorkerError::Incompatible { check: found } if **found == check);
        is(&store, id, "pending").await;
        settle(worker(&store).other_tools(registry("to"))).await;
        is(&store, id, "completed").await;
        assert!(newer().check().await.unwrap().is_clean());
    });
}

/// A running worker does not begin it either; after a rollback it runs, or a person cancels it.
#[test]
fn a_running_worker_does_not_begin_what_does_not_match_the_schema() {
    for cancels in [false, true] {
        each(async |store| {
            let newer = worker(&store).attempts(1).other_tools(registry("subject")).start();
            until("it is listed", async || !store.workers().await.unwrap().is_empty()).await;
            let id = mail_to_bob(&store).await;
            needs_attention(&store, id, MISMATCH).await;
            newer.stop().await.unwrap();
            is(&store, id, "pending").await;
            let end = if cancels {
                let actors = actors();
                let operator = Operator::new(&store, &actors, ann(), "office");
                operator.cancel(&[id], None).await.unwrap();
                "cancelled"
            } else {
                store.requeue(id, &[]).await.unwrap();
                "completed"
            };
            settle(worker(&store).other_tools(registry("to"))).await;
            is(&store, id, end).await;
        });
    }
}

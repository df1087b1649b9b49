//! A write keeps its reverse patch in its notes, and each write is undone once (OR-6).

use machine::{
    contract::{Action, AnyExecution, Contract, Execution, ToolSpec},
    effects::EffectError,
    store::{CommitError, Store},
};
use machine_tests::{
    actors::{graph_runner, reasoning_node, tool_node},
    assert_err,
    samples::receipt,
    stores::planned,
};
use serde_json::json;

fn patch(text: &str) -> Contract {
    let spec = ToolSpec::idempotent("files", "patch").unwrap();
    let arguments = json!({ "patch": text }).to_string();
    Contract::tool_call(&spec, &arguments, reasoning_node()).unwrap()
}

#[tokio::test]
async fn each_write_is_undone_once() {
    let store = Store::memory();
    for file in ["a", "b"] {
        let write = patch(&format!("+{file}")).note("reverse_patch", format!("-{file}"));
        assert_eq!(write.action(), patch(&format!("+{file}")).action());
        let mut done =
            Execution::new(write).start(tool_node()).succeed("ok".to_owned(), tool_node());
        store.create(&mut done).await.unwrap();
        let loaded: AnyExecution = store.load(done.id()).await.unwrap();
        let reverse = loaded.context().metadata()["reverse_patch"].as_str().unwrap();
        assert_eq!(reverse, format!("-{file}"));
        let occasion = format!("undo {}", loaded.id());
        let undo = patch(reverse).irreversible().occurrence(&occasion, graph_runner()).unwrap();
        let first = planned::<Action>(&store, undo.clone()).await.unwrap();
        drop(store.perform(first, receipt("undone"), tool_node()).await.unwrap());
        let again = planned::<Action>(&store, undo).await;
        assert_err!(again, EffectError::Commit(CommitError::AlreadyDone { .. }));
    }
}

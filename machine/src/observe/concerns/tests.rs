use super::*;
use crate::{
    actor::Actors,
    contract::{Contract, Execution, ToolSpec},
    store::Store,
    view::Human,
};

/// It has ended between the query and the read.
#[test]
fn a_machine_that_moved_after_the_query_needs_no_attention() {
    let actors = Actors::issue("reader").unwrap();
    let tool = ToolSpec::idempotent("files", "read").unwrap();
    let running = || {
        let contract =
            Contract::tool_call(&tool, r#"{"path": "a"}"#, &actors.reasoning_node).unwrap();
        Execution::new(contract).start(&actors.tool_node)
    };
    let mut waiting = running().suspend("Deploy?".to_owned(), &actors.tool_node);
    let mut done = running().succeed("12 lines".to_owned(), &actors.tool_node);
    let store = Store::memory();
    let observer = Observer::new(&store);
    pollster::block_on(async {
        store.create(&mut waiting).await.unwrap();
        store.create(&mut done).await.unwrap();
        let mut found = ConcernList::<Human>::default();
        let waits = ConcernReason::WaitsForPerson;
        assert!(observer.concern(waits, waiting.id(), &mut found).await.unwrap().is_some());
        for reason in [waits, ConcernReason::Overdue, ConcernReason::SetAside] {
            let concern = observer.concern(reason, done.id(), &mut found).await.unwrap();
            assert_eq!(concern, None, "{reason}");
        }
        assert_eq!(
            observer.concern(ConcernReason::Overdue, waiting.id(), &mut found).await.unwrap(),
            None
        );
        assert!(found.concerns.is_empty());
    });
}

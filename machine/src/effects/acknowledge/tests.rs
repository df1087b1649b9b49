use super::*;
use crate::{
    actor::{Actor, Actors},
    contract::{Contract, Evidence, Execution, Progress, ToolSpec},
    observe::{NextStep, Observer},
    store::Query,
    view::Label,
};

/// A contradiction that was acknowledged no longer needs attention.
#[test]
fn another_receipt_needs_another_acknowledgement() {
    let actors = Actors::issue("mailer").unwrap();
    let (ann, bob) = (Human::new("ann").unwrap(), Human::new("bob").unwrap());
    let tool = ToolSpec::irreversible("email", "send").unwrap();
    let contract = Contract::tool_call(&tool, r#"{"to": "bob"}"#, &actors.reasoning_node).unwrap();
    let store = Store::memory();
    let observer = Observer::new(&store);
    pollster::block_on(async {
        let mut pending = Execution::new(contract);
        store.create(&mut pending).await.unwrap();
        let (running, permit) = store.begin(pending, &actors.tool_node).await.unwrap();
        let id = running.id();
        let doubt = store.fence(id, "overdue", &actors.graph_runner).await.unwrap();
        let ended = store.override_not_applied(doubt, "not sent", &ann).await.unwrap();
        assert_eq!(Label::of(&ended.into()), Label::Failed);
        let load = async || store.load::<AnyExecution>(id).await.unwrap();
        let concerns = async || {
            let all = Query::new();
            let found = observer.attention::<crate::view::Human>(&all);
            found.await.unwrap().concerns.clone()
        };
        let refused = store.acknowledge(load().await, &ann).await.unwrap_err();
        assert!(refused.to_string().contains("nothing to acknowledge"), "{refused}");

        let epoch = Progress::of(&load().await).permit().unwrap().1;
        for by in [&ann, &bob] {
            let mut ended = load().await;
            let evidence = Evidence::Applied("250 queued".to_owned());
            let receipt = CallFact::Evidence { epoch, evidence, late: true };
            append(&mut ended, who(&actors.tool_node), receipt);
            store.commit(&mut ended).await.unwrap();
            assert_eq!(concerns().await[0].next, [NextStep::Acknowledge { id }]);

            let stale = load().await;
            let seen = store.acknowledge(load().await, by).await.unwrap();
            assert_eq!(Label::of(&seen), Label::Contradicted);
            assert_eq!(Progress::of(&seen).acknowledged_by.as_deref(), by.name());
            assert_eq!(concerns().await, []);
            assert_eq!(observer.next(id).await.unwrap(), []);
            let again = store.acknowledge(seen, by).await.unwrap_err();
            assert!(again.to_string().contains("is already acknowledged"), "{again}");
            let late = store.acknowledge(stale, by).await.unwrap_err();
            assert!(late.is_conflict(), "{late}");
        }
        drop(permit);
    });
}

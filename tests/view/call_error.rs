//! The reason why a call did not take effect, in a list.

use machine::{actor::GraphRunner, contract::CallError};

use crate::view::prelude::*;

/// A type of the program that is stored in the same way.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Verdict {
    Failed(String),
}

#[machine(durable)]
#[derive(Debug, Clone, Serialize, Deserialize)]
enum Bill {
    #[initial]
    #[on(refuse(verdict, why) => Unpaid, by = GraphRunner)]
    Open,
    #[terminal]
    Unpaid {
        #[audience(human)]
        verdict: Verdict,
        #[audience(human)]
        why: CallError,
    },
}

#[tokio::test]
async fn a_list_shows_why_a_call_failed_as_text() {
    let store = Store::memory();
    let by = create(&store, &mut Bill::new()).await;
    for (why, text) in [
        (CallError::Expired, "it was not approved in time".to_owned()),
        (
            CallError::Refused("the account is closed".to_owned()),
            "the account is closed".to_owned(),
        ),
        (CallError::AlreadyDone { by }, format!("{by} has already performed it")),
    ] {
        let late = Verdict::Failed("late".to_owned());
        let mut unpaid = Bill::new().refuse(late, why, graph_runner());
        store.create(&mut unpaid).await.unwrap();
        let newest = Query::new().newest_first().limit(1);
        let listed = Observer::new(&store).list::<Human>(&newest).await.unwrap().items.remove(0);
        let expected = format!(r#"verdict: {{"failed":"late"}}, why: {text}"#);
        assert_eq!(listed.unwrap().summary, expected);
    }
}

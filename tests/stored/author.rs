//! The author of a machine, as its context names it.

use machine::{
    effects::EffectError,
    machine,
    store::{CommitError, Store},
    stored::{Context, Unverified, VerifyError},
};
use machine_tests::forge;
use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize)]
struct Form {
    author: Option<String>,
}

impl Context for Form {
    type Summary = ();

    fn author(&self) -> Option<&str> {
        self.author.as_deref()
    }
}

#[machine(durable, context = Form)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Request {
    #[initial]
    #[on(close => Closed)]
    Open,
    #[terminal]
    Closed,
}

const RESERVED: [&str; 6] =
    ["human", "anyone", "tool_node", "ecs_node", "graph_runner", "reasoning"];

fn text(kind: &str) -> String {
    format!(
        "the author `{kind}` belongs to an actor of this library; return another kind from \
         `Context::author`"
    )
}

fn by(author: Option<&str>) -> Request<request::Open> {
    Request::new(Form { author: author.map(str::to_owned) })
}

/// The finding: a journal said "created by human" of a machine that no person made.
#[tokio::test]
async fn an_actor_of_the_library_is_no_author() {
    let store = Store::memory();
    for kind in RESERVED {
        let mut request = by(Some(kind));
        let Err(EffectError::Commit(CommitError::Refused { id, breach })) =
            store.create(&mut request).await
        else {
            panic!("{kind} was accepted")
        };
        assert_eq!((id, breach.to_string()), (request.id(), text(kind)));
    }
    assert_eq!(store.position().await.unwrap(), Store::memory().position().await.unwrap());
}

#[tokio::test]
async fn a_kind_of_the_program_is_an_author() {
    let store = Store::memory();
    for kind in [None, Some("form"), Some("Human"), Some("humane")] {
        let mut request = by(kind);
        store.create(&mut request).await.unwrap();
        let created = &store.history(request.id()).await.unwrap().entries[0];
        assert_eq!(created.actor.as_deref(), kind);
        store.verify::<AnyRequest>(request.id()).await.unwrap();
    }
}

/// JSON neither.
#[test]
fn an_author_that_was_read_is_checked() {
    let claim: Unverified = forge::claim(&by(Some("human")));
    let Err(VerifyError::Rules { breach, .. }) = claim.verify::<AnyRequest>() else {
        panic!("it was accepted")
    };
    assert_eq!(breach.to_string(), text("human"));
}

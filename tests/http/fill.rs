//! A file with machines in many states, for other programs: `MACHINE_HTTP_FILL=FILE` names it.

use machine::{contract::Contract, store::Store};
use machine_tests::{actors::reasoning_node, invoked, samples::mail};

use crate::{cli::turns::delivered, surfaces::Place};

#[tokio::test(flavor = "multi_thread")]
async fn fill() {
    let Ok(file) = std::env::var("MACHINE_HTTP_FILL") else { return };
    let mut place = Place::served().await;
    place.store = Store::sqlite(file).await.unwrap();
    for at in 0..30 {
        let to = |what: &str| format!("{what}-{at}@example.com");
        let of_session = |contract: Contract| contract.session(format!("session {}", at % 5));
        drop(place.gate_of(of_session(mail(&to("gate")))).await);
        let question = Contract::ecs_request("Which port?", reasoning_node()).unwrap();
        place.question_of(of_session(question)).await;
        place.sent(of_session(mail(&to("sent")))).await;
        place.doubt(&to("doubt")).await;
        place.failed(&to("failed")).await;
        place.order().await;
        invoked::reading(&place.store, 3).await;
        invoked::asked(&place.store, at).await;
        let (_, call) = invoked::placed(&place.store, 1000 + at).await;
        invoked::doubtful(&place.store, call).await;
    }
    delivered(&place).await;
    place.store.close().await.unwrap();
}

use super::{Filter, HEARTBEAT, Wanted, next};
use crate::http::feed::Feed;
use machine::{
    actor::Actors,
    contract::{Contract, Execution},
    store::Store,
    view::Language,
};

fn wanted() -> Filter {
    let nothing = Wanted { after: None, events: None, session: None, machine: None, id: None };
    let Ok(filter) = Filter::new(nothing) else { panic!("nothing is left out") };
    filter
}

#[tokio::test(start_paused = true)]
async fn a_silent_stream_says_that_it_is_alive() {
    let store = Store::memory();
    let feed = Feed::new(&store, Language::English);
    let mut reader = feed.subscribe(None).await.expect("the store is open");
    let filter = wanted();
    let began = tokio::time::Instant::now();
    let event = next(&mut reader, &filter).await.expect("the feed is open");
    assert!(began.elapsed() >= HEARTBEAT);
    let text = format!("{event:?}");
    assert!(text.contains("1.0") && text.contains("alive"), "{text}");
    // An entry that the subscriber does not want moves its position all the same.
    let mut created = Execution::new(contract());
    store.create(&mut created).await.expect("it is new");
    let newest = store.position().await.expect("the store is open").to_string();
    let mut seen = String::new();
    for _ in 0..1000 {
        let event = next(&mut reader, &filter).await.expect("the feed is open");
        seen = format!("{event:?}");
        if seen.contains(&newest) {
            break;
        }
    }
    assert!(seen.contains(&newest) && seen.contains("alive"), "{seen}");
    feed.close();
    assert!(next(&mut reader, &filter).await.is_none());
}

fn contract() -> Contract {
    let actors = Actors::issue("test").expect("a valid name");
    Contract::ecs_request("Which port?", &actors.reasoning_node).expect("a valid question")
}

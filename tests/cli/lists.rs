//! `list` and `show`.

use machine_tests::samples::pending_mail;

use crate::support::{Place, end};

#[tokio::test]
async fn what_needs_attention_comes_first() {
    let place = Place::new().await;
    let mut other = pending_mail("eve@example.com");
    place.store.create(&mut other).await.unwrap();
    let (gate, planned) = place.ask("bob@example.com").await;
    let ran = place.run(&["list"]);
    println!("{}", ran.done());
    println!("{}", place.run(&["show", &end(gate.id())]).done());
    println!("{}", place.run(&["show", &end(planned.id()), "--audience", "internal"]).done());
    println!("{}", place.json(&["list"]));
    println!("{:?}", place.run(&["approve", &end(gate.id()), "--as", "ann"]));
    println!("{:?}", place.run(&["approve", &end(gate.id()), "--as", "ann", "--yes"]));
    println!("{:?}", place.run(&["approve", &end(gate.id()), "--as", "bob", "--yes"]));
    println!("{:?}", place.run(&["--help"]).out);
}

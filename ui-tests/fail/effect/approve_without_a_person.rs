// EX-9: only a person approves.

use machine::actor::GraphRunner;
use machine::contract::Gate;
use machine::store::Store;

async fn approve(store: Store, gate: Gate, by: &GraphRunner) {
    let _approved = store.approve(gate, by).await;
}

fn main() {}

// Only a person approves.

use machine::actor::GraphRunner;
use machine::contract::Gate;
use machine::journal::Digest;
use machine::store::Store;

async fn approve(store: Store, gate: Gate, shown: Digest, by: &GraphRunner) {
    let _approved = store.approve(gate, shown, by).await;
}

fn main() {}

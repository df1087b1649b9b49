// M0014: each comment is above an option, a mark or an actor that is given a second time.

use std::time::Duration;

use machine::actor::GraphRunner;
use machine::machine;
use serde::{Deserialize, Serialize};

fn is_light(_: &order::Packed, _: &u32) -> Result<(), String> {
    Ok(())
}

#[machine(
    durable,
    context = u32,
    version = 2,
    crate = machine,
    on(
        cancel => Cancelled,
        from = Open,
        // M0014: each group has a separate transition.
        from = Late,
    ),
    // M0014
    durable,
    // M0014
    context = u64,
    // M0014
    version = 3,
    // M0014
    crate = machine,
)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Order {
    #[initial]
    // M0014
    #[initial]
    #[group(Open)]
    #[on(
        timeout => Cancelled,
        by = GraphRunner,
        after = limit,
        // M0014
        after = limit / 2,
    )]
    #[on(
        ship => Shipped,
        guard = is_light -> String,
        // M0014: one function checks all conditions.
        guard = is_light -> String,
    )]
    Packed {
        limit: Duration,
        #[audience(human)]
        // M0014
        #[audience(diagnostic)]
        address: String,
    },

    #[group(Late)]
    #[on(lose => Cancelled)]
    Shipped,

    #[terminal]
    Cancelled,
}

fn main() {
    let packed = || Order::new(7, Duration::from_secs(30), "5 Elm St".to_owned());
    let _shipped = packed().ship();
    let _cancelled = packed().cancel();
}

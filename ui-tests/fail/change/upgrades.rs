// Upgrades that cannot apply. States are named after the mistakes.

use machine::machine;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
struct Old {
    parcel: u32,
}

fn widen(old: Old) -> Result<order::FromZero, String> {
    Ok(order::FromZero { parcel: u64::from(old.parcel) })
}

#[machine(
    durable,
    version = 2,
    // M0124: `upgrade` on the enum is for the context.
    upgrade(1 => widen),
)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Order {
    #[initial]
    #[on(next => FromTheCurrentVersion)]
    // M0124: versions start at 1.
    #[upgrade(0 => widen)]
    FromZero { parcel: u64 },

    #[on(next => Twice)]
    // M0124
    #[upgrade(2 => widen)]
    FromTheCurrentVersion { parcel: u64 },

    #[terminal]
    // M0124: one function upgrades each version.
    #[upgrade(1 => widen, 1 => widen)]
    Twice { parcel: u64 },
}

#[machine(version = 2)]
enum Plain {
    #[initial]
    #[on(next => End)]
    // M0124: only a durable machine has stored data.
    #[upgrade(1 => widen)]
    Start { parcel: u64 },

    #[terminal]
    End,
}

fn main() {
    assert_eq!(widen(Old { parcel: 7 }).unwrap().parcel, 7);
    let _twice = Order::new(7).next().next();
    let _end = Plain::new(7).next();
}

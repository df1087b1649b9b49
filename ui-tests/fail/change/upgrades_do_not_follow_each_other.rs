// The upgrade of version 2 takes the data that the upgrade of version 1 returns.

use machine::machine;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
struct First {
    parcel: u32,
}

#[derive(Serialize, Deserialize)]
struct Second {
    parcel: u64,
}

fn widen(old: First) -> Result<order::Packed, String> {
    Ok(order::Packed { number: u64::from(old.parcel) })
}

fn rename(old: Second) -> Result<order::Packed, String> {
    Ok(order::Packed { number: old.parcel })
}

#[machine(durable, version = 3)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Order {
    #[initial]
    #[on(ship => Shipped)]
    #[upgrade(1 => widen, 2 => rename)]
    Packed { number: u64 },

    #[terminal]
    Shipped,
}

fn main() {
    let _shipped = Order::new(7).ship();
}

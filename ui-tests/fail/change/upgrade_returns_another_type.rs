// An upgrade makes the data of the state that it is written on.

use machine::machine;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
struct Old {
    parcel: u32,
}

fn widen(old: Old) -> Result<u64, String> {
    Ok(u64::from(old.parcel))
}

#[machine(durable, version = 2)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Order {
    #[initial]
    #[on(ship => Shipped)]
    #[upgrade(1 => widen)]
    Packed { parcel: u64 },

    #[terminal]
    Shipped,
}

fn main() {
    let _shipped = Order::new(7).ship();
}

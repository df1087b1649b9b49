// M0124: versions start at 1.

use machine::machine;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
struct Old {
    parcel: u32,
}

fn widen(old: Old) -> Result<order::Packed, String> {
    Ok(order::Packed { parcel: u64::from(old.parcel) })
}

#[machine(durable, version = 2)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Order {
    #[initial]
    #[on(ship => Shipped)]
    #[upgrade(0 => widen)]
    Packed { parcel: u64 },

    #[terminal]
    Shipped,
}

fn main() {
    assert_eq!(widen(Old { parcel: 7 }).unwrap().parcel, 7);
    let _shipped = Order::new(7).ship();
}

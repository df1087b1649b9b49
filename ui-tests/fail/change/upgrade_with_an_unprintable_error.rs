// The error of an upgrade is reported as text, so it implements `Display`.

use machine::machine;
use serde::{Deserialize, Serialize};

struct Failure;

#[derive(Serialize, Deserialize)]
struct Old {
    parcel: u32,
}

fn widen(old: Old) -> Result<order::Packed, Failure> {
    if old.parcel == 0 { Err(Failure) } else { Ok(order::Packed { parcel: u64::from(old.parcel) }) }
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

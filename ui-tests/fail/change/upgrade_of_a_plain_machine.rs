// M0124: only a durable machine has stored data.

use machine::machine;

struct Old {
    parcel: u32,
}

fn widen(old: Old) -> Result<order::Packed, String> {
    Ok(order::Packed { parcel: u64::from(old.parcel) })
}

#[machine(version = 2)]
enum Order {
    #[initial]
    #[on(ship => Shipped)]
    #[upgrade(1 => widen)]
    Packed { parcel: u64 },

    #[terminal]
    Shipped,
}

fn main() {
    assert_eq!(widen(Old { parcel: 7 }).unwrap().parcel, 7);
    let _shipped = Order::new(7).ship();
}

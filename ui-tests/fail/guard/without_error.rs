// M0005: the error type of the guard is part of the method's return type.

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(ship => Shipped, guard = has_parcel)]
    Packed { parcel: u64 },

    #[terminal]
    Shipped { parcel: u64 },
}

fn has_parcel(packed: &order::Packed) -> Result<(), String> {
    if packed.parcel == 0 { Err("there is no parcel".to_owned()) } else { Ok(()) }
}

fn main() {
    let shipped = Order::new(7).ship().unwrap();
    assert_eq!(shipped.state().parcel, 7);
}

// The guard of a transition out of `Packed` takes the data of `Packed`.

use machine::machine;

#[machine]
#[derive(Debug)]
enum Order {
    #[initial]
    #[on(ship => Shipped, guard = has_arrived -> String)]
    Packed,

    #[terminal]
    Shipped,
}

fn has_arrived(_shipped: &order::Shipped) -> Result<(), String> {
    Ok(())
}

fn main() {
    let shipped = Order::new().ship().unwrap();
    assert_eq!(AnyOrder::from(shipped).status(), order::Status::Shipped);
}

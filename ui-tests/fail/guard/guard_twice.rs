// M0014: one function checks all conditions.

use machine::machine;

fn is_light(_: &order::Packed) -> Result<(), String> {
    Ok(())
}

fn is_paid(_: &order::Packed) -> Result<(), String> {
    Ok(())
}

#[machine]
enum Order {
    #[initial]
    #[on(ship => Shipped, guard = is_light -> String, guard = is_paid -> String)]
    Packed,

    #[terminal]
    Shipped,
}

fn main() {
    assert!(is_paid(Order::new().state()).is_ok());
    let _shipped = Order::new().ship().unwrap();
}

// M0005

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(ship -> Shipped)]
    Packed,

    #[terminal]
    Shipped,
}

fn main() {
    let packed = Order::new();
    assert_eq!(AnyOrder::from(packed).status(), order::Status::Packed);
}

// M0204

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(ship => Shipped)]
    #[on(ask => Asked)]
    Packed,

    #[on(answer => Answered)]
    Asked,

    #[on(ask_again => Asked)]
    Answered,

    #[terminal]
    Shipped,
}

fn main() {
    let asked = Order::new().ask().answer().ask_again();
    assert_eq!(AnyOrder::from(asked).status(), order::Status::Asked);
}

// The state of the erased machine is known only at run time.

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(place(address) => Placed)]
    Draft,

    #[terminal]
    Placed { address: String },
}

fn send(order: AnyOrder) -> Order<order::Placed> {
    order.place("Oslo".to_owned())
}

fn main() {
    let _placed = send(Order::new().into());
}

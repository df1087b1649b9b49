// Code for any state of a group can make the transitions of the group, not those of one state.

use machine::machine;

#[machine(on(cancel => Cancelled, from = Open))]
enum Order {
    #[initial]
    #[group(Open)]
    #[on(pack => Packed)]
    Placed,

    #[group(Open)]
    Packed,

    #[terminal]
    Cancelled,
}

fn close<S: order::Open>(order: Order<S>) -> Order<order::Packed> {
    order.pack()
}

fn main() {
    let _packed = close(Order::new());
}

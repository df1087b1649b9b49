// Deprecated states and fields are reported where a program uses them.

#![deny(deprecated)]

use machine::machine;

#[machine(fields(#[deprecated(note = "read the parcel")] weight: u32))]
#[derive(Debug, Clone, PartialEq)]
enum Order {
    #[initial]
    #[on(pay => Paid)]
    #[on(postpone => Unpaid)]
    Placed {
        #[deprecated(note = "there is one customer")]
        customer: u32,
    },

    #[deprecated(note = "use `Placed`")]
    #[on(pay => Paid)]
    Unpaid,

    #[terminal]
    Paid,
}

// A state.
fn pay(order: Order<order::Unpaid>) -> Order<order::Paid> {
    order.pay()
}

// A field.
fn customer(order: &Order<order::Placed>) -> u32 {
    order.state().customer
}

// A shared field.
fn weight(order: &Order<order::Paid>) -> u32 {
    *order.weight()
}

fn main() {
    let placed = Order::new(9, 1);
    assert_eq!(customer(&placed), 1);
    assert_eq!(weight(&pay(placed.postpone())), 9);
}

// M0206: applies to every state of a group.

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(pack => Packed)]
    #[on(cancel => Cancelled)]
    Placed,

    #[on(ship => Shipped)]
    Packed,

    #[group(GivenUp)]
    #[on(drop_it => Dropped)]
    #[on(lose => Lost)]
    Cancelled,

    #[group(GivenUp)]
    #[on(find => Packed)]
    Lost,

    #[never_after(GivenUp)]
    #[terminal]
    Shipped,

    #[terminal]
    Dropped,
}

fn main() {
    let shipped = Order::new().cancel().lose().find().ship();
    assert_eq!(AnyOrder::from(shipped).status(), order::Status::Shipped);
}

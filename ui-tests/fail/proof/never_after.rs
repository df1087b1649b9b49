// M0206

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(pack => Packed)]
    #[on(cancel => Cancelled)]
    Placed,

    #[on(ship => Shipped)]
    Packed,

    #[on(reopen => Placed)]
    #[on(drop_it => Dropped)]
    Cancelled,

    #[never_after(Cancelled)]
    #[terminal]
    Shipped,

    #[terminal]
    Dropped,
}

fn main() {
    let shipped = Order::new().cancel().reopen().pack().ship();
    assert_eq!(AnyOrder::from(shipped).status(), order::Status::Shipped);
}

// Names that the declaration does not have. States and triggers are named after the mistakes.

use machine::machine;

#[machine(
    // M0104: the error is reported once, although the group has two states.
    on(unknown_target_of_a_group => Canceled, from = Open),
    // M0112
    on(misspelt_group => Cancelled, from = Opn),
)]
enum Order {
    // M0021
    #[inital]
    #[group(Open)]
    #[on(mark_of_a_field => MarkOfAField)]
    // M0021
    #[onn(misspelt_transition => Shipped)]
    // M0104
    #[on(unknown_target => Delivered)]
    // M0104: a state that `cfg` removes does not exist.
    #[on(switched_off_target => Flown)]
    // M0107
    #[on(unknown_field(carrier) => Shipped)]
    Placed { parcel: u64 },

    #[group(Open)]
    // M0021: `#[audience]` belongs to a field.
    #[audience(human)]
    #[on(misspelt_proof => MisspeltProof)]
    MarkOfAField,

    // M0021
    #[onlyafter(Placed)]
    #[on(ship(parcel) => Shipped)]
    MisspeltProof,

    #[terminal]
    Shipped { parcel: u64 },

    #[terminal]
    Cancelled,

    #[cfg(any())]
    #[terminal]
    Flown,
}

fn is_open<S: order::Open>(_order: &Order<S>) -> bool {
    true
}

fn main() {
    assert!(is_open(&Order::new(7)));
    let _shipped = Order::new(7).misspelt_transition();
    let _delivered = Order::new(7).unknown_target();
    let _shipped = Order::new(7).unknown_field("mail".to_owned());
    let flown = Order::new(7).switched_off_target();
    assert_ne!(AnyOrder::from(flown).status(), order::Status::Shipped);
    let marked = Order::new(7).mark_of_a_field();
    let _cancelled = marked.unknown_target_of_a_group();
    let _cancelled = Order::new(7).misspelt_group();
    let _shipped = Order::new(7).mark_of_a_field().misspelt_proof().ship(7);
}

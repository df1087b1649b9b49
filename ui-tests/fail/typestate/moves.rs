// Moves that a state does not have. Functions are named after the mistakes.

use std::fmt::Display;

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(ship => Shipped)]
    #[on(r#move(address) => Moved)]
    Packed,

    #[on(r#try => Packed)]
    Moved { address: String },

    #[terminal]
    Shipped,
}

#[machine]
enum Parcel<'a, T: Display, const N: usize> {
    #[initial]
    #[on(fill(content) => Full)]
    Empty,

    #[on(label(text) => Labelled)]
    Full { content: [T; N] },

    #[terminal]
    Labelled { content: [T; N], text: &'a str },
}

struct Sand;

// A generic machine has the same message as any other.
fn illegal_move_of_a_generic_machine(empty: Parcel<'_, parcel::Empty, u8, 2>) {
    let _ = empty.label("books");
}

// A bound on a parameter of the enum applies to the machine.
fn bound_not_met(_full: Parcel<'_, parcel::Full<u8, 2>, Sand, 2>) {}

// No transition leaves a terminal state of a user-defined machine.
fn leave_terminal(shipped: Order<order::Shipped>) {
    let _ = shipped.ship();
}

// Messages name a raw identifier without `r#`.
fn illegal_raw_move(moved: Order<order::Moved>) {
    let _ = moved.r#move("Oslo".to_owned());
}

// The state of the erased machine is known only at run time.
fn move_of_the_erased_machine(order: AnyOrder) {
    let _ = order.ship();
}

fn main() {}

// A bound on a parameter of the enum applies to the machine.

use std::fmt::Display;

use machine::machine;

#[machine]
enum Parcel<T: Display> {
    #[initial]
    #[on(fill(content) => Full)]
    Empty,

    #[terminal]
    Full { content: T },
}

struct Sand;

fn keep(_full: Parcel<parcel::Full<String>, Sand>) {}

fn main() {}

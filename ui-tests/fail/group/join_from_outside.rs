// Only the declaration adds states to a group.

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[group(Open)]
    #[on(ship => Shipped)]
    Placed,

    #[terminal]
    Shipped,
}

struct Parcel;

impl order::Open for Parcel {}

fn main() {}

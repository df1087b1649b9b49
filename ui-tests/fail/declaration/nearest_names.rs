// The message suggests the name that was probably meant.

use machine::machine;

// M0104: two typing errors, and the same beginning.
#[machine]
enum Order {
    #[initial]
    #[on(pay => Payed)]
    Placed,

    #[terminal]
    Paid,
}

// M0104: a letter that looks like a digit.
#[machine]
enum Trip {
    #[initial]
    #[on(depart => Leg1l)]
    Leg10,

    #[on(depart => Leg12)]
    Leg11,

    #[terminal]
    Leg12,
}

// M0002: an option of the machine.
#[machine(contxt = u32)]
enum Door {
    #[initial]
    #[on(open => Open)]
    Closed,

    #[terminal]
    Open,
}

fn main() {}

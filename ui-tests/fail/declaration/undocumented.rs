// Missing docs are reported where they are missing, once, and not for generated items.

//! Orders.

#![deny(missing_docs)]

use machine::{actor::GraphRunner, machine};

/// An order.
#[machine(durable)]
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum Order {
    /// What a customer asked for.
    #[initial]
    #[on(pack(parcel) => Packed)]
    #[on(cancel(why: String) => if why.is_empty() { Self } else { Cancelled })]
    Placed,

    // A state.
    #[on(ship => Shipped, by = GraphRunner)]
    Packed {
        /// The number of the parcel.
        parcel: u64,
    },

    /// On its way.
    #[terminal]
    Shipped {
        // A field.
        parcel: u64,
    },

    // A state without data.
    #[terminal]
    Cancelled,
}

fn main() {}

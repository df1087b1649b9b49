//! Versions of one program.

use machine::{
    actor::{Actor, Category},
    machine,
};
use machine_tests::version;
use serde::{Deserialize, Serialize};

use self::first::Clerk;

/// The first version, which writes the initial data of the tests.
pub(super) mod first {
    use super::{Deserialize, Serialize, machine};
    pub(crate) use crate::definition::versions::Clerk;

    #[machine(durable)]
    #[derive(Debug, Serialize, Deserialize)]
    pub(crate) enum Order {
        #[initial]
        #[on(pack(boxes) => Packed, by = Clerk)]
        #[on(lose(note: String) => Lost)]
        Placed { customer: String },
        #[stable]
        #[on(ship => Shipped)]
        #[on(unpack => Placed)]
        Packed { customer: String, boxes: u32 },
        #[on(find => Placed)]
        #[on(write_off => Shipped)]
        Lost { customer: String },
        #[terminal]
        Shipped { customer: String },
    }
}

// Adds a move, a state and an optional field.
version!(pub(super) mod additions [] enum Order {
    #[initial]
    #[on(pack(boxes, weight = None, fragile = false) => Packed, by = Clerk)]
    #[on(lose(note: String) => Lost)]
    #[on(cancel => Cancelled)]
    Placed { customer: String },
    #[stable]
    #[on(ship => Shipped)]
    #[on(unpack => Placed)]
    #[on(cancel => Cancelled)]
    Packed {
        customer: String,
        boxes: u32,
        weight: Option<u32>,
        #[serde(default)]
        fragile: bool,
    },
    #[on(find => Placed)]
    #[on(write_off => Shipped)]
    Lost { customer: String },
    #[terminal]
    Shipped { customer: String },
    #[terminal]
    Cancelled { customer: String },
});

/// Renames one of everything.
pub(super) mod renames {
    use super::{Actor, Category, Deserialize, Serialize, machine};

    pub(crate) struct Packer;

    impl Actor for Packer {
        const KIND: &'static str = "packer";
        const CATEGORY: Category = Category::Human;
        const WAS: Option<&'static str> = Some("clerk");
    }

    #[machine(durable)]
    #[derive(Debug, Serialize, Deserialize)]
    pub(crate) enum Order {
        #[initial]
        #[was = "placed"]
        #[on(wrap(parcels) => Wrapped, by = Packer, was = "pack")]
        #[on(lose(#[was = "note"] remark: String) => Lost)]
        Received {
            #[was = "customer"]
            buyer: String,
        },
        #[stable]
        #[was = "Packed"]
        #[on(ship => Shipped)]
        #[on(unpack => Received)]
        Wrapped {
            #[was = "customer"]
            buyer: String,
            #[was = "boxes"]
            parcels: u32,
        },
        #[on(find => Received)]
        #[on(write_off => Shipped)]
        Lost {
            #[was = "customer"]
            buyer: String,
        },
        #[terminal]
        Shipped {
            #[was = "customer"]
            buyer: String,
        },
    }
}

// Removes a move that the history used, and a state.
version!(pub(super) mod removals [] enum Order {
    #[initial]
    #[on(pack(boxes) => Packed, by = Clerk)]
    Placed { customer: String },
    #[stable]
    #[on(ship => Shipped)]
    Packed { customer: String, boxes: u32 },
    #[terminal]
    Shipped { customer: String },
});

/// Changes the type of a field in two steps, each with an upgrade function.
pub(super) mod upgraded {
    use super::{Deserialize, Serialize, first::Clerk, machine};

    /// Packed, in version 1.
    #[derive(Deserialize)]
    pub(crate) struct Packed1 {
        customer: String,
        boxes: u32,
    }

    /// Packed, in version 2.
    #[derive(Serialize, Deserialize)]
    pub(crate) struct Packed2 {
        customer: String,
        weights: Vec<u32>,
    }

    #[derive(Debug, thiserror::Error)]
    #[error("{0} boxes are too many")]
    pub(crate) struct TooMany(u32);

    pub(crate) fn to_weights(old: Packed1) -> Result<Packed2, TooMany> {
        if old.boxes > 1000 {
            return Err(TooMany(old.boxes));
        }
        Ok(Packed2 { customer: old.customer, weights: vec![0; old.boxes as usize] })
    }

    #[allow(clippy::unnecessary_wraps, reason = "the signature of an upgrade")]
    pub(crate) fn to_sum(old: Packed2) -> Result<order::Packed, std::convert::Infallible> {
        let boxes = old.weights.len();
        Ok(order::Packed { customer: old.customer, weight: old.weights.iter().sum(), boxes })
    }

    #[machine(durable, version = 3)]
    #[derive(Debug, Serialize, Deserialize)]
    pub(crate) enum Order {
        #[initial]
        #[on(pack(weight, boxes) => Packed, by = Clerk)]
        #[on(lose(note: String) => Lost)]
        Placed { customer: String },
        #[stable]
        #[upgrade(1 => to_weights, 2 => to_sum)]
        #[on(ship => Shipped)]
        #[on(unpack => Placed)]
        Packed { customer: String, boxes: usize, weight: u32 },
        #[on(find => Placed)]
        #[on(write_off => Shipped)]
        Lost { customer: String },
        #[terminal]
        Shipped { customer: String },
    }
}

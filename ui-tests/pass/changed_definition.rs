//! `was`, `version` and `upgrade` are part of the definition, and old names can be read.

use std::convert::Infallible;

use machine::{machine, stored::Context};
use serde::{Deserialize, Serialize};

/// The context of version 1.
#[derive(Debug, Deserialize)]
pub struct Buyer {
    name: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Customer {
    first: String,
    last: String,
}

impl Context for Customer {
    type Summary = ();
}

fn split(old: Buyer) -> Result<Customer, String> {
    let (first, last) = old.name.split_once(' ').ok_or("this name has no last name")?;
    Ok(Customer { first: first.to_owned(), last: last.to_owned() })
}

/// `Packed` in version 1, and in version 2.
#[derive(Debug, Deserialize)]
pub struct PackedV1 {
    weight: u8,
}

#[derive(Debug, Deserialize)]
pub struct PackedV2 {
    weight: u32,
}

fn wider(old: PackedV1) -> Result<PackedV2, Infallible> {
    Ok(PackedV2 { weight: u32::from(old.weight) })
}

mod upgrades {
    use super::{PackedV2, order};

    pub(super) fn in_grams(old: PackedV2) -> Result<order::Packed, &'static str> {
        let grams = old.weight.checked_mul(1000).ok_or("too heavy")?;
        Ok(order::Packed { grams })
    }
}

/// An order, in its third version.
#[machine(durable, context = Customer, version = 3, upgrade(1 => split))]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Order {
    #[initial]
    #[was = "Open"]
    #[was = "Draft"]
    #[on(pack(grams) => Packed, was = "wrap", was = "box_up")]
    #[on(cancel(#[was = "cause"] reason: String) => Cancelled)]
    Placed,

    #[upgrade(1 => wider, 2 => upgrades::in_grams)]
    #[on(ship(#[was = "number"] parcel) => Shipped)]
    Packed { grams: u32 },

    #[terminal]
    Shipped {
        #[was = "parcel_number"]
        parcel: u64,
    },

    #[terminal]
    Cancelled,
}

fn customer() -> Customer {
    split(Buyer { name: "Ann Lee".to_owned() }).unwrap()
}

#[test]
fn the_definition_has_the_old_names() {
    let definition = order::DEFINITION;
    assert_eq!(definition.version, 3);
    assert_eq!(definition.states[0].was.as_ref(), ["open", "draft"]);
    assert_eq!(definition.states[1].upgrades.as_ref(), [1, 2]);
    assert_eq!(definition.states[2].fields[0].was.as_ref(), ["parcel_number"]);
    let pack = definition.find_move(0, "pack").unwrap();
    assert_eq!(pack.edges()[0].was.as_ref(), ["wrap", "box_up"]);
    let cancel = definition.find_move(0, "cancel").unwrap();
    assert_eq!(cancel.edges()[0].payload[0].was.as_ref(), ["cause"]);
    let ship = definition.find_move(1, "ship").unwrap();
    assert_eq!(ship.edges()[0].payload[0].was.as_ref(), ["number"]);
}

#[test]
fn an_old_name_is_not_in_the_machine() {
    let shipped = Order::new(customer()).pack(7).ship(8);
    assert_eq!(shipped.state().parcel, 8);
    assert_eq!(order::Status::Placed.as_str(), "placed");
}

#[test]
fn a_field_can_be_read_by_its_old_name() {
    let shipped: order::Shipped = serde_json::from_str(r#"{"parcel_number": 7}"#).unwrap();
    assert_eq!(shipped.parcel, 7);
    assert_eq!(serde_json::to_string(&shipped).unwrap(), r#"{"parcel":7}"#);
}

//! A machine of the user's own with marks of every kind: a context, a choice, a group, deadlines,
//! and fields for every audience.

use std::time::Duration;

use machine::{
    actor::{Actor, Category, GraphRunner, Human, ToolNode},
    definition::Mark,
    machine,
    stored::{Context, Index},
};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Purchase {
    pub(crate) item: String,
    pub(crate) warehouse: String,
    pub(crate) card: String,
    pub(crate) session: String,
    pub(crate) limit_ms: u64,
}

impl Context for Purchase {
    type Summary = ();
    const MARKS: &'static [Mark] = &[Mark::human("item"), Mark::diagnostic("warehouse")];

    fn index(&self, (): &()) -> Index {
        let mut index = Index::default();
        index.session = Some(self.session.clone());
        index
    }
}

pub(crate) fn purchase(session: &str) -> Purchase {
    Purchase {
        item: "lamp".to_owned(),
        warehouse: "North".to_owned(),
        card: "4111".to_owned(),
        session: session.to_owned(),
        limit_ms: 60_000,
    }
}

/// An actor with a new kind, which people see as a category only.
#[derive(Debug)]
pub(crate) struct Packer;

impl Actor for Packer {
    const KIND: &'static str = "packer_kind";
    const CATEGORY: Category = Category::Agent;
}

#[machine(
    durable,
    context = Purchase,
    on(cancel(why, #[audience(internal)] code: String) => Cancelled, from = Open, by = Human),
    on(expire(why = "too late".to_owned()) => Cancelled, from = Open, by = GraphRunner,
        after = Duration::from_millis(context.limit_ms)),
)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Shop {
    #[initial]
    #[group(Open)]
    #[on(pack(boxes, shelf, password, #[audience(human)] remark: String, hidden_remark: String)
        => Packed, by = Packer)]
    Placed,

    #[stable]
    #[group(Open)]
    #[on(ship(carrier, fast: bool) => if fast { Flown } else { Shipped }, by = ToolNode)]
    Packed {
        #[audience(human)]
        boxes: u32,
        #[audience(diagnostic)]
        shelf: String,
        password: String,
    },

    #[terminal]
    Shipped {
        #[audience(human)]
        carrier: String,
    },

    #[terminal]
    Flown {
        /// The strictest mark of a choice counts for the payload.
        #[audience(diagnostic)]
        carrier: String,
    },

    #[terminal]
    Cancelled {
        #[audience(human)]
        why: String,
    },
}

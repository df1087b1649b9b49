// A type that is not there is reported once, where it is written.

use machine::{actor::ToolNode, machine};
use serde::{Deserialize, Serialize};

#[machine(durable, on(cancel(why) => Cancelled, from = Active))]
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Order {
    #[initial]
    #[group(Active)]
    #[on(pay(total = 1, note: String) => Paid, by = ToolNode, guard = enough -> String)]
    Draft { count: u32 },

    #[group(Active)]
    #[on(ship(to) => Shipped)]
    Paid { total: u32, count: u32 },

    #[terminal]
    Shipped { to: Strng, total: u32 },

    #[terminal]
    Cancelled { why: String },
}

fn enough(_: &order::Draft, _: &String) -> Result<(), String> { Ok(()) }

fn main() {
    let order = Order::new(3);
    let _cancelled = order.cancel("x".to_owned());
}

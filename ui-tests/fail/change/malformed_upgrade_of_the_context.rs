// M0017: in the options of the enum.

use machine::machine;
use machine::stored::Context;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Customer {
    name: String,
}

impl Context for Customer {
    type Summary = ();
}

fn rename(name: String) -> Result<Customer, String> {
    Ok(Customer { name })
}

#[machine(durable, context = Customer, version = 2, upgrade(1 -> rename))]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Order {
    #[initial]
    #[on(ship => Shipped)]
    Packed,

    #[terminal]
    Shipped,
}

fn main() {
    let customer = rename("Bob".to_owned()).unwrap();
    let _shipped = Order::new(customer).ship();
}

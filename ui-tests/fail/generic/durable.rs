// M0003

use machine::machine;
use serde::{Deserialize, Serialize};

#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Parcel<T> {
    #[initial]
    #[on(fill(content) => Full)]
    Empty,

    #[terminal]
    Full { content: T },
}

fn main() {
    let full = Parcel::new().fill("books".to_owned());
    let _content: &String = &full.state().content;
    let _id = full.id();
}

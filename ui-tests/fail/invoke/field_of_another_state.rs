// M0130

use machine::actor::Human;
use machine::contract::Tool;
use machine::machine;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Serialize, Deserialize, Tool)]
#[tool(files.read, idempotent, receipt = String)]
struct Read {
    path: String,
}

#[machine(durable)]
#[derive(Debug, Serialize, Deserialize)]
enum Search {
    #[initial]
    #[invoke(read: Read = Read { path: topic })]
    #[on(find(topic) => Found, by = Human)]
    Reading { folder: String },

    #[terminal]
    Found { topic: String },
}

fn main() {
    let ann = Human::new("ann").unwrap();
    let found = Search::new("notes".to_owned()).find("ports".to_owned(), &ann);
    assert_eq!(found.state().topic, "ports");
}

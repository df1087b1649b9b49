// M0018: `version` takes a number.

use machine::machine;
use serde::{Deserialize, Serialize};

#[machine(durable, version = "2")]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Door {
    #[initial]
    #[on(open => Open)]
    Closed,

    #[on(close => Closed)]
    Open,
}

fn main() {
    let _closed = Door::new().open().close();
}

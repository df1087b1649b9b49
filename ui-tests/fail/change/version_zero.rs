// M0018

use machine::machine;
use serde::{Deserialize, Serialize};

#[machine(durable, version = 0)]
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

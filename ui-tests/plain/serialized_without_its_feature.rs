// M0029

use machine::machine;
use serde::Serialize;

#[machine]
#[derive(Debug, Serialize)]
enum Door {
    #[initial]
    #[on(open => Open)]
    Closed,

    #[on(close => Closed)]
    Open,
}

fn main() {
    let _any = AnyDoor::from(Door::new().open());
}

// A durable machine cannot contain another machine; it has it as a child.

use machine::machine;
use serde::{Deserialize, Serialize};

#[machine(durable)]
#[derive(Debug, Serialize, Deserialize)]
enum Inner {
    #[initial]
    #[on(end => Ended)]
    Begun,

    #[terminal]
    Ended,
}

#[machine(durable)]
#[derive(Debug, Serialize, Deserialize)]
enum Outer {
    #[initial]
    #[on(hold(inner) => Holding)]
    Idle,

    #[terminal]
    Holding { inner: AnyInner },
}

fn main() {
    let _outer = Outer::new().hold(Inner::new().into());
}

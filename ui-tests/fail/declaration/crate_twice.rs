// M0014

use machine::machine;

#[machine(crate = machine, crate = machine)]
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

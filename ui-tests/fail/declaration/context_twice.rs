// M0014

use machine::machine;

#[machine(context = u32, context = u64)]
enum Door {
    #[initial]
    #[on(open => Open)]
    Closed,

    #[on(close => Closed)]
    Open,
}

fn main() {
    let _closed = Door::new(7).open().close();
}

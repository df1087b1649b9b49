// M0001

use machine::machine;

#[machine]
struct Door {
    open: bool,
}

fn main() {
    let door = Door { open: false };
    assert!(!door.open);
}

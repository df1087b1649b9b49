// M0002

use machine::machine;

#[machine(status(derives(Default)))]
enum Door {
    #[initial]
    #[on(open => Open)]
    Closed,

    #[on(close => Closed)]
    Open,
}

fn main() {
    let closed = Door::new().open().close();
    assert_eq!(AnyDoor::from(closed).status(), door::Status::Closed);
}

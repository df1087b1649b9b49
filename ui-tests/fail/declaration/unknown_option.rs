// M0002

use machine::machine;

#[machine(persistent)]
enum Door {
    #[initial]
    #[on(open => Open)]
    Closed,

    #[on(close => Closed)]
    Open,
}

fn main() {
    let closed = Door::new().open().close();
    let any = AnyDoor::from(closed);
    assert_eq!(any.status(), door::Status::Closed);
}

// M0207

use machine::machine;

#[machine]
enum Door {
    #[initial]
    #[on(open => Open)]
    Closed,

    #[on(close => Closed)]
    #[on(jam => Jammed)]
    Open,

    #[on(pull => Jammed)]
    Jammed,
}

fn main() {
    let jammed = Door::new().open().jam().pull();
    assert_eq!(AnyDoor::from(jammed).status(), door::Status::Jammed);
}

// M0116

use machine::machine;

#[machine]
enum Link {
    #[initial]
    #[on(upgrade => HTTP)]
    Http,

    #[terminal]
    HTTP,
}

fn main() {
    let upgraded = Link::new().upgrade();
    assert_eq!(AnyLink::from(upgraded).status(), link::Status::HTTP);
}

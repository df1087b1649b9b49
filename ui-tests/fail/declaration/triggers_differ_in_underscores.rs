// M0116: both events would be named `GoOn`.

use machine::machine;

#[machine]
enum Walk {
    #[initial]
    #[on(go_on => Walking)]
    Standing,

    #[on(go__on => Standing)]
    Walking,
}

fn main() {
    let standing = Walk::new().go_on().go__on();
    assert_eq!(AnyWalk::from(standing).status(), walk::Status::Standing);
}

// M0005

use machine::machine;

#[machine(on(stop(reason) => Stopped, form = Open))]
enum Order {
    #[initial]
    #[group(Open)]
    #[on(pay => Paid)]
    Placed,

    #[terminal]
    Paid,

    #[terminal]
    Stopped { reason: String },
}

fn main() {
    let stopped = Order::new().stop("late".to_owned());
    assert_eq!(stopped.state().reason, "late");
    let _paid = Order::new().pay();
}

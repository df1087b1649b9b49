// M0010

use machine::machine;

#[machine]
enum Order {
    #[initial]
    #[on(report => Event)]
    Packed,

    #[terminal]
    Event,
}

fn main() {
    let reported = Order::new().report();
    let _any = AnyOrder::from(reported);
}

// A guard returns a `Result`.

use machine::machine;

#[machine]
#[derive(Debug)]
enum Order {
    #[initial]
    #[on(pay(amount: u64) => Paid, guard = enough -> String)]
    Draft,

    #[terminal]
    Paid,
}

fn enough(_draft: &order::Draft, amount: &u64) -> bool {
    *amount > 9
}

fn main() {
    let _paid = Order::new().pay(10).unwrap();
}

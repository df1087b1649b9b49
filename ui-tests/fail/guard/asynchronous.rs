// A guard is not asynchronous.

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

async fn enough(_draft: &order::Draft, amount: &u64) -> Result<(), String> {
    if *amount > 9 { Ok(()) } else { Err("too little".to_owned()) }
}

fn main() {
    let _paid = Order::new().pay(10).unwrap();
}

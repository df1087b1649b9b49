// A guarded transition returns a `Result`.

use machine::machine;

#[machine]
#[derive(Debug)]
enum Order {
    #[initial]
    #[on(pay(amount: u64) => Paid, guard = enough -> String)]
    Draft,

    #[on(ship => Shipped)]
    Paid,

    #[terminal]
    Shipped,
}

fn enough(_draft: &order::Draft, amount: &u64) -> Result<(), String> {
    if *amount > 9 { Ok(()) } else { Err("too little".to_owned()) }
}

fn main() {
    let _shipped = Order::new().pay(10).ship();
}

// M0015

use machine::machine;

#[derive(Debug)]
enum Answer {
    Yes,
    No,
}

#[machine]
#[derive(Debug)]
enum Order {
    #[initial]
    #[on(confirm(answer: Answer) => match answer {})]
    #[on(ship => Shipped)]
    Packed,

    #[terminal]
    Shipped,
}

fn main() {
    let _after = Order::new().confirm(Answer::Yes);
    let _after = Order::new().confirm(Answer::No);
}

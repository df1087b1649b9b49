// M0005: the arms of a `match` are separated by commas.

use machine::machine;

enum Answer {
    Yes,
    No,
}

#[machine]
enum Order {
    #[initial]
    #[on(confirm(answer: Answer) => match answer {
        Answer::Yes => Confirmed
        Answer::No => Cancelled
    })]
    Placed,

    #[terminal]
    Confirmed,

    #[terminal]
    Cancelled,
}

fn main() {
    let _after = Order::new().confirm(Answer::Yes);
    let _after = Order::new().confirm(Answer::No);
}

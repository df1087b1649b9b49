// An arm that is never taken is an error, not a warning.

use machine::machine;

enum Answer {
    Yes,
    No,
}

#[machine]
enum Order {
    #[initial]
    #[on(confirm(answer: Answer) => match answer {
        Answer::Yes => Confirmed,
        _ => Cancelled,
        Answer::No => Returned,
    })]
    Placed,

    #[terminal]
    Confirmed,

    #[terminal]
    Cancelled,

    #[terminal]
    Returned,
}

fn main() {
    let _after = Order::new().confirm(Answer::Yes);
    let _after = Order::new().confirm(Answer::No);
}

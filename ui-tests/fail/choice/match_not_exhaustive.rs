// The arms of a choice cover every value, as those of any `match` do.

use machine::machine;

enum Answer {
    Yes,
    No,
    Later,
}

#[machine]
enum Order {
    #[initial]
    #[on(confirm(answer: Answer) => match answer {
        Answer::Yes => Confirmed,
        Answer::No => Cancelled,
    })]
    Placed,

    #[terminal]
    Confirmed,

    #[terminal]
    Cancelled,
}

fn main() {
    for answer in [Answer::Yes, Answer::No, Answer::Later] {
        let _after = Order::new().confirm(answer);
    }
}

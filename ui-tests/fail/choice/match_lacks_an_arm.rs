// The arms of a choice cover every value; this one gives fields in its last arm.

use machine::machine;

pub enum Answer {
    Yes,
    No(String),
    Later,
}

#[machine]
enum Order {
    #[initial]
    #[on(confirm(answer: Answer) => match answer {
        Answer::Yes => Confirmed,
        Answer::No(why) => Cancelled(why),
    })]
    Placed,

    #[terminal]
    Confirmed,

    #[terminal]
    Cancelled { why: String },
}

fn main() {
    for answer in [Answer::Yes, Answer::No(String::new()), Answer::Later] {
        let _after = Order::new().confirm(answer);
    }
}

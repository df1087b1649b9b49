// M0120: in the guard of an arm.

use machine::machine;

enum Answer {
    Yes,
    No,
}

#[machine]
enum Order {
    #[initial]
    #[on(confirm(answer: Answer, note: String) => match answer {
        Answer::Yes if note.is_empty() => Confirmed,
        Answer::Yes | Answer::No => Cancelled,
    })]
    Placed { note: String },

    #[terminal]
    Confirmed,

    #[terminal]
    Cancelled,
}

fn main() {
    let _after = Order::new(String::new()).confirm(Answer::Yes, String::new());
    let _after = Order::new(String::new()).confirm(Answer::No, String::new());
}

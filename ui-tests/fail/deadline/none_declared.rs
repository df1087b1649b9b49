// Only a machine with a deadline can fire one.

use machine::machine;

#[machine]
enum Question {
    #[initial]
    #[on(answer => Answered)]
    Asked,

    #[terminal]
    Answered,
}

fn main() {
    let _answered = AnyQuestion::from(Question::new()).fire_deadline("answer");
}

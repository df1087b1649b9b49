// M0120: the pattern binds a name that `Running` would carry over.

use machine::machine;

enum Answer {
    Yes(String),
    No,
}

#[machine]
enum Question {
    #[initial]
    #[on(answer(answer: Answer) => match answer {
        Answer::Yes(scope) if scope.is_empty() => Stopped,
        Answer::Yes(scope) => Running,
        Answer::No => Stopped,
    })]
    Asked { scope: String },

    #[terminal]
    Running { scope: String },

    #[terminal]
    Stopped,
}

fn main() {
    let _after = Question::new("files".to_owned()).answer(Answer::Yes("all".to_owned()));
    let _after = Question::new("files".to_owned()).answer(Answer::No);
}

// M0122: the journal names one actor for each transition.

use std::time::Duration;

use machine::actor::{GraphRunner, ToolNode};
use machine::machine;

#[machine]
enum Question {
    #[initial]
    #[on(timeout => Unanswered, by = GraphRunner | ToolNode, after = limit)]
    Asked { limit: Duration },

    #[terminal]
    Unanswered,
}

fn main() {
    let _unanswered = Question::new(Duration::from_secs(30)).timeout(&ToolNode);
    let _unanswered = Question::new(Duration::from_secs(30)).timeout(&GraphRunner);
}

// M0122: the journal names one actor for each transition.

use std::time::Duration;

use machine::actor::{Actors, GraphRunner, ToolNode};
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
    let actors = Actors::issue("inbox").unwrap();
    let _unanswered = Question::new(Duration::from_secs(30)).timeout(&actors.tool_node);
    let _unanswered = Question::new(Duration::from_secs(30)).timeout(&actors.graph_runner);
}

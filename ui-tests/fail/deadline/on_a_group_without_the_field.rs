// Every state of the group has the fields that the group's deadline uses.

use std::time::Duration;

use machine::actor::{Actors, GraphRunner};
use machine::machine;

#[machine(on(expire => Expired, from = Active, by = GraphRunner, after = limit))]
enum Question {
    #[initial]
    #[group(Active)]
    #[on(read => Read)]
    Asked { limit: Duration },

    #[group(Active)]
    Read,

    #[terminal]
    Expired,
}

fn main() {
    let actors = Actors::issue("inbox").unwrap();
    let _expired = Question::new(Duration::from_secs(30)).expire(&actors.graph_runner);
}

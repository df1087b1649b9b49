// Every state of the group has the fields that the group's deadline uses.

use std::time::Duration;

use machine::actor::GraphRunner;
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
    let _expired = Question::new(Duration::from_secs(30)).expire(&GraphRunner);
}

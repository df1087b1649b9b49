// M0144

use machine::actor::GraphRunner;
use machine::machine;

#[machine]
enum Passport {
    #[initial]
    #[on(remind(reminders = reminders + 1) => Valid, by = GraphRunner, at = until)]
    #[on(expire => Expired)]
    Valid { until: i64, reminders: u32 },

    #[terminal]
    Expired,
}

fn main() {
    assert_eq!(Passport::new(0, 0).deadlines().count(), 1);
}

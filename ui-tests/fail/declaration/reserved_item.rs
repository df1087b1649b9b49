// M0008: a serialized event has its name under `trigger`.

use machine::machine;
use serde::{Deserialize, Serialize};

#[machine]
#[derive(Debug, Serialize, Deserialize)]
enum Alarm {
    #[initial]
    #[on(ring(trigger: String) => Ringing)]
    Silent,

    #[terminal]
    Ringing,
}

fn main() {
    let _ringing = Alarm::new().ring("smoke".to_owned());
}

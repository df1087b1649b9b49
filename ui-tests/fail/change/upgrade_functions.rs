// Functions that cannot upgrade. States are named after the mistakes.

use machine::machine;
use serde::{Deserialize, Serialize};

struct Failure;

struct Unreadable {
    parcel: u64,
}

#[derive(Serialize, Deserialize)]
struct Old {
    parcel: u64,
}

fn read(old: Unreadable) -> Result<order::UnreadableData, String> {
    Ok(order::UnreadableData { parcel: old.parcel })
}

fn number(old: Old) -> Result<u64, String> {
    Ok(old.parcel)
}

fn convert(old: Old) -> order::NoResult {
    order::NoResult { parcel: old.parcel }
}

fn check(old: Old) -> Result<order::UnprintableError, Failure> {
    if old.parcel == 0 { Err(Failure) } else { Ok(order::UnprintableError { parcel: old.parcel }) }
}

fn skip(old: Old) -> Result<order::DoNotFollowEachOther, String> {
    Ok(order::DoNotFollowEachOther { parcel: old.parcel })
}

#[machine(durable, version = 3)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Order {
    #[initial]
    #[on(next => AnotherType)]
    // The data of the old version can be read.
    #[upgrade(2 => read)]
    UnreadableData { parcel: u64 },

    #[on(next => NoResult)]
    // An upgrade makes the data of the state that it is written on.
    #[upgrade(2 => number)]
    AnotherType { parcel: u64 },

    #[on(next => UnprintableError)]
    // An upgrade may fail, so it returns a `Result`.
    #[upgrade(2 => convert)]
    NoResult { parcel: u64 },

    #[on(next => DoNotFollowEachOther)]
    // The error of an upgrade is reported as text, so it implements `Display`.
    #[upgrade(2 => check)]
    UnprintableError { parcel: u64 },

    #[terminal]
    // The upgrade of version 2 takes the data that the upgrade of version 1 returns.
    #[upgrade(1 => skip, 2 => skip)]
    DoNotFollowEachOther { parcel: u64 },
}

fn main() {
    let _end = Order::new(7).next().next().next().next();
}

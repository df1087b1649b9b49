//! Types that are written differently are equal if the compiler says so: aliases and paths fit.

use std::{collections::BTreeMap, time::Duration};

use machine::machine;

type Grams = u64;
type Reason = String;
type Labels<T> = BTreeMap<String, T>;

fn light<S>(_: &S, weight: &Grams) -> Result<(), Reason> {
    if *weight < 1000 { Ok(()) } else { Err("too heavy".to_owned()) }
}

fn lighter<S>(_: &S, weight: &u64) -> Result<(), String> {
    if *weight < 500 { Ok(()) } else { Err("too heavy".to_owned()) }
}

/// A parcel.
#[machine]
#[derive(Debug, Clone, PartialEq)]
pub enum Parcel {
    #[initial]
    #[on(weigh(weight: Grams) => Weighed(limit = Duration::ZERO, grams = weight), guard = light -> Reason)]
    #[on(skip => Skipped)]
    Packed { labels: Labels<u8> },

    #[on(weigh(weight: u64) => Weighed(limit = Duration::ZERO, grams = weight), guard = lighter -> String)]
    Skipped { labels: BTreeMap<String, u8> },

    #[on(stamp(cents) => if cents > 100 { Express } else { Slow })]
    Weighed { labels: BTreeMap<String, u8>, limit: std::time::Duration, grams: Grams },

    #[terminal]
    Express { cents: u32, grams: u64, limit: Duration },

    #[terminal]
    Slow { cents: core::primitive::u32, grams: Grams },
}

fn packed() -> Parcel<parcel::Packed> {
    Parcel::new(Labels::from([("red".to_owned(), 1)]))
}

#[test]
fn a_field_is_carried_over_under_an_alias() {
    let weighed = packed().skip().weigh(7).unwrap();
    assert_eq!(weighed.state().labels["red"], 1);
}

#[test]
fn payload_items_and_refusals_can_use_an_alias() {
    assert_eq!(packed().weigh(700).unwrap().state().grams, 700);
    assert_eq!(packed().weigh(1000).unwrap_err().reason, "too heavy");
    assert_eq!(packed().skip().weigh(700).unwrap_err().reason, "too heavy");
}

#[test]
fn an_item_fits_a_field_of_each_target() {
    use parcel::AfterStamp;

    let weighed = || packed().weigh(7).unwrap();
    let AfterStamp::Express(express) = weighed().stamp(101) else { panic!("paid for express") };
    assert_eq!(express.state(), &parcel::Express { cents: 101, grams: 7, limit: Duration::ZERO });
    let AfterStamp::Slow(slow) = weighed().stamp(100) else { panic!("not paid for express") };
    assert_eq!(slow.state(), &parcel::Slow { cents: 100, grams: 7 });
}

//! Names, payloads, keys and texts of errors are never reported.

use machine_tests::random::Random;

use crate::{
    capture::Report,
    table::{REPORTS, SECRET, everything},
    world::{KEYS, secret},
};

/// No field of any report has it, at any level, nor a key.
fn is_in_no_field(secret: &str, reports: &[Report]) {
    let keys = KEYS.lock().unwrap();
    assert!(!keys.is_empty());
    for report in reports {
        for (field, value) in &report.values {
            assert!(!value.contains(secret), "{field} of {report:?}");
            assert!(!keys.iter().any(|key| value.contains(key)), "{field} of {report:?}");
        }
    }
}

/// Whatever the secret is: a random one, and with `PROPTEST_CASES` as many more.
#[test]
fn a_secret_is_in_no_field() {
    is_in_no_field(&SECRET, &REPORTS);
    let more = std::env::var("PROPTEST_CASES").map_or(0, |text| text.parse().unwrap());
    let mut random = Random::of("secrets");
    for _ in 0..more {
        let secret = secret(&mut random);
        is_in_no_field(&secret, &everything(&secret));
    }
}

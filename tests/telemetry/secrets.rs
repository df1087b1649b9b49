//! Names, payloads, keys and texts of errors are never reported.

use proptest::prelude::*;

use crate::{table::everything, world::KEYS};

proptest! {
    // Each case is a run of several seconds.
    #![proptest_config(ProptestConfig {
        cases: std::env::var("PROPTEST_CASES").map_or(2, |text| text.parse().unwrap()),
        failure_persistence: None,
        max_shrink_iters: 0,
        ..ProptestConfig::default()
    })]

    /// Whatever the secret is, no field of any report has it, at any level.
    #[test]
    fn a_secret_is_in_no_field(random in "[a-z0-9]{1,12}") {
        // A prefix that nothing else has.
        let secret = format!("ŝ{random}");
        let reports = everything(&secret);
        let keys = std::mem::take(&mut *KEYS.lock().unwrap());
        prop_assert!(!keys.is_empty());
        for report in reports {
            for (field, value) in &report.values {
                prop_assert!(!value.contains(&secret), "{field} of {report:?}");
                let has_key = keys.iter().any(|key| value.contains(key));
                prop_assert!(!has_key, "{field} of {report:?}");
            }
        }
    }
}

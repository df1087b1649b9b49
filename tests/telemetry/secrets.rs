//! Names, payloads, keys and texts of errors are never reported.

use proptest::prelude::*;

use crate::table::everything;

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
        for report in everything(&secret) {
            for (field, value) in &report.values {
                prop_assert!(!value.contains(&secret), "{field} of {report:?}");
                // Keys are hashes of the arguments with the name of the tool.
                prop_assert!(!value.contains("email.send:"), "{field} of {report:?}");
            }
        }
    }
}

//! Upgrade proofs: a program against the definition of a released version.

use std::fs;

use machine::{definition::Definition, testing::assert_upgrades};
use tempfile::TempDir;

mod released {
    use machine::machine;
    use serde::{Deserialize, Serialize};

    /// A claim, as it was released.
    #[machine(durable)]
    #[derive(Debug, Serialize, Deserialize)]
    pub(super) enum Claim {
        #[initial]
        #[on(file(amount) => Filed)]
        Draft,
        #[on(drop_it => Dropped)]
        #[on(pay => Paid)]
        Filed { amount: u32 },
        #[terminal]
        Paid { amount: u32 },
        #[terminal]
        Dropped,
    }
}

mod renamed {
    use machine::machine;
    use serde::{Deserialize, Serialize};

    /// Renamed states and fields, a new state, an optional field, and a move that is gone.
    #[machine(durable)]
    #[derive(Debug, Serialize, Deserialize)]
    pub(super) enum Claim {
        #[initial]
        #[on(file(cents) => Submitted)]
        Draft,
        #[was = "filed"]
        #[on(review(note = None) => Reviewing)]
        Submitted {
            #[was = "amount"]
            cents: u32,
        },
        #[on(pay(amount = cents) => Paid)]
        #[on(refuse => Dropped)]
        Reviewing { cents: u32, note: Option<String> },
        #[terminal]
        Paid { amount: u32 },
        #[terminal]
        Dropped,
    }
}

mod stranding {
    use machine::machine;
    use serde::{Deserialize, Serialize};

    /// The same, without saying what things were called.
    #[machine(durable)]
    #[derive(Debug, Serialize, Deserialize)]
    pub(super) enum Claim {
        #[initial]
        #[on(file(cents) => Submitted)]
        Draft,
        #[on(pay => Paid)]
        #[on(drop_it => Dropped)]
        Submitted { cents: u32 },
        #[terminal]
        Paid { cents: u32 },
        #[terminal]
        Dropped,
    }
}

/// The file that is committed beside the code.
fn file(definition: &Definition) -> (TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("claim-1.4.json");
    fs::write(&file, serde_json::to_string_pretty(definition).unwrap()).unwrap();
    (folder, file)
}

#[test]
fn a_release_that_reads_everything_passes() {
    let (_folder, file) = file(released::claim::DEFINITION);
    assert_upgrades::<released::AnyClaim>(&file);
    assert_upgrades::<renamed::AnyClaim>(&file);
}

#[test]
#[should_panic(
    expected = "\n- state `filed` was removed: keep it until no machine is in it, or write \
                           `#[was = \"filed\"]` on the state that replaces it"
)]
fn a_release_that_strands_work_fails_with_the_attribute_to_add() {
    let (_folder, file) = file(released::claim::DEFINITION);
    assert_upgrades::<stranding::AnyClaim>(&file);
}

#[test]
#[should_panic(expected = "`#[was = \"amount\"]`")]
fn every_change_in_the_way_is_named() {
    let (_folder, file) = file(released::claim::DEFINITION);
    assert_upgrades::<stranding::AnyClaim>(&file);
}

#[test]
#[should_panic(
    expected = "the definition of a released version into it, with `machine topology claim \
                           --definition`"
)]
fn a_missing_file_says_how_to_write_it() {
    assert_upgrades::<released::AnyClaim>("definitions/of-no-release.json");
}

#[test]
#[should_panic(expected = "is not the definition of a machine")]
fn a_file_of_something_else_is_refused() {
    let (_folder, file) = file(released::claim::DEFINITION);
    fs::write(&file, "{}").unwrap();
    assert_upgrades::<released::AnyClaim>(&file);
}

//! Upgrade proofs: a program against the definition of a released version.

use std::fs;

use machine::{definition::Definition, testing::assert_upgrades};
use serde_json::json;
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

    /// Renamed states, fields and triggers, a new state, an optional field, and a message that a
    /// later state takes.
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
        #[on(refuse => Dropped, was = "drop_it")]
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
    assert_upgrades::<released::AnyClaim>(&file, &[]);
    assert_upgrades::<renamed::AnyClaim>(&file, &[]);
}

#[test]
#[should_panic(
    expected = "\n- state `filed` was removed: keep it until no machine is in it, or write \
                           `#[was = \"filed\"]` on the state that replaces it"
)]
fn a_release_that_strands_work_fails_with_the_attribute_to_add() {
    let (_folder, file) = file(released::claim::DEFINITION);
    assert_upgrades::<stranding::AnyClaim>(&file, &[]);
}

#[test]
#[should_panic(expected = "`#[was = \"amount\"]`")]
fn every_change_in_the_way_is_named() {
    let (_folder, file) = file(released::claim::DEFINITION);
    assert_upgrades::<stranding::AnyClaim>(&file, &[]);
}

/// The file of a release that could take a claim back to its draft.
fn of_reopening() -> (TempDir, std::path::PathBuf) {
    let mut value = serde_json::to_value(released::claim::DEFINITION).unwrap();
    let reopen = json!({"from": 1, "trigger": "reopen", "to": 0});
    value["edges"].as_array_mut().unwrap().push(reopen);
    file(&serde_json::from_value(value).unwrap())
}

const REOPEN: &str = "move FILED -reopen-> DRAFT was removed; it stays legal where it was made";

#[test]
#[should_panic(
    expected = "\n- move FILED -reopen-> DRAFT was removed; it stays legal where it was made\n  a queued message \
                           is never taken: write `was = \"reopen\"` on the transition that replaces it, or keep \
                           it until none is left\nif a change is meant, list its first line in \
                           `assert_upgrades`"
)]
fn a_release_that_strands_a_message_fails_although_machines_can_be_read() {
    let (_folder, file) = of_reopening();
    assert_upgrades::<released::AnyClaim>(&file, &[]);
}

#[test]
fn a_change_that_is_meant_is_listed() {
    let (_folder, file) = of_reopening();
    assert_upgrades::<released::AnyClaim>(&file, &[REOPEN]);
}

#[test]
#[should_panic(expected = "\n- listed, but strands nothing: move FILED -reopen-> DRAFT")]
fn a_list_does_not_outlive_its_changes() {
    let (_folder, file) = file(released::claim::DEFINITION);
    assert_upgrades::<released::AnyClaim>(&file, &[REOPEN]);
}

#[test]
#[should_panic(expected = "\n- state `filed` was removed")]
fn machines_that_cannot_be_read_are_never_meant() {
    let comparison = released::claim::DEFINITION.compare(stranding::claim::DEFINITION);
    let all: Vec<String> = comparison.differences.iter().map(ToString::to_string).collect();
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    let (_folder, file) = file(released::claim::DEFINITION);
    assert_upgrades::<stranding::AnyClaim>(&file, &all);
}

#[test]
#[should_panic(
    expected = "the definition of a released version into it, with `machine topology claim \
                           --definition`"
)]
fn a_missing_file_says_how_to_write_it() {
    assert_upgrades::<released::AnyClaim>("definitions/of-no-release.json", &[]);
}

#[test]
#[should_panic(expected = "is not the definition of a machine")]
fn a_file_of_something_else_is_refused() {
    let (_folder, file) = file(released::claim::DEFINITION);
    fs::write(&file, "{}").unwrap();
    assert_upgrades::<released::AnyClaim>(&file, &[]);
}

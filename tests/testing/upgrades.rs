//! Upgrade proofs: a program against the definition of a released version.

use std::{
    fs,
    panic::catch_unwind,
    path::{Path, PathBuf},
};

use machine::{definition::Definition, stored::Restore, testing::assert_upgrades};
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
fn file(definition: &Definition) -> (TempDir, PathBuf) {
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

/// The file of a release that could take a claim back to its draft.
fn of_reopening() -> (TempDir, PathBuf) {
    let mut value = serde_json::to_value(released::claim::DEFINITION).unwrap();
    let reopen = json!({"from": 1, "trigger": "reopen", "to": 0});
    value["edges"].as_array_mut().unwrap().push(reopen);
    file(&serde_json::from_value(value).unwrap())
}

const REOPEN: &str = "move FILED -reopen-> DRAFT was removed; it stays legal where it was made";

#[test]
fn a_change_that_is_meant_is_listed() {
    let (_folder, file) = of_reopening();
    assert_upgrades::<released::AnyClaim>(&file, &[REOPEN]);
}

/// Why a program cannot follow a release.
fn refusal<M: Restore>(file: &Path, meant: &[&str]) -> String {
    let refused = catch_unwind(|| assert_upgrades::<M>(file, meant)).unwrap_err();
    *refused.downcast::<String>().unwrap()
}

/// Machines that cannot be read are never meant, and a list does not outlive its changes.
#[test]
fn a_release_that_strands_work_says_what_to_do() {
    let (folder, file) = file(released::claim::DEFINITION);
    let (_folder, reopening) = of_reopening();
    let other = folder.path().join("other.json");
    fs::write(&other, "{}").unwrap();
    let comparison = released::claim::DEFINITION.compare(stranding::claim::DEFINITION);
    let all: Vec<String> = comparison.differences.iter().map(ToString::to_string).collect();
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    let stranded = refusal::<stranding::AnyClaim>(&file, &[]);
    for (found, expected) in [
        (
            stranded.clone(),
            "\n- state `filed` was removed: keep it until no machine is in it, or write `#[was = \
             \"filed\"]` on the state that replaces it",
        ),
        (stranded, "`#[was = \"amount\"]`"),
        (refusal::<stranding::AnyClaim>(&file, &all), "\n- state `filed` was removed"),
        (
            refusal::<released::AnyClaim>(&reopening, &[]),
            "\n- move FILED -reopen-> DRAFT was removed; it stays legal where it was made\n  a \
             queued message is never taken: write `was = \"reopen\"` on the transition that \
             replaces it, or keep it until none is left\nif a change is meant, list its first \
             line in `assert_upgrades`",
        ),
        (
            refusal::<released::AnyClaim>(&file, &[REOPEN]),
            "\n- listed, but strands nothing: move FILED -reopen-> DRAFT",
        ),
        (
            refusal::<released::AnyClaim>(Path::new("definitions/of-no-release.json"), &[]),
            "the definition of a released version into it, with `machine topology claim \
             --definition`",
        ),
        (refusal::<released::AnyClaim>(&other, &[]), "is not the definition of a machine"),
    ] {
        assert!(found.contains(expected), "{expected}: {found}");
    }
}

//! The rules of a context: a fold over the journal, whose result is stored with the machine.

use machine::{
    effects::EffectError,
    journal::{Entry, Fact},
    machine,
    store::{CommitError, LoadError, Store},
    stored::{Breach, Context, Unverified, VerifyError},
};
use machine_tests::assert_err;
use serde::{Deserialize, Serialize};

/// The amount that an entry adds to a tank.
fn poured(entry: &Entry) -> u64 {
    match &entry.fact {
        Fact::Moved { payload, .. } => {
            payload.get("litres").and_then(serde_json::Value::as_u64).unwrap_or(0)
        }
        _ => 0,
    }
}

/// The machine, the same in each program.
macro_rules! tank {
    () => {
        #[machine(durable, context = Size)]
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        pub(super) enum Tank {
            #[initial]
            #[on(pour(litres: u64) => Self)]
            #[on(close => Closed)]
            Open,
            #[terminal]
            Closed,
        }
    };
}

/// A tank that must not overflow, and must not be left full.
mod first {
    use super::{Breach, Context, Deserialize, Entry, Serialize, machine, poured};

    #[derive(Debug, Serialize, Deserialize)]
    pub(super) struct Size {
        pub(super) litres: u64,
    }

    #[derive(Debug, Default, Serialize, Deserialize)]
    pub(super) struct Level {
        litres: u64,
    }

    impl Context for Size {
        type Summary = Level;

        fn fold(&self, level: &mut Level, entry: &Entry) -> Result<(), Breach> {
            level.litres += poured(entry);
            if level.litres > self.litres {
                return Err(Breach::new("the tank overflows; pour less"));
            }
            Ok(())
        }

        fn check(&self, level: &Level) -> Result<(), Breach> {
            if level.litres == self.litres {
                return Err(Breach::new("the tank must not be left full; pour less"));
            }
            Ok(())
        }
    }

    tank!();
}

/// A tank whose summary also counts.
mod counted {
    use super::{Breach, Context, Deserialize, Entry, Serialize, machine, poured};

    #[derive(Debug, Serialize, Deserialize)]
    pub(super) struct Size {
        litres: u64,
    }

    #[derive(Debug, Default, Serialize, Deserialize)]
    pub(super) struct Pours {
        pours: u64,
        total: u64,
    }

    impl Context for Size {
        type Summary = Pours;
        const FORMAT: u32 = 1;

        fn fold(&self, past: &mut Pours, entry: &Entry) -> Result<(), Breach> {
            past.total += poured(entry);
            past.pours += u64::from(poured(entry) > 0);
            if past.pours > 3 {
                return Err(Breach::new(format!("poured {} in more than three goes", past.total)));
            }
            Ok(())
        }
    }

    tank!();
}

/// A tank whose summary changed without a new format.
mod careless {
    use super::{Context, Deserialize, Serialize, machine};

    #[derive(Debug, Serialize, Deserialize)]
    pub(super) struct Size {
        litres: u64,
    }

    #[derive(Debug, Default, Serialize, Deserialize)]
    pub(super) struct Pours {
        pours: u64,
    }

    impl Context for Size {
        type Summary = Pours;
    }

    tank!();
}

fn tank(litres: u64) -> first::Tank<first::tank::Open> {
    first::Tank::new(first::Size { litres })
}

/// The fold continues where the last commit ended: each commit brings only its own entries.
#[tokio::test]
async fn a_fold_continues_after_a_commit() {
    let store = Store::memory();
    let mut open = tank(10).pour(4);
    store.create(&mut open).await.unwrap();
    let mut open = open.pour(5);
    store.commit(&mut open).await.unwrap();
    let first::AnyTank::Open(loaded) = store.load(open.id()).await.unwrap() else { panic!() };

    for mut overflowing in [open.pour(2), loaded.pour(2)] {
        let refused = store.commit(&mut overflowing).await;
        assert_err!(refused, EffectError::Commit(CommitError::Refused { breach, .. })
            if breach.to_string().contains("overflows"));
        assert_eq!(overflowing.journal().uncommitted().len(), 1, "the machine is unchanged");
        let id = overflowing.id();
        assert_eq!(store.history(id).await.unwrap().entries.len(), 3, "nothing was written");
        store.verify::<first::AnyTank>(id).await.unwrap();
    }
}

/// `check` sees what a commit leaves behind, not what was in between.
#[tokio::test]
async fn a_check_is_for_the_end_of_a_commit() {
    let store = Store::memory();
    let mut full = tank(10).pour(10);
    let refused = store.create(&mut full).await;
    assert_err!(refused, EffectError::Commit(CommitError::Refused { breach, .. })
        if breach.to_string().contains("left full"));
    assert_err!(store.history(full.id()).await, LoadError::NotFound { .. });

    let mut open = tank(10).pour(9);
    store.create(&mut open).await.unwrap();
    let mut full = open.pour(1);
    assert_err!(store.commit(&mut full).await, EffectError::Commit(CommitError::Refused { .. }));
}

/// A history from JSON is folded from its first entry on, so it must follow the same rules.
#[test]
fn a_history_from_json_follows_the_rules() {
    assert!(Unverified::of(&tank(10).pour(4).pour(5)).unwrap().verify::<first::AnyTank>().is_ok());
    for (broken, because) in
        [(tank(10).pour(4).pour(5).pour(2), "overflows"), (tank(10).pour(4).pour(6), "left full")]
    {
        let json = serde_json::to_string(&first::AnyTank::from(broken)).unwrap();
        let claim: Unverified = serde_json::from_str(&json).unwrap();
        assert_err!(claim.verify::<first::AnyTank>(), VerifyError::Rules { breach, .. }
            if breach.to_string().contains(because));
    }
}

/// A summary of another format is folded again from the whole journal, and then continues.
#[tokio::test]
async fn a_summary_of_another_format_is_folded_again() {
    assert_eq!(first::tank::DEFINITION.fingerprint, counted::tank::DEFINITION.fingerprint);
    let store = Store::memory();
    let mut open = tank(10).pour(2);
    store.create(&mut open).await.unwrap();
    let mut open = open.pour(3);
    store.commit(&mut open).await.unwrap();
    let id = open.id();

    // The old summary knows nothing of the two pours.
    let counted::AnyTank::Open(open) = store.load(id).await.unwrap() else { panic!() };
    let mut open = open.pour(1);
    store.commit(&mut open).await.unwrap();
    store.verify::<counted::AnyTank>(id).await.unwrap();
    let counted::AnyTank::Open(open) = store.load(id).await.unwrap() else { panic!() };
    let refused = store.commit(&mut open.pour(1)).await;
    assert_err!(refused, EffectError::Commit(CommitError::Refused { breach, .. })
        if breach.to_string() == "poured 7 in more than three goes");

    // The older program folds again too.
    let first::AnyTank::Open(open) = store.load(id).await.unwrap() else { panic!() };
    let refused = store.commit(&mut open.pour(5)).await;
    assert_err!(refused, EffectError::Commit(CommitError::Refused { breach, .. })
        if breach.to_string().contains("overflows"));
}

/// A summary that cannot be read names the repair, and changes nothing.
#[tokio::test]
async fn a_changed_summary_needs_a_new_format() {
    let store = Store::memory();
    let mut open = tank(10).pour(2);
    store.create(&mut open).await.unwrap();
    let careless::AnyTank::Open(open) = store.load(open.id()).await.unwrap() else { panic!() };
    let mut open = open.pour(1);
    let refused = store.commit(&mut open).await;
    assert_err!(refused, EffectError::Commit(CommitError::Refused { breach, .. })
        if breach.to_string().contains("raise `Context::FORMAT`"));
    store.verify::<first::AnyTank>(open.id()).await.unwrap();
}

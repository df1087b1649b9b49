//! Data that cannot be written, or could not be read back, are refused before they reach the disk.

use std::collections::HashMap;

use machine::{
    effects::EffectError,
    machine,
    store::{CommitError, Query},
    stored::{Context, Unverified},
    view::{Internal, Snapshot},
};
use machine_tests::assert_err;
use serde::{Deserialize, Serialize};

use crate::store::support::{Place, on_file};

on_file! {
    a_part_that_json_cannot_have_is_named,
    a_number_beyond_64_bits_is_refused_everywhere,
    what_is_stored_fits_into_other_json,
}

#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Vote {
    #[initial]
    #[on(count(tally) => Counted)]
    Open,
    #[terminal]
    Counted { tally: HashMap<(u8, u8), u8> },
}

/// Nested lists.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Tree(Vec<Tree>);

fn nested(levels: u8) -> Tree {
    (1..levels).fold(Tree(Vec::new()), |tree, _| Tree(vec![tree]))
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Soil {
    roots: Tree,
}

impl Context for Soil {
    type Summary = ();
}

#[machine(durable, context = Soil)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Garden {
    #[initial]
    #[on(grow(levels: u8) => Grown(tree = nested(levels)))]
    #[on(plant(tree) => Grown)]
    #[on(mark(at: u8) => Marked(row = at, places = HashMap::from([((at, at), at)])))]
    #[on(map(row, places) => Marked)]
    Empty,
    #[terminal]
    Grown { tree: Tree },
    #[terminal]
    Marked { row: u8, places: HashMap<(u8, u8), u8> },
}

fn garden(roots: u8) -> Garden<garden::Empty> {
    Garden::new(Soil { roots: nested(roots) })
}

async fn a_part_that_json_cannot_have_is_named(place: Place) {
    let places = || HashMap::from([((1, 2), 3)]);
    let cases: [(AnyGarden, &str, &str); 6] = [
        (garden(1).mark(7).into(), "`places` of the state `marked`: ", "a list of pairs"),
        (garden(1).map(7, places()).into(), "`places` of the payload: ", "a list of pairs"),
        (garden(1).grow(121).into(), "`tree` of the state `grown`: ", "nested too deeply"),
        (garden(1).grow(255).into(), "`tree` of the state `grown`: ", "nested too deeply"),
        (garden(1).plant(nested(121)).into(), "`tree` of the payload: ", "nested too deeply"),
        (garden(121).into(), "`roots` of the context: ", "nested too deeply"),
    ];
    for (mut machine, part, why) in cases {
        let refused = place.store.create(&mut machine).await;
        let text = refused.as_ref().unwrap_err().to_string();
        assert_err!(refused, EffectError::Commit(CommitError::Unwritable { .. }));
        assert!(text.contains(part) && text.contains(why), "{text}");
        assert_eq!(place.lines(&Query::new()).await, []);
    }
}

/// Data that are nested as deeply as a store takes are read back inside of views and exports.
async fn what_is_stored_fits_into_other_json(place: Place) {
    for machine in [garden(120).plant(nested(120)), garden(120).grow(120)] {
        let stored = place.created(AnyGarden::from(machine)).await;
        let snapshot = Snapshot::<Internal>::of(&stored, 0).unwrap();
        let text = serde_json::to_string(&[snapshot]).unwrap();
        assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok());
        let id = stored.journal().id();
        assert_eq!(place.store.load::<AnyGarden>(id).await.unwrap().journal().id(), id);
        let text = serde_json::to_string(&place.store.export(id).await.unwrap()).unwrap();
        let claim: Unverified = serde_json::from_str(&text).unwrap();
        claim.verify::<AnyGarden>().unwrap();
    }
}

#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Scale {
    #[initial]
    #[on(weigh(grams) => Weighed)]
    #[on(double(half: u64) => Weighed(grams = u128::from(half) * 2))]
    #[on(owe(cents) => Owing)]
    #[on(negate(amount: u64) => Owing(cents = -i128::from(amount)))]
    #[on(list(by_weight) => Listed)]
    Empty,
    #[terminal]
    Weighed { grams: u128 },
    #[terminal]
    Owing { cents: i128 },
    #[terminal]
    Listed { by_weight: HashMap<u128, u8> },
}

async fn a_number_beyond_64_bits_is_refused_everywhere(place: Place) {
    let (most, least) = (u128::from(u64::MAX), i128::from(i64::MIN));
    let cases: [(AnyScale, &str); 5] = [
        (Scale::new().weigh(most + 1).into(), "`grams` of the payload: "),
        (Scale::new().double(u64::MAX).into(), "`grams` of the state `weighed`: "),
        (Scale::new().owe(least - 1).into(), "`cents` of the payload: "),
        (Scale::new().owe(i128::MAX).into(), "`cents` of the payload: "),
        (Scale::new().negate(u64::MAX).into(), "`cents` of the state `owing`: "),
    ];
    for (mut machine, part) in cases {
        let refused = place.store.create(&mut machine).await;
        let text = refused.as_ref().unwrap_err().to_string();
        assert_err!(refused, EffectError::Commit(CommitError::Unwritable { .. }));
        assert!(text.contains(part) && text.contains("write it as a string"), "{text}");
        assert_eq!(place.lines(&Query::new()).await, []);
    }
    let fine: [AnyScale; 4] = [
        Scale::new().weigh(most).into(),
        Scale::new().owe(least).into(),
        Scale::new().owe(i128::from(u64::MAX)).into(),
        // The key is a string.
        Scale::new().list(HashMap::from([(u128::MAX, 1)])).into(),
    ];
    for machine in fine {
        let stored = place.created(machine).await;
        let loaded = place.store.load::<AnyScale>(stored.journal().id()).await.unwrap();
        let state = |scale: &AnyScale| Snapshot::<Internal>::of(scale, 0).unwrap().state.clone();
        assert!(state(&loaded) == state(&stored), "{loaded:?}");
    }
}

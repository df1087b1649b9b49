//! A state without fields gets some later.

use machine::{
    actor::Anyone,
    machine,
    store::{LoadError, OpenOptions},
    stored::{Restore, VerifyError},
};
use machine_tests::{assert_err, version};
use serde::{Deserialize, Serialize};

use crate::store::support::{Place, on_file};

on_file! {
    optional_fields_are_read_where_there_were_none,
    a_required_field_is_refused_without_an_upgrade,
    a_state_without_fields_is_upgraded_from_either_struct,
}

version!(mod bare [] enum Claim {
    #[initial]
    #[on(ask => Asked)]
    Filed,
    #[on(file => Filed)]
    Asked,
});

version!(mod optional [] enum Claim {
    #[initial]
    #[on(ask(since = Some(7), urgent = true) => Asked)]
    Filed,
    #[on(file => Filed)]
    Asked {
        since: Option<u64>,
        #[serde(default)]
        urgent: bool,
    },
});

version!(mod required [] enum Claim {
    #[initial]
    #[on(ask(since = 7) => Asked)]
    Filed,
    #[on(file => Filed)]
    Asked { since: u64 },
});

/// Upgrades from both structs that are right for a state without fields.
mod upgraded {
    use std::convert::Infallible;

    use super::{Deserialize, Serialize, machine};

    #[derive(Deserialize)]
    pub(super) struct AskedV1 {}

    #[derive(Deserialize)]
    pub(super) struct FiledV1;

    #[allow(clippy::unnecessary_wraps, reason = "the signature of an upgrade")]
    fn asked(AskedV1 {}: AskedV1) -> Result<claim::Asked, Infallible> {
        Ok(claim::Asked { since: 1 })
    }

    #[allow(clippy::unnecessary_wraps, reason = "the signature of an upgrade")]
    fn filed(FiledV1: FiledV1) -> Result<claim::Filed, Infallible> {
        Ok(claim::Filed { by: "ann".to_owned() })
    }

    #[machine(durable, version = 2)]
    #[derive(Debug, Serialize, Deserialize)]
    pub(super) enum Claim {
        #[initial]
        #[upgrade(1 => filed)]
        #[on(ask(since = 7) => Asked)]
        Filed { by: String },
        #[upgrade(1 => asked)]
        #[on(file(by = "bob".to_owned()) => Filed)]
        Asked { since: u64 },
    }
}

/// Returns whether the definitions compare as compatible, which must be true of the data, too.
fn is_compatible<M: Restore>() -> bool {
    bare::claim::DEFINITION.compare(M::DEFINITION).is_compatible()
}

async fn optional_fields_are_read_where_there_were_none(place: Place) {
    assert!(is_compatible::<optional::AnyClaim>());
    let asked = place.created(bare::Claim::new().ask()).await;
    let mut claim: optional::AnyClaim = place.store.load(asked.id()).await.unwrap();
    let optional::AnyClaim::Asked(asked) = &claim else { panic!("{claim:?}") };
    assert_eq!((asked.state().since, asked.state().urgent), (None, false));
    place.store.verify::<optional::AnyClaim>(asked.id()).await.unwrap();
    for (event, since) in
        [(optional::claim::Event::File, None), (optional::claim::Event::Ask, Some(7))]
    {
        claim.apply_mut(event, &Anyone).unwrap();
        place.store.commit(&mut claim).await.unwrap();
        claim = place.store.load(claim.id()).await.unwrap();
        if let optional::AnyClaim::Asked(asked) = &claim {
            assert_eq!((asked.state().since, asked.state().urgent), (since, true));
        }
    }
}

async fn a_required_field_is_refused_without_an_upgrade(place: Place) {
    assert!(!is_compatible::<required::AnyClaim>());
    let asked = place.created(bare::Claim::new().ask()).await;
    let refused = place.store.load::<required::AnyClaim>(asked.id()).await;
    assert_err!(refused, LoadError::Unreadable(VerifyError::Incompatible { .. }));
}

async fn a_state_without_fields_is_upgraded_from_either_struct(place: Place) {
    assert!(is_compatible::<upgraded::AnyClaim>());
    let filed = place.created(bare::Claim::new()).await;
    let asked = place.created(bare::Claim::new().ask()).await;
    let loaded: upgraded::AnyClaim = place.store.load(filed.id()).await.unwrap();
    let upgraded::AnyClaim::Filed(loaded) = loaded else { panic!("{loaded:?}") };
    assert_eq!(loaded.state().by, "ann");
    let loaded: upgraded::AnyClaim = place.store.load(asked.id()).await.unwrap();
    let upgraded::AnyClaim::Asked(loaded) = loaded else { panic!("{loaded:?}") };
    assert_eq!(loaded.state().since, 1);
}

/// A program that declares the machine opens the file, and reads it.
#[tokio::test]
async fn the_check_of_a_file_reads_them() {
    let place = Place::new().await;
    let _ = place.created(bare::Claim::new().ask()).await;
    let options = OpenOptions::new().machine::<optional::AnyClaim>();
    let check = options.check(place.file()).await.unwrap();
    assert!(check.is_clean(), "{check}");
    options.sqlite(place.file()).await.unwrap();
}

//! A machine changes while work is in flight: what the older program has stored goes on in the
//! newer one.

/// The older program, which kept weights as texts.
mod before {
    use machine::prelude::*;
    use serde::{Deserialize, Serialize};

    #[machine(durable)]
    #[derive(Debug, Serialize, Deserialize)]
    pub(super) enum Parcel {
        #[initial]
        #[on(pack(weights) => Packed, by = Human)]
        Ordered,
        #[on(deliver => Delivered, by = Human)]
        Packed { weights: Vec<String> },
        #[terminal]
        Delivered,
    }
}

/// The newer one has a state renamed, a field more, and weights in grams.
mod after {
    use std::num::ParseIntError;

    use machine::prelude::*;
    use serde::{Deserialize, Serialize};

    /// `Packed`, as version 1 had it.
    #[derive(Deserialize)]
    struct PackedV1 {
        weights: Vec<String>,
    }

    fn in_grams(old: PackedV1) -> Result<parcel::Packed, ParseIntError> {
        let grams = old.weights.into_iter().map(|weight| weight.parse::<u32>());
        Ok(parcel::Packed { weights: grams.collect::<Result<Vec<_>, _>>()?, note: None })
    }

    #[machine(durable, version = 2)]
    #[derive(Debug, Serialize, Deserialize)]
    pub(super) enum Parcel {
        #[initial]
        #[was = "ordered"]
        #[on(pack(weights, note) => Packed, by = Human)]
        Received,
        #[upgrade(1 => in_grams)]
        #[on(deliver => Delivered, by = Human)]
        Packed { weights: Vec<u32>, note: Option<String> },
        #[terminal]
        Delivered,
    }
}

#[cfg(test)]
mod tests {
    use machine::{
        testing::{TestEnvironment, assert_upgrades},
        worker::Worker,
    };

    use super::{after, before};

    fn depot() -> TestEnvironment {
        TestEnvironment::new(Worker::machine::<after::AnyParcel>)
    }

    #[tokio::test(start_paused = true)]
    async fn a_parcel_goes_on_in_the_newer_program() {
        let depot = depot();
        let ann = depot.person("ann");
        let weights = ["1200", "300"].map(str::to_owned).into();
        let id = depot.create(before::Parcel::new().pack(weights, &ann)).await;

        let after::AnyParcel::Packed(parcel) = depot.load(id).await else { panic!("it is packed") };
        assert_eq!(parcel.state().weights, [1200, 300]);
        depot.send(id, &after::parcel::Event::Deliver, &ann).await;
        let status = depot.load::<after::AnyParcel>(id).await.status();
        assert_eq!(status, after::parcel::Status::Delivered);
    }

    /// Data that cannot be upgraded are refused, and stay as they are.
    #[tokio::test(start_paused = true)]
    async fn what_cannot_be_upgraded_stays() {
        let depot = depot();
        let weights = vec!["heavy".to_owned()];
        let packed = before::Parcel::new().pack(weights, &depot.person("ann"));
        let id = depot.create(packed).await;
        assert!(depot.store().load::<after::AnyParcel>(id).await.is_err());
        let before::AnyParcel::Packed(parcel) = depot.load(id).await else {
            panic!("it is packed")
        };
        assert_eq!(parcel.state().weights, ["heavy"]);
    }

    /// The definition of version 1 is committed beside the code. A person who packs in the older
    /// program is answered at once, so no such message is queued at the release.
    #[test]
    fn the_newer_program_goes_on_with_what_the_older_one_has_stored() {
        let released = "small/definitions/parcel-1.json";
        assert_upgrades::<before::AnyParcel>(released, &[]);
        let meant = "item `weights` of move RECEIVED -pack-> PACKED changed from `Vec<String>` to \
                     `Vec<u32>`";
        assert_upgrades::<after::AnyParcel>(released, &[meant]);
    }
}

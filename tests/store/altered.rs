//! What is stored is what was there: a field that would be read back as another value is refused,
//! by its name.

#![allow(clippy::option_option, reason = "one of the values that JSON cannot tell apart")]

use machine::{
    effects::EffectError,
    machine,
    store::{CommitError, Query},
    stored::{Context, Durable},
};
use machine_tests::assert_err;
use serde::{Deserialize, Serialize, Serializer};

use crate::store::support::{Place, on_file};

on_file! {
    a_field_that_changes_is_refused,
    a_field_that_cannot_be_read_is_named,
    a_commit_is_refused_like_a_creation,
    a_context_that_changes_is_refused,
    a_field_with_a_mark_may_change,
    a_type_without_an_equality_is_not_compared,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Who {
    Mail(String),
    Phone(String),
}

#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Parcel {
    #[initial]
    #[on(send(at = 1, who) => Sent)]
    #[on(weigh(kilograms) => Weighed)]
    #[on(estimate(kilograms) => Estimated)]
    #[on(count(pieces) => Counted)]
    #[on(measure(metres) => Measured)]
    #[on(insure(share) => Insured)]
    #[on(number(number) => Numbered)]
    #[on(sense(reading) => Sensed)]
    New,
    #[terminal]
    Sent { at: u8, who: Who },
    #[terminal]
    Weighed {
        #[serde(serialize_with = "rounded")]
        kilograms: f64,
    },
    #[terminal]
    Estimated {
        #[lossy]
        #[serde(serialize_with = "rounded")]
        kilograms: f64,
    },
    #[terminal]
    Counted { pieces: Option<Option<u8>> },
    #[terminal]
    Measured { metres: f64 },
    #[terminal]
    Insured { share: Option<f64> },
    #[terminal]
    Numbered {
        #[serde(serialize_with = "as_text")]
        number: u32,
    },
    #[terminal]
    Sensed { reading: Reading },
}

/// Its degrees may be NaN, which is stored as text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Reading {
    #[serde(with = "text")]
    degrees: f64,
    #[serde(skip_deserializing)]
    sensor: u8,
}

mod text {
    use serde::{Deserialize, Deserializer, Serializer, de};

    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
    pub(super) fn serialize<S: Serializer>(number: &f64, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(number)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
        String::deserialize(from)?.parse().map_err(de::Error::custom)
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn rounded<S: Serializer>(number: &f64, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_f64(number.round())
}

/// Its twin, a `deserialize_with`, is missing.
#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn as_text<S: Serializer>(number: &u32, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(number)
}

/// Creates a machine, which is refused: nothing is stored, and the machine is as it was.
async fn refusal<M: Durable + std::fmt::Debug>(place: &Place, mut machine: M) -> EffectError {
    let before = format!("{machine:?}");
    let Err(error) = place.store.create(&mut machine).await else {
        panic!("{before} was stored");
    };
    assert_eq!(format!("{machine:?}"), before);
    assert_eq!(machine.journal().version(), 0);
    assert_eq!(place.lines(&Query::new()).await, []);
    error
}

async fn a_field_that_changes_is_refused(place: Place) {
    let new = Parcel::new;
    let phone = Who::Phone("+49 1".to_owned());
    let reading = |degrees, sensor| Reading { degrees, sensor };
    let cases = [
        ("sent", "who", refusal(&place, new().send(phone)).await),
        ("weighed", "kilograms", refusal(&place, new().weigh(1.6)).await),
        ("counted", "pieces", refusal(&place, new().count(Some(None))).await),
        // Of the number, only the other side equals itself.
        ("insured", "share", refusal(&place, new().insure(Some(f64::NAN))).await),
        ("sensed", "reading", refusal(&place, new().sense(reading(20.5, 3))).await),
        // A NaN does not hide that the sensor is not read back.
        ("sensed", "reading", refusal(&place, new().sense(reading(f64::NAN, 3))).await),
    ];
    for (of, name, error) in cases {
        let text = error.to_string();
        let EffectError::Commit(CommitError::Altered { state, field, .. }) = error else {
            panic!("{name}: {text}")
        };
        assert_eq!((&*state, field.as_deref()), (of, Some(name)), "{text}");
        assert!(text.contains(&format!("the field `{name}` of the state `{of}`")), "{text}");
    }

    let mail = Who::Mail("ann@example.com".to_owned());
    let _ = place.created(new().send(mail)).await;
    let _ = place.created(new().weigh(2.0)).await;
    let _ = place.created(new().count(Some(Some(1)))).await;
    let _ = place.created(new().insure(Some(0.1 + 0.2))).await;
    let _ = place.created(new().sense(reading(f64::NAN, 0))).await;
}

async fn a_field_that_cannot_be_read_is_named(place: Place) {
    let cases = [
        ("measured", "metres", refusal(&place, Parcel::new().measure(f64::NAN)).await),
        ("numbered", "number", refusal(&place, Parcel::new().number(7)).await),
    ];
    for (state, field, error) in cases {
        let text = error.to_string();
        assert_err!(Err::<(), _>(error), EffectError::Commit(CommitError::Unwritable { .. }));
        assert!(text.contains(&format!("`{field}` of the state `{state}`: ")), "{text}");
        assert!(text.contains("invalid type"), "{text}");
    }
}

async fn a_commit_is_refused_like_a_creation(place: Place) {
    let new = place.created(Parcel::new()).await;
    let before = place.dump();
    let mut weighed = new.weigh(1.6);
    let refused = place.store.commit(&mut weighed).await;
    assert_err!(refused, EffectError::Commit(CommitError::Altered { field: Some(_), .. }));
    assert_eq!(place.dump(), before);
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Receiver(Who);

impl Context for Receiver {
    type Summary = ();
}

#[machine(durable, context = Receiver)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Letter {
    #[initial]
    #[on(post => Posted)]
    Written,
    #[terminal]
    Posted,
}

async fn a_context_that_changes_is_refused(place: Place) {
    let to = |who: fn(String) -> Who| Letter::new(Receiver(who("+49 1".to_owned())));
    let refused = refusal(&place, to(Who::Phone)).await;
    assert!(refused.to_string().starts_with("the context of "), "{refused}");
    assert_err!(
        Err::<(), _>(refused),
        EffectError::Commit(CommitError::Altered { field: None, .. })
    );
    let _ = place.created(to(Who::Mail)).await;
}

async fn a_field_with_a_mark_may_change(place: Place) {
    let estimated = place.created(Parcel::new().estimate(1.6)).await;
    let loaded = place.store.load::<AnyParcel>(estimated.id()).await.unwrap();
    let AnyParcel::Estimated(loaded) = loaded else { panic!("{loaded:?}") };
    assert_eq!(loaded.state().kilograms.to_string(), "2");
}

/// It is written in capitals, and cannot be compared.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Shouted(String);

impl Serialize for Shouted {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&self.0.to_uppercase())
    }
}

#[machine(durable)]
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Note {
    #[initial]
    #[on(write(text) => Done)]
    Blank,
    #[terminal]
    Done { text: Shouted },
}

async fn a_type_without_an_equality_is_not_compared(place: Place) {
    let done = place.created(Note::new().write(Shouted("fire".to_owned()))).await;
    let loaded = place.store.load::<AnyNote>(done.id()).await.unwrap();
    let AnyNote::Done(loaded) = loaded else { panic!("{loaded:?}") };
    assert_eq!(loaded.state().text.0, "FIRE");
}

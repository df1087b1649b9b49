//! Eleven programs that have the same tool, each with other arguments.

use std::{collections::BTreeSet, marker::PhantomData};

use machine::contract::{Action, EffectType, Gate};
use serde::{Deserializer, Serializer, de::DeserializeOwned};
use serde_json::Value;

use super::bank::Bank;
use crate::worker::prelude::*;

/// What a call does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Meaning {
    pub(super) payee: String,
    pub(super) cents: f64,
}

/// The arguments of a program.
pub(super) trait Version: Serialize + DeserializeOwned + Send + Sync + 'static {
    /// See [`Tool::ADDED`].
    const ADDED: &'static [&'static str] = &[];

    fn meaning(&self) -> Meaning;
}

macro_rules! version {
    (
        $(#[$attribute:meta])* $name:ident { $($fields:tt)* },
        $meaning:expr $(, added = $added:expr)?
    ) => {
        #[derive(Serialize, Deserialize)]
        $(#[$attribute])*
        struct $name { $($fields)* }

        impl Version for $name {
            $(const ADDED: &'static [&'static str] = $added;)?

            fn meaning(&self) -> Meaning {
                let meaning: fn(&Self) -> (&String, f64) = $meaning;
                let (payee, cents) = meaning(self);
                Meaning { payee: payee.clone(), cents }
            }
        }
    };
}

#[derive(Serialize, Deserialize)]
struct Line {
    item: String,
    count: u32,
}

#[derive(Serialize, Deserialize)]
struct Place {
    city: String,
    floor: Option<u32>,
}

version!(
    First {
        payee: String,
        cents: u32,
        lines: Vec<Line>,
        tags: Vec<String>,
        note: Option<String>,
        place: Place,
    },
    |it| (&it.payee, it.cents.into())
);

// An argument has another name.
version!(
    Renamed {
        #[serde(alias = "payee")]
        recipient: String,
        cents: u32,
        lines: Vec<Line>,
        tags: Vec<String>,
        note: Option<String>,
        place: Place,
    },
    |it| (&it.recipient, it.cents.into())
);

#[derive(Serialize, Deserialize)]
struct City {
    city: String,
}

// The note and the floor are gone.
version!(
    Shorter { payee: String, cents: u32, lines: Vec<Line>, tags: Vec<String>, place: City },
    |it| (&it.payee, it.cents.into())
);

version!(
    #[serde(deny_unknown_fields)]
    Strict {
        payee: String,
        cents: u32,
        lines: Vec<Line>,
        tags: Vec<String>,
        note: Option<String>,
        place: Place,
    },
    |it| (&it.payee, it.cents.into())
);

#[derive(Serialize, Deserialize)]
struct Goods {
    item: String,
    count: u32,
    #[serde(default)]
    gift: bool,
}

// Arguments are added with a default.
version!(
    Added {
        payee: String,
        cents: u32,
        lines: Vec<Goods>,
        tags: Vec<String>,
        note: Option<String>,
        place: Place,
        #[serde(default)]
        express: bool,
    },
    |it| (&it.payee, it.cents.into())
);

version!(
    Listed {
        payee: String,
        cents: u32,
        lines: Vec<Goods>,
        tags: Vec<String>,
        note: Option<String>,
        place: Place,
        #[serde(default)]
        express: bool,
    },
    |it| (&it.payee, it.cents.into()),
    added = &["express", "lines[].gift"]
);

#[derive(Serialize, Deserialize)]
struct Weight {
    item: String,
    count: f64,
}

// Whole numbers have a point.
version!(
    Floats {
        payee: String,
        cents: f64,
        lines: Vec<Weight>,
        tags: Vec<String>,
        note: Option<String>,
        place: Place,
    },
    |it| (&it.payee, it.cents)
);

fn hundredfold<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
    Ok(u32::deserialize(from)?.saturating_mul(100))
}

// The number has another unit, in the file too.
version!(
    Units {
        payee: String,
        #[serde(deserialize_with = "hundredfold")]
        cents: u32,
        lines: Vec<Line>,
        tags: Vec<String>,
        note: Option<String>,
        place: Place,
    },
    |it| (&it.payee, it.cents.into())
);

mod in_euros {
    use super::{Deserialize, Deserializer, Serializer};

    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
    pub(super) fn serialize<S: Serializer>(euros: &f64, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_f64((euros * 100.0).round())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
        Ok(f64::deserialize(from)? / 100.0)
    }
}

// The number has another unit in the program only, and what is null is not written.
version!(
    InEuros {
        payee: String,
        #[serde(rename = "cents", with = "in_euros")]
        euros: f64,
        lines: Vec<Line>,
        tags: Vec<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        note: Option<String>,
        place: Place,
    },
    |it| (&it.payee, (it.euros * 100.0).round())
);

// The list is sorted.
version!(
    Sorted {
        payee: String,
        cents: u32,
        lines: Vec<Line>,
        tags: BTreeSet<String>,
        note: Option<String>,
        place: Place,
    },
    |it| (&it.payee, it.cents.into())
);

fn uppercase<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    Ok(String::deserialize(from)?.to_uppercase())
}

#[derive(Serialize, Deserialize)]
struct Capitals {
    #[serde(deserialize_with = "uppercase")]
    city: String,
    floor: Option<u32>,
}

// A member of an argument is read differently.
version!(
    Loud {
        payee: String,
        cents: u32,
        lines: Vec<Line>,
        tags: Vec<String>,
        note: Option<String>,
        place: Capitals,
    },
    |it| (&it.payee, it.cents.into())
);

/// A payment, with the arguments of a program.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Pay<V, E>(pub(super) V, PhantomData<fn() -> E>);

impl<V: Version, E: EffectType> Tool for Pay<V, E> {
    const SERVICE: &'static str = "bank";
    const METHOD: &'static str = "pay";
    type Effect = E;
    type Receipt = String;
    type Refusal = String;
    const SETTLING_TIME: Duration = Duration::ZERO;
    const ADDED: &'static [&'static str] = V::ADDED;
}

type Ask = fn(&Value) -> Option<(Gate, Planned<Action>)>;
type Work = fn(&Store, Bank) -> Worker;

/// A program that has the tool.
#[derive(Debug, Clone, Copy)]
pub(super) struct Program {
    pub(super) name: &'static str,
    /// Plans a call with these arguments, and asks for its approval. `None` if this program would
    /// read others.
    pub(super) ask: Ask,
    pub(super) work: Work,
    /// The arguments that it reads from stored ones, written again.
    pub(super) read: fn(&Value) -> Result<Value, String>,
    pub(super) added: &'static [&'static str],
}

impl Program {
    fn of<V: Version>(is_irreversible: bool) -> Self {
        let (ask, work): (Ask, Work) = if is_irreversible {
            (ask::<V, Irreversible>, work::<V, Irreversible>)
        } else {
            (ask::<V, Idempotent>, work::<V, Idempotent>)
        };
        let name = std::any::type_name::<V>();
        Self { name, ask, work, read: read::<V>, added: V::ADDED }
    }
}

/// All programs; in all of them the tool is irreversible, or in none.
pub(super) fn programs(is_irreversible: bool) -> [Program; 11] {
    [
        Program::of::<First>,
        Program::of::<Renamed>,
        Program::of::<Shorter>,
        Program::of::<Strict>,
        Program::of::<Added>,
        Program::of::<Listed>,
        Program::of::<Floats>,
        Program::of::<Units>,
        Program::of::<InEuros>,
        Program::of::<Sorted>,
        Program::of::<Loud>,
    ]
    .map(|of| of(is_irreversible))
}

fn read<V: Version>(stored: &Value) -> Result<Value, String> {
    let read: V = serde_json::from_value(stored.clone()).map_err(|error| error.to_string())?;
    Ok(serde_json::to_value(read).unwrap())
}

fn ask<V: Version, E: EffectType>(arguments: &Value) -> Option<(Gate, Planned<Action>)> {
    let arguments: V = serde_json::from_value(arguments.clone()).unwrap();
    let call = Pay::<V, E>(arguments, PhantomData);
    let contract = Contract::of(&call, reasoning_node()).ok()?;
    let (gate, call) = contract.ask::<Pay<V, E>>(None, ecs_node()).unwrap();
    Some((gate, call.into_execution().into()))
}

fn work<V: Version, E: EffectType>(store: &Store, bank: Bank) -> Worker {
    worker(store).tool::<Pay<V, E>>(bank)
}

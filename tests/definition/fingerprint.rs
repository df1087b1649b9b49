//! The fingerprint changes with what counts, and with nothing else (DESIGN 4).

use machine_tests::actors::tool_node;
use std::time::Duration;

use machine::{
    actor::{Actor, Category, EcsNode, ToolNode},
    contract::execution,
    definition::{Definition, Fingerprint},
    machine,
};

/// Declares a small machine in its own module. All of them have the same name.
macro_rules! parcel {
    ($module:ident { $($body:tt)* }) => {
        mod $module {
            use super::*;

            #[machine]
            #[derive(Debug)]
            pub(super) enum Parcel { $($body)* }
        }
    };
}

parcel!(base {
    /// On its way.
    #[initial]
    #[on(arrive(place) => Here, by = ToolNode)]
    Away,
    /// There.
    #[stable]
    #[on(fetch => Gone, by = ToolNode | EcsNode)]
    Here { place: Vec<String> },
    #[terminal]
    Gone,
});

parcel!(documented {
    /// Between two places.
    ///
    /// With more to say.
    #[initial]
    #[on(arrive(place) => Here, by = ToolNode)]
    Away,
    #[stable]
    #[on(fetch => Gone, by = ToolNode | EcsNode)]
    Here {
        /// Where.
        place: Vec<String>,
    },
    /// Fetched.
    #[terminal]
    Gone,
});

parcel!(renamed_state {
    #[initial] #[on(arrive(place) => There, by = ToolNode)] Away,
    #[stable] #[on(fetch => Gone, by = ToolNode | EcsNode)] There { place: Vec<String> },
    #[terminal] Gone,
});

parcel!(renamed_trigger {
    #[initial] #[on(come(place) => Here, by = ToolNode)] Away,
    #[stable] #[on(fetch => Gone, by = ToolNode | EcsNode)] Here { place: Vec<String> },
    #[terminal] Gone,
});

parcel!(added_edge {
    #[initial] #[on(arrive(place) => Here, by = ToolNode)] Away,
    #[stable] #[on(fetch => Gone, by = ToolNode | EcsNode)] #[on(burn => Gone)]
    Here { place: Vec<String> },
    #[terminal] Gone,
});

parcel!(turned_edge {
    #[initial] #[on(arrive(place) => Here, by = ToolNode)] #[on(lose => Gone)] Away,
    #[stable] #[on(fetch => Away, by = ToolNode | EcsNode)] Here { place: Vec<String> },
    #[terminal] Gone,
});

parcel!(renamed_field {
    #[initial] #[on(arrive(spot) => Here, by = ToolNode)] Away,
    #[stable] #[on(fetch => Gone, by = ToolNode | EcsNode)] Here { spot: Vec<String> },
    #[terminal] Gone,
});

parcel!(retyped_field {
    #[initial] #[on(arrive(place) => Here, by = ToolNode)] Away,
    #[stable] #[on(fetch => Gone, by = ToolNode | EcsNode)] Here { place: Vec<u8> },
    #[terminal] Gone,
});

parcel!(fewer_actors {
    #[initial] #[on(arrive(place) => Here, by = ToolNode)] Away,
    #[stable] #[on(fetch => Gone, by = ToolNode)] Here { place: Vec<String> },
    #[terminal] Gone,
});

parcel!(other_actor {
    #[initial] #[on(arrive(place) => Here, by = EcsNode)] Away,
    #[stable] #[on(fetch => Gone, by = ToolNode | EcsNode)] Here { place: Vec<String> },
    #[terminal] Gone,
});

parcel!(not_stable {
    #[initial] #[on(arrive(place) => Here, by = ToolNode)] Away,
    #[on(fetch => Gone, by = ToolNode | EcsNode)] Here { place: Vec<String> },
    #[terminal] Gone,
});

parcel!(noted {
    #[initial] #[on(arrive(place, who: String) => Here, by = ToolNode)] Away,
    #[stable] #[on(fetch => Gone, by = ToolNode | EcsNode)] Here { place: Vec<String> },
    #[terminal] Gone,
});

parcel!(spaced {
    #[initial] #[on(arrive(place)=>Here, by=ToolNode)] Away,
    #[stable] #[on(fetch=>Gone, by=ToolNode|EcsNode)] Here { place : Vec < String >, },
    #[terminal] Gone
});

parcel!(added_state {
    #[initial] #[on(arrive(place) => Here, by = ToolNode)] Away,
    #[stable] #[on(fetch => Gone, by = ToolNode | EcsNode)] #[on(lose => Lost)]
    Here { place: Vec<String> },
    #[terminal] Gone,
    #[terminal] Lost,
});

parcel!(choice {
    #[initial]
    #[on(arrive(place) => if place.is_empty() { Gone } else { Here }, by = ToolNode)]
    Away,
    #[stable] #[on(fetch => Gone, by = ToolNode | EcsNode)] Here { place: Vec<String> },
    #[terminal] Gone,
});

parcel!(other_condition {
    #[initial]
    #[on(arrive(place) => match place.len() { 0 | 1 => Gone, _ => Here }, by = ToolNode)]
    Away,
    #[stable] #[on(fetch => Gone, by = ToolNode | EcsNode)] Here { place: Vec<String> },
    #[terminal] Gone,
});

parcel!(added_field {
    #[initial] #[on(arrive(place, shelf = None) => Here, by = ToolNode)] Away,
    #[stable] #[on(fetch => Gone, by = ToolNode | EcsNode)]
    Here { place: Vec<String>, shelf: Option<u8> },
    #[terminal] Gone,
});

parcel!(other_initial {
    #[on(arrive(place) => Here, by = ToolNode)] Away,
    #[initial] #[stable] #[on(fetch => Gone, by = ToolNode | EcsNode)] #[on(send => Away)]
    Here { place: Vec<String> },
    #[terminal] Gone,
});

parcel!(renamed_item {
    #[initial] #[on(arrive(place, by_whom: String) => Here, by = ToolNode)] Away,
    #[stable] #[on(fetch => Gone, by = ToolNode | EcsNode)] Here { place: Vec<String> },
    #[terminal] Gone,
});

parcel!(retyped_item {
    #[initial] #[on(arrive(place, who: u8) => Here, by = ToolNode)] Away,
    #[stable] #[on(fetch => Gone, by = ToolNode | EcsNode)] Here { place: Vec<String> },
    #[terminal] Gone,
});

parcel!(deadline {
    #[initial] #[on(arrive(place) => Here, by = ToolNode)] Away,
    #[stable] #[on(fetch => Gone, by = ToolNode | EcsNode)]
    #[on(send_back => Gone, by = EcsNode, after = Duration::from_mins(1))]
    Here { place: Vec<String> },
    #[terminal] Gone,
});

parcel!(other_duration {
    #[initial] #[on(arrive(place) => Here, by = ToolNode)] Away,
    #[stable] #[on(fetch => Gone, by = ToolNode | EcsNode)]
    #[on(send_back => Gone, by = EcsNode, after = Some(Duration::from_hours(1)))]
    Here { place: Vec<String> },
    #[terminal] Gone,
});

parcel!(no_deadline {
    #[initial] #[on(arrive(place) => Here, by = ToolNode)] Away,
    #[stable] #[on(fetch => Gone, by = ToolNode | EcsNode)]
    #[on(send_back => Gone, by = EcsNode)]
    Here { place: Vec<String> },
    #[terminal] Gone,
});

parcel!(guarded {
    #[initial] #[on(arrive(place) => Here, by = ToolNode, guard = is_open -> &'static str)] Away,
    #[stable] #[on(fetch => Gone, by = ToolNode | EcsNode)] Here { place: Vec<String> },
    #[terminal] Gone,
});

parcel!(state_was {
    #[initial] #[was = "Far"] #[on(arrive(place) => Here, by = ToolNode)] Away,
    #[stable] #[on(fetch => Gone, by = ToolNode | EcsNode)] Here { place: Vec<String> },
    #[terminal] Gone,
});

parcel!(trigger_was {
    #[initial] #[on(arrive(place) => Here, by = ToolNode)] Away,
    #[stable] #[on(fetch => Gone, by = ToolNode | EcsNode, was = "collect")]
    Here { place: Vec<String> },
    #[terminal] Gone,
});

parcel!(field_was {
    #[initial] #[on(arrive(place) => Here, by = ToolNode)] Away,
    #[stable] #[on(fetch => Gone, by = ToolNode | EcsNode)]
    Here { #[was = "spot"] place: Vec<String> },
    #[terminal] Gone,
});

mod optional {
    use serde::{Deserialize, Serialize};

    use super::*;

    #[machine]
    #[derive(Debug, Serialize, Deserialize)]
    pub(super) enum Parcel {
        #[initial]
        #[on(arrive(place) => Here, by = ToolNode)]
        Away,
        #[stable]
        #[on(fetch => Gone, by = ToolNode | EcsNode)]
        Here {
            #[serde(default)]
            place: Vec<String>,
        },
        #[terminal]
        Gone,
    }
}

mod context {
    use super::*;

    #[machine(context = u8)]
    #[derive(Debug)]
    pub(super) enum Parcel {
        #[initial]
        #[on(arrive(place) => Here, by = ToolNode)]
        Away,
        #[stable]
        #[on(fetch => Gone, by = ToolNode | EcsNode)]
        Here { place: Vec<String> },
        #[terminal]
        Gone,
    }
}

fn is_open<S>(_: &S, place: &[String]) -> Result<(), &'static str> {
    if place.is_empty() { Err("nowhere") } else { Ok(()) }
}

mod renamed_machine {
    use super::*;

    #[machine]
    #[derive(Debug)]
    pub(super) enum Packet {
        #[initial]
        #[on(arrive(place) => Here, by = ToolNode)]
        Away,
        #[stable]
        #[on(fetch => Gone, by = ToolNode | EcsNode)]
        Here { place: Vec<String> },
        #[terminal]
        Gone,
    }
}

mod version {
    use super::*;

    #[machine(version = 2)]
    #[derive(Debug)]
    pub(super) enum Parcel {
        #[initial]
        #[on(arrive(place) => Here, by = ToolNode)]
        Away,
        #[stable]
        #[on(fetch => Gone, by = ToolNode | EcsNode)]
        Here { place: Vec<String> },
        #[terminal]
        Gone,
    }
}

const LIMIT: usize = 3;

/// An actor that is named by a path.
pub(crate) mod people {
    use super::{Actor, Category};

    pub(crate) struct Courier;

    impl Actor for Courier {
        const KIND: &'static str = "courier";
        const CATEGORY: Category = Category::Human;
    }
}

mod by_hand {
    use super::*;

    #[machine(context = Vec<u8>)]
    #[derive(Debug)]
    pub(super) enum Parcel {
        #[initial]
        #[on(arrive(place, express: bool, code: Option<(u8, &'static str)>) =>
            if place.len() + 1 < LIMIT && !express { Here } else { Gone },
            by = people::Courier)]
        Away,
        #[stable]
        #[on(fetch => Gone, by = people::Courier, after = Duration::from_mins(1))]
        Here { place: Vec<String> },
        #[terminal]
        Gone,
    }
}

/// The parcel, generated with every kind of fragment that a macro can pass on.
macro_rules! generated {
    (
        $place:ident: $field:ty,
        $express:ident: $flag:ty,
        $item:ty,
        $context:ty,
        $condition:expr,
        $after:expr,
        $actor:path,
        $target:ident
    ) => {
        #[machine(context = $context)]
        #[derive(Debug)]
        pub(super) enum Parcel {
            #[initial]
            #[on(arrive($place, $express: $flag, code: $item) =>
                                        if $condition { Here } else { $target }, by = $actor)]
            Away,
            #[stable]
            #[on(fetch => $target, by = $actor, after = $after)]
            Here { $place: $field },
            #[terminal]
            $target,
        }
    };
}

mod from_macro {
    use super::*;

    generated!(
        place: Vec<String>,
        express: bool,
        Option<(u8, &'static str)>,
        Vec<u8>,
        place.len() + 1 < LIMIT && !express,
        Duration::from_mins(1),
        people::Courier,
        Gone
    );
}

/// Docs and layout do not count: what is stored is the same.
#[test]
fn docs_and_layout_do_not_count() {
    assert_eq!(base::parcel::DEFINITION.fingerprint, documented::parcel::DEFINITION.fingerprint);
    assert_ne!(base::parcel::DEFINITION.states, documented::parcel::DEFINITION.states);
    assert_eq!(base::parcel::DEFINITION.fingerprint, spaced::parcel::DEFINITION.fingerprint);
    assert_eq!(base::parcel::DEFINITION.edges, spaced::parcel::DEFINITION.edges);
}

/// Names, older names, edges, fields, actors, marks, the version, the context and whether there is a
/// deadline count, each for itself.
#[test]
fn everything_else_counts() {
    let all: [(&str, Fingerprint); 26] = [
        ("base", base::parcel::DEFINITION.fingerprint),
        ("renamed_machine", renamed_machine::packet::DEFINITION.fingerprint),
        ("renamed_state", renamed_state::parcel::DEFINITION.fingerprint),
        ("renamed_trigger", renamed_trigger::parcel::DEFINITION.fingerprint),
        ("added_state", added_state::parcel::DEFINITION.fingerprint),
        ("added_edge", added_edge::parcel::DEFINITION.fingerprint),
        ("turned_edge", turned_edge::parcel::DEFINITION.fingerprint),
        ("choice", choice::parcel::DEFINITION.fingerprint),
        ("renamed_field", renamed_field::parcel::DEFINITION.fingerprint),
        ("retyped_field", retyped_field::parcel::DEFINITION.fingerprint),
        ("added_field", added_field::parcel::DEFINITION.fingerprint),
        ("fewer_actors", fewer_actors::parcel::DEFINITION.fingerprint),
        ("other_actor", other_actor::parcel::DEFINITION.fingerprint),
        ("not_stable", not_stable::parcel::DEFINITION.fingerprint),
        ("other_initial", other_initial::parcel::DEFINITION.fingerprint),
        ("noted", noted::parcel::DEFINITION.fingerprint),
        ("renamed_item", renamed_item::parcel::DEFINITION.fingerprint),
        ("retyped_item", retyped_item::parcel::DEFINITION.fingerprint),
        ("no_deadline", no_deadline::parcel::DEFINITION.fingerprint),
        ("deadline", deadline::parcel::DEFINITION.fingerprint),
        ("version", version::parcel::DEFINITION.fingerprint),
        ("context", context::parcel::DEFINITION.fingerprint),
        ("optional", optional::parcel::DEFINITION.fingerprint),
        ("state_was", state_was::parcel::DEFINITION.fingerprint),
        ("trigger_was", trigger_was::parcel::DEFINITION.fingerprint),
        ("field_was", field_was::parcel::DEFINITION.fingerprint),
    ];
    for (at, (name, one)) in all.iter().enumerate() {
        for (other_name, other) in &all[at + 1..] {
            assert_ne!(one, other, "{name} and {other_name}");
        }
    }
}

/// Guards, conditions and durations do not count: they change what will be done, not what is stored.
/// The definitions differ all the same.
#[test]
fn guards_conditions_and_durations_do_not_count() {
    for (one, other) in [
        (base::parcel::DEFINITION, guarded::parcel::DEFINITION),
        (choice::parcel::DEFINITION, other_condition::parcel::DEFINITION),
        (deadline::parcel::DEFINITION, other_duration::parcel::DEFINITION),
    ] {
        assert_eq!(one.fingerprint, other.fingerprint);
        assert_ne!(one, other);
    }
}

/// Guards and conditions that come from outside of the declaration are called.
#[test]
fn guards_and_conditions_from_outside_the_module_are_called() {
    use machine::typed::Refused;

    let refused = guarded::Parcel::new().arrive(Vec::new(), tool_node()).unwrap_err();
    let Refused { machine, reason } = refused;
    assert_eq!(reason, "nowhere");
    assert!(machine.arrive(vec!["shelf".to_owned()], tool_node()).is_ok());

    let arrive = |count: usize| {
        let place = vec![String::new(); count];
        from_macro::Parcel::new(Vec::new()).arrive(place, false, None, &people::Courier)
    };
    assert!(matches!(arrive(1), from_macro::parcel::AfterArrive::Here(_)));
    assert!(matches!(arrive(2), from_macro::parcel::AfterArrive::Gone(_)));
}

/// A fragment that a macro passes on leaves no trace in the definition.
#[test]
fn a_declaration_from_a_macro_has_the_same_definition() {
    let by_hand = by_hand::parcel::DEFINITION;
    let from_macro = from_macro::parcel::DEFINITION;
    assert_eq!(from_macro.fingerprint, by_hand.fingerprint);
    assert_eq!(from_macro, by_hand);
    let edge = by_hand.edge(0, "arrive", 1).unwrap();
    assert_eq!(edge.when.as_deref(), Some("place.len() + 1 < LIMIT && !express"));
    assert_eq!(edge.payload[2].ty, "Option<(u8, &'static str)>");
}

/// A fingerprint in a file is ignored: the owned form computes its own.
#[test]
fn the_owned_form_has_the_same_fingerprint() {
    for definition in
        [base::parcel::DEFINITION, choice::parcel::DEFINITION, version::parcel::DEFINITION]
    {
        let mut value = serde_json::to_value(definition).unwrap();
        assert!(value.get("fingerprint").is_none());
        value["fingerprint"] = "0123456789abcdef".into();
        let owned: Definition = serde_json::from_value(value).unwrap();
        assert_eq!(owned.fingerprint, definition.fingerprint);
    }
}

/// It is a constant of the build, shown as 16 hexadecimal digits.
#[test]
fn it_is_a_constant() {
    const FINGERPRINT: Fingerprint = execution::DEFINITION.fingerprint;
    let text = FINGERPRINT.to_string();
    assert_eq!(text.len(), 16);
    assert!(text.chars().all(|digit| digit.is_ascii_hexdigit()), "{text}");
    assert_eq!(format!("{FINGERPRINT:?}"), format!("Fingerprint({text})"));
}

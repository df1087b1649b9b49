//! The fingerprint changes with what counts, and with nothing else (DESIGN 4).

use machine::{
    actor::{EcsNode, ToolNode},
    contract::execution,
    definition::Fingerprint,
    machine,
};

/// A small machine in a module of its own, all with the same name.
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
    /// Somewhere between here and there.
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

/// Docs and layout do not count: what is stored is the same.
#[test]
fn docs_and_layout_do_not_count() {
    assert_eq!(base::parcel::DEFINITION.fingerprint, documented::parcel::DEFINITION.fingerprint);
    assert_ne!(base::parcel::DEFINITION.states, documented::parcel::DEFINITION.states);
    assert_eq!(base::parcel::DEFINITION.fingerprint, spaced::parcel::DEFINITION.fingerprint);
}

/// Names, edges, fields, actors and marks count, each for itself.
#[test]
fn everything_else_counts() {
    let all: [(&str, Fingerprint); 11] = [
        ("base", base::parcel::DEFINITION.fingerprint),
        ("renamed_state", renamed_state::parcel::DEFINITION.fingerprint),
        ("renamed_trigger", renamed_trigger::parcel::DEFINITION.fingerprint),
        ("added_edge", added_edge::parcel::DEFINITION.fingerprint),
        ("turned_edge", turned_edge::parcel::DEFINITION.fingerprint),
        ("renamed_field", renamed_field::parcel::DEFINITION.fingerprint),
        ("retyped_field", retyped_field::parcel::DEFINITION.fingerprint),
        ("fewer_actors", fewer_actors::parcel::DEFINITION.fingerprint),
        ("other_actor", other_actor::parcel::DEFINITION.fingerprint),
        ("not_stable", not_stable::parcel::DEFINITION.fingerprint),
        ("noted", noted::parcel::DEFINITION.fingerprint),
    ];
    for (at, (name, one)) in all.iter().enumerate() {
        for (other_name, other) in &all[at + 1..] {
            assert_ne!(one, other, "{name} and {other_name}");
        }
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

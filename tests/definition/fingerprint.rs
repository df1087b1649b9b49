//! The fingerprint changes with what counts, and with nothing else (DESIGN 4).

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

parcel!(spaced {
    #[initial] #[on(arrive(place)=>Here, by=ToolNode)] Away,
    #[stable] #[on(fetch=>Gone, by=ToolNode|EcsNode)] Here { place : Vec < String >, },
    #[terminal] Gone
});

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
    assert_eq!(by_hand.context, "Vec<u8>");
}

/// A fingerprint in a file is ignored: the owned form computes its own.
#[test]
fn the_owned_form_has_the_same_fingerprint() {
    for definition in [base::parcel::DEFINITION, by_hand::parcel::DEFINITION] {
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

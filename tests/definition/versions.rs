//! Two versions of a machine that `#[machine]` declares: in words, and as stored data are read.

use std::sync::Arc;

use machine::{
    actor::{Actor, Category, ToolNode},
    machine,
    stored::Unverified,
};
use machine_tests::{actors::tool_node, version};
use serde::{Deserialize, Serialize};

use super::compare::sentences;

pub(crate) struct Porter;

impl Actor for Porter {
    const KIND: &'static str = "porter";
    const CATEGORY: Category = Category::Human;
    const WAS: Option<&'static str> = Some("clerk");
}

pub(crate) struct Clerk;

impl Actor for Clerk {
    const KIND: &'static str = "clerk";
    const CATEGORY: Category = Category::Human;
}

// The first version of a program.
version!(mod first [] enum Visit {
    #[initial]
    #[on(greet(name, minutes, title: Option<String>) => Waiting, by = Clerk)]
    AtDoor,
    #[stable]
    #[on(call_in => Inside, by = Clerk | ToolNode)]
    Waiting { name: String, minutes: u8 },
    #[terminal]
    Inside { name: String },
});

/// The second version: a state, a trigger, a field, a payload item and an actor are renamed, a
/// state is upgraded, and a state and two fields are new.
mod second {
    use super::{Deserialize, Porter, Serialize, ToolNode, machine};

    fn in_seconds(older: super::first::visit::Waiting) -> Result<visit::InLobby, &'static str> {
        if older.minutes > 240 {
            return Err("a wait is at most four hours");
        }
        let seconds = u32::from(older.minutes) * 60;
        Ok(visit::InLobby { name: older.name, seconds, guests: 0, host: None })
    }

    #[machine(durable, version = 2)]
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    pub(super) enum Visit {
        #[initial]
        #[on(greet(name, seconds = 0, #[was = "title"] form: Option<String>, guests = 0, host = None) =>
             InLobby, by = Porter)]
        AtDoor,
        #[stable]
        #[was = "Queued"]
        #[was = "Waiting"]
        #[upgrade(1 => in_seconds)]
        #[on(show_in(guest = name) => Inside, by = Porter | ToolNode,
             was = "call_in", was = "let_in")]
        #[on(leave => Left)]
        InLobby {
            name: String,
            seconds: u32,
            #[serde(default)]
            guests: u8,
            host: Option<String>,
        },
        #[terminal]
        Inside {
            #[was = "name"]
            #[serde(alias = "name")]
            guest: String,
        },
        #[terminal]
        Left,
    }
}

/// A type that is only called `Option`: serde does not read it where it is missing.
mod own {
    use super::{Deserialize, Serialize, machine};

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    pub(super) struct Option<T> {
        all: Vec<T>,
    }

    #[machine(durable)]
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    pub(super) enum Choice {
        #[initial]
        #[on(choose(own, standard) => Made)]
        Open,
        #[terminal]
        Made { own: Option<u8>, standard: core::option::Option<u8> },
    }
}

#[test]
fn a_type_that_is_only_called_option_is_not_optional() {
    let definition = own::choice::DEFINITION;
    for fields in [&definition.states[1].fields, &definition.edges[0].payload] {
        let optional: Vec<bool> = fields.iter().map(|field| field.optional).collect();
        assert_eq!(optional, [false, true]);
    }
}

/// The comparison of two definitions that `#[machine]` wrote.
#[test]
fn two_versions_of_a_declared_machine() {
    let comparison = first::visit::DEFINITION.compare(second::visit::DEFINITION);
    assert!(comparison.is_compatible());
    let expected = [
        "state `waiting` was renamed to `in_lobby`",
        "in state `in_lobby`, optional field `guests` was added",
        "in state `in_lobby`, optional field `host` was added",
        "in state `in_lobby`, field `minutes` was removed; it is upgraded from version 1",
        "in state `in_lobby`, field `seconds` was added, but is not an `Option` and has no serde \
         default; it is upgraded from version 1",
        "in state `inside`, field `name` was renamed to `guest`",
        "state `left` was added",
        "item `title` of move AT_DOOR -greet-> IN_LOBBY was renamed to `form`",
        "move AT_DOOR -greet-> IN_LOBBY no longer takes `minutes`",
        "trigger `call_in` was renamed to `show_in`",
        "move IN_LOBBY -leave-> LEFT was added",
        "actor `clerk` was renamed to `porter`",
    ];
    let said = sentences(&comparison);
    for sentence in expected {
        assert!(said.iter().any(|one| one == sentence), "`{sentence}` is missing: {said:#?}");
    }
    let back = second::visit::DEFINITION.compare(first::visit::DEFINITION);
    assert!(!back.is_compatible(), "there is no way back");
}

/// A compatible change can be read: `verify` accepts what `compare` allows.
#[test]
fn a_compatible_change_reads_what_was_stored() {
    let waiting = first::Visit::new().greet("Ann".to_owned(), 2, None, &Clerk);
    let stored = |any: first::AnyVisit| {
        let text = serde_json::to_string(&any).unwrap();
        let mut claim: Unverified = serde_json::from_str(&text).unwrap();
        claim.definitions.push(Arc::new(first::visit::DEFINITION.clone()));
        claim
    };
    let read: second::AnyVisit = stored(waiting.into()).verify().unwrap();
    let second::AnyVisit::InLobby(lobby) = read else { panic!("{read:?}") };
    let expected =
        second::visit::InLobby { name: "Ann".to_owned(), seconds: 120, guests: 0, host: None };
    assert_eq!(lobby.state(), &expected);
    assert_eq!(lobby.show_in(&Porter).state().guest, "Ann");

    // An upgrade may refuse the data of one machine.
    let waiting = first::Visit::new().greet("Eve".to_owned(), 241, None, &Clerk);
    let refused = stored(waiting.into()).verify::<second::AnyVisit>().unwrap_err().to_string();
    assert!(refused.contains("a wait is at most four hours"), "{refused}");

    let inside = first::Visit::new().greet("Bob".to_owned(), 1, None, &Clerk).call_in(tool_node());
    let read: second::AnyVisit = stored(inside.into()).verify().unwrap();
    let second::AnyVisit::Inside(inside) = read else { panic!("{read:?}") };
    assert_eq!(inside.state().guest, "Bob");
}

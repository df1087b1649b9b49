//! The names of actors: lines of visible text (DESIGN 5).

use machine::actor::{Actor, Actors, Category, Human, InvalidName};
use machine_tests::assert_err;
use proptest::prelude::*;

/// Names that people have.
const NAMES: [&str; 7] =
    ["mailer", "ann@example.com", "Ann O'Neill", "安妮", "Åsa", "mailer-2.prod", "🦀 bot"];

#[test]
fn actors_have_the_name_that_they_were_issued_with() {
    for name in NAMES {
        let actors = Actors::issue(name).unwrap();
        assert_eq!(actors.tool_node.name(), Some(name));
        assert_eq!(actors.ecs_node.name(), Some(name));
        assert_eq!(actors.graph_runner.name(), Some(name));
        assert_eq!(actors.reasoning_node.name(), Some(name));
        assert_eq!(Human::new(name).unwrap().name(), Some(name));
    }
    // A person is a person, whatever the name is.
    assert_eq!((Human::KIND, Human::CATEGORY), ("human", Category::Human));
}

/// Empty names, long ones, and invisible characters are typed errors that do not show the
/// character either.
#[test]
fn a_name_is_a_line_of_visible_text() {
    for empty in ["", " ", "\t", "\n", "\u{a0}", "\u{3000}"] {
        assert_err!(Human::new(empty), InvalidName::Empty);
        assert_err!(Actors::issue(empty), InvalidName::Empty);
    }
    assert!(Human::new(&"é".repeat(100)).is_ok());
    assert_err!(Human::new(&"é".repeat(101)), InvalidName::TooLong);
    let odd = "\0\t\n\r\u{7}\u{8}\u{1b}\u{7f}\u{85}\u{9b}\u{ad}\u{34f}\u{61c}\u{115f}\u{180e}\u{200b}\
               \u{200d}\u{200e}\u{200f}\u{2028}\u{2029}\u{202a}\u{202e}\u{2060}\u{2066}\u{2069}\
               \u{3164}\u{fe00}\u{feff}\u{ffa0}\u{fff9}\u{1d173}\u{e0001}\u{e0041}\u{e0100}";
    for odd in odd.chars() {
        let name = format!("ann{odd}");
        assert_err!(Human::new(&name), InvalidName::Invisible(found) if *found == odd);
        assert_err!(Actors::issue(&name), InvalidName::Invisible(found) if *found == odd);
        let text = Human::new(&name).unwrap_err().to_string();
        let code = format!("{:x}", odd as u32);
        assert!(!text.contains(odd) && text.contains(&code), "{text:?}");
    }
}

/// Spaces, compatibility characters and selectors make no other person, nor another actor.
#[test]
fn names_that_look_the_same_are_the_same() {
    for (name, alike) in [
        ("ann", &["ann ", " ann", "ann\u{a0}", "ann\u{2003}", "ann\u{3000}", "ann\u{fe0f}"][..]),
        ("ann", &["\u{ff41}nn", "\u{ff41}\u{ff4e}\u{ff4e}", "\u{1d41a}nn", "a\u{fe0f}nn\u{a0} "]),
        ("ann lee", &["ann  lee", "ann\u{a0}lee", "ann\u{2003}\u{3000}lee"]),
        ("Zo\u{eb}", &["Zoe\u{308}", "Zoe\u{fe0f}\u{308}"]),
        ("fi", &["\u{fb01}"]),
    ] {
        for other in alike {
            assert_eq!(Human::new(other).unwrap().name(), Some(name), "{other:?}");
            assert_eq!(Actors::issue(other).unwrap().graph_runner.name(), Some(name), "{other:?}");
        }
    }
    // Letters that are other letters stay so.
    for other in ["\u{430}nn", "\u{251}nn", "Ann", "a nn", "\u{e4}nn"] {
        assert_eq!(Human::new(other).unwrap().name(), Some(other), "{other:?}");
    }
    // A name that becomes too long, or nothing, is refused.
    assert_err!(Human::new(&"\u{fdfa}".repeat(60)), InvalidName::TooLong);
    assert_err!(Human::new("\u{fe0f}"), InvalidName::Empty);
}

proptest! {
    /// A name that was accepted is accepted again, and stays the same.
    #[test]
    fn a_name_keeps_its_form(name in "[\\PC\u{a0}\u{3000}\u{fe0f}\u{301}\u{ff41}\u{b4}]{0,12}") {
        if let Ok(human) = Human::new(&name) {
            let form = human.name().unwrap();
            let again = Human::new(form).unwrap();
            prop_assert_eq!(again.name(), Some(form));
            prop_assert_eq!(form.trim(), form);
        }
    }
}

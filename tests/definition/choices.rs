//! A choice is one move with several edges.

use machine::{actor::Anyone, definition::Move};

use crate::definition::order::{Clock, Cook, DEFINITION};

fn state(name: &str) -> usize {
    DEFINITION.state(name).unwrap()
}

fn find(from: &str, trigger: &str) -> Move<'static> {
    DEFINITION.find_move(state(from), trigger).unwrap()
}

fn targets(found: Move<'_>) -> Vec<&str> {
    found.targets().map(|target| &*target.name).collect()
}

fn conditions(found: Move<'_>) -> Vec<&str> {
    found.edges().iter().filter_map(|edge| edge.when.as_deref()).collect()
}

#[test]
fn a_choice_is_one_move() {
    let moves = |from| DEFINITION.moves(state(from)).map(|one| one.to_string()).collect::<Vec<_>>();
    assert_eq!(moves("placed"), ["look -> CANCELLED or COOKING", "close_kitchen -> CANCELLED"]);
    assert_eq!(
        moves("cooking"),
        ["taste -> COOKING or CANCELLED or SERVED", "burn -> PLACED", "close_kitchen -> CANCELLED"]
    );
    assert_eq!(moves("served"), Vec::<String>::new());
    assert_eq!(DEFINITION.edges.len(), 2 + 1 + 3 + 1 + 1);
}

#[test]
fn a_move_says_where_it_leads_and_when() {
    let look = find("placed", "look");
    assert!(look.edge().when.is_some());
    assert_eq!((look.trigger(), &*look.source().label), ("look", "PLACED"));
    assert_eq!(targets(look), ["cancelled", "cooking"]);
    assert_eq!(format!("{look:?}"), "look -> CANCELLED or COOKING");
    assert_eq!(conditions(look), ["guests > *context", "else"]);
    assert_eq!(
        look.edge().payload.iter().map(|item| (&*item.name, &*item.ty)).collect::<Vec<_>>(),
        [("guests", "u32")]
    );
    assert!(
        look.edge().actors.is_empty()
            && look.edge().is_for::<Anyone>()
            && look.edge().guard.is_none()
    );

    let taste = find("cooking", "taste");
    assert_eq!(targets(taste), ["cooking", "cancelled", "served"]);
    assert_eq!(
        conditions(taste),
        [
            r#"note is Some(note) and note == "a;b|<c>\"d\"" && courses < 3"#,
            "note is Some(_) | None and courses == 0",
            "else"
        ]
    );
    assert_eq!(&*taste.edge().actors, ["cook"]);
    assert!(taste.edge().is_for::<Cook>() && !taste.edge().is_for::<Clock>());

    let burn = find("cooking", "burn");
    assert!(burn.edge().when.is_none());
    assert_eq!((burn.edges().len(), conditions(burn).len()), (1, 0));
}

#[test]
fn unknown_moves_and_edges_are_not_found() {
    assert_eq!(DEFINITION.find_move(state("placed"), "taste"), None);
    assert_eq!(DEFINITION.find_move(state("served"), "look"), None);
    assert_eq!(DEFINITION.find_move(99, "look"), None);
    assert_eq!(DEFINITION.moves(99).count(), 0);
    assert_eq!(DEFINITION.edge(state("placed"), "look", state("served")), None);
    assert_eq!(DEFINITION.edge(state("cooking"), "look", state("cooking")), None);
}

/// An edge has its deadline, with the group whose entry starts it.
#[test]
fn an_edge_has_its_deadline() {
    let deadline = |from, trigger| find(from, trigger).edges()[0].deadline.as_ref();
    assert_eq!(deadline("cooking", "taste"), None);
    let burn = deadline("cooking", "burn").unwrap();
    assert_eq!((&*burn.after, burn.group), ("Duration::from_mins(u64::from(courses))", None));
    for from in ["placed", "cooking"] {
        let close = deadline(from, "close_kitchen").unwrap();
        assert_eq!((&*close.after, close.group), ("Duration::from_hours(2)", Some(0)));
    }
    let group = &DEFINITION.groups[0];
    assert_eq!((&*group.name, &*group.states), ("Open", &[state("placed"), state("cooking")][..]));
}

//! Transitions as records (OB-2), with the category of the actor (OB-3).

use machine::{
    actor::{Anyone, Category},
    contract::execution::DEFINITION,
    stored::Durable,
    view::TransitionRecord,
};
use machine_tests::samples::Ticket;

use crate::view::prelude::*;

/// The transitions of a machine that was never stored.
fn unstored(machine: &dyn Durable) -> Vec<View<TransitionRecord<Diagnostic>>> {
    transitions(&History::of(machine).unwrap())
}

/// Number, states, trigger, actor, time and end of each transition; the creation is not one.
#[test]
fn every_transition_is_a_record() {
    let execution = reading().suspend("?".to_owned(), ecs_node()).resume(graph_runner()).fail(
        "x".to_owned(),
        None,
        graph_runner(),
    );
    let records = unstored(&execution);
    let found: Vec<_> = records
        .iter()
        .map(|record| {
            let actor = record.actor.as_deref().unwrap();
            assert_eq!(record.actor_name.as_deref(), Some("test"));
            (&*record.from_status, &*record.to_status, &*record.trigger, actor)
        })
        .collect();
    assert_eq!(
        found,
        [
            ("pending", "running", "start", "tool_node"),
            ("running", "waiting", "suspend", "ecs_node"),
            ("waiting", "running", "resume", "graph_runner"),
            ("running", "failed", "fail", "graph_runner"),
        ]
    );
    let ends: Vec<_> = records.iter().map(|record| record.is_terminal_transition).collect();
    assert_eq!(ends, [false, false, false, true]);
    let entries = &execution.journal().uncommitted()[1..];
    for (number, (record, entry)) in records.iter().zip(entries).enumerate() {
        assert_eq!(record.sequence_number, number);
        assert_eq!(record.execution_id, execution.id());
        assert_eq!(record.timestamp, entry.at);
    }
    assert!(unstored(&Execution::new(read("a.txt"))).is_empty());
}

#[machine(durable)]
#[derive(Debug, Serialize, Deserialize)]
enum Poll {
    #[initial]
    #[on(look(again: bool) => if again { Open } else { Self })]
    #[on(close => Closed)]
    Open,
    #[terminal]
    Closed,
}

/// The state is the same, and the record says whether it was entered.
#[test]
fn a_record_says_whether_the_machine_stayed() {
    let mut poll = AnyPoll::from(Poll::new());
    for again in [false, true] {
        poll.apply_mut(poll::Event::Look { again }, &Anyone).unwrap();
    }
    poll.apply_mut(poll::Event::Close, &Anyone).unwrap();
    let records = unstored(&poll);
    assert_eq!(records.iter().map(|record| record.stays).collect::<Vec<_>>(), [true, false, false]);
    let json = serde_json::to_value(&records).unwrap();
    assert_eq!((&json[0]["stays"], json[1].get("stays")), (&json!(true), None));
    let timeline = Timeline::<Human>::of(&History::of(&poll).unwrap());
    let texts = timeline.events[1..].iter().map(|event| &*event.text);
    let expected = ["OPEN (look)", "OPEN → OPEN (look)", "OPEN → CLOSED (close)"];
    assert_eq!(texts.collect::<Vec<_>>(), expected);
}

/// The table of OB-3.
#[test]
fn every_actor_has_its_category() {
    for (kind, category, word) in [
        ("tool_node", Category::Tool, "tool"),
        ("ecs_node", Category::System, "system"),
        ("graph_runner", Category::System, "system"),
        ("reasoning", Category::Agent, "agent"),
        ("human", Category::Human, "human"),
        ("someone_else", Category::System, "system"),
    ] {
        assert_eq!(DEFINITION.category(kind), category);
        assert_eq!(category.to_string(), word);
        assert_eq!(serde_json::to_value(category).unwrap(), word);
    }
}

/// The method of a move that any actor may make takes none, so there is none to show.
#[test]
fn a_move_by_anyone_has_no_actor() {
    let records = unstored(&Ticket::new().park());
    assert_eq!((records[0].actor.as_ref(), records[0].actor_category), (None, Category::System));
    assert_eq!(records[0].actor_name, None);
}

//! Machines, fields, triggers and payload items can be raw identifiers; texts omit the `r#`.

use machine::actor::{Actors, Anyone, ToolNode};
use machine::machine;

#[machine]
#[derive(Debug, Clone, PartialEq)]
enum Match {
    #[initial]
    #[on(r#move(r#type, r#ref: u8) => Moved, by = ToolNode)]
    Placed { r#fn: u8 },

    #[on(r#try(r#fn = r#fn + 1) => Moved, guard = is_low -> String)]
    #[on(r#box => Boxed)]
    Moved { r#fn: u8, r#type: u8 },

    #[terminal]
    Boxed,
}

fn is_low(moved: &r#match::Moved) -> Result<(), String> {
    if moved.r#fn > 5 { Err("too high".to_owned()) } else { Ok(()) }
}

#[test]
fn runs() {
    let actors = Actors::issue("shop").unwrap();
    let moved = Match::new(5).r#move(1, 2, &actors.tool_node).r#try().unwrap();
    assert_eq!(moved.state(), &r#match::Moved { r#fn: 6, r#type: 1 });
    let moved = moved.r#try().unwrap_err().machine;
    let any = AnyMatch::from(moved);
    assert_eq!(
        any.why_not(&r#match::Event::Try, &Anyone).unwrap().to_string(),
        "MOVED cannot `try` now: too high"
    );
    let boxed = any.apply(r#match::Event::Box, &Anyone).unwrap();
    assert_eq!(boxed.status(), r#match::Status::Boxed);
    assert_eq!(r#match::DEFINITION.name, "match");
    assert_eq!(r#match::DEFINITION.edges[0].payload[1].name, "ref");
    assert_eq!(r#match::DEFINITION.states[1].fields[0].name, "fn");
}

// M0120: a name in an expression has one meaning. Triggers are named after the mistakes.

use std::time::Duration;

use machine::actor::{Actors, GraphRunner};
use machine::machine;

enum Answer {
    Yes(String),
    No,
}

fn is_valid(open: &order::Open) -> bool {
    !open.label.is_empty()
}

#[machine(context = Duration)]
enum Order {
    #[initial]
    // M0120: `fee` is also a field.
    #[on(computed_item(fee: u64, text = fee.to_string()) => Closed)]
    // M0120: a format string names variables as well.
    #[on(format_string(label: String, text = format!("closed: {label}")) => Closed)]
    // M0120: the width in a format string is a name as well.
    #[on(format_width(width: usize, text = format!("{:>width$}", 7)) => Closed)]
    // M0120: `context` is the context of the machine.
    #[on(field_named_context(text = format!("{:?}", context + context)) => Closed)]
    // M0120: in `after`.
    #[on(deadline(text = String::new()) => Closed, by = GraphRunner, after = context)]
    // M0120: `status` is the status of the state that is left.
    #[on(field_named_status => if status > 20 { Refused } else { Shipped })]
    // M0120: `source` is the data of the state that is left.
    #[on(item_named_source(source: String) => if source.is_empty() { Refused } else { Shipped })]
    // M0120: in the guard of an arm.
    #[on(match_guard(answer: Answer, label: String) => match answer {
        Answer::Yes(_) if label.is_empty() => Shipped,
        Answer::Yes(_) | Answer::No => Refused,
    })]
    // M0120: a field is used either by itself or through `source`.
    #[on(field_in_two_ways => if fee > 20 { Closed(text = source.fee.to_string()) } else { Shipped })]
    // M0120: a field that is used by itself is no longer in `source`.
    #[on(source_as_a_whole => if is_valid(&source) { Closed(text = label) } else { Refused })]
    // M0120: the pattern binds a name that `Labelled` would carry over.
    #[on(pattern_captures_a_field(answer: Answer) => match answer {
        Answer::Yes(label) => Labelled,
        Answer::No => Shipped,
    })]
    // M0120: the pattern binds an item of the payload.
    #[on(if_let_captures_an_item(note) => if let Some(note) = former { Noted } else { Shipped })]
    // M0120: a pattern cannot bind `source`, which is the data of the state in every expression.
    #[on(pattern_binds_source(answer: Answer) => match answer {
        Answer::Yes(source) => Closed(text = source),
        Answer::No => Shipped,
    })]
    Open {
        fee: u64,
        label: String,
        width: usize,
        context: Duration,
        status: u32,
        former: Option<String>,
    },

    #[terminal]
    Closed { text: String },

    #[terminal]
    Labelled { label: String },

    #[terminal]
    Noted { note: String },

    #[terminal]
    Refused,

    #[terminal]
    Shipped,
}

fn open() -> Order<order::Open> {
    Order::new(Duration::ZERO, 7, String::new(), 3, Duration::ZERO, 8, None)
}

fn main() {
    let actors = Actors::issue("shop").unwrap();
    assert!(is_valid(open().state()));
    assert_eq!(open().computed_item(5).state().text, "5");
    let _closed = open().format_string("too late".to_owned());
    let _closed = open().format_width(4);
    let _closed = open().field_named_context();
    let _closed = open().deadline(&actors.graph_runner);
    let after = open().field_named_status();
    assert_eq!(AnyOrder::from(after).status(), order::Status::Shipped);
    let _after = open().item_named_source("here".to_owned());
    let _after = open().match_guard(Answer::No, String::new());
    let _after = open().field_in_two_ways();
    let _after = open().source_as_a_whole();
    let _after = open().pattern_captures_a_field(Answer::Yes("all".to_owned()));
    let _after = open().if_let_captures_an_item("fragile".to_owned());
    let _after = order::AfterPatternBindsSource::from(open().pattern_binds_source(Answer::No));
}

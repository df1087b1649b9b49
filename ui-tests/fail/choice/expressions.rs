// The compiler checks the expressions of choices as any others. Triggers are named after the mistakes.

use machine::machine;

pub enum Answer {
    Yes,
    No(String),
    Later,
}

fn is_valid(label: String) -> bool {
    !label.is_empty()
}

#[machine]
enum Order {
    #[initial]
    // A condition is a `bool`.
    #[on(condition_not_bool => if weight { Refused } else { Shipped })]
    // `context` is a name only where the machine has a context.
    #[on(context_without_context => if weight > *context { Refused } else { Shipped })]
    // A condition sees the fields of the source, the payload, `source`, `context` and `status`.
    #[on(unknown_name(note: String) => if weight > limit { Refused } else { Shipped })]
    // A choice does not return errors; a guard refuses.
    #[on(question_mark(most: Option<u32>) => if weight > most? { Refused } else { Shipped })]
    // The value that a branch gives has the type of the field.
    #[on(value_of_another_type => if weight > 20 { Noted(note = "too heavy") } else { Shipped })]
    // An arm that matches on a reference binds references, but the field is a `String`.
    #[on(match_on_a_reference => match &coupon {
        Some(code) => Noted(note = code),
        None => Shipped,
    })]
    // The arms of a choice cover every value, as those of any `match` do.
    #[on(match_not_exhaustive(answer: Answer) => match answer {
        Answer::Yes => Shipped,
        Answer::No(_) => Refused,
    })]
    // The arms of a choice cover every value; this one gives fields in its last arm.
    #[on(match_lacks_an_arm(answer: Answer) => match answer {
        Answer::Yes => Shipped,
        Answer::No(why) => Noted(note = why),
    })]
    #[on(condition_moves_a_carried_field => if is_valid(label) { Labelled } else { Refused })]
    #[on(match_moves_a_carried_field => match coupon {
        Some(code) => Discounted(code = code),
        None => Shipped,
    })]
    Packed { weight: u32, label: String, coupon: Option<String> },

    #[terminal]
    Labelled {
        // `condition_moves_a_carried_field` may only borrow this.
        label: String,
    },

    #[terminal]
    Discounted {
        code: String,
        // `match_moves_a_carried_field` may only borrow this.
        coupon: Option<String>,
    },

    #[terminal]
    Noted { note: String },

    #[terminal]
    Refused,

    #[terminal]
    Shipped,
}

fn main() {
    for answer in [Answer::Yes, Answer::No(String::new()), Answer::Later] {
        let _after = Order::new(7, "books".to_owned(), None).match_not_exhaustive(answer);
    }
}

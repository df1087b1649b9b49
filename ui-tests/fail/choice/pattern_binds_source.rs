// M0120: a pattern cannot bind `source`, which is the data of the state in every expression.

use machine::machine;

#[derive(Debug)]
pub struct Doc {
    pub plan: String,
}

#[machine]
#[derive(Debug)]
pub enum Draft {
    #[initial]
    #[on(publish(doc: Option<Doc>) => match doc {
        Some(source) => Published(plan = source.plan),
        None => Discarded,
    })]
    Written { author: String },

    #[terminal]
    Published { author: String, plan: String },

    #[terminal]
    Discarded,
}

fn main() {
    let _ = draft::AfterPublish::from(Draft::new("Ann".to_owned()).publish(None));
}

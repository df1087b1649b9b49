// User-defined actors follow the rules of the library's actors.

use machine::actor::{Actor, Category};
use machine::machine;

struct Approver;

impl Actor for Approver {
    const KIND: &'static str = "approver";
    const CATEGORY: Category = Category::Human;
}

struct Author;

impl Actor for Author {
    const KIND: &'static str = "author";
    const CATEGORY: Category = Category::Human;
}

#[machine]
enum Invoice {
    #[initial]
    #[on(approve => Approved, by = Approver)]
    Draft,

    #[terminal]
    Approved,
}

fn main() {
    let draft = Invoice::new();
    let _ = draft.approve(&Author);
}

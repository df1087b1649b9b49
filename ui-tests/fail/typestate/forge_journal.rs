// A journal begins with the creation of its machine, and cannot be built.

use machine::Id;
use machine::journal::{Entry, Journal};

fn forge(id: Id, entries: Vec<Entry>) -> Journal {
    Journal { id, entries }
}

fn main() {}

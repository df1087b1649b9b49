// A view is as the library made it: its fields can be read, and not set.

use machine::view::{Human, Snapshot, View};

fn forge(snapshot: &mut View<Snapshot<Human>>) {
    snapshot.label = "APPROVED".to_owned();
}

fn main() {}

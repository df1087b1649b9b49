//! Placeholder until the story is told here.
fn main() {}

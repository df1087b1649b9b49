// People do not see the key.

use machine::view::{ExecutionSnapshot, Human};

fn print(snapshot: &ExecutionSnapshot<Human>) {
    let key: &Option<String> = &snapshot.idempotency_key;
    println!("{key:?}");
}

fn main() {
    let _ = print;
}

// `by` names actors: types that implement `Actor`.

use machine::machine;

struct Approver;

#[machine]
enum Invoice {
    #[initial]
    #[on(approve => Approved, by = Approver)]
    Draft,

    #[terminal]
    Approved,
}

fn main() {
    let approved = Invoice::new().approve(&Approver);
    assert_eq!(AnyInvoice::from(approved).status(), invoice::Status::Approved);
}

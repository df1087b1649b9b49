// M0205: no state precedes the initial one.

use machine::machine;

#[machine]
enum Mail {
    #[initial]
    #[only_after(Approved)]
    #[on(approve => Approved)]
    Draft,

    #[on(recall => Draft)]
    Approved,
}

fn main() {
    let draft = Mail::new().approve().recall();
    assert_eq!(AnyMail::from(draft).status(), mail::Status::Draft);
}

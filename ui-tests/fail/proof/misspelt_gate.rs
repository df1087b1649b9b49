// M0104

use machine::machine;

#[machine]
enum Mail {
    #[initial]
    #[on(approve => Approved)]
    Draft,

    #[on(send => Sent)]
    Approved,

    #[only_after(Aproved)]
    #[terminal]
    Sent,
}

fn main() {
    let sent = Mail::new().approve().send();
    assert_eq!(AnyMail::from(sent).status(), mail::Status::Sent);
}

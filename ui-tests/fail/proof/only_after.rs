// M0205: no mail is sent before a person approves it, and `urge` skips the approval.

use machine::machine;

#[machine]
enum Mail {
    #[initial]
    #[on(submit => Submitted)]
    Draft,

    #[on(approve => Approved)]
    #[on(urge => Urgent)]
    Submitted,

    #[on(send => Sent)]
    Approved,

    #[on(send => Sent)]
    Urgent,

    #[only_after(Approved)]
    #[terminal]
    Sent,
}

fn main() {
    let sent = Mail::new().submit().urge().send();
    assert_eq!(AnyMail::from(sent).status(), mail::Status::Sent);
}

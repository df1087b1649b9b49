// M0205: two of the three paths pass a gate; the third avoids both.

use machine::machine;

#[machine]
enum Mail {
    #[initial]
    #[on(approve => Approved)]
    #[on(overrule => Overruled)]
    #[on(forget => Forgotten)]
    Draft,

    #[on(send => Sent)]
    Approved,

    #[on(send => Sent)]
    Overruled,

    #[on(send => Sent)]
    Forgotten,

    #[only_after(Approved | Overruled)]
    #[terminal]
    Sent,
}

fn main() {
    let _approved = Mail::new().approve().send();
    let _overruled = Mail::new().overrule().send();
    let _forgotten = Mail::new().forget().send();
}

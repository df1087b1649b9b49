// What is asked for and holds makes no error.

use machine::machine;

/// Each way into `Sent` passes a gate, and none leads there from `Cancelled`.
#[machine]
enum Mail {
    #[initial]
    #[on(approve => Approved)]
    #[on(overrule => Overruled)]
    #[on(cancel => Cancelled)]
    Draft,

    #[on(send => Sent)]
    #[on(recall => Draft)]
    Approved,

    #[on(send => Sent)]
    Overruled,

    #[only_after(Approved | Overruled)]
    #[only_after(Draft)]
    #[never_after(Cancelled)]
    #[terminal]
    Sent,

    #[never_after(Sent | Overruled)]
    #[terminal]
    Cancelled,
}

/// Without an end, but every state leads back.
#[machine]
enum Light {
    #[initial]
    #[on(next => Green)]
    Red,

    #[on(next => Amber)]
    #[on(keep => Green)]
    Green,

    #[only_after(Green)]
    #[on(next => Red)]
    Amber,
}

fn main() {
    let _sent = Mail::new().approve().recall().overrule().send();
    let _cancelled = Mail::new().cancel();
    let _red = Light::new().next().keep().next().next();
}

//! Proofs that hold compile.

use machine::machine;

/// Every path into `Sent` passes a gate, and no path leads there from `Cancelled`.
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
    #[terminal]
    Sent,

    #[terminal]
    Cancelled,
}

/// A group in a proof means all of its states.
#[machine(on(publish => Published, from = Reviewed))]
enum Post {
    #[initial]
    #[on(review => Accepted)]
    #[on(overrule => Overruled)]
    #[on(refuse => Refused)]
    Draft,

    #[group(Reviewed)]
    Accepted,

    #[group(Reviewed)]
    Overruled,

    #[only_after(Reviewed)]
    #[terminal]
    Published,

    #[group(Lost)]
    #[terminal]
    Refused,
}

/// No terminal state, but every state leads back to the initial one.
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

#[test]
fn runs() {
    let _sent = Mail::new().approve().recall().overrule().send();
    let _cancelled = Mail::new().cancel();
    let _published = [Post::new().review().publish(), Post::new().overrule().publish()];
    let _refused = Post::new().refuse();
    let _red = Light::new().next().keep().next().next();
}

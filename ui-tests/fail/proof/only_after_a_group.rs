// M0205: the gate is a group.

use machine::machine;

#[machine(on(publish => Published, from = Reviewed))]
enum Post {
    #[initial]
    #[on(review => Accepted)]
    #[on(overrule => Overruled)]
    #[on(leak => Leaked)]
    Draft,

    #[group(Reviewed)]
    Accepted,

    #[group(Reviewed)]
    Overruled,

    #[on(publish => Published)]
    Leaked,

    #[only_after(Reviewed)]
    #[terminal]
    Published,
}

fn main() {
    let published = Post::new().leak().publish();
    assert_eq!(AnyPost::from(published).status(), post::Status::Published);
}

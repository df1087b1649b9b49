// M0143

use machine::machine;

#[machine(fields(title: &'a str))]
enum Draft {
    #[initial]
    #[on(publish => Published)]
    Open,

    #[terminal]
    Published,
}

fn main() {
    let published = Draft::new("on sheds").publish();
    assert_eq!(*published.title(), "on sheds");
}

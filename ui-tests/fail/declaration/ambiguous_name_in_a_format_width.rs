// M0120: the width in a format string is a name as well.

use machine::machine;

#[machine]
enum Report {
    #[initial]
    #[on(print(width: usize, text = format!("{:>width$}", 7)) => Printed)]
    Draft { width: usize },

    #[terminal]
    Printed { text: String },
}

fn main() {
    let printed = Report::new(3).print(4);
    assert_eq!(printed.state().text, "   7");
}

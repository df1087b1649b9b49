// A draft is approved before it is open: the program of the README.

use machine::machine;

#[machine]
enum Review {
    #[initial]
    #[on(submit(title) => Open)]
    Draft,
    #[on(approve => Merged)]
    #[on(send_back => Draft)]
    Open { title: String },
    #[terminal]
    Merged,
}

fn merge_unread(draft: Review<review::Draft>) {
    let _ = draft.approve();
}

fn main() {}

//! A machine can be declared in a function if its types have paths from outside.

use machine::machine;

fn count() -> u32 {
    #[machine]
    #[derive(Debug, Clone, PartialEq)]
    enum Counter {
        #[initial]
        #[on(add(by: u32, sum = sum + by) => Counting)]
        #[on(finish(text = format!("{sum} in all")) => Finished)]
        Counting { sum: u32 },

        #[terminal]
        Finished { sum: u32, text: String },
    }

    let finished = Counter::new(1).add(2).add(3).finish();
    assert_eq!(finished.state().text, "6 in all");
    match AnyCounter::from(finished) {
        AnyCounter::Finished(finished) => finished.state().sum,
        AnyCounter::Counting(_) => 0,
    }
}

#[test]
fn runs() {
    assert_eq!(count(), 6);
}

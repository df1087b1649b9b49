//! Tokens that a `macro_rules` macro passes on keep their grouping: `$limit * 2` is `(1 + 2) * 2`.

use std::time::Duration;

use machine::{actor::GraphRunner, machine};
use serde::{Deserialize, Serialize};

macro_rules! meter {
    ($limit:expr, $open:expr, $bytes:ty) => {
        #[machine]
        #[derive(Debug)]
        pub enum Meter {
            #[initial]
            #[on(read(value: u64) => if value == $limit * 2 { Full } else { Self })]
            #[on(shut => if !$open { Full } else { Self })]
            #[on(double(count = $limit * 2) => Counted)]
            #[on(timeout => Full, by = GraphRunner, after = Duration::from_secs($limit * 2))]
            Counting { bytes: $bytes },
            #[terminal]
            Counted { count: u64, bytes: $bytes },
            #[terminal]
            Full,
        }
    };
}

meter!(1 + 2, false || true, [u8; 6]);

#[test]
fn runs() {
    let new = || Meter::new([0; 6]);
    assert!(matches!(new().read(6), meter::AfterRead::Full(_)));
    assert!(matches!(new().read(5), meter::AfterRead::Counting(_)));
    assert!(matches!(new().shut(), meter::AfterShut::Counting(_)));
    assert_eq!(new().deadlines().next().unwrap().after, Duration::from_secs(6));
    assert_eq!(new().double().state().count, 6);
}

/// The counts in version 1.
#[derive(Deserialize)]
pub struct Old {
    count: u8,
}

macro_rules! run {
    ($upgrade:ident, { $($states:tt)* }) => {
        #[machine(durable, version = 2)]
        #[derive(Debug, Serialize, Deserialize)]
        pub enum Run {
            #[initial]
            #[upgrade(1 => begun)]
            #[on(begin(goal) => Running)]
            Begun { count: u8 },
            $($states)*
            #[terminal]
            #[upgrade(1 => $upgrade)]
            Ended { goal: String, count: u8, note: String },
        }

        fn begun(old: Old) -> Result<run::Begun, String> {
            Ok(run::Begun { count: old.count })
        }
    };
}

run!(ended, {
    #[upgrade(1 => running)]
    #[on(end(note) => Ended)]
    Running { goal: String, count: u8 },
});

fn running(old: Old) -> Result<run::Running, String> {
    Ok(run::Running { goal: String::new(), count: old.count })
}

fn ended(old: Old) -> Result<run::Ended, String> {
    Ok(run::Ended { goal: String::new(), count: old.count, note: String::new() })
}

/// Of a state and the transition into it, one is from the macro and one from its caller.
#[test]
fn fields_have_the_same_names_in_a_macro_and_its_caller() {
    let ended = Run::new(3).begin("x".to_owned()).end("y".to_owned());
    let run::Ended { goal, count, note } = ended.state();
    assert_eq!((&**goal, *count, &**note), ("x", 3, "y"));
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Size {
    length: usize,
}

impl Size {
    fn double(self) -> usize {
        self.length * 2
    }
}

static LIST: [u8; 3] = [1, 2, 3];

macro_rules! shelf {
    ($list:expr, $size:expr, $doubled:expr, $(#[$about:meta])* $state:ident) => {
        #[machine]
        #[derive(Debug)]
        pub enum Shelf {
            #[initial]
            #[on(count => if $list.len() > 1 { $state(length = $list.len()) } else { Self })]
            #[on(first => if $list[0] == 1 { $state(length = 1) } else { Self })]
            #[on(measure(size: Size) => if size == $size { $state(length = 0) } else { Self })]
            #[on(grow(by: usize) => match $doubled { n if n == by => $state(length = n), _ => Self })]
            Empty,
            $(#[$about])*
            #[terminal]
            $state { length: usize },
        }
    };
}

shelf!(
    &LIST,
    Size { length: 4 },
    Size { length: 4 }.double(),
    /// It has its final length.
    Measured
);

#[test]
fn references_and_struct_literals_stay_whole() {
    let length = |any: AnyShelf| match any {
        AnyShelf::Empty(_) => None,
        AnyShelf::Measured(shelf) => Some(shelf.state().length),
    };
    let new = Shelf::new;
    assert_eq!(length(new().count().into()), Some(3));
    assert_eq!(length(new().first().into()), Some(1));
    assert_eq!(length(new().measure(Size { length: 4 }).into()), Some(0));
    assert_eq!(length(new().measure(Size { length: 5 }).into()), None);
    assert_eq!(length(new().grow(8).into()), Some(8));
    assert_eq!(shelf::DEFINITION.states[1].docs, "It has its final length.");
}

//! A generic machine can have choices, with `Self` and without.

use std::fmt::Debug;

use machine::machine;

/// A queue of at most `N` items.
#[machine(on(inspect => if items.is_empty() { Empty } else { Self }, from = Used))]
#[derive(Debug)]
pub enum Queue<'a, T: Debug, const N: usize>
where
    T: Clone,
{
    #[initial]
    #[on(fill(items: Vec<T>) => match items.len() {
        0 => Empty,
        length if length < N => Partial(items),
        _ => Full(items),
    })]
    Empty { label: &'a str },

    #[group(Used)]
    #[on(take => if let [first, rest @ ..] = items.as_slice() {
        Taken(item = first.clone(), rest = rest.to_vec())
    } else {
        Empty
    })]
    Partial { label: &'a str, items: Vec<T> },

    #[group(Used)]
    Full { label: &'a str, items: Vec<T> },

    #[terminal]
    Taken { item: T, rest: Vec<T> },
}

fn empty() -> Queue<'static, queue::Empty<'static>, u8, 2> {
    Queue::new("numbers")
}

#[test]
fn a_choice_decides_by_a_parameter() {
    use queue::AfterFill;

    assert!(matches!(empty().fill(Vec::new()), AfterFill::Empty(_)));
    let AfterFill::Partial(partial) = empty().fill(vec![1]) else { panic!("one of two") };
    assert_eq!(partial.state().label, "numbers");
    let AfterFill::Full(full) = empty().fill(vec![1, 2, 3]) else { panic!("three of two") };
    assert_eq!(full.state().items, [1, 2, 3]);
}

#[test]
fn a_choice_clones_out_of_the_source() {
    use queue::{AfterFill, AfterTake};

    let AfterFill::Partial(partial) = empty().fill(vec![7]) else { panic!("one of two") };
    let AfterTake::Taken(taken) = partial.take() else { panic!("it is not empty") };
    assert_eq!((taken.state().item, taken.state().rest.len()), (7, 0));
}

#[test]
fn the_variant_same_has_the_state_and_the_parameters() {
    use queue::{AfterFill, AfterInspect};

    let AfterFill::Full(full) = empty().fill(vec![1, 2]) else { panic!("two of two") };
    let AfterInspect::Same(full) = full.inspect() else { panic!("it is not empty") };
    let full: Queue<'static, queue::Full<'static, u8>, u8, 2> = full;
    assert_eq!(full.state().items, [1, 2]);
    let any: AnyQueue<'static, u8, 2> = full.inspect().into();
    assert_eq!(any.status(), queue::Status::Full);
}
